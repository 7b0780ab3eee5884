/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses a small form for the content of each chunk of 4,096 bits, and changes
 * it as bits are set and cleared:
 *
 *	clear, full	nothing but a mark
 *	one run		in the number that would otherwise be a pointer
 *	a list of runs	4 bytes each, up to 12
 *	bits		520 bytes: less than 11 runs take in a tree
 *
 * A longer list would be smaller than bits, up to 128 runs, and was slower: with
 * lists of up to 2,048 runs in chunks of 65,536 bits a warm check of a fresh
 * filesystem took 0.64 to 0.74 of stock's processor time, and takes 0.36 to 0.59 now
 * (bench/memory).
 *
 * A node stands for 64 chunks and stores a number for each that is neither
 * clear nor full.  A node that is clear, full or one run needs no memory
 * either.  Compressed bitmaps (Roaring) choose among the same forms; their
 * library keeps an array of containers in order, which moves on each insertion
 * in its middle, and reports no failed allocation.
 *
 * Does not know what the bits stand for.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "bitset.h"

#define LAST (BITSET_CHUNK - 1)
#define WORDS (BITSET_CHUNK / 64)
#define CHUNKS 64u			/* of a node */
#define NODE_BITS ((uint64_t)CHUNKS * BITSET_CHUNK)
#define NONE UINT64_MAX

/* An array of bits becomes a list at half of the runs that a list may have, lest
 * it change its form with every other call. */
#define LIST_MOST 12u
#define LIST_AGAIN (LIST_MOST / 2)

/* What libext2fs's tree takes for a run: 40 bytes and the allocator's 8. */
#define TREE_RUN 48u

struct run {
	uint16_t first, last;
};

struct list {
	uint16_t used, room;
	struct run run[];
};

struct node {
	uint64_t some;		/* chunks that have a number in `chunk` */
	uint64_t full;		/* chunks that are full */
	uint64_t chunk[];
};

/*
 * Memory.
 */

static struct bitset_memory total;

struct bitset_memory bitset_memory(void)
{
	return total;
}

/* The allocator's header, and its unit of 16 bytes. */
static uint64_t taken(size_t bytes)
{
	return (bytes + 8 + 15) / 16 * 16;
}

static void account(size_t freed, size_t made)
{
	total.bytes += (made ? taken(made) : 0) - (freed ? taken(freed) : 0);
	if (total.bytes > total.most_bytes)
		total.most_bytes = total.bytes;
}

static void account_runs(struct bitset *s, int64_t more)
{
	s->runs += (uint64_t)more;
	total.trees += (uint64_t)more * TREE_RUN;
	if (total.trees > total.most_trees)
		total.most_trees = total.trees;
}

/* NULL if there is no memory; then `old` is as before. */
static void *try_resize(void *old, size_t had, size_t bytes)
{
	void *p = realloc(old, bytes);

	if (p)
		account(had, bytes);
	return p;
}

static void *resize(void *old, size_t had, size_t bytes)
{
	void *p = try_resize(old, had, bytes);

	if (!p)
		abort();
	return p;
}

static void release(void *p, size_t bytes)
{
	account(bytes, 0);
	free(p);
}

/*
 * Chunks.
 */

static uint64_t of_pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void *pointer_of(uint64_t number)
{
	return (void *)(uintptr_t)(number & ~UINT64_C(3));
}

static unsigned form(uint64_t number)
{
	return number & 3;
}

/* Is the number a pointer, to a list in a node and to a node in the root? */
static bool is_pointer(uint64_t number)
{
	return number && !form(number);
}

static uint64_t of_run(uint64_t first, uint64_t last)
{
	return last * (UINT64_C(1) << 32) + first * 4 + BITSET_RUN;
}

static uint64_t run_first(uint64_t number)
{
	return (number & UINT32_MAX) >> 2;
}

static uint64_t run_last(uint64_t number)
{
	return number >> 32;
}

static uint64_t chunk_of_run(unsigned first, unsigned last)
{
	return !first && last == LAST ? BITSET_FULL : of_run(first, last);
}

/* The runs of a chunk that is not an array of bits; `one` is for a chunk that
 * has no list.  Returns their number. */
static unsigned runs_of(uint64_t content, const struct run **run,
			struct run *one)
{
	const struct list *l = pointer_of(content);

