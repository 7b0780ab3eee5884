/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set of blocks compared with a bitmap, in random order from fixed seeds;
 * and its behaviour when its memory is used up.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/blockset.h"

#define CHUNK 65536u
#define PLENTY (64u << 20)

static uint64_t seed;

/* Calls of the heap functions. */
static unsigned heap_calls;

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

void *__wrap_malloc(size_t size)
{
	heap_calls++;
	return __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
	heap_calls++;
	return __real_realloc(old, size);
}

void __wrap_free(void *old)
{
	heap_calls++;
	__real_free(old);
}

/* xorshift64*: the same numbers everywhere. */
static uint64_t random_below(uint64_t limit)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(2685821657736338717) % limit;
}

/* The model: a byte per block. */
struct model {
	unsigned char *in;
	uint64_t blocks;
};

static uint64_t model_set(struct model *m, uint64_t block, uint64_t count,
			  unsigned char in)
{
	uint64_t changed = 0;

	for (; count && block < m->blocks; block++, count--) {
		changed += m->in[block] != in;
		m->in[block] = in;
	}
	return changed;
}

static uint64_t model_count(const struct model *m, uint64_t block,
			    uint64_t count)
{
	uint64_t n = 0;

	for (; count && block < m->blocks; block++, count--)
		n += m->in[block];
	return n;
}

/* One step within a part of the device; ranges are short or long. */
static void random_step(struct e2pf_blockset *set, struct model *m,
			uint64_t where, uint64_t span)
{
	uint64_t block = where + random_below(span);
	uint64_t most = random_below(8) ? 12 : 3 * CHUNK;
	uint64_t count = random_below(most);

	switch (random_below(3)) {
	case 0:
		assert_int_equal(e2pf_blockset_add(set, block, count),
				 model_set(m, block, count, 1));
		break;
	case 1:
		assert_int_equal(e2pf_blockset_remove(set, block, count),
				 model_set(m, block, count, 0));
		break;
	default:
		assert_int_equal(e2pf_blockset_count(set, block, count),
				 model_count(m, block, count));
	}
}

static void like_a_bitmap(void **state)
{
	static const struct {
		uint64_t where, span;
	} places[] = {
		{ 0, 400 },			/* dense, from the first
						   block */
		{ CHUNK - 100, 200 },		/* across a chunk boundary */
		{ 0, 5 * CHUNK },		/* everywhere */
		{ 5 * CHUNK - 300, 700 },	/* across the end */
	};
	uint64_t blocks = 5 * CHUNK + 77;
	struct model m = { calloc(1, blocks), blocks };
	struct e2pf_blockset *set = e2pf_blockset_new(blocks, PLENTY);
	unsigned round;

	(void)state;
	assert_non_null(set);
	assert_non_null(m.in);
	for (round = 0; round < 40; round++) {
		unsigned p = round % 4, i;

		seed = 4711 + round;
		for (i = 0; i < 400; i++)
			random_step(set, &m, places[p].where, places[p].span);
		assert_int_equal(e2pf_blockset_size(set),
				 model_count(&m, 0, blocks));
	}
	e2pf_blockset_free(set);
	free(m.in);
}

static void edges_of_chunks(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(4 * CHUNK, PLENTY);

	(void)state;
	assert_int_equal(e2pf_blockset_add(set, CHUNK - 1, 1), 1);
	assert_int_equal(e2pf_blockset_add(set, CHUNK, 1), 1);
	assert_int_equal(e2pf_blockset_count(set, CHUNK - 1, 1), 1);
	assert_int_equal(e2pf_blockset_count(set, CHUNK - 2, 1), 0);
	assert_int_equal(e2pf_blockset_count(set, CHUNK + 1, 1), 0);
	assert_int_equal(e2pf_blockset_count(set, CHUNK - 2, 4), 2);
	/* Two and a half chunks at once, over existing runs. */
	assert_int_equal(e2pf_blockset_add(set, CHUNK / 2, 2 * CHUNK + 1),
			 2 * CHUNK - 1);
	assert_int_equal(e2pf_blockset_remove(set, CHUNK, CHUNK), CHUNK);
	assert_int_equal(e2pf_blockset_count(set, 0, 4 * CHUNK), CHUNK + 1);
	assert_int_equal(e2pf_blockset_size(set), CHUNK + 1);
	/* A chunk as a single run, from first block to last. */
	assert_int_equal(e2pf_blockset_add(set, 3 * CHUNK, CHUNK), CHUNK);
	assert_int_equal(e2pf_blockset_remove(set, 4 * CHUNK - 1, 1), 1);
	assert_int_equal(e2pf_blockset_remove(set, 3 * CHUNK, 1), 1);
	assert_int_equal(e2pf_blockset_count(set, 3 * CHUNK, CHUNK),
			 CHUNK - 2);
	e2pf_blockset_free(set);
}

