/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges and searches of a flat array of bits, 64 at a time.  Knows nothing
 * of what the bits stand for.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "bitset.h"

#define WORD 64u

static inline uint64_t get_word(const struct bitset *s, uint64_t w)
{
	uint64_t v;

	memcpy(&v, s->byte + w * 8, sizeof(v));
	return le64toh(v);
}

static inline void put_word(struct bitset *s, uint64_t w, uint64_t v)
{
	v = htole64(v);
	memcpy(s->byte + w * 8, &v, sizeof(v));
}

bool bitset_init(struct bitset *s, uint64_t bits)
{
	uint64_t words = bits / WORD + 1;

	s->byte = NULL;
	if (words <= SIZE_MAX / 8)
		s->byte = calloc((size_t)words, 8);
	s->bits = s->byte ? words * WORD : 0;
	s->used = 0;
	return s->byte;
}

bool bitset_copy(const struct bitset *from, struct bitset *to)
{
	uint64_t w, v;

	if (!bitset_init(to, from->bits - 1))
		return false;
	/* Pages that were never set stay without memory. */
	for (w = 0; w < from->bits / WORD; w++) {
		v = get_word(from, w);
		if (v)
			put_word(to, w, v);
	}
	to->used = from->used;
	return true;
}

void bitset_free(struct bitset *s)
{
	free(s->byte);
	s->byte = NULL;
	s->bits = s->used = 0;
}

bool bitset_clear_all(struct bitset *s)
{
	struct bitset fresh;

	if (!s->used)
		return true;
	if (!bitset_init(&fresh, s->bits - 1))
		return false;
	bitset_free(s);
	*s = fresh;
	return true;
}

void bitset_grow(struct bitset *s, uint64_t bits)
{
	struct bitset larger;

	/* Twice the size each time: one bit after the other is not slow. */
	if (bits < s->bits * 2)
		bits = s->bits * 2;
	if (!bitset_init(&larger, bits))
		abort();
	memcpy(larger.byte, s->byte, (size_t)(s->bits / 8));
	larger.used = s->used;
	free(s->byte);
	*s = larger;
}

/* The bits of word `w` that are in start..last. */
static inline uint64_t inside(uint64_t w, uint64_t start, uint64_t last)
{
	uint64_t mask = UINT64_MAX;

	if (w == start / WORD)
		mask <<= start % WORD;
	if (w == last / WORD)
		mask &= UINT64_MAX >> (WORD - 1 - last % WORD);
	return mask;
}

void bitset_set_range(struct bitset *s, uint64_t start, uint64_t count)
{
	uint64_t last = start + count - 1, w, v, mask;

	if (!count)
		return;
	if (last >= s->bits)
		bitset_grow(s, last + 1);
	for (w = start / WORD; w <= last / WORD; w++) {
		mask = inside(w, start, last);
		v = get_word(s, w);
		s->used += (unsigned)__builtin_popcountll(mask & ~v);
		put_word(s, w, v | mask);
	}
}

void bitset_clear_range(struct bitset *s, uint64_t start, uint64_t count)
{
	uint64_t last = start + count - 1, w, v, mask;

	if (!count || start >= s->bits)
		return;
	if (last >= s->bits)
		last = s->bits - 1;
	for (w = start / WORD; w <= last / WORD; w++) {
		mask = inside(w, start, last);
		v = get_word(s, w);
		if (!(v & mask))
			continue;
		s->used -= (unsigned)__builtin_popcountll(mask & v);
		put_word(s, w, v & ~mask);
	}
}

uint64_t bitset_first_set(const struct bitset *s, uint64_t start,
			  uint64_t last)
{
	uint64_t w, v;

	if (start >= s->bits || start > last)
		return UINT64_MAX;
	if (last >= s->bits)
		last = s->bits - 1;
	for (w = start / WORD; w <= last / WORD; w++) {
		v = get_word(s, w) & inside(w, start, last);
		if (v)
			return w * WORD + (unsigned)__builtin_ctzll(v);
	}
	return UINT64_MAX;
}

uint64_t bitset_first_clear(const struct bitset *s, uint64_t start,
			    uint64_t last)
{
	uint64_t w, v, end;

	if (start > last)
		return UINT64_MAX;
	if (start >= s->bits)
		return start;
	end = last < s->bits ? last : s->bits - 1;
	for (w = start / WORD; w <= end / WORD; w++) {
		v = ~get_word(s, w) & inside(w, start, end);
		if (v)
			return w * WORD + (unsigned)__builtin_ctzll(v);
	}
	return end < last ? end + 1 : UINT64_MAX;
}

/* 64 bits of `in` from bit `at`, of `count`; those behind it are clear. */
static uint64_t input(const unsigned char *in, uint64_t at, uint64_t count)
{
	uint64_t left = count - at, v = 0;

	memcpy(&v, in + at / 8, left >= WORD ? 8 : (size_t)(left + 7) / 8);
	v = le64toh(v);
	return left >= WORD ? v : v & (UINT64_MAX >> (WORD - left));
}

static void add_word(struct bitset *s, uint64_t w, uint64_t v)
{
	uint64_t old;

	if (!v)
		return;		/* no memory for a page of clear bits */
	if (w >= s->bits / WORD)
		bitset_grow(s, (w + 1) * WORD);
	old = get_word(s, w);
	s->used += (unsigned)__builtin_popcountll(v & ~old);
	put_word(s, w, old | v);
}

void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t count,
		      const unsigned char *in)
{
	unsigned shift = start % WORD;
	uint64_t at, v;

	for (at = 0; at < count; at += WORD) {
		v = input(in, at, count);
		add_word(s, (start + at) / WORD, v << shift);
		if (shift)
			add_word(s, (start + at) / WORD + 1,
				 v >> (WORD - shift));
	}
}

/* 64 bits from bit `i` on. */
static uint64_t word_at(const struct bitset *s, uint64_t i)
{
	uint64_t w = i / WORD, words = s->bits / WORD;
	unsigned shift = i % WORD;
	uint64_t v = w < words ? get_word(s, w) >> shift : 0;

	if (shift && w + 1 < words)
		v |= get_word(s, w + 1) << (WORD - shift);
	return v;
}

void bitset_get_bytes(const struct bitset *s, uint64_t start, uint64_t count,
		      unsigned char *out)
{
	uint64_t at, v, left;

	for (at = 0; at < count; at += WORD) {
		left = count - at;
		v = word_at(s, start + at);
		if (left < WORD)
			v &= UINT64_MAX >> (WORD - left);
		v = htole64(v);
		memcpy(out + at / 8, &v,
		       left >= WORD ? 8 : (size_t)(left + 7) / 8);
	}
}