	*run = one;
	if (content == BITSET_CLEAR)
		return 0;
	if (content == BITSET_FULL) {
		*one = (struct run){ 0, LAST };
		return 1;
	}
	if (form(content) == BITSET_RUN) {
		*one = (struct run){ (uint16_t)run_first(content),
				     (uint16_t)run_last(content) };
		return 1;
	}
	*run = l->run;
	return l->used;
}

static unsigned count_runs(uint64_t content)
{
	if (form(content) == BITSET_BITS)
		return bitset_bits_of(content)->runs;
	if (is_pointer(content))
		return ((const struct list *)pointer_of(content))->used;
	return content != BITSET_CLEAR;
}

/* The first run that ends at this bit or after it. */
static unsigned first_after(const struct run *run, unsigned n, unsigned bit)
{
	unsigned i;

	for (i = 0; i < n && run[i].last < bit; i++)
		;
	return i;
}

bool bitset_test_runs(uint64_t content, unsigned bit)
{
	const struct list *l = pointer_of(content);
	unsigned i;

	if (form(content) == BITSET_RUN)
		return bit >= run_first(content) && bit <= run_last(content);
	i = first_after(l->run, l->used, bit);
	return i < l->used && l->run[i].first <= bit;
}

static size_t list_bytes(unsigned room)
{
	return sizeof(struct list) + room * sizeof(struct run);
}

static void free_content(uint64_t content)
{
	struct list *l = pointer_of(content);

	if (form(content) == BITSET_BITS)
		release(l, sizeof(struct bitset_bits));
	else if (is_pointer(content))
		release(l, list_bytes(l->room));
}

/* The part of first..last in word `w`. */
static uint64_t mask(unsigned w, unsigned first, unsigned last)
{
	uint64_t m = UINT64_MAX;

	if (w == first / 64)
		m <<= first % 64;
	if (w == last / 64)
		m &= UINT64_MAX >> (63 - last % 64);
	return m;
}

static unsigned count_ones(uint64_t v)
{
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) +
	    (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
}

/* The number of runs that begin in words first..last. */
static unsigned begins(const uint64_t *word, unsigned first, unsigned last)
{
	uint64_t before = first ? word[first - 1] >> 63 : 0;
	unsigned n = 0;

	for (; first <= last; first++) {
		n += count_ones(word[first] & ~(word[first] << 1 | before));
		before = word[first] >> 63;
	}
	return n;
}

static void change_words(struct bitset_bits *b, unsigned first, unsigned last,
			 bool set)
{
	unsigned w = first / 64, end = last / 64;
	unsigned after = end + 1 < WORDS ? end + 1 : end;

	b->runs -= begins(b->word, w, after);
	for (; w <= end; w++) {
		if (set)
			b->word[w] |= mask(w, first, last);
		else
			b->word[w] &= ~mask(w, first, last);
	}
	b->runs += begins(b->word, first / 64, after);
}

/* The first bit from `bit` on that has this value; BITSET_CHUNK if none. */
static unsigned next_word_bit(const struct bitset_bits *b, unsigned bit,
			      bool value)
{
	uint64_t same = value ? 0 : UINT64_MAX;
	unsigned w = bit / 64;
	uint64_t v = (b->word[w] ^ same) & mask(w, bit, LAST);

	while (!v && ++w < WORDS)
		v = b->word[w] ^ same;
	return v ? w * 64 + (unsigned)__builtin_ctzll(v) : BITSET_CHUNK;
}

/* A list of these runs, with room for some more, but never for more than
 * LIST_MOST; sizes that leave nothing of the allocator's units unused. */
static unsigned list_room(unsigned runs)
{
	unsigned room = (runs + runs / 4 + 3) / 4 * 4 + 1;

	return room < LIST_MOST ? room : LIST_MOST;
}

/* Fill an array with the runs of `b`. */
static void copy_runs(const struct bitset_bits *b, struct run *run)
{
	unsigned bit = next_word_bit(b, 0, true), end;

	while (bit < BITSET_CHUNK) {
		end = next_word_bit(b, bit, false);
		*run++ = (struct run){ (uint16_t)bit, (uint16_t)(end - 1) };
		if (end == BITSET_CHUNK)
			return;
		bit = next_word_bit(b, end, true);
	}
}

