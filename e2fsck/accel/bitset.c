/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A table of nodes of chunks.  Decides where a chunk is; chunk.c decides its
 * form.  The bits have no meaning here.
 *
 * Compressed bitmaps (Roaring) choose among similar forms.  Their library CRoaring,
 * 0.2.66, has numbers of 32 bits, which 16 TiB exceed, and reports no failed allocation;
 * 20 million marks in order took it 2.4 times as long as this, and tests of random bits
 * four times.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "bitset.h"

#define LAST (CHUNK_BITS - 1)
#define NODE_BITS ((uint64_t)NODE_VALUES * CHUNK_BITS)
#define NONE UINT64_MAX

/* Entries in a part of a table.  A part whose bits are all clear takes no memory: 60
 * TiB have 61,440 entries, and most bitmaps have bits in few of them. */
#define PART 64u
#define PART_CHUNKS (PART * NODE_VALUES)

static uint64_t entry_of(const struct bitset *s, uint64_t c)
{
	const uint64_t *part = s->table[c / PART_CHUNKS];

	return part ? part[c / NODE_VALUES % PART] : 0;
}

/*
 * The cursor.  Marks are mostly in order: a chunk and one of its words are at hand, and
 * changes of the word are brought into its chunk when another word is loaded.
 */

/* Chunk `c` is inside the set. */
static void load_chunk(struct bitset *s, uint64_t c)
{
	uint64_t entry;

	if (c == s->chunk_at)
		return;
	entry = entry_of(s, c);
	s->chunk_at = c;
	s->chunk = chunk_is_pointer(entry) ?
		   node_get(chunk_node(entry), c % NODE_VALUES) : entry;
}

static void store_chunk(struct bitset *s)
{
	uint64_t c = s->chunk_at;
	uint64_t **part = &s->table[c / PART_CHUNKS], *entry, old;
	struct node *n;

	if (!*part)
		*part = calloc(PART, sizeof(uint64_t));
	if (!*part)
		abort();
	entry = *part + c / NODE_VALUES % PART;
	old = *entry;
	n = chunk_is_pointer(old) ? chunk_node(old) : node_new(old);
	n = node_put(n, c % NODE_VALUES, s->chunk);
	*entry = (uint64_t)(uintptr_t)n;
	if (node_is_plain(n)) {
		*entry = n->full;
		free(n);
	}
	s->used += !!*entry;
	s->used -= !!old;
	s->chunk_at = NONE;
}

/* The loaded chunk becomes this one. */
static void replace_chunk(struct bitset *s, uint64_t chunk)
{
	if (chunk == s->chunk)
		return;
	s->chunk = chunk;
	store_chunk(s);
}

static void flush_word(struct bitset *s)
{
	if (s->word == s->stored)
		return;
	load_chunk(s, s->word_at / NODE_VALUES);
	replace_chunk(s, chunk_put_word(s->chunk, s->word_at % NODE_VALUES,
					s->word));
	s->stored = s->word;
}

void bitset_load_word(struct bitset *s, uint64_t w)
{
	flush_word(s);
	load_chunk(s, w / NODE_VALUES);
	s->word_at = w;
	s->word = s->stored = chunk_word(s->chunk, w % NODE_VALUES);
}

/* Before chunks are changed or shared. */
static void unload_word(struct bitset *s)
{
	flush_word(s);
	s->word_at = NONE;
}

/*
 * Changes.
 */

static void change_chunk(struct bitset *s, uint64_t c, unsigned first,
			 unsigned last, bool set)
{
	load_chunk(s, c);
	if (s->chunk != (set ? CHUNK_FULL : CHUNK_CLEAR))
		replace_chunk(s, chunk_change(s->chunk, first, last, set));
}

void bitset_change(struct bitset *s, uint64_t start, uint64_t count, bool set)
{
	uint64_t c, last, *word;

	if (start >= s->bits || !count)
		return;
	if (count > s->bits - start)
		count = s->bits - start;
	last = start + count - 1;
	if (start / 64 == last / 64) {
		word = bitset_word(s, start);
		*word = set ? *word | node_mask(start, last) :
			*word & ~node_mask(start, last);
		return;
	}
	unload_word(s);
	for (c = start / CHUNK_BITS; c <= last / CHUNK_BITS; c++)
		change_chunk(s, c,
			     c == start / CHUNK_BITS ? start % CHUNK_BITS : 0,
			     c == last / CHUNK_BITS ? last % CHUNK_BITS : LAST,
			     set);
}

/*
 * Sets.
 */

static uint64_t count_parts(uint64_t bits)
{
	return bits / (PART_CHUNKS * CHUNK_BITS) + 1;
}

bool bitset_init(struct bitset *s, uint64_t bits)
{
	*s = (struct bitset){ .bits = bits, .chunk_at = NONE, .word_at = NONE };
	if (count_parts(bits) <= SIZE_MAX / sizeof(*s->table))
		s->table = calloc((size_t)count_parts(bits), sizeof(*s->table));
	return s->table;
}

static void free_entry(uint64_t entry)
{
	struct node *n = chunk_node(entry);
	unsigned i;

	if (!chunk_is_pointer(entry))
		return;
	for (i = 0; i < node_count_ones(n->some); i++)
		chunk_free(n->value[i]);
	free(n);
}

