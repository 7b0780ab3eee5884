/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read-ahead that a program asks for again and again.  With metadata larger
 * than its cache, btrfs check asks for the children of a node each time it
 * comes by: 3,627,558 calls for 43,983 reads, of which the kernel has nearly
 * all in memory or under way.
 */
#ifndef REPEATS_H
#define REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#define REPEATS_SLOTS 8192u

struct repeats {
	struct {
		uint64_t offset, asked;	/* bytes; ns, 0: never */
		uint32_t length;
		uint32_t device;
	} slot[REPEATS_SLOTS];
	uint64_t asked, repeated;	/* calls */
	uint64_t brought;		/* calls for what need not be asked for
					   otherwise; counted by the caller */
};

/* Count a call.  True when the very same was made less than a tenth of a
 * second ago: what it asked for is in memory or on its way.  From one thread
 * at a time. */
bool repeats_add(struct repeats *r, unsigned device, uint64_t offset,
		 uint64_t length);

#endif