/* The content of an array of bits that has few runs, as anything else. */
static uint64_t from_bits(struct bitset_bits *b)
{
	unsigned n = b->runs, room = list_room(n);
	struct run one = { 0, 0 };
	struct list *l;

	if (n > 1) {
		l = resize(NULL, 0, list_bytes(room));
		*l = (struct list){ .used = (uint16_t)n,
				    .room = (uint16_t)room };
		copy_runs(b, l->run);
		release(b, sizeof(*b));
		return of_pointer(l);
	}
	if (n)
		copy_runs(b, &one);
	release(b, sizeof(*b));
	return n ? chunk_of_run(one.first, one.last) : BITSET_CLEAR;
}

static uint64_t to_bits(uint64_t content)
{
	struct bitset_bits *b = resize(NULL, 0, sizeof(*b));
	const struct run *run;
	struct run one;
	unsigned n = runs_of(content, &run, &one), i, w;

	memset(b, 0, sizeof(*b));
	b->runs = n;
	for (i = 0; i < n; i++)
		for (w = run[i].first / 64; w <= run[i].last / 64; w++)
			b->word[w] |= mask(w, run[i].first, run[i].last);
	free_content(content);
	return of_pointer(b) | BITSET_BITS;
}

static uint64_t change_bits(uint64_t content, unsigned first, unsigned last,
			    bool set)
{
	struct bitset_bits *b = bitset_bits_of(content);

	change_words(b, first, last, set);
	return b->runs <= LIST_AGAIN ? from_bits(b) : content;
}

/* A change to a list: runs i..j-1 are replaced by `fresh`. */
struct splice {
	unsigned i, j, count;
	struct run fresh[2];
};

static struct splice plan_set(const struct run *run, unsigned n,
			      unsigned first, unsigned last)
{
	struct splice p = { .count = 1 };

	/* Runs that only touch the range become part of it, too. */
	p.i = first_after(run, n, first ? first - 1 : 0);
	for (p.j = p.i; p.j < n && run[p.j].first <= last + 1; p.j++)
		;
	if (p.i < p.j && run[p.i].first < first)
		first = run[p.i].first;
	if (p.i < p.j && run[p.j - 1].last > last)
		last = run[p.j - 1].last;
	p.fresh[0] = (struct run){ (uint16_t)first, (uint16_t)last };
	return p;
}

static struct splice plan_clear(const struct run *run, unsigned n,
				unsigned first, unsigned last)
{
	struct splice p = { .count = 0 };

	p.i = first_after(run, n, first);
	for (p.j = p.i; p.j < n && run[p.j].first <= last; p.j++)
		;
	if (p.i < p.j && run[p.i].first < first)
		p.fresh[p.count++] = (struct run){ run[p.i].first,
						   (uint16_t)(first - 1) };
	if (p.i < p.j && run[p.j - 1].last > last)
		p.fresh[p.count++] = (struct run){ (uint16_t)(last + 1),
						   run[p.j - 1].last };
	return p;
}

/* The list of `content`, or a new one with the same runs, with room for
 * `runs`. */
static struct list *make_room(uint64_t content, const struct run *run,
			      unsigned n, unsigned runs)
{
	unsigned room = list_room(runs);
	struct list *l = is_pointer(content) ? pointer_of(content) : NULL;

	if (l && runs <= l->room && (runs >= l->room / 4 || l->room < 16))
		return l;
	if (l && runs < n)
		room = list_room(n);	/* all of them have to be moved first */
	if (l) {
		l = resize(l, list_bytes(l->room), list_bytes(room));
	} else {
		l = resize(NULL, 0, list_bytes(room));
		memcpy(l->run, run, n * sizeof(*run));
	}
	l->room = (uint16_t)room;
	return l;
}

static uint64_t change_runs(uint64_t content, unsigned first, unsigned last,
			    bool set)
{
	const struct run *run;
	struct run one;
	unsigned n = runs_of(content, &run, &one), runs;
	struct splice p = set ? plan_set(run, n, first, last) :
				plan_clear(run, n, first, last);
	struct list *l;

	runs = n - (p.j - p.i) + p.count;
	if (runs > LIST_MOST)
		return change_bits(to_bits(content), first, last, set);
	if (runs < 2) {
		if (runs)
			one = p.count ? p.fresh[0] : run[p.i ? 0 : p.j];
		free_content(content);
		return runs ? chunk_of_run(one.first, one.last) : BITSET_CLEAR;
	}
	l = make_room(content, run, n, runs);
	memmove(l->run + p.i + p.count, l->run + p.j,
		(n - p.j) * sizeof(*l->run));
	memcpy(l->run + p.i, p.fresh, p.count * sizeof(*l->run));
	l->used = (uint16_t)runs;
	return of_pointer(l);
}

