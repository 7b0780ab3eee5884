/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Filters of system calls (seccomp), which may end a process for a call.  The system calls
 * that show what is cached, mincore(2) and cachestat(2), are missing in most lists of what
 * a service may do, systemd's @system-service for one.
 */
#ifndef PREFETCH_FILTER_H
#define PREFETCH_FILTER_H

#include <stdbool.h>

/* Does this process have a filter?  True if that is not known. */
bool pf_filter_is_set(void);

/* Make the calls that show what is cached; a filter may end the process. */
void pf_filter_try_calls(void);

/* Do these calls leave the process alive?  Whether they succeed is another question.  Tries
 * them in a child process, once, if there is a filter and nobody has set it. */
bool pf_filter_allows_calls(void);
void pf_filter_set_allows_calls(bool may);

#endif
