/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges and searches of an array of bits, 64 at a time.  Knows nothing of
 * what the bits stand for.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bitset.h"

#define WORD 64u
#define BYTES (BITSET_CHUNK / 8)

unsigned char bitset_full[BYTES];

static inline uint64_t load(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void store(unsigned char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline unsigned ones(uint64_t v)
{
	return (unsigned)__builtin_popcountll(v);
}

static unsigned count(const unsigned char *p)
{
	unsigned at, n = 0;

	if (!p)
		return 0;
	for (at = 0; at < BYTES; at += 8)
		n += ones(load(p + at));
	return n;
}

/* Pointers in a mapping of their own: the heap would clear memory that was
 * used before, and so take all of it. */
bool bitset_init(struct bitset *s, uint64_t bits)
{
	uint64_t chunks = bits / BITSET_CHUNK + 1;
	void *p = MAP_FAILED;

	if (!bitset_full[0])
		memset(bitset_full, 0xff, sizeof(bitset_full));
	memset(s, 0, sizeof(*s));
	if (chunks <= SIZE_MAX / sizeof(*s->chunk))
		p = mmap(NULL, (size_t)chunks * sizeof(*s->chunk),
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	s->chunk = p;
	s->chunks = chunks;
	s->low = UINT64_MAX;
	return true;
}

static void drop(struct bitset *s, uint64_t c)
{
	if (s->chunk[c] != bitset_full)
		free(s->chunk[c]);
	s->chunk[c] = NULL;
}

void bitset_clear_all(struct bitset *s)
{
	uint64_t c;

	for (c = s->low; c <= s->high && c < s->chunks; c++)
		if (s->chunk[c])
			drop(s, c);
	s->used = 0;
	s->low = UINT64_MAX;
	s->high = 0;
}

void bitset_free(struct bitset *s)
{
	bitset_clear_all(s);
	if (s->chunk)
		munmap(s->chunk, (size_t)s->chunks * sizeof(*s->chunk));
	s->chunk = NULL;
	s->chunks = 0;
}

static void touch(struct bitset *s, uint64_t c)
{
	if (c < s->low)
		s->low = c;
	if (c > s->high)
		s->high = c;
}

bool bitset_copy(const struct bitset *from, struct bitset *to)
{
	uint64_t c;

	if (!bitset_init(to, (from->chunks - 1) * BITSET_CHUNK))
		return false;
	for (c = from->low; c <= from->high && c < from->chunks; c++) {
		if (!from->chunk[c])
			continue;
		touch(to, c);
		to->chunk[c] = from->chunk[c] == bitset_full ? bitset_full :
			       malloc(BYTES);
		if (!to->chunk[c]) {
			bitset_free(to);
			return false;
		}
		if (to->chunk[c] != bitset_full)
			memcpy(to->chunk[c], from->chunk[c], BYTES);
	}
	to->used = from->used;
	return true;
}

static void grow(struct bitset *s, uint64_t chunks)
{
	struct bitset larger;
	uint64_t c;

	/* Twice the size each time: one bit after the other is not slow. */
	if (chunks < s->chunks * 2)
		chunks = s->chunks * 2;
	if (chunks > UINT64_MAX / BITSET_CHUNK ||
	    !bitset_init(&larger, chunks * BITSET_CHUNK))
		abort();
	for (c = s->low; c <= s->high && c < s->chunks; c++) {
		larger.chunk[c] = s->chunk[c];
		s->chunk[c] = NULL;
	}
	larger.used = s->used;
	larger.low = s->low;
	larger.high = s->high;
	bitset_free(s);
	*s = larger;
}

unsigned char *bitset_own(struct bitset *s, uint64_t c)
{
	unsigned char *p;

	if (c >= s->chunks)
		grow(s, c);
	p = s->chunk[c];
	if (p && p != bitset_full)
		return p;
	p = p ? malloc(BYTES) : calloc(1, BYTES);
	if (!p)
		abort();
	if (s->chunk[c])
		memset(p, 0xff, BYTES);
	touch(s, c);
	s->chunk[c] = p;
	return p;
}

/*
 * Ranges, chunk by chunk: what of start..last is in the chunk of `start`.
 */
struct piece {
	uint64_t c;		/* the chunk */
	unsigned first, last;	/* bits of it */
};

static inline struct piece piece_of(uint64_t start, uint64_t last)
{
	struct piece p = {
		.c = start / BITSET_CHUNK, .first = start % BITSET_CHUNK,
		.last = BITSET_CHUNK - 1
	};

	if (last / BITSET_CHUNK == p.c)
		p.last = last % BITSET_CHUNK;
	return p;
}

static inline bool whole(const struct piece *p)
{
	return !p->first && p->last == BITSET_CHUNK - 1;
}

/* The bits of word `w` of a chunk that are in the piece. */
static inline uint64_t inside(unsigned w, const struct piece *p)
{
	uint64_t mask = UINT64_MAX;

	if (w == p->first / WORD)
		mask <<= p->first % WORD;
	if (w == p->last / WORD)
		mask &= UINT64_MAX >> (WORD - 1 - p->last % WORD);
	return mask;
}

static void set_piece(struct bitset *s, const struct piece *p)
{
	unsigned char *chunk;
	unsigned w;

	if (p->c < s->chunks && s->chunk[p->c] == bitset_full)
		return;
	chunk = bitset_own(s, p->c);
	if (whole(p)) {
		s->used += BITSET_CHUNK - count(chunk);
		free(chunk);
		s->chunk[p->c] = bitset_full;
		return;
	}
	for (w = p->first / WORD; w <= p->last / WORD; w++) {
		uint64_t mask = inside(w, p), v = load(chunk + w * 8);

		s->used += ones(mask & ~v);
		store(chunk + w * 8, v | mask);
	}
}

void bitset_set_range(struct bitset *s, uint64_t start, uint64_t n)
{
	uint64_t last = start + n - 1;
	struct piece p;

	while (n && start <= last) {
		p = piece_of(start, last);
		set_piece(s, &p);
		start = (p.c + 1) * BITSET_CHUNK;
	}
}

static void clear_piece(struct bitset *s, const struct piece *p)
{
	unsigned char *chunk = s->chunk[p->c];
	unsigned w;

	if (!chunk)
		return;
	if (whole(p)) {
		s->used -= count(chunk);
		drop(s, p->c);
		return;
	}
	chunk = bitset_own(s, p->c);
	for (w = p->first / WORD; w <= p->last / WORD; w++) {
		uint64_t mask = inside(w, p), v = load(chunk + w * 8);

		s->used -= ones(mask & v);
		store(chunk + w * 8, v & ~mask);
	}
}

void bitset_clear_range(struct bitset *s, uint64_t start, uint64_t n)
{
	uint64_t last = start + n - 1;
	struct piece p;

	while (n && start <= last && start / BITSET_CHUNK < s->chunks) {
		p = piece_of(start, last);
		clear_piece(s, &p);
		start = (p.c + 1) * BITSET_CHUNK;
	}
}

/* The first bit of the piece that differs from those of `same`. */
static uint64_t first_in(const unsigned char *chunk, const struct piece *p,
			 uint64_t same)
{
	unsigned w;

	for (w = p->first / WORD; w <= p->last / WORD; w++) {
		uint64_t v = (load(chunk + w * 8) ^ same) & inside(w, p);

		if (v)
			return p->c * BITSET_CHUNK + w * WORD +
			       (unsigned)__builtin_ctzll(v);
	}
	return UINT64_MAX;
}

uint64_t bitset_first_set(const struct bitset *s, uint64_t start,
			  uint64_t last)
{
	struct piece p;
	uint64_t found;

	while (start <= last && start / BITSET_CHUNK < s->chunks) {
		p = piece_of(start, last);
		if (s->chunk[p.c]) {
			found = first_in(s->chunk[p.c], &p, 0);
			if (found != UINT64_MAX)
				return found;
		}
		start = (p.c + 1) * BITSET_CHUNK;
	}
	return UINT64_MAX;
}

uint64_t bitset_first_clear(const struct bitset *s, uint64_t start,
			    uint64_t last)
{
	struct piece p;
	uint64_t found;

	while (start <= last) {
		p = piece_of(start, last);
		if (p.c >= s->chunks || !s->chunk[p.c])
			return start;
		if (s->chunk[p.c] != bitset_full) {
			found = first_in(s->chunk[p.c], &p, UINT64_MAX);
			if (found != UINT64_MAX)
				return found;
		}
		start = (p.c + 1) * BITSET_CHUNK;
	}
	return UINT64_MAX;
}

/*
 * Bytes.
 */

/* 64 bits of `in` from bit `at`, of `n`; those behind it are clear. */
static uint64_t input(const unsigned char *in, uint64_t at, uint64_t n)
{
	uint64_t left = n - at, v = 0;

	memcpy(&v, in + at / 8, left >= WORD ? 8 : (size_t)(left + 7) / 8);
	v = le64toh(v);
	return left >= WORD ? v : v & (UINT64_MAX >> (WORD - left));
}

static void add_word(struct bitset *s, uint64_t bit, uint64_t v)
{
	unsigned char *at;
	uint64_t old;

	if (!v)
		return;		/* no memory for a chunk of clear bits */
	at = bitset_own(s, bit / BITSET_CHUNK) + bit % BITSET_CHUNK / WORD * 8;
	old = load(at);
	s->used += ones(v & ~old);
	store(at, old | v);
}

void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t n,
		      const unsigned char *in)
{
	unsigned shift = start % WORD;
	uint64_t at, v;

	for (at = 0; at < n; at += WORD) {
		v = input(in, at, n);
		add_word(s, start + at, v << shift);
		if (shift)
			add_word(s, start + at + WORD, v >> (WORD - shift));
	}
}

static uint64_t get_word(const struct bitset *s, uint64_t bit)
{
	uint64_t c = bit / BITSET_CHUNK;

	if (c >= s->chunks || !s->chunk[c])
		return 0;
	return load(s->chunk[c] + bit % BITSET_CHUNK / WORD * 8);
}

/* 64 bits from bit `i` on. */
static uint64_t word_at(const struct bitset *s, uint64_t i)
{
	unsigned shift = i % WORD;
	uint64_t v = get_word(s, i) >> shift;

	return shift ? v | get_word(s, i + WORD) << (WORD - shift) : v;
}

static void get_chunk(const struct bitset *s, uint64_t c, unsigned char *out)
{
	if (c < s->chunks && s->chunk[c])
		memcpy(out, s->chunk[c], BYTES);
	else
		memset(out, 0, BYTES);
}

void bitset_get_bytes(const struct bitset *s, uint64_t start, uint64_t n,
		      unsigned char *out)
{
	uint64_t at, v, left;

	for (at = 0; at < n; at += WORD) {
		left = n - at;
		if (!((start + at) % BITSET_CHUNK) && left >= BITSET_CHUNK) {
			get_chunk(s, (start + at) / BITSET_CHUNK, out + at / 8);
			at += BITSET_CHUNK - WORD;
			continue;
		}
		v = word_at(s, start + at);
		if (left < WORD)
			v &= UINT64_MAX >> (WORD - left);
		v = htole64(v);
		memcpy(out + at / 8, &v,
		       left >= WORD ? 8 : (size_t)(left + 7) / 8);
	}
}