static uint64_t change_content(uint64_t content, unsigned first,
			       unsigned last, bool set)
{
	if (content == (set ? BITSET_FULL : BITSET_CLEAR))
		return content;
	if (!first && last == LAST) {
		free_content(content);
		return set ? BITSET_FULL : BITSET_CLEAR;
	}
	return form(content) == BITSET_BITS ?
	       change_bits(content, first, last, set) :
	       change_runs(content, first, last, set);
}

/* The first bit from `bit` on that has this value; BITSET_CHUNK if none. */
static unsigned next_bit(uint64_t content, unsigned bit, bool value)
{
	const struct run *run;
	struct run one;
	unsigned n, i;

	if (form(content) == BITSET_BITS)
		return next_word_bit(bitset_bits_of(content), bit, value);
	n = runs_of(content, &run, &one);
	i = first_after(run, n, bit);
	if (i == n || run[i].first > bit) {
		if (!value)
			return bit;
		return i < n ? run[i].first : BITSET_CHUNK;
	}
	return value ? bit : run[i].last + 1u;
}

/*
 * Nodes.
 */

/* Room for an odd number leaves nothing of the allocator's units unused. */
static size_t node_bytes(unsigned chunks)
{
	return sizeof(struct node) + (chunks | 1) * sizeof(uint64_t);
}

static unsigned node_chunks(const struct node *n)
{
	return count_ones(n->some);
}

/* Where the number of chunk `k` of the node is, or would be. */
static unsigned place(const struct node *n, unsigned k)
{
	return count_ones(n->some & ((UINT64_C(1) << k) - 1));
}

/* The part of a run of a whole node that is in chunk `k`. */
static uint64_t run_in_chunk(uint64_t run, unsigned k)
{
	uint64_t start = (uint64_t)k * BITSET_CHUNK, end = start + LAST;
	uint64_t first = run_first(run), last = run_last(run);

	if (last < start || first > end)
		return BITSET_CLEAR;
	return chunk_of_run(first > start ? (unsigned)(first - start) : 0,
			    last < end ? (unsigned)(last - start) : LAST);
}

/* The content of a chunk, and where its node has it. */
static uint64_t get(const struct bitset *s, uint64_t c, uint64_t **slot)
{
	uint64_t number = s->root[c / CHUNKS];
	struct node *n = pointer_of(number);
	unsigned k = c % CHUNKS;

	*slot = NULL;
	if (number <= BITSET_FULL)
		return number;
	if (form(number) == BITSET_RUN)
		return run_in_chunk(number, k);
	if (n->full >> k & 1)
		return BITSET_FULL;
	if (!(n->some >> k & 1))
		return BITSET_CLEAR;
	*slot = &n->chunk[place(n, k)];
	return **slot;
}

void bitset_find(struct bitset *s, uint64_t c)
{
	s->at = c;
	s->content = get(s, c, &s->slot);
}

/* Make a node of a number that is none. */
static struct node *expand(uint64_t number)
{
	struct node *n = resize(NULL, 0, node_bytes(2));
	uint64_t content;
	unsigned k, used = 0;

	*n = (struct node){ .some = 0, .full = 0 };
	for (k = 0; k < CHUNKS; k++) {
		content = form(number) == BITSET_RUN ? run_in_chunk(number, k) :
						       number;
		if (content == BITSET_FULL)
			n->full |= UINT64_C(1) << k;
		else if (content != BITSET_CLEAR) {
			n->some |= UINT64_C(1) << k;
			n->chunk[used++] = content;
		}
	}
	return resize(n, node_bytes(2), node_bytes(used));
}

/* Replace the number of chunk `k`.  The node may move. */
static struct node *put_in_node(struct node *n, unsigned k, uint64_t content)
{
	uint64_t bit = UINT64_C(1) << k;
	unsigned at = place(n, k), count = node_chunks(n);
	bool was = n->some & bit, is = content > BITSET_FULL;

	if (is && !was) {
		n = resize(n, node_bytes(count), node_bytes(count + 1));
		memmove(n->chunk + at + 1, n->chunk + at,
			(count - at) * sizeof(*n->chunk));
	} else if (was && !is) {
		memmove(n->chunk + at, n->chunk + at + 1,
			(count - at - 1) * sizeof(*n->chunk));
		n = resize(n, node_bytes(count), node_bytes(count - 1));
	}
	if (is)
		n->chunk[at] = content;
	n->some = is ? n->some | bit : n->some & ~bit;
	n->full = content == BITSET_FULL ? n->full | bit : n->full & ~bit;
	return n;
}

