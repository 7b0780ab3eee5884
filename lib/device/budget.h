/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much memory a session may use: what is available on the machine, within
 * the limits of the process's control groups (v1 or v2, every level of the
 * hierarchy).
 */
#ifndef E2PF_BUDGET_H
#define E2PF_BUDGET_H

#include <stdint.h>

/*
 * Bytes of page cache that can be filled now without evicting anything in use:
 * the smaller of MemAvailable and what the control groups leave, where clean
 * file pages count as free.  procfs and cgroupfs are below `sysroot` ("" is the
 * machine itself).  UINT64_MAX if it cannot be determined.  Safe from any
 * thread.
 */
uint64_t e2pf_available_memory(const char *sysroot);

/*
 * The part of that memory that is free or holds file pages used only once.
 * Pages read ahead and not used yet are among these, and the kernel evicts the
 * oldest of them first, before any page that was used twice, however old.  So
 * what is read ahead must be less than this to stay cached.  At least 1/16 of
 * what is available, which the kernel guarantees.  Equal to
 * e2pf_available_memory() if the kernel does not report it.
 */
uint64_t e2pf_idle_memory(const char *sysroot);

#endif
