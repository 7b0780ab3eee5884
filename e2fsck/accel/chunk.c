/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much room a node has, and moves the node when it needs more; chooses the
 * form of a chunk, and changes the form as bits are set and cleared.  A chunk becomes a
 * node when it has more than one run of set and more than one of clear bits, and stays
 * one until all of its bits are equal.  A node of a single run stores at most two words.
 */
#include <stdlib.h>
#include <string.h>

#include "chunk.h"

bool node_has_popcnt;

#ifdef __x86_64__
__attribute__((constructor))
static void look_at_processor(void)
{
	node_has_popcnt = __builtin_cpu_supports("popcnt");
}
#endif

/* The size of a node that stores this number of `values`. */
static size_t size_for(unsigned values)
{
	unsigned room = 1;

	while (room < values)
		room *= 2;
	return sizeof(struct node) + room * sizeof(uint64_t);
}

static struct node *resize(struct node *n, unsigned had, unsigned values)
{
	if (n && size_for(had) == size_for(values))
		return n;
	n = realloc(n, size_for(values));
	if (!n)
		abort();
	return n;
}

struct node *node_new(uint64_t value)
{
	struct node *n = resize(NULL, 0, 0);

	*n = (struct node){ .some = 0, .full = value };
	return n;
}

struct node *node_put(struct node *n, unsigned k, uint64_t value)
{
	uint64_t bit = UINT64_C(1) << k;
	unsigned at = node_index(n, k), stored = node_count_ones(n->some);
	bool was = n->some & bit, is = value && value != NODE_FULL;

	if (is && !was) {
		n = resize(n, stored, stored + 1);
		memmove(n->value + at + 1, n->value + at,
			(stored - at) * sizeof(*n->value));
	} else if (was && !is) {
		memmove(n->value + at, n->value + at + 1,
			(stored - at - 1) * sizeof(*n->value));
		n = resize(n, stored, stored - 1);
	}
	if (is)
		n->value[at] = value;
	n->some = is ? n->some | bit : n->some & ~bit;
	n->full = value == NODE_FULL ? n->full | bit : n->full & ~bit;
	return n;
}

/*
 * Chunks.
 */

#define WORDS NODE_VALUES

/* The part of first..last in word `w`. */
static uint64_t mask(unsigned w, unsigned first, unsigned last)
{
	return node_mask(first > w * 64 ? first : w * 64,
			 last < w * 64 + 63 ? last : w * 64 + 63);
}

static uint64_t of_run(struct chunk_run r)
{
	if (r.from == CHUNK_BITS)
		return r.outer ? CHUNK_FULL : CHUNK_CLEAR;
	return CHUNK_RUN | (r.outer ? CHUNK_OUTER : 0) |
	       (uint64_t)r.from << 16 | (uint64_t)r.to << 32;
}

uint64_t chunk_word(uint64_t number, unsigned w)
{
	struct chunk_run r;
	uint64_t inner = 0;

	if (chunk_is_pointer(number))
		return node_get(chunk_node(number), w);
	r = chunk_run(number);
	if (r.from < (w + 1) * 64 && r.to > w * 64)
		inner = mask(w, r.from, r.to - 1);
	return r.outer ? ~inner : inner;
}

static unsigned next_in_run(struct chunk_run r, unsigned bit, bool value)
{
	if (chunk_run_bit(r, bit) == value)
		return bit;
	return bit < r.from ? r.from : bit < r.to ? r.to : CHUNK_BITS;
}

unsigned chunk_next(uint64_t number, unsigned bit, bool value)
{
	const struct node *n = chunk_node(number);
	uint64_t other = value ? 0 : UINT64_MAX, v, words;
	unsigned w = bit / 64;

	if (!chunk_is_pointer(number))
		return next_in_run(chunk_run(number), bit, value);
	v = (node_get(n, w) ^ other) & mask(w, bit, CHUNK_BITS - 1);
	if (v)
		return w * 64 + (unsigned)__builtin_ctzll(v);
	/* The next word that is stored, or that has only this value. */
	words = n->some | (n->full ^ other);
	words = w + 1 < WORDS ? words >> (w + 1) << (w + 1) : 0;
	if (!words)
		return CHUNK_BITS;
	w = (unsigned)__builtin_ctzll(words);
	return w * 64 + (unsigned)__builtin_ctzll(node_get(n, w) ^ other);
}

/* A change of the bits from `first` to before `end` in a chunk that is no node. */
struct change {
	struct chunk_run run;		/* before it */
	unsigned first, end;
	bool set;
};

