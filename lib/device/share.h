/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine's memory, and how many checks share it, so that each takes only its
 * part: fsck -A runs one check per disk.
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

/*
 * Bytes of page cache that can be filled now without evicting anything in use:
 * the smaller of MemAvailable and what the process's control groups leave, where
 * clean file pages count as free.  procfs and cgroupfs are below `sysroot`.
 * UINT64_MAX if it cannot be determined.  Safe from any thread.
 *
 * `idle`: only what is free or holds file pages used once.  Pages read ahead and
 * not used yet are among these, and the kernel evicts the oldest of them first,
 * before any page that was used twice, however old.  So what is read ahead must be
 * less than this to stay cached.  At least 1/16 of what is available, which the
 * kernel guarantees.
 */
uint64_t e2pf_memory(const char *sysroot, bool idle);

/* That divided by e2pf_share_count(): the bytes this process may use. */
uint64_t e2pf_memory_share(const char *sysroot, bool idle);

#endif