static void edges_of_the_device(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(100, PLENTY);

	(void)state;
	assert_int_equal(e2pf_blockset_add(set, 99, 1), 1);
	assert_int_equal(e2pf_blockset_add(set, 100, 1), 0);
	assert_int_equal(e2pf_blockset_add(set, 90, UINT64_MAX), 9);
	assert_int_equal(e2pf_blockset_add(set, UINT64_MAX, UINT64_MAX), 0);
	assert_int_equal(e2pf_blockset_add(set, 5, 0), 0);
	assert_int_equal(e2pf_blockset_count(set, 0, UINT64_MAX), 10);
	assert_int_equal(e2pf_blockset_count(set, UINT64_MAX - 1, 5), 0);
	assert_int_equal(e2pf_blockset_remove(set, 100, 5), 0);
	assert_int_equal(e2pf_blockset_remove(set, 95, 0), 0);
	assert_int_equal(e2pf_blockset_remove(set, 95, UINT64_MAX), 5);
	assert_int_equal(e2pf_blockset_size(set), 5);
	e2pf_blockset_free(set);
	e2pf_blockset_free(NULL);

	set = e2pf_blockset_new(0, PLENTY);
	assert_non_null(set);
	assert_int_equal(e2pf_blockset_add(set, 0, 1), 0);
	e2pf_blockset_clear(set);
	e2pf_blockset_free(set);
}

static void clear_makes_it_new(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(2 * CHUNK, 256);
	uint64_t i, first = 0, second = 0;

	(void)state;
	for (i = 0; i < 200; i++)
		first += e2pf_blockset_add(set, 2 * i, 1);
	assert_uint_in_range(first, 8, 199);
	e2pf_blockset_clear(set);
	assert_int_equal(e2pf_blockset_size(set), 0);
	assert_int_equal(e2pf_blockset_count(set, 0, 2 * CHUNK), 0);
	/* Its memory can be reused, to the byte. */
	for (i = 0; i < 200; i++)
		second += e2pf_blockset_add(set, CHUNK + 2 * i, 1);
	assert_int_equal(second, first);
	assert_int_equal(e2pf_blockset_size(set), second);
	e2pf_blockset_free(set);
}

/* If there is no room, blocks are either added and counted, or neither. */
static void what_does_not_fit(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(8 * CHUNK, 512);
	uint64_t i, held = 0;

	(void)state;
	for (i = 0; i < 8 * CHUNK; i += 97) {
		uint64_t n = e2pf_blockset_add(set, i, 3);

		assert_true(n == 0 || n == 3);
		assert_int_equal(e2pf_blockset_count(set, i, 3), n);
		held += n;
		assert_int_equal(e2pf_blockset_size(set), held);
	}
	/* 4 bytes per run: at most 128 runs fit in 512 bytes. */
	assert_uint_in_range(held, 3, 3 * 128);
	for (i = 0; i < 8 * CHUNK; i += 97) {
		uint64_t n = e2pf_blockset_count(set, i, 3);

		assert_int_equal(e2pf_blockset_remove(set, i, 3), n);
		held -= n;
	}
	assert_int_equal(held, 0);
	assert_int_equal(e2pf_blockset_size(set), 0);
	e2pf_blockset_free(set);
}

/* A hole in a run takes memory.  Without any, the requested blocks are removed
 * all the same: the owner waits for that. */
