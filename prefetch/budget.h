/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The memory that this process may use. */
#ifndef PREFETCH_BUDGET_H
#define PREFETCH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Bytes of page cache that this process can fill now without evicting anything in
 * use: the smaller of MemAvailable and what the process's cgroups leave, where
 * clean file pages count as free, divided by pf_share_count().  procfs and cgroupfs
 * are below `sysroot`.  UINT64_MAX if it cannot be determined.  Safe from any thread.
 *
 * `idle`: only free memory and file pages used once.  Pages read ahead and not used
 * yet are among these, and the kernel evicts the oldest of them first, before any
 * page that was used twice, however old.  So the bytes ahead must be fewer than this
 * to stay cached.  At least 1/16 of the available memory, which the kernel
 * guarantees.
 */
uint64_t pf_budget_query_memory(const char *sysroot, bool idle);

#endif
