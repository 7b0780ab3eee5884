/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bit array in chunks.  A chunk that is entirely clear or entirely set takes
 * only its entry in a table.  Bits beyond the end read as clear; setting one
 * does nothing.
 *
 * A new set reserves address space for all chunks, and the kernel provides
 * memory on first write.  So nothing can fail afterwards.
 *
 * Bits are numbered from 0; a range is `start` and a count.  Nothing here
 * locks: one thread at a time, as with libext2fs's own maps.
 */
#ifndef BITSET_H
#define BITSET_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 512 bytes: on a large filesystem with little in it, the metadata of 16 groups
 * is contiguous and fills one or two chunks of this size. */
#define BITSET_CHUNK 4096u

/* Table entries of a chunk that is entirely clear or set.  The pool has a chunk
 * for each of the two, which is never written to. */
#define BITSET_CLEAR 0u
#define BITSET_FULL 1u
#define BITSET_OWN 2u	/* the first chunk that may be written to */

struct bitset {
	uint32_t *table;	/* for each chunk, its index in the pool */
	unsigned char *pool;	/* bit i of a chunk is bit i % 8 of its byte i
				   / 8 */
	uint64_t chunks;
	uint64_t low, high;	/* chunks outside low..high are clear */
	uint32_t fresh;		/* pool chunks from here on were never used */
	uint32_t spare;		/* head of the list of freed pool chunks; 0:
				   empty */
	size_t bytes;		/* of address space */
};

/* Address space for a set of `bits`, which is also the most memory it takes;
 * UINT64_MAX if that is impossible. */
uint64_t bitset_bytes(uint64_t bits);

/* These return false if there is no address space. */
bool bitset_init(struct bitset *s, uint64_t bits);
bool bitset_copy(const struct bitset *from, struct bitset *to);
void bitset_free(struct bitset *s);
void bitset_clear_all(struct bitset *s);

/* Is no bit set? */
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

/* Give memory of its own to chunk `c`, which is entirely clear or set. */
unsigned char *bitset_make(struct bitset *s, uint64_t c);

static inline unsigned char *bitset_own(struct bitset *s, uint64_t c)
{
	return s->table[c] >= BITSET_OWN ? bitset_chunk(s, c) :
	       bitset_make(s, c);
}

/* Both return the bit's previous value. */
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
 * Fast versions of the most frequent calls, for bits known to be within the
 * set.
 */

static inline bool bitset_test_inside(const struct bitset *s, uint64_t i)
{
	return bitset_chunk(s, i / BITSET_CHUNK)[i % BITSET_CHUNK / 8] >>
	       (i % 8) & 1;
}

/* Does the chunk of this bit have memory of its own?  Only then may the two
 * bitset_set_own functions below be used. */
static inline bool bitset_is_own(const struct bitset *s, uint64_t i)
{
	return s->table[i / BITSET_CHUNK] >= BITSET_OWN;
}

/* Returns the previous value. */
static inline bool bitset_set_own(struct bitset *s, uint64_t i)
{
	unsigned char *at = bitset_chunk(s, i / BITSET_CHUNK) +
			    i % BITSET_CHUNK / 8;
	bool was = *at >> (i % 8) & 1;

	*at |= (unsigned char)(1u << (i % 8));
	return was;
}

/* Eight bytes of a chunk; bit 0 is in the first. */
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

/* Extents are short: most ranges are within one word and need no loop. */
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

/* The first set (clear) bit in start..last; UINT64_MAX if there is none. */
uint64_t bitset_first_set(const struct bitset *s, uint64_t start,
			  uint64_t last);
uint64_t bitset_first_clear(const struct bitset *s, uint64_t start,
			    uint64_t last);

/* Set the bits of the range that are set in `in`, whose bit 0 stands for
 * `start`. */
void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      const unsigned char *in);

/* Store the range as bytes; unused bits of the last byte are clear. */
void bitset_get_bytes(const struct bitset *s, uint64_t start, uint64_t count,
		      unsigned char *out);

#endif
