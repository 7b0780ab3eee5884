/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much memory and how many processors a session may use: what is
 * available on the machine, within the limits of the process's control group
 * (v1 or v2, every level of the hierarchy) and its affinity mask.
 */
#ifndef E2PF_BUDGET_H
#define E2PF_BUDGET_H

#include <stdint.h>

/*
 * Bytes of page cache that can be filled now without pushing anything else
 * out: the smaller of MemAvailable and what the control groups leave, where
 * clean file pages count as free.  procfs and cgroupfs are below `sysroot`
 * ("" is the machine itself).  UINT64_MAX when nothing can be found out.
 * Safe from any thread.
 */
uint64_t e2pf_available_memory(const char *sysroot);

/*
 * Of those, the bytes that are free or hold file pages which nobody has come
 * back to.  A page that was read ahead and not used yet is one of these, and
 * among them the one read first is dropped first, however much older the pages
 * are that were used twice: so that what is read ahead stays, it must be less
 * than this.  Never below 1/16 of what is available, which the kernel makes
 * sure of; the same where the kernel does not say.
 */
uint64_t e2pf_idle_memory(const char *sysroot);

/* Online processors this process may use: affinity mask and control group
 * quota respected, rounded up, at least 1. */
unsigned e2pf_available_processors(const char *sysroot);

#endif