/* Add first..last, which begins after what is in *number, to that run.  False
 * if there would be a gap. */
static bool append(uint64_t *number, uint64_t first, uint64_t last)
{
	if (*number != BITSET_CLEAR) {
		if (first != run_last(*number) + 1)
			return false;
		first = run_first(*number);
	}
	*number = of_run(first, last);
	return true;
}

/* Replace the content of chunk `k` in a number that is no node.  False if the
 * result is more than one run. */
static bool put_in_run(uint64_t *number, unsigned k, uint64_t content)
{
	uint64_t start = (uint64_t)k * BITSET_CHUNK, end = start + LAST;
	uint64_t old = *number, first, last, result = BITSET_CLEAR;

	if (content == BITSET_FULL)
		content = of_run(0, LAST);
	if (old == BITSET_FULL)
		old = of_run(0, NODE_BITS - 1);
	if (is_pointer(content) || form(content) == BITSET_BITS)
		return false;
	first = run_first(old);
	last = run_last(old);
	if (old != BITSET_CLEAR && first < start)
		append(&result, first, last < start ? last : start - 1);
	if (content != BITSET_CLEAR &&
	    !append(&result, start + run_first(content),
		    start + run_last(content)))
		return false;
	if (old != BITSET_CLEAR && last > end &&
	    !append(&result, first > end ? first : end + 1, last))
		return false;
	*number = result == of_run(0, NODE_BITS - 1) ? BITSET_FULL : result;
	return true;
}

static void put(struct bitset *s, uint64_t c, uint64_t content)
{
	uint64_t *number = &s->root[c / CHUNKS];
	struct node *n;

	s->at = c;
	s->content = content;
	if (s->slot && content > BITSET_FULL) {
		*s->slot = content;
		return;
	}
	s->slot = NULL;
	if (!is_pointer(*number) && put_in_run(number, c % CHUNKS, content))
		return;
	n = is_pointer(*number) ? pointer_of(*number) : expand(*number);
	n = put_in_node(n, c % CHUNKS, content);
	*number = of_pointer(n);
	if (n->some || (n->full && ~n->full)) {
		bitset_find(s, c);
		return;
	}
	*number = n->full ? BITSET_FULL : BITSET_CLEAR;
	release(n, node_bytes(0));
}

/*
 * Sets.
 */

static uint64_t root_numbers(uint64_t bits)
{
	return bits / NODE_BITS + 1;
}

bool bitset_init(struct bitset *s, uint64_t bits)
{
	uint64_t numbers = root_numbers(bits);

	*s = (struct bitset){ .bits = bits, .at = NONE };
	if (numbers > SIZE_MAX / sizeof(*s->root))
		return false;
	/* Pages of a large one are not there before they are written to. */
	s->root = calloc((size_t)numbers, sizeof(*s->root));
	if (s->root)
		account(0, (size_t)numbers * sizeof(*s->root));
	return s->root;
}

static void free_node(struct node *n)
{
	unsigned i, count = node_chunks(n);

	for (i = 0; i < count; i++)
		free_content(n->chunk[i]);
	release(n, node_bytes(count));
}

void bitset_clear_all(struct bitset *s)
{
	uint64_t i, numbers = root_numbers(s->bits);

	for (i = 0; i < numbers; i++) {
		if (is_pointer(s->root[i]))
			free_node(pointer_of(s->root[i]));
		if (s->root[i])
			s->root[i] = BITSET_CLEAR;
	}
	account_runs(s, -(int64_t)s->runs);
	s->at = NONE;
	s->slot = NULL;
}

void bitset_free(struct bitset *s)
{
	bitset_clear_all(s);
	release(s->root, (size_t)root_numbers(s->bits) * sizeof(*s->root));
	s->root = NULL;
}

static bool copy_content(uint64_t from, uint64_t *to)
{
	const struct list *l = pointer_of(from);
	size_t bytes = form(from) == BITSET_BITS ? sizeof(struct bitset_bits) :
		       list_bytes(is_pointer(from) ? l->room : 0);
	void *p;

	*to = from;
	if (form(from) != BITSET_BITS && !is_pointer(from))
		return true;
	p = try_resize(NULL, 0, bytes);
	if (!p)
		return false;
	*to = of_pointer(memcpy(p, l, bytes)) | form(from);
	return true;
}

