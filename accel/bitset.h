/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of bits whose memory follows its content: never more than a red-black
 * tree of the same runs takes (48 bytes each), and 32 bytes for each 256 Ki bits
 * (1 GiB of blocks of 4 KiB); never more than those bits and the table.
 *
 * Bits are numbered from 0; a range is `start` and a count.  Bits beyond the
 * end read as clear; setting one does nothing.  When memory runs out while a
 * bit is changed the process is aborted, as libext2fs's trees do: no call can
 * report it, and a bit that is lost could cost data.
 *
 * Nothing here locks: one thread at a time, also for reading, as with
 * libext2fs's trees.
 */
#ifndef BITSET_H
#define BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITSET_CHUNK 4096u	/* bits */

/*
 * What a chunk contains: a number of 64 bits, of which the lower two say how to
 * read it.  A list of runs is a pointer to it.
 */
#define BITSET_CLEAR UINT64_C(0)
#define BITSET_FULL UINT64_C(1)
#define BITSET_RUN 2u		/* one run, in the number itself */
#define BITSET_BITS 3u		/* a pointer to an array of bits */

struct bitset {
	uint64_t *root;		/* one number for each 64 chunks */
	uint64_t bits;
	uint64_t runs;		/* runs of set bits */
	uint64_t at;		/* the chunk that was used last */
	uint64_t content;	/* what that contains */
	uint64_t *slot;		/* where its node has that; NULL: nowhere */
};

struct bitset_bits {
	uint32_t runs;
	uint64_t word[BITSET_CHUNK / 64];
};

/* False if there is no memory. */
bool bitset_init(struct bitset *s, uint64_t bits);
bool bitset_copy(const struct bitset *from, struct bitset *to);
bool bitset_resize(struct bitset *s, uint64_t bits);

void bitset_free(struct bitset *s);
void bitset_clear_all(struct bitset *s);

static inline bool bitset_is_empty(const struct bitset *s)
{
	return !s->runs;
}

/* Look up chunk `c`, which is inside the set, and keep it in `at`. */
void bitset_find(struct bitset *s, uint64_t c);

/* Is this bit of a chunk set that is not an array of bits? */
bool bitset_test_runs(uint64_t content, unsigned bit);

static inline struct bitset_bits *bitset_bits_of(uint64_t content)
{
	return (struct bitset_bits *)(uintptr_t)(content & ~UINT64_C(3));
}

static inline bool bitset_test(struct bitset *s, uint64_t i)
{
	unsigned bit = i % BITSET_CHUNK;

	if (i >= s->bits)
		return false;
	if (i / BITSET_CHUNK != s->at)
		bitset_find(s, i / BITSET_CHUNK);
	if ((s->content & 3) == BITSET_BITS)
		return bitset_bits_of(s->content)->word[bit / 64] >>
		       (bit % 64) & 1;
	if (s->content <= BITSET_FULL)
		return s->content == BITSET_FULL;
	return bitset_test_runs(s->content, bit);
}

/* Are all bits of a range clear? */
bool bitset_is_clear(struct bitset *s, uint64_t start, uint64_t count);

/* Both return the bit's previous value. */
bool bitset_set(struct bitset *s, uint64_t i);
bool bitset_clear(struct bitset *s, uint64_t i);

void bitset_set_range(struct bitset *s, uint64_t start, uint64_t count);
void bitset_clear_range(struct bitset *s, uint64_t start, uint64_t count);

/* The first set (clear) bit in start..last; UINT64_MAX if there is none. */
uint64_t bitset_first_set(struct bitset *s, uint64_t start, uint64_t last);
uint64_t bitset_first_clear(struct bitset *s, uint64_t start, uint64_t last);

/* Set the bits of the range that are set in `in`, whose bit 0 stands for
 * `start`. */
void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      const unsigned char *in);

/* Store the range as bytes; unused bits of the last byte are clear. */
void bitset_get_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      unsigned char *out);

/* What all sets together take, in bytes with the allocator's own, and what
 * trees of the same runs would: now, and at the most so far. */
struct bitset_memory {
	uint64_t bytes, trees, most_bytes, most_trees;
};

struct bitset_memory bitset_memory(void);

#endif
