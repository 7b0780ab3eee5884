/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chunk: 4,096 bits as a number of 64, whose lower two bits say how to read
 * it.
 *
 *	0		all bits are clear
 *	CHUNK_FULL	all are set
 *	CHUNK_RUN	one run of set or of clear bits, in the number
 *	a pointer	a node of 64 words
 */
#ifndef CHUNK_H
#define CHUNK_H

#include "node.h"

#define CHUNK_BITS 4096u
#define CHUNK_CLEAR UINT64_C(0)
#define CHUNK_FULL NODE_FULL
#define CHUNK_RUN 1u		/* in the lower two bits */
#define CHUNK_OUTER 4u		/* with it: the bits around the run are set */

/* Is a value of a node, or of a table of nodes, a pointer? */
static inline bool chunk_is_pointer(uint64_t number)
{
	return number && !(number & 3);
}

static inline struct node *chunk_node(uint64_t number)
{
	return (struct node *)(uintptr_t)number;
}

/* A chunk that is no node: bits before `from`, and from `to` on, have the value
 * `outer`, those between the other one.  Clear and full chunks have no bits
 * between: CHUNK_BITS twice. */
struct chunk_run {
	bool outer;
	unsigned from, to;
};

static inline struct chunk_run chunk_run(uint64_t number)
{
	if ((number & 3) == CHUNK_RUN)
		return (struct chunk_run){
			number & CHUNK_OUTER, number >> 16 & 0xffff,
			(unsigned)(number >> 32)
		};
	return (struct chunk_run){ number, CHUNK_BITS, CHUNK_BITS };
}

static inline bool chunk_run_bit(struct chunk_run r, unsigned bit)
{
	return r.outer ^ (bit >= r.from) ^ (bit >= r.to);
}

static inline bool chunk_bit(uint64_t number, unsigned bit)
{
	if (chunk_is_pointer(number))
		return node_get(chunk_node(number), bit / 64) >> bit % 64 & 1;
	return chunk_run_bit(chunk_run(number), bit);
}

/* Word `w` of a chunk. */
uint64_t chunk_word(uint64_t number, unsigned w);

/* True if more than two bits are set. */
static inline bool chunk_above_two(uint64_t v)
{
	v &= v - 1;
	return v & (v - 1);
}

/* Most changes are within a word that is stored.  False, and nothing is changed,
 * if this is another change, or if the node may have to change its form. */
static inline bool chunk_change_word(uint64_t number, unsigned first,
				     unsigned last, bool set)
{
	struct node *n = chunk_node(number);
	unsigned w = first / 64;
	uint64_t m, *word, fresh;

	if (!chunk_is_pointer(number) || w != last / 64 ||
	    !(n->some >> w & 1))
		return false;
	m = UINT64_MAX >> (63 - (last - first)) << first % 64;
	word = &n->value[~n->some ? node_place(n, w) : w];
	fresh = set ? *word | m : *word & ~m;
	if (!fresh || fresh == NODE_FULL ||
	    (!chunk_above_two(n->some) &&
	     !chunk_above_two((fresh ^ fresh << 1) & ~UINT64_C(1))))
		return false;
	*word = fresh;
	return true;
}

/* The chunk with bits first..last set or clear, which takes the place of
 * `number`.  Aborts without memory. */
uint64_t chunk_change(uint64_t number, unsigned first, unsigned last,
		      bool set);

/* The first bit from `bit` on that has this value; CHUNK_BITS if none. */
unsigned chunk_next(uint64_t number, unsigned bit, bool value);

/* False without memory. */
bool chunk_copy(uint64_t number, uint64_t *copy);

void chunk_free(uint64_t number);

#endif
