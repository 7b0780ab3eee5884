/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How many checks share the machine's memory, so that each takes only its part: fsck -A
 * runs one check per disk.
 */
#ifndef E2PF_SHARE_H
#define E2PF_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Count this process among those that share the memory.  The count ends with
 * the matching e2pf_share_leave(), or with the process.  Does nothing if that is
 * not possible (no procfs, few descriptors).  Safe from any thread; a child of
 * fork(2) is not counted.
 */
void e2pf_share_join(void);
void e2pf_share_leave(void);

/*
 * Number of processes that share the memory, including this one whether or not
 * it has joined: at least 1.  Only processes of root and of this process's user
 * count.  procfs is below `sysroot`; "" is the machine itself, which is asked
 * at most once a second.  Safe from any thread.
 */
unsigned e2pf_share_count(const char *sysroot);

#endif