static struct node *copy_node(const struct node *from)
{
	unsigned i, count = node_chunks(from);
	struct node *n = try_resize(NULL, 0, node_bytes(count));

	if (!n)
		return NULL;
	*n = *from;
	for (i = 0; i < count; i++)
		if (!copy_content(from->chunk[i], &n->chunk[i]))
			break;
	if (i == count)
		return n;
	while (i--)
		free_content(n->chunk[i]);
	release(n, node_bytes(count));
	return NULL;
}

bool bitset_copy(const struct bitset *from, struct bitset *to)
{
	uint64_t i, numbers = root_numbers(from->bits);
	struct node *n;

	if (!bitset_init(to, from->bits))
		return false;
	for (i = 0; i < numbers; i++) {
		if (!is_pointer(from->root[i])) {
			if (from->root[i])
				to->root[i] = from->root[i];
			continue;
		}
		n = copy_node(pointer_of(from->root[i]));
		if (!n) {
			bitset_free(to);
			return false;
		}
		to->root[i] = of_pointer(n);
	}
	account_runs(to, (int64_t)from->runs);
	return true;
}

bool bitset_resize(struct bitset *s, uint64_t bits)
{
	size_t had = (size_t)root_numbers(s->bits), has;
	uint64_t *root;

	if (root_numbers(bits) > SIZE_MAX / sizeof(*root))
		return false;
	has = (size_t)root_numbers(bits);
	if (bits < s->bits)
		bitset_clear_range(s, bits, s->bits - bits);
	root = try_resize(s->root, had * sizeof(*root), has * sizeof(*root));
	if (!root)
		return false;
	if (has > had)
		memset(root + had, 0, (has - had) * sizeof(*root));
	s->root = root;
	s->bits = bits;
	s->at = NONE;
	s->slot = NULL;
	return true;
}

/*
 * Changes.
 */

static bool test(const struct bitset *s, uint64_t i)
{
	uint64_t *unused;

	return i < s->bits &&
	       next_bit(get(s, i / BITSET_CHUNK, &unused), i % BITSET_CHUNK,
			true) == i % BITSET_CHUNK;
}

/* The number of the chunk's two borders that are inside a run. */
static int joined(const struct bitset *s, uint64_t c)
{
	uint64_t start = c * BITSET_CHUNK, end = start + LAST;

	return (c && test(s, start - 1) && test(s, start)) +
	       (test(s, end) && test(s, end + 1));
}

/* Change bits of one word.  False, and nothing is changed, if they are not in
 * one, or if the array would get another form. */
static bool change_word(struct bitset *s, unsigned first, unsigned last,
			bool set)
{
	struct bitset_bits *b = bitset_bits_of(s->content);
	unsigned w = first / 64;
	uint64_t old, fresh, before, after;
	int runs;

	if (w != last / 64)
		return false;
	old = b->word[w];
	fresh = set ? old | mask(w, first, last) : old & ~mask(w, first, last);
	before = w ? b->word[w - 1] >> 63 : 0;
	after = w + 1 < WORDS ? b->word[w + 1] & 1 : 0;
	if (first == last && set)
		runs = 1 - (int)(((old << 1 | before) >> first % 64) & 1) -
		       (int)(((old >> 1 | after << 63) >> first % 64) & 1);
	else
		runs = (int)count_ones(fresh & ~(fresh << 1 | before)) -
		       (int)count_ones(old & ~(old << 1 | before)) +
		       (int)(after & (old >> 63)) -
		       (int)(after & (fresh >> 63));
	if (fresh == old)
		return true;
	if (runs < 0 && (int)b->runs + runs <= (int)LIST_AGAIN)
		return false;
	b->word[w] = fresh;
	b->runs += (unsigned)runs;
	if (runs)
		account_runs(s, runs);
	return true;
}

__attribute__((noinline))
static void change(struct bitset *s, uint64_t c, unsigned first, unsigned last,
		   bool set)
{
	bool border = !first || last == LAST;
	uint64_t old, content;
	int64_t runs;

	if (c != s->at)
		bitset_find(s, c);
	old = s->content;
	if (old == (set ? BITSET_FULL : BITSET_CLEAR))
		return;
	runs = (int64_t)count_runs(old) - (border ? joined(s, c) : 0);
	content = change_content(old, first, last, set);
	if (content != old)
		put(s, c, content);
	account_runs(s, (int64_t)count_runs(content) -
		     (border ? joined(s, c) : 0) - runs);
}

