/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A node: 64 values of 64 bits.  Those that are 0 or all ones are not stored.
 *
 * A chunk: 4,096 bits as a 64-bit number, whose lower two bits say how to read
 * it.
 *
 *	0		all bits are clear
 *	CHUNK_FULL	all are set
 *	CHUNK_RUN	one run of set or of clear bits, in the number
 *	a pointer	a node of 64 words
 *
 * In a node above chunks, the values are chunks.
 */
#ifndef E2FSCK_ACCEL_CHUNK_H
#define E2FSCK_ACCEL_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_VALUES 64u
#define NODE_FULL UINT64_MAX	/* the value with all bits set */

struct node {
	uint64_t some;		/* values that are stored */
	uint64_t full;		/* values that are NODE_FULL */
	uint64_t value[];	/* in order; room for a power of two of them */
};

/* Does this processor count bits with one instruction?  A check of extents@1/4
 * takes 1.06 times the processor time if not. */
extern bool node_has_popcnt;

static inline unsigned node_count_ones(uint64_t v)
{
#ifdef __x86_64__
	if (node_has_popcnt) {
		__asm__("popcnt %0, %0" : "+r"(v) : : "cc");
		return (unsigned)v;
	}
#endif
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) +
	    (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
}

/* Bits first..last, which are of one word. */
static inline uint64_t node_mask(uint64_t first, uint64_t last)
{
	return UINT64_MAX >> (63 - last % 64 + first % 64) << first % 64;
}

/* Where value `k` is stored, or would be. */
static inline unsigned node_index(const struct node *n, unsigned k)
{
	return node_count_ones(n->some & ((UINT64_C(1) << k) - 1));
}

/* Where value `k` is stored; NULL: nowhere. */
static inline uint64_t *node_slot(struct node *n, unsigned k)
{
	return n->some >> k & 1 ? &n->value[node_index(n, k)] : NULL;
}

static inline uint64_t node_get(const struct node *n, unsigned k)
{
	if (n->some >> k & 1)
		return n->value[node_index(n, k)];
	return n->full >> k & 1 ? NODE_FULL : 0;
}

/* True if all values are 0, or all are NODE_FULL. */
static inline bool node_is_plain(const struct node *n)
{
	return !n->some && (!n->full || !~n->full);
}

/* A node whose values are all 0 or NODE_FULL.  This and node_put() abort
 * without memory. */
struct node *node_new(uint64_t value);

/* Replace value `k`.  The node may move. */
struct node *node_put(struct node *n, unsigned k, uint64_t value);

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

/* A chunk that is no node.  Bits before `from`, and from `to` on, have the
 * value `outer`; the bits between have the other value.  In clear and full
 * chunks no bits lie between:  `from` and `to` are CHUNK_BITS. */
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

/* Word `w` of a chunk. */
uint64_t chunk_word(uint64_t number, unsigned w);

/* Set or clear bits first..last of a chunk.  Returns the chunk that replaces
 * `number`.  Aborts without memory. */
uint64_t chunk_change(uint64_t number, unsigned first, unsigned last,
		      bool set);

/* Replace word `w` of a chunk by this one.  Returns as chunk_change(). */
uint64_t chunk_put_word(uint64_t number, unsigned w, uint64_t word);

/* The first bit from `bit` on that has this value; CHUNK_BITS if none. */
unsigned chunk_next(uint64_t number, unsigned bit, bool value);

/* The same of a node, but not of what its values point to.  Returns false if there is no
 * memory. */
bool chunk_copy(uint64_t number, uint64_t *copy);

void chunk_free(uint64_t number);

#endif
