/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What the checker reads of a mapped device: that which the workers populated. */
#ifndef E2PF_MAPPING_H
#define E2PF_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct e2pf_mapping;

/* `map`: all of the file or device `fd`, `size` bytes, the filesystem from byte
 * `offset` on.  `most`: bytes that may count as this process's.  NULL if it cannot be
 * populated or guarded, or if there is one already. */
struct e2pf_mapping *e2pf_mapping_new(int fd, void *map, uint64_t size,
				      uint64_t offset, uint64_t most);

/* No other call may run at the same time.  NULL is allowed. */
void e2pf_mapping_free(struct e2pf_mapping *m);

/* Enter a range that is cached into the page tables.  Any thread may call it. */
void e2pf_mapping_populate(struct e2pf_mapping *m, uint64_t offset,
			   uint64_t length);

/* Copy a range of which each page was populated.  False if one was not, or cannot be
 * read: then `to` is undefined.  One thread calls it. */
bool e2pf_mapping_read(struct e2pf_mapping *m, uint64_t offset,
		       uint64_t length, void *to);

#endif
