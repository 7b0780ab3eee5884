/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An array of bits in chunks: one that has no bit set takes no memory but its
 * place in a table, and neither does one that was set as a whole.  Bits behind
 * its end are clear; setting one does nothing.
 *
 * Address space for all chunks is taken when a set is made, and memory by the
 * kernel where it is written to.  So nothing can fail afterwards.
 *
 * All numbers are bits from 0; a range is `start` and a count.  Nothing here
 * locks: one thread at a time, as with libext2fs's own maps.
 */
#ifndef BITSET_H
#define BITSET_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 512 bytes: on a large filesystem with little in it, the metadata of 16
 * groups lies together and fills one or two such chunks. */
#define BITSET_CHUNK 4096u

/* What the table says of a chunk that is clear, or set, as a whole: both are
 * in the pool, and are never written to. */
#define BITSET_CLEAR 0u
#define BITSET_FULL 1u
#define BITSET_OWN 2u	/* the first that is written to */

struct bitset {
	uint32_t *table;	/* of each chunk, which of the pool it is */
	unsigned char *pool;	/* bit i of a chunk is bit i % 8 of its byte */
	uint64_t chunks;
	uint64_t low, high;	/* chunks outside low..high are clear */
	uint32_t fresh;		/* of the pool, never used from here on */
	uint32_t spare;		/* the first of a list of those given back */
	size_t bytes;		/* of address space */
};

/* Address space a set of `bits` takes, and so memory at most; UINT64_MAX if
 * it cannot be made. */
uint64_t bitset_bytes(uint64_t bits);

/* False if there is no address space. */
bool bitset_init(struct bitset *s, uint64_t bits);
bool bitset_copy(const struct bitset *from, struct bitset *to);
void bitset_free(struct bitset *s);
void bitset_clear_all(struct bitset *s);

/* Whether no bit is set. */
bool bitset_is_empty(const struct bitset *s);

static inline unsigned char *bitset_chunk(const struct bitset *s, uint64_t c)
{
	return s->pool + (size_t)s->table[c] * (BITSET_CHUNK / 8);
}

static inline bool bitset_test(const struct bitset *s, uint64_t i)
{
	uint64_t c = i / BITSET_CHUNK;

	return c < s->chunks &&
	       (bitset_chunk(s, c)[i % BITSET_CHUNK / 8] >> (i % 8) & 1);
}

/* Chunk `c`, which is clear or full as a whole, to write to. */
unsigned char *bitset_make(struct bitset *s, uint64_t c);

static inline unsigned char *bitset_own(struct bitset *s, uint64_t c)
{
	return s->table[c] >= BITSET_OWN ? bitset_chunk(s, c) :
	       bitset_make(s, c);
}

/* Both return what it was before. */
static inline bool bitset_set(struct bitset *s, uint64_t i)
{
	if (bitset_test(s, i))
		return true;
	if (i / BITSET_CHUNK < s->chunks)
		bitset_own(s, i / BITSET_CHUNK)[i % BITSET_CHUNK / 8] |=
			(unsigned char)(1u << (i % 8));
	return false;
}

static inline bool bitset_clear(struct bitset *s, uint64_t i)
{
	if (!bitset_test(s, i))
		return false;
	bitset_own(s, i / BITSET_CHUNK)[i % BITSET_CHUNK / 8] &=
		(unsigned char)~(1u << (i % 8));
	return true;
}

/*
 * The short way of what is called most, for bits that are known not to lie
 * behind the end.
 */

static inline bool bitset_test_inside(const struct bitset *s, uint64_t i)
{
	return bitset_chunk(s, i / BITSET_CHUNK)[i % BITSET_CHUNK / 8] >>
	       (i % 8) & 1;
}

/* Whether the chunk of a bit has memory of its own, so that bits may be set
 * in it as they are by the two functions that set some below. */
static inline bool bitset_is_own(const struct bitset *s, uint64_t i)
{
	return s->table[i / BITSET_CHUNK] >= BITSET_OWN;
}

/* Returns what it was before. */
static inline bool bitset_set_own(struct bitset *s, uint64_t i)
{
	unsigned char *at = bitset_chunk(s, i / BITSET_CHUNK) +
			    i % BITSET_CHUNK / 8;
	bool was = *at >> (i % 8) & 1;

	*at |= (unsigned char)(1u << (i % 8));
	return was;
}

/* Eight bytes of a chunk; the first has bit 0. */
static inline uint64_t bitset_load(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void bitset_store(unsigned char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

/* Extents are short: most ranges lie within one word, and need no loop. */
static inline bool bitset_is_word(uint64_t first, uint64_t last)
{
	return first / 64 == last / 64;
}

static inline unsigned char *bitset_word(const struct bitset *s, uint64_t i)
{
	return bitset_chunk(s, i / BITSET_CHUNK) + i % BITSET_CHUNK / 64 * 8;
}

static inline uint64_t bitset_mask(uint64_t first, uint64_t last)
{
	return UINT64_MAX << first % 64 & UINT64_MAX >> (63 - last % 64);
}

static inline bool bitset_word_is_clear(const struct bitset *s,
					uint64_t first, uint64_t last)
{
	return !(bitset_load(bitset_word(s, first)) &
		 bitset_mask(first, last));
}

static inline void bitset_set_own_word(struct bitset *s, uint64_t first,
				       uint64_t last)
{
	unsigned char *at = bitset_word(s, first);

	bitset_store(at, bitset_load(at) | bitset_mask(first, last));
}

/*
 * Ranges.
 */

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