static void hole_without_memory(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(CHUNK, 64);
	uint64_t i, before;

	(void)state;
	/* Runs of 20 blocks until no more fit. */
	for (i = 0; e2pf_blockset_add(set, 100 * i, 20) == 20; i++)
		;
	assert_uint_in_range(i, 1, 16);
	before = e2pf_blockset_size(set);
	assert_int_equal(before, 20 * i);
	assert_int_equal(e2pf_blockset_remove(set, 5, 2), 2);
	assert_int_equal(e2pf_blockset_count(set, 5, 2), 0);
	/* The shorter part of the run is forgotten too. */
	assert_int_equal(e2pf_blockset_count(set, 0, 5), 0);
	assert_int_equal(e2pf_blockset_count(set, 7, 13), 13);
	assert_int_equal(e2pf_blockset_size(set), before - 7);
	assert_int_equal(e2pf_blockset_remove(set, 15, 1), 1);
	assert_int_equal(e2pf_blockset_count(set, 0, 100), 8);
	assert_int_equal(e2pf_blockset_remove(set, 0, CHUNK), before - 12);
	assert_int_equal(e2pf_blockset_size(set), 0);
	e2pf_blockset_free(set);
}

/* Blocks added one by one become one run, forwards and backwards, and a growing
 * run needs no more room. */
static void neighbours_are_one_run(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(CHUNK, 40);
	uint64_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(e2pf_blockset_add(set, 2000 + i, 1), 1);
		assert_int_equal(e2pf_blockset_add(set, 1999 - i, 1), 1);
	}
	/* Seven more runs fill the memory. */
	for (i = 0; i < 8; i++)
		assert_int_equal(e2pf_blockset_add(set, 4000 + 2 * i, 1),
				 i < 7);
	assert_int_equal(e2pf_blockset_add(set, 3000, 5), 5);
	e2pf_blockset_free(set);
}

/* Blocks already in the set can be told from blocks without room; and an
 * emptied chunk makes room for others. */
static void no_room_or_there(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(4 * CHUNK, 40);
	uint64_t i;

	(void)state;
	for (i = 0; i < 8; i++)
		assert_int_equal(e2pf_blockset_add(set, 10 * i, 5), 5);
	assert_int_equal(e2pf_blockset_missing(set, 0, 5), 0);
	assert_int_equal(e2pf_blockset_add(set, 0, 5), 0);
	assert_int_equal(e2pf_blockset_missing(set, CHUNK, 5), 5);
	assert_int_equal(e2pf_blockset_add(set, CHUNK, 5), 0);
	assert_int_equal(e2pf_blockset_missing(set, CHUNK, 5), 5);
	assert_int_equal(e2pf_blockset_missing(set, 3, 10), 5);
	assert_int_equal(e2pf_blockset_missing(set, 4 * CHUNK - 2, 5), 2);
	assert_int_equal(e2pf_blockset_missing(set, 4 * CHUNK, 5), 0);
	assert_int_equal(e2pf_blockset_remove(set, 0, 100), 40);
	assert_int_equal(e2pf_blockset_add(set, CHUNK, 5), 5);
	e2pf_blockset_free(set);
}

static void random_at_the_cap(void **state)
{
	uint64_t blocks = 3 * CHUNK;
	struct e2pf_blockset *set = e2pf_blockset_new(blocks, 300);
	unsigned i;

	(void)state;
	seed = 99;
	for (i = 0; i < 20000; i++) {
		uint64_t block = random_below(blocks);
		uint64_t count = 1 + random_below(CHUNK / 8);
		uint64_t had = e2pf_blockset_count(set, block, count);
		uint64_t size = e2pf_blockset_size(set), n;

		if (random_below(2)) {
			n = e2pf_blockset_add(set, block, count);
			assert_int_equal(e2pf_blockset_count(set, block,
							     count), had + n);
			assert_int_equal(e2pf_blockset_size(set), size + n);
		} else {
			n = e2pf_blockset_remove(set, block, count);
			assert_int_equal(n, had);
			assert_int_equal(e2pf_blockset_count(set, block,
							     count), 0);
			assert_true(e2pf_blockset_size(set) <= size - n);
		}
		assert_int_equal(e2pf_blockset_count(set, 0, blocks),
				 e2pf_blockset_size(set));
	}
	e2pf_blockset_free(set);
}

/* Areas are counted once, however many runs they have, and runs in all areas
 * that they touch. */
