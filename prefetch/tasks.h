/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The tasks that limits leave to this process. */
#ifndef PREFETCH_TASKS_H
#define PREFETCH_TASKS_H

/*
 * Returns how many threads may be started, at most `wanted`, so that enough tasks are
 * left for the program or command that is read ahead of.  Counts what the cgroups and
 * RLIMIT_NPROC allow.  May start threads, which have ended when it returns.
 */
unsigned pf_tasks_left(const char *sysroot, unsigned wanted);

#endif
