/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#ifndef E2PF_SYSTEM_LOG_H
#define E2PF_SYSTEM_LOG_H

/* A line about this device in the system log, as by syslog(3), but without its lock,
 * without a wait for a log that does not answer, and with nothing left open. */
void e2pf_system_log(const char *device, const char *sentence);

#endif