static void areas_with_blocks(void **state)
{
	const uint64_t blocks = 4 * CHUNK;
	struct e2pf_blockset *set = e2pf_blockset_new(blocks, CHUNK);
	struct model m = { calloc(1, blocks), blocks };
	uint64_t from, at, n;
	unsigned i;

	(void)state;
	assert_non_null(m.in);
	assert_int_equal(e2pf_blockset_areas(set, 0, 256), 0);
	e2pf_blockset_add(set, 255, 2);
	assert_int_equal(e2pf_blockset_areas(set, 0, 256), 2);
	assert_int_equal(e2pf_blockset_areas(set, 256, 256), 1);
	assert_int_equal(e2pf_blockset_areas(set, 257, 256), 0);
	assert_int_equal(e2pf_blockset_areas(set, blocks, 256), 0);
	model_set(&m, 255, 2, 1);
	seed = 7;
	for (i = 0; i < 200; i++) {
		random_step(set, &m, 0, blocks);
		from = random_below(blocks);
		for (n = 0, at = from; at < blocks;
		     at = (at / 256 + 1) * 256)
			n += model_count(&m, at, 256 - at % 256) > 0;
		assert_int_equal(e2pf_blockset_areas(set, from, 256), n);
	}
	free(m.in);
	e2pf_blockset_free(set);
}

/* Runs of one block with gaps of one block, as many as a chunk can have: they
 * take four bytes each, are found in order, and free their memory. */
static void many_runs_in_a_chunk(void **state)
{
	const uint64_t blocks = 3 * CHUNK;
	struct e2pf_blockset *set = e2pf_blockset_new(blocks, 2 * CHUNK + 100);
	struct model m = { calloc(1, blocks), blocks };
	uint64_t i, at, n;

	(void)state;
	assert_non_null(m.in);
	/* Backwards: each is inserted before all others. */
	for (i = CHUNK; i; i -= 2) {
		assert_int_equal(e2pf_blockset_add(set, CHUNK + i - 2, 1), 1);
		model_set(&m, CHUNK + i - 2, 1, 1);
	}
	assert_int_equal(e2pf_blockset_size(set), CHUNK / 2);
	seed = 5;
	for (i = 0; i < 20000; i++)
		random_step(set, &m, CHUNK, CHUNK);
	assert_int_equal(e2pf_blockset_size(set), model_count(&m, 0, blocks));
	for (at = 0, i = 0; (n = e2pf_blockset_next(set, &at)); at += n) {
		for (; i < at; i++)
			assert_false(m.in[i]);
		for (; i < at + n; i++)
			assert_true(m.in[i]);
		assert_true(i == 2 * CHUNK || !m.in[i]);
	}
	assert_int_equal(model_count(&m, i, blocks), 0);
	/* Another chunk has room when this one is empty. */
	e2pf_blockset_add(set, CHUNK, CHUNK);
	assert_int_equal(e2pf_blockset_remove(set, 0, blocks), CHUNK);
	for (i = 0; i < CHUNK; i += 2)
		assert_int_equal(e2pf_blockset_add(set, i, 1), 1);
	assert_int_equal(e2pf_blockset_size(set), CHUNK / 2);
	e2pf_blockset_free(set);
	free(m.in);
}

/* The checker's thread removes blocks, and adds some, without the heap. */
static void no_heap(void **state)
{
	struct e2pf_blockset *set = e2pf_blockset_new(4 * CHUNK, PLENTY);
	unsigned before = heap_calls;
	uint64_t i;

	(void)state;
	seed = 3;
	for (i = 0; i < 4 * CHUNK; i += 2)
		e2pf_blockset_add(set, i, 1);
	for (i = 0; i < 20000; i++)
		e2pf_blockset_remove(set, random_below(4 * CHUNK), 3);
	e2pf_blockset_remove(set, 0, 4 * CHUNK);
	e2pf_blockset_add(set, 7, 1);
	e2pf_blockset_clear(set);
	assert_int_equal(heap_calls, before);
	e2pf_blockset_free(set);
	assert_true(heap_calls > before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_a_bitmap),
		cmocka_unit_test(edges_of_chunks),
		cmocka_unit_test(edges_of_the_device),
		cmocka_unit_test(clear_makes_it_new),
		cmocka_unit_test(what_does_not_fit),
		cmocka_unit_test(hole_without_memory),
		cmocka_unit_test(neighbours_are_one_run),
		cmocka_unit_test(no_room_or_there),
		cmocka_unit_test(random_at_the_cap),
		cmocka_unit_test(areas_with_blocks),
		cmocka_unit_test(many_runs_in_a_chunk),
		cmocka_unit_test(no_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
