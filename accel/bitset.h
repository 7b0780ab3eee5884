/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An array of bits in chunks: one that has no bit set takes no memory but its
 * pointer, and one that was set as a whole is a chunk common to all.  Bits
 * beyond its size are clear; setting one makes it larger.
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

/* 512 bytes: on a large filesystem with little in it, the metadata of 16
 * groups lies together and fills one or two such chunks. */
#define BITSET_CHUNK 4096u

struct bitset {
	unsigned char **chunk;	/* bit i is bit i % 8 of its byte; NULL: clear */
	uint64_t chunks;
	uint64_t used;		/* bits that are set */
	uint64_t low, high;	/* chunks outside low..high are NULL */
};

/* Never written to. */
extern unsigned char bitset_full[BITSET_CHUNK / 8];

/* False if there is no memory. */
bool bitset_init(struct bitset *s, uint64_t bits);
bool bitset_copy(const struct bitset *from, struct bitset *to);
void bitset_free(struct bitset *s);
void bitset_clear_all(struct bitset *s);

/* Chunk `c`, made if there is none and the set's own if it is not. */
unsigned char *bitset_own(struct bitset *s, uint64_t c);

static inline bool bitset_test(const struct bitset *s, uint64_t i)
{
	uint64_t c = i / BITSET_CHUNK;
	const unsigned char *p = c < s->chunks ? s->chunk[c] : NULL;

	return p && p[i % BITSET_CHUNK / 8] >> (i % 8) & 1;
}

/* Returns what it was before. */
static inline bool bitset_set(struct bitset *s, uint64_t i)
{
	unsigned char mask = (unsigned char)(1u << (i % 8)), *p;

	if (bitset_test(s, i))
		return true;
	p = i / BITSET_CHUNK < s->chunks ? s->chunk[i / BITSET_CHUNK] : NULL;
	if (!p)
		p = bitset_own(s, i / BITSET_CHUNK);
	p[i % BITSET_CHUNK / 8] |= mask;
	s->used++;
	return false;
}

static inline bool bitset_clear(struct bitset *s, uint64_t i)
{
	unsigned char mask = (unsigned char)(1u << (i % 8)), *p;

	if (!bitset_test(s, i))
		return false;
	p = bitset_own(s, i / BITSET_CHUNK);
	p[i % BITSET_CHUNK / 8] &= (unsigned char)~mask;
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