/* After the change. */
static bool changed_bit(const struct change *c, unsigned bit)
{
	return bit >= c->first && bit < c->end ? c->set :
						 chunk_run_bit(c->run, bit);
}

/* The first bit behind `after` that differs from the one before it, after the change. */
static unsigned next_edge(const struct change *c, unsigned after)
{
	const unsigned at[] = { c->run.from, c->run.to, c->first, c->end };
	unsigned next = CHUNK_BITS, i;

	for (i = 0; i < sizeof(at) / sizeof(*at); i++)
		if (at[i] > after && at[i] < next &&
		    changed_bit(c, at[i]) != changed_bit(c, at[i] - 1))
			next = at[i];
	return next;
}

/* Change a chunk that is no node.  False, and nothing is changed, if the result
 * is not one run: if it has more than two edges. */
static bool change_run(uint64_t *number, unsigned first, unsigned last,
		       bool set)
{
	const struct change c = {
		.run = chunk_run(*number), .first = first, .end = last + 1,
		.set = set
	};
	unsigned from = next_edge(&c, 0), to = next_edge(&c, from);

	if (next_edge(&c, to) != CHUNK_BITS)
		return false;
	*number = of_run((struct chunk_run){ changed_bit(&c, 0), from, to });
	return true;
}

static struct node *change_node(struct node *n, unsigned first, unsigned last,
				bool set)
{
	uint64_t m, old, fresh;
	unsigned w;

	for (w = first / 64; w <= last / 64; w++) {
		m = mask(w, first, last);
		old = node_get(n, w);
		fresh = set ? old | m : old & ~m;
		if (fresh != old)
			n = node_put(n, w, fresh);
	}
	return n;
}

static struct node *node_of_run(struct chunk_run r)
{
	struct node *n = node_new(r.outer ? NODE_FULL : 0);

	return r.from < r.to ? change_node(n, r.from, r.to - 1, !r.outer) : n;
}

uint64_t chunk_change(uint64_t number, unsigned first, unsigned last, bool set)
{
	struct node *n;

	if (!first && last == CHUNK_BITS - 1) {
		chunk_free(number);
		return set ? CHUNK_FULL : CHUNK_CLEAR;
	}
	if (!chunk_is_pointer(number) &&
	    change_run(&number, first, last, set))
		return number;
	n = chunk_is_pointer(number) ? chunk_node(number) :
				       node_of_run(chunk_run(number));
	n = change_node(n, first, last, set);
	if (!node_is_plain(n))
		return (uint64_t)(uintptr_t)n;
	number = n->full;
	free(n);
	return number;
}

static uint64_t put_word_of_node(struct node *n, unsigned w, uint64_t word)
{
	uint64_t *slot = node_slot(n, w), number;

	if (slot && word && word != NODE_FULL) {
		*slot = word;
		return (uint64_t)(uintptr_t)n;
	}
	n = node_put(n, w, word);
	if (!node_is_plain(n))
		return (uint64_t)(uintptr_t)n;
	number = n->full;
	free(n);
	return number;
}

/* One run of bits that change after the other, until it is a node. */
uint64_t chunk_put_word(uint64_t number, unsigned w, uint64_t word)
{
	uint64_t old, changes, same;
	unsigned first, last;

	if (chunk_is_pointer(number))
		return put_word_of_node(chunk_node(number), w, word);
	for (old = chunk_word(number, w); old != word;
	     old ^= node_mask(first, last)) {
		first = (unsigned)__builtin_ctzll(old ^ word);
		changes = word >> first & 1 ? word & ~old : old & ~word;
		same = ~changes >> first << first;
		last = (same ? (unsigned)__builtin_ctzll(same) : 64) - 1;
		number = chunk_change(number, w * 64 + first, w * 64 + last,
				      word >> first & 1);
		if (chunk_is_pointer(number))
			return put_word_of_node(chunk_node(number), w, word);
	}
	return number;
}

bool chunk_copy(uint64_t number, uint64_t *copy)
{
	const struct node *n;
	struct node *to;
	unsigned stored;

	*copy = number;
	if (!chunk_is_pointer(number))
		return true;
	n = chunk_node(number);
	stored = node_count_ones(n->some);
	to = malloc(size_for(stored));
	*copy = (uint64_t)(uintptr_t)to;
	if (to)
		memcpy(to, n, sizeof(*n) + stored * sizeof(*n->value));
	return to;
}

void chunk_free(uint64_t number)
{
	if (chunk_is_pointer(number))
		free(chunk_node(number));
}