void bitset_clear_all(struct bitset *s)
{
	uint64_t i;
	unsigned j;

	s->word_at = NONE;
	s->word = s->stored;
	for (i = 0; i < count_parts(s->bits); i++) {
		for (j = 0; s->table[i] && j < PART; j++)
			free_entry(s->table[i][j]);
		free(s->table[i]);
		s->table[i] = NULL;
	}
	s->used = 0;
	s->chunk_at = NONE;
}

bool bitset_is_empty(struct bitset *s)
{
	flush_word(s);
	return !s->used;
}

void bitset_free(struct bitset *s)
{
	bitset_clear_all(s);
	free(s->table);
	s->table = NULL;
}

static bool copy_entry(uint64_t from, uint64_t *to)
{
	struct node *n;
	unsigned i;

	if (!chunk_copy(from, to))
		return false;
	if (!chunk_is_pointer(from))
		return true;
	n = chunk_node(*to);
	for (i = 0; i < node_count_ones(n->some); i++)
		if (!chunk_copy(chunk_node(from)->value[i], &n->value[i])) {
			while (i--)
				chunk_free(n->value[i]);
			free(n);
			*to = 0;
			return false;
		}
	return true;
}

static bool copy_part(const uint64_t *from, uint64_t **to)
{
	bool copied = true;
	unsigned i;

	*to = from ? calloc(PART, sizeof(uint64_t)) : NULL;
	for (i = 0; *to && copied && i < PART; i++)
		copied = copy_entry(from[i], *to + i);
	return copied && !from == !*to;
}

bool bitset_copy(struct bitset *from, struct bitset *to)
{
	uint64_t i;

	unload_word(from);
	if (!bitset_init(to, from->bits))
		return false;
	for (i = 0; i < count_parts(from->bits); i++)
		if (!copy_part(from->table[i], &to->table[i])) {
			bitset_free(to);
			return false;
		}
	to->used = from->used;
	return true;
}

/*
 * Searches.
 */

uint64_t bitset_first(struct bitset *s, uint64_t start, uint64_t last,
		      bool value)
{
	uint64_t found, c;

	flush_word(s);
	while (start <= last && start < s->bits) {
		c = start / CHUNK_BITS;
		if (entry_of(s, c) == (value ? 0 : NODE_FULL)) {
			start = (start / NODE_BITS + 1) * NODE_BITS;
			continue;
		}
		load_chunk(s, c);
		found = chunk_next(s->chunk, start % CHUNK_BITS, value);
		start = c * CHUNK_BITS + found;
		if (found < CHUNK_BITS)
			return start <= last ? start : NONE;
	}
	/* Beyond the end all bits are clear. */
	return !value && start <= last ? start : NONE;
}

/*
 * Bytes.
 */

/* Return 64 of the `n` bits of `in`, from bit `at` on, which is a multiple of
 * 64. */
static uint64_t read_word(const unsigned char *in, uint64_t n, uint64_t at)
{
	uint64_t left = n - at, v = 0;

	memcpy(&v, in + at / 8, left >= 64 ? 8 : (size_t)(left + 7) / 8);
	v = le64toh(v);
	return left >= 64 ? v : v & (UINT64_MAX >> (64 - left));
}

void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t n,
		      const unsigned char *in)
{
	uint64_t at, from = 0, end = 0, v, first, ones;

	for (at = 0; at < n; at += 64)
		for (v = read_word(in, n, at); v;
		     v &= ones < 64 ? UINT64_MAX << ones : 0) {
			first = (uint64_t)__builtin_ctzll(v);
			v |= (UINT64_C(1) << first) - 1;
			ones = ~v ? (uint64_t)__builtin_ctzll(~v) : 64;
			if (at + first != end) {
				bitset_change(s, start + from, end - from, true);
				from = at + first;
			}
			end = at + ones;
		}
	bitset_change(s, start + from, end - from, true);
}

/* The chunk of bit `i`; clear beyond the end. */
static uint64_t chunk_at(struct bitset *s, uint64_t i)
{
	if (i >= s->bits)
		return CHUNK_CLEAR;
	load_chunk(s, i / CHUNK_BITS);
	return s->chunk;
}

/* 64 bits from bit `i` on. */
static uint64_t word_at(struct bitset *s, uint64_t i)
{
	unsigned w = i % CHUNK_BITS / 64, shift = i % 64;
	uint64_t low = chunk_word(chunk_at(s, i), w);

	if (!shift)
		return low;
	i += 64 - shift;
	w = i % CHUNK_BITS / 64;
	return low >> shift | chunk_word(chunk_at(s, i), w) << (64 - shift);
}

void bitset_get_bytes(struct bitset *s, uint64_t start, uint64_t n,
		      unsigned char *out)
{
	uint64_t i, left, chunk, v;

	flush_word(s);
	for (i = 0; i < n; i += left) {
		left = n - i < CHUNK_BITS ? n - i : CHUNK_BITS;
		chunk = chunk_at(s, start + i);
		if ((start + i) % CHUNK_BITS == 0 && left == CHUNK_BITS &&
		    (chunk == CHUNK_CLEAR || chunk == CHUNK_FULL)) {
			memset(out + i / 8, (unsigned char)chunk, left / 8);
			continue;
		}
		v = word_at(s, start + i);
		if (left < 64)
			v &= ~(UINT64_MAX << left);
		else
			left = 64;
		v = htole64(v);
		memcpy(out + i / 8, &v, (size_t)(left + 7) / 8);
	}
}
