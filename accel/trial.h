/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The work of the self-test with libext2fs, once with its own functions and
 * once with ours.  Both are interchangeable if the records are the same.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "indirect.h"

/* A digest of everything that was seen, in its order, and the state of the
 * pseudo-random sequence that chose the operations.  A zeroed record is
 * empty. */
struct trial {
	uint64_t seen;
	uint64_t random;
};

static inline void trial_keep(struct trial *t, uint64_t value)
{
	t->seen = (t->seen ^ value) * UINT64_C(1099511628211) + 1;
	t->seen ^= t->seen >> 32;
}

/* `count` is a multiple of 8. */
static inline void trial_keep_bytes(struct trial *t, const void *bytes,
				    size_t count)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < count; i += sizeof(word)) {
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		trial_keep(t, word);
	}
}

/* The next number below `below`. */
static inline uint64_t number(uint64_t *random, uint64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) +
		  UINT64_C(1442695040888963407);
	return (*random >> 33) % below;
}

/* Make, change, search and copy a map of blocks with the kind of trees in
 * force. */
void trial_maps(struct trial *t, ext2_filsys fs);

/* Walk over the blocks of a few files, sound and damaged, with callbacks that
 * change block numbers, end the walk or fail. */
typedef errcode_t iterate_fn(ext2_filsys fs, ext2_ino_t ino, int flags,
			     char *block_buf, block_fn *func, void *data);
void trial_walks(struct trial *t, ext2_filsys fs, iterate_fn *iterate);

/* A filesystem in memory, as far as both need it: TRIAL_BLOCKS blocks of
 * TRIAL_BLOCK bytes, no files, no device. */
#define TRIAL_BLOCK 1024u
#define TRIAL_BLOCKS 1500000u

#endif
