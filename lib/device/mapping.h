/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A mapping of a device from which the checker reads what the workers have
 * populated.
 */
#ifndef E2PF_MAPPING_H
#define E2PF_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct e2pf_mapping;

/*
 * Map a filesystem: the `size` bytes that begin at byte `offset` of a file or
 * block device, whose descriptor stays open.  `most`: bytes of memory that may
 * count as this process's, page tables included.  NULL if it cannot be mapped,
 * populated or guarded.  There is one at a time.
 */
struct e2pf_mapping *e2pf_mapping_new(int fd, uint64_t offset, uint64_t size,
				      uint64_t most);

/* Unmap.  No other call may run at the same time.  NULL is allowed. */
void e2pf_mapping_free(struct e2pf_mapping *m);

/* Enter into the page tables a range that is in the page cache.  Any thread may
 * call it. */
void e2pf_mapping_populate(struct e2pf_mapping *m, uint64_t offset,
			   uint64_t length);

/* Copy a range of which each page was populated.  False if one was not, or
 * cannot be read: then `to` is undefined, and whoever can report an errno reads
 * the range.  One thread calls it. */
bool e2pf_mapping_read(struct e2pf_mapping *m, uint64_t offset,
		       uint64_t length, void *to);

#endif
