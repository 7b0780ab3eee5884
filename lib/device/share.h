/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many checks share this machine, so that each takes its part of the
 * memory: fsck -A runs one for each disk.
 */
#ifndef E2PF_SHARE_H
#define E2PF_SHARE_H

#include <stdint.h>

/*
 * Count this process among those that share the memory, until as many calls
 * of e2pf_share_leave() or its end, however it ends.  Where that cannot be
 * had (no procfs, few descriptors) nothing happens.  Safe from any thread; a
 * child made by fork(2) is not counted.
 */
void e2pf_share_join(void);
void e2pf_share_leave(void);

/*
 * Processes that share the memory, this one included whether it has joined or
 * not: at least 1.  Those of other users than root and this process's own
 * count for nothing.  procfs is below `sysroot`, "" is the machine itself,
 * which is asked once a second at most.  Safe from any thread.
 */
unsigned e2pf_share_count(const char *sysroot);

/* e2pf_available_memory() by e2pf_share_count(): what this process may count
 * on, bytes.  UINT64_MAX when nothing can be found out. */
uint64_t e2pf_memory_share(const char *sysroot);

/* The same of e2pf_idle_memory(). */
uint64_t e2pf_idle_share(const char *sysroot);

#endif