/* Lengthen a run of a list by bits that follow it.  False if there is none, or if
 * it would reach the next one. */
static bool lengthen_run(struct list *l, unsigned bit, unsigned count)
{
	unsigned i;

	for (i = 0; i < l->used && l->run[i].last + 1u < bit; i++)
		;
	if (i == l->used || l->run[i].last + 1u != bit ||
	    (i + 1 < l->used && l->run[i + 1].first <= bit + count))
		return false;
	l->run[i].last = (uint16_t)(bit + count - 1);
	return true;
}

/* Most bits are set after others that are, and most changes are within a word.
 * These lengthen a run, or change the word, where the content keeps its form.
 * False, and nothing is changed, if this is another change. */
static bool lengthen(struct bitset *s, uint64_t start, uint64_t count)
{
	uint64_t *number = &s->root[start / NODE_BITS];
	uint64_t at = start % NODE_BITS;
	unsigned bit = start % BITSET_CHUNK;

	if (form(*number) == BITSET_RUN && run_last(*number) + 1 == at &&
	    count < NODE_BITS - at) {
		*number += count << 32;
		s->at = NONE;
		s->slot = NULL;
		return true;
	}
	if (start / BITSET_CHUNK != s->at)
		bitset_find(s, start / BITSET_CHUNK);
	if (!s->slot || !bit || count >= BITSET_CHUNK - bit)
		return false;
	if (form(s->content) == BITSET_BITS)
		return change_word(s, bit, bit + (unsigned)count - 1, true);
	if (is_pointer(s->content))
		return lengthen_run(pointer_of(s->content), bit,
				    (unsigned)count);
	if (run_last(s->content) + 1 != bit)
		return false;
	s->content += count << 32;
	*s->slot = s->content;
	return true;
}

static void change_range(struct bitset *s, uint64_t start, uint64_t count,
			 bool set)
{
	uint64_t c, last;

	if (start >= s->bits || !count)
		return;
	if (count > s->bits - start)
		count = s->bits - start;
	if (set && lengthen(s, start, count))
		return;
	last = start + count - 1;
	for (c = start / BITSET_CHUNK; c <= last / BITSET_CHUNK; c++)
		change(s, c,
		       c == start / BITSET_CHUNK ? start % BITSET_CHUNK : 0,
		       c == last / BITSET_CHUNK ? last % BITSET_CHUNK : LAST,
		       set);
}

void bitset_set_range(struct bitset *s, uint64_t start, uint64_t count)
{
	change_range(s, start, count, true);
}

void bitset_clear_range(struct bitset *s, uint64_t start, uint64_t count)
{
	change_range(s, start, count, false);
}

bool bitset_set(struct bitset *s, uint64_t i)
{
	if (i >= s->bits)
		return false;
	if (bitset_test(s, i))
		return true;
	if (lengthen(s, i, 1))
		return false;
	change(s, i / BITSET_CHUNK, i % BITSET_CHUNK, i % BITSET_CHUNK, true);
	return false;
}

bool bitset_clear(struct bitset *s, uint64_t i)
{
	if (!bitset_test(s, i))
		return false;
	change(s, i / BITSET_CHUNK, i % BITSET_CHUNK, i % BITSET_CHUNK, false);
	return true;
}

/*
 * Searches.
 */

static uint64_t first_of(struct bitset *s, uint64_t start, uint64_t last,
			 bool value)
{
	uint64_t number, found, c;

	while (start <= last && start < s->bits) {
		number = s->root[start / NODE_BITS];
		c = start / BITSET_CHUNK;
		if (number == (value ? BITSET_CLEAR : BITSET_FULL)) {
			start = (start / NODE_BITS + 1) * NODE_BITS;
			continue;
		}
		if (c != s->at)
			bitset_find(s, c);
		found = next_bit(s->content, start % BITSET_CHUNK, value);
		start = c * BITSET_CHUNK + found;
		if (found < BITSET_CHUNK)
			return start <= last ? start : NONE;
	}
	/* Beyond the end all bits are clear. */
	return !value && start <= last ? start : NONE;
}

bool bitset_is_clear(struct bitset *s, uint64_t start, uint64_t count)
{
	uint64_t last = start + count - 1, c = start / BITSET_CHUNK;
	unsigned bit = start % BITSET_CHUNK;

	if (!count || start >= s->bits)
		return true;
	if (last / BITSET_CHUNK != c)
		return first_of(s, start, last, true) == NONE;
	if (c != s->at)
		bitset_find(s, c);
	/* Extents are short: most are within a word. */
	if (form(s->content) == BITSET_BITS && start / 64 == last / 64)
		return !(bitset_bits_of(s->content)->word[bit / 64] &
			 mask(bit / 64, bit, last % BITSET_CHUNK));
	return next_bit(s->content, bit, true) > last % BITSET_CHUNK;
}

