/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A set of bits whose memory follows its content.  It takes at most 64 bytes for
 * each run (a red-black tree takes 48; most runs take less than 64), and in each 16
 * Mi bits of which any is set, 56 bytes for each 256 Ki bits (1 GiB of blocks of 4
 * KiB).  It never takes more than a tenth more than an array of those bits.
 *
 * Bits are numbered from 0; a range is `start` and a count.  Bits beyond the
 * end read as clear; setting one does nothing.  When memory runs out while a
 * bit is changed the process is aborted, as libext2fs's trees do: no call can
 * report it, and a bit that is lost could cost data.  A copy must not abort: e2fsck
 * reports that, and writes what it had repaired.
 *
 * One thread at a time, also for reading, as with libext2fs's trees.
 */
#ifndef E2FSCK_ACCEL_BITSET_H
#define E2FSCK_ACCEL_BITSET_H

#include "chunk.h"

struct bitset {
	uint64_t **table;	/* of parts: 64 entries each, or NULL.  An entry
				   is 0, NODE_FULL or a node of 64 chunks */
	uint64_t bits;
	uint64_t used;		/* entries that are not 0 */
	/* The cursor. */
	uint64_t chunk_at;	/* number of the chunk that was used last */
	uint64_t chunk;		/* what it contains */
	uint64_t word_at;	/* number of the word that was used last */
	uint64_t word;		/* that word; its chunk has `stored` until another
				   word is loaded */
	uint64_t stored;
};

/* Return false if there is no memory. */
bool bitset_init(struct bitset *s, uint64_t bits);
bool bitset_copy(struct bitset *from, struct bitset *to);

void bitset_free(struct bitset *s);
void bitset_clear_all(struct bitset *s);

bool bitset_is_empty(struct bitset *s);

void bitset_load_word(struct bitset *s, uint64_t w);

/* The word of bit `i`, which is inside the set, to be read or changed. */
static inline uint64_t *bitset_word(struct bitset *s, uint64_t i)
{
	if (i / 64 != s->word_at)
		bitset_load_word(s, i / 64);
	return &s->word;
}

static inline bool bitset_test(struct bitset *s, uint64_t i)
{
	return i < s->bits && *bitset_word(s, i) >> i % 64 & 1;
}

/* Both return the bit's previous value. */
static inline bool bitset_set(struct bitset *s, uint64_t i)
{
	bool was = bitset_test(s, i);

	if (i < s->bits)
		s->word |= UINT64_C(1) << i % 64;
	return was;
}

static inline bool bitset_clear(struct bitset *s, uint64_t i)
{
	bool was = bitset_test(s, i);

	if (was)
		s->word &= ~(UINT64_C(1) << i % 64);
	return was;
}

/* Set or clear a range. */
void bitset_change(struct bitset *s, uint64_t start, uint64_t count, bool set);

/* The first bit of this value in start..last; UINT64_MAX if there is none. */
uint64_t bitset_first(struct bitset *s, uint64_t start, uint64_t last,
		      bool value);

/* Set the bits of the range that are set in `in`, whose bit 0 stands for
 * `start`. */
void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      const unsigned char *in);

/* Store the range as bytes; unused bits of the last byte are clear. */
void bitset_get_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      unsigned char *out);

#endif
