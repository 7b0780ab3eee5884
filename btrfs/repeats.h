/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Detects repeated readahead calls of the program.  If the metadata is larger
 * than btrfs check's own cache, it requests readahead of a node's children each
 * time it visits the node: 3,627,558 calls for 43,983 reads, nearly all of them
 * cached or in flight already.
 */
#ifndef REPEATS_H
#define REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#define REPEATS_SLOTS 8192u

struct repeats {
	struct {
		uint64_t offset, called;	/* bytes; ns, 0: never */
		uint32_t length;
		uint32_t device;
	} slot[REPEATS_SLOTS];
	uint64_t calls, repeated;	/* calls */
};

/* Count a call.  True if the identical call was made less than a tenth of a
 * second ago: its data is cached or in flight.  Not thread-safe. */
bool repeats_add(struct repeats *r, unsigned device, uint64_t offset,
		 uint64_t length);

#endif