uint64_t bitset_first_set(struct bitset *s, uint64_t start, uint64_t last)
{
	return first_of(s, start, last, true);
}

uint64_t bitset_first_clear(struct bitset *s, uint64_t start, uint64_t last)
{
	return first_of(s, start, last, false);
}

/*
 * Bytes.
 */

/* 64 of the `n` bits of `in`, from bit `at` on, which is a multiple of 64. */
static uint64_t input(const unsigned char *in, uint64_t n, uint64_t at)
{
	uint64_t left = n - at, v = 0;

	memcpy(&v, in + at / 8, left >= 64 ? 8 : (size_t)(left + 7) / 8);
	v = le64toh(v);
	return left >= 64 ? v : v & (UINT64_MAX >> (64 - left));
}

/* The first bit from `at` on that has this value; `n` if there is none. */
static uint64_t next_input(const unsigned char *in, uint64_t n, uint64_t at,
			   bool value)
{
	uint64_t same = value ? 0 : UINT64_MAX, v;
	uint64_t wanted = UINT64_MAX << at % 64;

	for (at -= at % 64; at < n; at += 64, wanted = UINT64_MAX) {
		v = (input(in, n, at) ^ same) & wanted;
		if (v) {
			at += (unsigned)__builtin_ctzll(v);
			break;
		}
	}
	return at < n ? at : n;
}

void bitset_add_bytes(struct bitset *s, uint64_t start, uint64_t n,
		      const unsigned char *in)
{
	uint64_t at = 0, end;

	while ((at = next_input(in, n, at, true)) < n) {
		end = next_input(in, n, at, false);
		bitset_set_range(s, start + at, end - at);
		at = end;
	}
}

static void fill(unsigned char *out, uint64_t at, uint64_t end)
{
	for (; at < end && at % 8; at++)
		out[at / 8] |= (unsigned char)(1u << at % 8);
	memset(out + at / 8, 0xff, (size_t)(end - at) / 8);
	for (at = end - (end - at) % 8; at < end; at++)
		out[at / 8] |= (unsigned char)(1u << at % 8);
}

/* Bits first..last of an array, where `first` is a multiple of 64. */
static void copy_words(const struct bitset_bits *b, unsigned first,
		       unsigned last, unsigned char *out)
{
	uint64_t v;
	unsigned w;

	for (w = first / 64; w <= last / 64; w++, out += 8) {
		v = htole64(b->word[w] & mask(w, first, last));
		memcpy(out, &v, w < last / 64 ? 8 : (last % 64) / 8 + 1);
	}
}

/* Fill `out`, whose bit `at` stands for bit `first`. */
static void get_content(uint64_t content, unsigned first, unsigned last,
			unsigned char *out, uint64_t at)
{
	unsigned bit, end;

	if (form(content) == BITSET_BITS && !(first % 64) && !(at % 8)) {
		copy_words(bitset_bits_of(content), first, last, out + at / 8);
		return;
	}
	for (bit = first; bit <= last; bit = end) {
		bit = next_bit(content, bit, true);
		if (bit > last)
			break;
		end = next_bit(content, bit, false);
		if (end > last + 1)
			end = last + 1;
		fill(out, at + bit - first, at + end - first);
		if (end == BITSET_CHUNK)
			break;
	}
}

void bitset_get_bytes(struct bitset *s, uint64_t start, uint64_t n,
		      unsigned char *out)
{
	uint64_t at, piece, left;

	memset(out, 0, (size_t)(n + 7) / 8);
	for (at = 0; at < n && start + at < s->bits; at += piece) {
		left = n - at < s->bits - start - at ? n - at :
						       s->bits - start - at;
		piece = BITSET_CHUNK - (start + at) % BITSET_CHUNK;
		if (piece > left)
			piece = left;
		if ((start + at) / BITSET_CHUNK != s->at)
			bitset_find(s, (start + at) / BITSET_CHUNK);
		get_content(s->content, (start + at) % BITSET_CHUNK,
			    (unsigned)((start + at) % BITSET_CHUNK + piece - 1),
			    out, at);
	}
}
