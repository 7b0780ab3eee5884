/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges and searches in a bit array, 64 bits at a time.  Does not know what
 * the bits stand for.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bitset.h"

#define WORD 64u
#define BYTES (BITSET_CHUNK / 8)

/* The table and the pool each begin on a page boundary: the kernel provides
 * memory by the page. */
static uint64_t table_bytes(uint64_t chunks)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (chunks * sizeof(uint32_t) + page - 1) / page * page;
}

uint64_t bitset_bytes(uint64_t bits)
{
	uint64_t chunks = bits / BITSET_CHUNK + 1, bytes;

	if (chunks > UINT32_MAX - BITSET_OWN)
		return UINT64_MAX;
	bytes = table_bytes(chunks) + (chunks + BITSET_OWN) * BYTES;
	return bytes > SIZE_MAX / 2 ? UINT64_MAX : bytes;
}

bool bitset_init(struct bitset *s, uint64_t bits)
{
	uint64_t bytes = bitset_bytes(bits);
	void *p = MAP_FAILED;

	memset(s, 0, sizeof(*s));
	/* NORESERVE: it must not count as memory before it is used. */
	if (bytes != UINT64_MAX)
		p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	s->chunks = bits / BITSET_CHUNK + 1;
	s->table = p;
	s->pool = (unsigned char *)p + table_bytes(s->chunks);
	s->bytes = (size_t)bytes;
	s->low = UINT64_MAX;
	s->fresh = BITSET_OWN;
	memset(s->pool + BITSET_FULL * BYTES, 0xff, BYTES);
	return true;
}

void bitset_free(struct bitset *s)
{
	if (s->table)
		munmap(s->table, s->bytes);
	memset(s, 0, sizeof(*s));
}

void bitset_clear_all(struct bitset *s)
{
	size_t used = s->fresh * (size_t)BYTES;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (s->low <= s->high)
		memset(s->table + s->low, 0,
		       (size_t)(s->high - s->low + 1) * sizeof(*s->table));
	/* A chunk is initialized when it is taken, so it does not matter
	 * whether this really frees the memory. */
	if (used > page)
		(void)madvise(s->pool + page, used - page, MADV_DONTNEED);
	s->fresh = BITSET_OWN;
	s->spare = 0;
	s->low = UINT64_MAX;
	s->high = 0;
}

bool bitset_is_empty(const struct bitset *s)
{
	return s->low > s->high ||
	       bitset_first_set(s, s->low * BITSET_CHUNK,
				s->high * BITSET_CHUNK + BITSET_CHUNK - 1) ==
	       UINT64_MAX;
}

static void touch(struct bitset *s, uint64_t c)
{
	if (c < s->low)
		s->low = c;
	if (c > s->high)
		s->high = c;
}

/* Take a free chunk of the pool.  There is always one: the pool has as many as
 * the table has entries. */
static uint32_t take(struct bitset *s)
{
	uint32_t n = s->spare;

	if (!n)
		return s->fresh++;
	memcpy(&s->spare, s->pool + (size_t)n * BYTES, sizeof(s->spare));
	return n;
}

/* Make a chunk entirely clear or set. */
static void become(struct bitset *s, uint64_t c, uint32_t what)
{
	uint32_t n = s->table[c];

	if (n >= BITSET_OWN) {
		memcpy(s->pool + (size_t)n * BYTES, &s->spare,
		       sizeof(s->spare));
		s->spare = n;
	}
	s->table[c] = what;
	touch(s, c);
}

unsigned char *bitset_make(struct bitset *s, uint64_t c)
{
	int fill = s->table[c] == BITSET_FULL ? 0xff : 0;

	s->table[c] = take(s);
	touch(s, c);
	return memset(bitset_chunk(s, c), fill, BYTES);
}

bool bitset_copy(const struct bitset *from, struct bitset *to)
{
	uint64_t c;

	if (!bitset_init(to, (from->chunks - 1) * BITSET_CHUNK))
		return false;
	for (c = from->low; c <= from->high && c < from->chunks; c++) {
		if (from->table[c] < BITSET_OWN)
			become(to, c, from->table[c]);
		else
			memcpy(bitset_own(to, c), bitset_chunk(from, c), BYTES);
	}
	return true;
}

