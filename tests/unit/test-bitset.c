/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The set never takes more memory than a tree or an array of the same bits; its
 * content survives each allocation that fails.
 */
#include <malloc.h>

#include "unit.h"
#include "e2fsck/accel/bitset.h"
#include "numbers.h"

/* More than one node of 64 chunks. */
#define BITS (166u * CHUNK_BITS + 77)
#define ROOM (167u * CHUNK_BITS)	/* includes bits beyond the end */

static unsigned char model[ROOM];	/* one byte per bit */

/*
 * An allocator that counts, and fails at a given call.
 */

static unsigned calls, fail_at;
static size_t live, taken;		/* allocated and not freed */
static jmp_buf aborted;

#define WRAPPED(name) extern __typeof__(name) __real_##name, __wrap_##name

WRAPPED(malloc);
WRAPPED(realloc);
WRAPPED(calloc);
WRAPPED(free);
void __wrap_abort(void);

/* With the allocator's header, which is a word. */
static size_t size_of(void *p)
{
	return malloc_usable_size(p) + sizeof(size_t);
}

static void *count(void *p)
{
	live++;
	taken += size_of(p);
	return p;
}

static void uncount(void *p)
{
	live -= !!p;
	taken -= p ? size_of(p) : 0;
}

/* A compiler may call this for a realloc() of nothing. */
void *__wrap_malloc(size_t size)
{
	if (++calls == fail_at)
		return NULL;
	return count(__real_malloc(size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (++calls == fail_at)
		return NULL;
	uncount(p);
	return count(__real_realloc(p, size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	if (++calls == fail_at)
		return NULL;
	return count(__real_calloc(n, size));
}

void __wrap_free(void *p)
{
	uncount(p);
	__real_free(p);
}

void __wrap_abort(void)
{
	longjmp(aborted, 1);
}

/*
 * Content.  Random operations are compared with libext2fs's trees by test-bitmaps.
 */

/* Runs of all lengths, so that there are chunks of each form. */
static void fill(struct bitset *s)
{
	static const uint64_t max[] = { 3, 100, 3000, 3 * CHUNK_BITS };
	unsigned i;

	for (i = 0; i < 2000; i++) {
		uint64_t start = number(BITS), n = 1 + number(max[i % 4]);
		bool set = number(2);

		if (n > BITS - start)
			n = BITS - start;
		bitset_change(s, start, n, set);
		memset(model + start, set, (size_t)n);
	}
}

static void same(struct bitset *s)
{
	uint64_t i;

	for (i = 0; i < ROOM; i++)
		if (bitset_test(s, i) != model[i])
			fail_msg("bit %llu", (unsigned long long)i);
	assert_false(bitset_test(s, UINT64_MAX));
	assert_int_equal(bitset_is_empty(s), !memchr(model, 1, ROOM));
}

/*
 * Memory.
 */

/* At most, where each run ends in other nodes than the next. */
static uint64_t of_runs(uint64_t runs, uint64_t nodes)
{
	return 64 * runs + 48 * (2 * runs < nodes ? 2 * runs : nodes);
}

/* Bits of runs of `length` at these distances, in random order or one after the
 * other, take about what a tree of them would, and never more than an array of
 * all bits; and less when some are gone. */
static void within(uint64_t length, uint64_t distance, bool in_order)
{
	const uint64_t bits = UINT64_C(1) << 28;
	const uint64_t nodes = bits / (64 * CHUNK_BITS);
	const uint64_t table = (nodes / 64 + 1) * (8 + 64 * 8 + 16) + 64;
	uint64_t i, used;
	uint64_t count = bits / distance < 40000 ? bits / distance : 40000;
	struct bitset s;

	assert_true(bitset_init(&s, bits));
	for (i = 0; i < count; i++)
		bitset_change(&s, (in_order ? i : i * 7919 % count) *
				 distance, length, true);
	used = taken;
	assert_true(used <= table + of_runs(count, nodes));
	assert_true(used <= table + bits / 8 + bits / 8 / 10);
	for (i = 0; i < count; i += 2)
		bitset_change(&s, i * distance, length, false);
	assert_true(taken <= table + of_runs(count / 2, nodes));
	bitset_change(&s, 0, bits, true);
	assert_true(taken <= table);
	bitset_free(&s);
	assert_int_equal(taken, 0);
}

TEST(memory_follows_content)
{
	static const uint64_t distance[] = { 2, 3, 16, 33, 100, 700, 4096,
					     65536, 100000, 524288, 5000000 };
	unsigned i;

	for (i = 0; i < COUNT(distance); i++) {
		within(1, distance[i], true);
		within(1, distance[i], false);
		within(distance[i] - 1, distance[i], false);
		within(distance[i] / 2, distance[i], true);
	}
	assert_int_equal(live, 0);
}

/* Bitmaps of 60 TiB: of one run in each 2 GiB, as mke2fs lays out bitmaps and tables,
 * which takes a node of one value; and of one run in all. */
TEST(memory_of_large_maps)
{
	const uint64_t bits = UINT64_C(60) << 28, distance = 1u << 19;
	uint64_t used, i;
	struct bitset s;

	assert_true(bitset_init(&s, bits));
	for (i = 0; i < bits; i += distance)
		bitset_change(&s, i, 48, true);
	used = taken;
	assert_true(used <= bits / distance * 32 + bits / distance * 2 * 9);
	bitset_clear_all(&s);
	bitset_change(&s, 0, 2435617, true);
	used = taken;
	assert_true(used <= 16384);
	bitset_free(&s);
	assert_int_equal(taken, 0);
}

/* What has become one run again, bit by bit, takes little memory, whether the run ends
 * between words or within them; and none of its own when the whole chunk is full. */
TEST(one_run_again)
{
	static const unsigned from[] = { 128, 130 };
	struct bitset s;
	uint64_t before, i, first;
	unsigned k;

	for (k = 0; k < COUNT(from); k++) {
		first = 3 * CHUNK_BITS + from[k];
		assert_true(bitset_init(&s, BITS));
		bitset_change(&s, first, 192, true);
		before = taken;
		for (i = 0; i < 192; i += 2)
			bitset_clear(&s, first + i);
		assert_false(bitset_is_empty(&s));	/* no word is held back */
		assert_true(taken > before);
		for (i = 0; i < 192; i += 2)
			bitset_set(&s, first + (i + 64) % 192);
		assert_false(bitset_is_empty(&s));
		assert_true(taken <= before + 64);
		for (i = 0; i < CHUNK_BITS; i++)
			bitset_set(&s, 3 * CHUNK_BITS + i);
		assert_false(bitset_is_empty(&s));
		assert_true(taken <= before);
		bitset_free(&s);
	}
}

/* A set that cannot be made leaves nothing behind; a copy leaves the original as it is;
 * a bit that cannot be set ends the process. */
TEST(memory_runs_out)
{
	struct bitset s, copy;
	volatile unsigned failed = 0;
	unsigned n, before;

	memset(model, 0, sizeof(model));
	fail_at = calls + 1;
	assert_false(bitset_init(&s, BITS));
	fail_at = 0;
	assert_true(bitset_init(&s, BITS));
	fill(&s);
	for (n = 1;; n++) {
		before = (unsigned)live;
		fail_at = calls + n;
		if (bitset_copy(&s, &copy))
			break;
		fail_at = 0;
		assert_int_equal(live, before);
		same(&s);
	}
	fail_at = 0;
	assert_true(n > 10);
	bitset_free(&copy);
	same(&s);
	bitset_clear_all(&s);
	for (n = 0; n < 3000; n++) {
		fail_at = calls + 1;
		if (setjmp(aborted))
			failed++;
		else if (!bitset_set(&s, n * 2))
			bitset_is_empty(&s);	/* the word is not held back */
		fail_at = 0;
		bitset_set(&s, n * 2);
		assert_true(bitset_test(&s, n / 2 * 2));
	}
	assert_true(failed > 3);
	bitset_free(&s);
	assert_int_equal(live, 0);
}

UNIT_MAIN(NULL, NULL)
