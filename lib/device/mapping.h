/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What the checker reads of a mapped device: that which the workers populated. */
#ifndef E2PF_MAPPING_H
#define E2PF_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct e2pf_mapping;

/* `map`: all of the file or device `fd`, `size` bytes.  `most`: bytes that may count as
 * this process's.  NULL if it cannot be populated or guarded, or if there is one
 * already. */
struct e2pf_mapping *e2pf_mapping_new(int fd, void *map, uint64_t size,
				      uint64_t most);

/* No other call may run at the same time.  NULL is allowed. */
void e2pf_mapping_free(struct e2pf_mapping *m);

/* Enter a range that is cached into the page tables.  Any thread may call it. */
void e2pf_mapping_populate(struct e2pf_mapping *m, uint64_t offset,
			   uint64_t length);

/* What pread() would read from another descriptor of the file or device, if each page
 * of it was populated.  False if one was not, or cannot be read, or if another thread
 * reads: then `to` is undefined. */
bool e2pf_mapping_read(struct e2pf_mapping *m, int fd, void *to, size_t length,
		       uint64_t offset);

#endif