/*
 * Ranges are handled chunk by chunk: the part of start..last in the first
 * chunk.
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

/* The bits of word `w` of a chunk that belong to the piece. */
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

	if (s->table[p->c] == BITSET_FULL)
		return;
	if (whole(p)) {
		become(s, p->c, BITSET_FULL);
		return;
	}
	chunk = bitset_own(s, p->c);
	for (w = p->first / WORD; w <= p->last / WORD; w++)
		bitset_store(chunk + w * 8,
			     bitset_load(chunk + w * 8) | inside(w, p));
}

void bitset_set_range(struct bitset *s, uint64_t start, uint64_t n)
{
	uint64_t last = start + n - 1;
	struct piece p;

	while (n && start <= last && start / BITSET_CHUNK < s->chunks) {
		p = piece_of(start, last);
		set_piece(s, &p);
		start = (p.c + 1) * BITSET_CHUNK;
	}
}

static void clear_piece(struct bitset *s, const struct piece *p)
{
	unsigned char *chunk;
	unsigned w;

	if (s->table[p->c] == BITSET_CLEAR)
		return;
	if (whole(p)) {
		become(s, p->c, BITSET_CLEAR);
		return;
	}
	chunk = bitset_own(s, p->c);
	for (w = p->first / WORD; w <= p->last / WORD; w++)
		bitset_store(chunk + w * 8,
			     bitset_load(chunk + w * 8) & ~inside(w, p));
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
		uint64_t v = (bitset_load(chunk + w * 8) ^ same) & inside(w, p);

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

	/* e2fsck's readahead makes a map of the whole filesystem for each part
	 * that it reads, and searches beyond the last bit.  At 16 TiB a search
	 * of the whole table takes 4 to 6.6 ms each time. */
	if (s->low > s->high)
		return UINT64_MAX;
	if (start / BITSET_CHUNK < s->low)
		start = s->low * BITSET_CHUNK;
	if (last / BITSET_CHUNK > s->high)
		last = s->high * BITSET_CHUNK + BITSET_CHUNK - 1;
	while (start <= last) {
		p = piece_of(start, last);
		if (s->table[p.c] != BITSET_CLEAR) {
			found = first_in(bitset_chunk(s, p.c), &p, 0);
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
		if (p.c >= s->chunks || s->table[p.c] == BITSET_CLEAR)
			return start;
		if (s->table[p.c] != BITSET_FULL) {
			found = first_in(bitset_chunk(s, p.c), &p, UINT64_MAX);
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

/* 64 bits of `in` from bit `at` on; bits from `n` on are clear. */
static uint64_t input(const unsigned char *in, uint64_t at, uint64_t n)
{
	uint64_t left = n - at, v = 0;

	memcpy(&v, in + at / 8, left >= WORD ? 8 : (size_t)(left + 7) / 8);
	v = le64toh(v);
	return left >= WORD ? v : v & (UINT64_MAX >> (WORD - left));
}

static void add_word(struct bitset *s, uint64_t bit, uint64_t v)
{
	uint64_t c = bit / BITSET_CHUNK;
	unsigned char *at;

	if (!v || c >= s->chunks || s->table[c] == BITSET_FULL)
		return;		/* do not take a chunk just for clear bits */
	at = bitset_own(s, c) + bit % BITSET_CHUNK / WORD * 8;
	bitset_store(at, bitset_load(at) | v);
}

/* Are all bits of this chunk-sized piece set? */
static bool all_set(const unsigned char *in)
{
	return in[0] == 0xff && !memcmp(in, in + 1, BYTES - 1);
}

void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t n,
		      const unsigned char *in)
{
	unsigned shift = start % WORD;
	uint64_t at, c, v;

	for (at = 0; at < n; at += WORD) {
		c = (start + at) / BITSET_CHUNK;
		if (!((start + at) % BITSET_CHUNK) && n - at >= BITSET_CHUNK &&
		    c < s->chunks && all_set(in + at / 8)) {
			become(s, c, BITSET_FULL);
			at += BITSET_CHUNK - WORD;
			continue;
		}
		v = input(in, at, n);
		add_word(s, start + at, v << shift);
		if (shift)
			add_word(s, start + at + WORD, v >> (WORD - shift));
	}
}

static uint64_t get_word(const struct bitset *s, uint64_t bit)
{
	uint64_t c = bit / BITSET_CHUNK;

	if (c >= s->chunks)
		return 0;
	return bitset_load(bitset_chunk(s, c) + bit % BITSET_CHUNK / WORD * 8);
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
	if (c < s->chunks)
		memcpy(out, bitset_chunk(s, c), BYTES);
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
