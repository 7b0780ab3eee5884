/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Filters of system calls (seccomp), which may end a process for a call.  The system
 * calls that show what is cached, mincore(2) and cachestat(2), are missing in most
 * lists of what a service may do, systemd's @system-service for one.
 */
#ifndef PREFETCH_FILTER_H
#define PREFETCH_FILTER_H

#include <stdbool.h>

/* Returns true if this process has a filter, or if that is not known. */
bool pf_filter_is_set(void);

/* Make the calls that show what is cached.  A filter may end the process. */
void pf_filter_try_calls(void);

/* Returns true if the process survives these calls, even if they fail.  If there is a
 * filter and no result was set, tries them once in a child process. */
bool pf_filter_allows_calls(void);

/* Set the result of pf_filter_allows_calls(). */
void pf_filter_set_allows_calls(bool may);

#endif
