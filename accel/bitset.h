/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flat array of bits whose memory the kernel gives page by page as bits are
 * set.  Bits beyond its size are clear; setting one makes it larger.
 *
 * All numbers are bits from 0; a range is `start` and a count.  Nothing here
 * locks: one thread at a time, as with libext2fs's own maps.  Where memory for
 * a bit to be set cannot be had the process is aborted, as libext2fs's
 * red-black trees do.
 */
#ifndef BITSET_H
#define BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitset {
	unsigned char *byte;	/* bit i is bit i % 8 of byte i / 8 */
	uint64_t bits;		/* what `byte` has room for, a multiple of 64 */
	uint64_t used;		/* bits that are set */
};

/* False if there is no memory. */
bool bitset_init(struct bitset *s, uint64_t bits);
bool bitset_copy(const struct bitset *from, struct bitset *to);
void bitset_free(struct bitset *s);

/* Clear all; gives the memory back.  False, with nothing changed, if there is
 * none for the new array. */
bool bitset_clear_all(struct bitset *s);

void bitset_grow(struct bitset *s, uint64_t bits);

static inline bool bitset_test(const struct bitset *s, uint64_t i)
{
	return i < s->bits && s->byte[i >> 3] >> (i & 7) & 1;
}

/* Returns what it was before. */
static inline bool bitset_set(struct bitset *s, uint64_t i)
{
	unsigned char mask = (unsigned char)(1u << (i & 7));
	bool was;

	if (__builtin_expect(i >= s->bits, 0))
		bitset_grow(s, i + 1);
	was = s->byte[i >> 3] & mask;
	s->byte[i >> 3] |= mask;
	s->used += !was;
	return was;
}

static inline bool bitset_clear(struct bitset *s, uint64_t i)
{
	if (!bitset_test(s, i))
		return false;
	s->byte[i >> 3] &= (unsigned char)~(1u << (i & 7));
	s->used--;
	return true;
}

void bitset_set_range(struct bitset *s, uint64_t start, uint64_t count);
void bitset_clear_range(struct bitset *s, uint64_t start, uint64_t count);

/* The first set (clear) bit of start..last; UINT64_MAX if there is none. */
uint64_t bitset_first_set(const struct bitset *s, uint64_t start,
			  uint64_t last);
uint64_t bitset_first_clear(const struct bitset *s, uint64_t start,
			    uint64_t last);

/* Set those of the range that are set in `in`, whose first bit is bit 0 of
 * its first byte. */
void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      const unsigned char *in);

/* The range as bytes; bits behind the range in the last byte are clear. */
void bitset_get_bytes(const struct bitset *s, uint64_t start, uint64_t count,
		      unsigned char *out);

#endif
