/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How many checks share the machine's memory, so that each takes only its part: fsck -A
 * runs one check per disk.
 */
#ifndef PREFETCH_SHARE_H
#define PREFETCH_SHARE_H

/*
 * Count this process, and a child of fork(2) that outlives it, among those that share
 * the memory.  The count ends with the matching pf_share_leave(), or with the
 * process.  Does nothing if that is not possible (no directory in /run that is this
 * user's alone, few descriptors).  Safe from any thread.
 */
void pf_share_join(void);
void pf_share_leave(void);

/*
 * Number of processes of this user that share the memory, including this one: 1 if it
 * has not joined, at most 32.  Takes a fixed number of system calls, whatever other
 * users do.  Safe from any thread.
 */
unsigned pf_share_count(void);

#endif
