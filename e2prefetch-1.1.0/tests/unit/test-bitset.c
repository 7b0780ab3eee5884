/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the bit array with an array of bytes, one per bit, after the same
 * random operations on both.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "bitset.h"
#include "numbers.h"

#define BITS (7 * BITSET_CHUNK + 77)
#define END (8 * BITSET_CHUNK)	/* of the last chunk */
#define ROOM (12 * BITSET_CHUNK)	/* includes bits beyond the end */

static unsigned char model[ROOM];

/* A random bit, often at the edge of a chunk or word. */
static uint64_t place(void)
{
	uint64_t at = number(ROOM);

	switch (number(4)) {
	case 0:
		at -= at % BITSET_CHUNK;
		break;
	case 1:
		at -= at % 64;
		break;
	}
	return number(8) || !at ? at : at - 1;
}

static uint64_t length(uint64_t start)
{
	static const uint64_t most[] = { 3, 100, 3000, 3 * BITSET_CHUNK };
	uint64_t n = number(most[number(4)]);

	if (!number(8))
		n = BITSET_CHUNK;
	return n < ROOM - start ? n : ROOM - start;
}

static uint64_t model_first(uint64_t start, uint64_t last, int value)
{
	for (; start <= last; start++)
		if (model[start] == value)
			return start;
	return UINT64_MAX;
}

static void same(const struct bitset *s)
{
	bool any = false;
	uint64_t i;

	for (i = 0; i < ROOM; i++) {
		assert_int_equal(bitset_test(s, i), model[i]);
		any |= model[i];
	}
	assert_int_equal(bitset_is_empty(s), !any);
	assert_false(bitset_test(s, UINT64_MAX));
	/* This holds however often chunks are taken and freed. */
	assert_true(s->fresh <= BITSET_OWN + s->chunks);
}

/* Bits beyond the end stay clear. */
static void model_fill(uint64_t start, uint64_t n, unsigned char value)
{
	for (; n && start < END; n--)
		model[start++] = value;
}

static void one_bit(struct bitset *s)
{
	uint64_t i = place();

	if (number(2)) {
		assert_int_equal(bitset_set(s, i), model[i]);
		model_fill(i, 1, 1);
	} else {
		assert_int_equal(bitset_clear(s, i), model[i]);
		model[i] = 0;
	}
}

static void range(struct bitset *s)
{
	uint64_t start = place(), n = length(start);

	if (number(2)) {
		bitset_set_range(s, start, n);
		model_fill(start, n, 1);
	} else {
		bitset_clear_range(s, start, n);
		model_fill(start, n, 0);
	}
}

static void search(struct bitset *s)
{
	uint64_t start = place(), last = start + length(start);

	if (last >= ROOM)
		last = ROOM - 1;
	assert_true(bitset_first_set(s, start, last) ==
		    model_first(start, last, 1));
	assert_true(bitset_first_clear(s, start, last) ==
		    model_first(start, last, 0));
}

/* Buffers of exactly the right size, so that a memory checker sees an
 * overrun. */
static void bytes(struct bitset *s)
{
	uint64_t start = place(), n = length(start), i;
	size_t size = (size_t)(n + 7) / 8;
	unsigned char *in = calloc(size, 1), *out = malloc(size);

	assert_true(!size || (in && out));
	for (i = 0; i < size; i++)
		in[i] = number(3) ? 0 : (unsigned char)number(256);
	if (size && !number(3))
		memset(in, 0xff, size);
	bitset_add_bytes(s, start, n, in);
	for (i = 0; i < n; i++)
		if (in[i / 8] >> (i % 8) & 1)
			model_fill(start + i, 1, 1);
	if (size)
		memset(out, 0xa5, size);
	bitset_get_bytes(s, start, n, out);
	for (i = 0; i < size * 8; i++)
		assert_int_equal(out[i / 8] >> (i % 8) & 1,
				 i < n ? model[start + i] : 0);
	free(in);
	free(out);
}

static void copy_or_clear(struct bitset *s)
{
	struct bitset copy;

	assert_true(bitset_copy(s, &copy));
	same(&copy);
	if (!number(8)) {
		bitset_clear_all(s);
		same(&copy);
		memset(model, 0, sizeof(model));
		same(s);
	}
	bitset_free(&copy);
}

static void as_the_model(void **state)
{
	struct bitset s;
	unsigned i;

	(void)state;
	assert_true(bitset_init(&s, BITS));
	for (i = 0; i < 20000; i++) {
		switch (number(5)) {
		case 0:
			one_bit(&s);
			break;
		case 1:
			range(&s);
			break;
		case 2:
		case 3:
			search(&s);
			break;
		default:
			bytes(&s);
		}
		if (i % 500 == 0) {
			same(&s);
			copy_or_clear(&s);
		}
	}
	same(&s);
	bitset_free(&s);
}

/* A full chunk takes no memory until one of its bits is cleared. */
static void full_chunks(void **state)
{
	static unsigned char ones[BITSET_CHUNK / 8];
	struct bitset s, t;
	uint64_t i;

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	assert_true(bitset_init(&s, BITS) && bitset_init(&t, BITS));
	bitset_set_range(&s, 0, 2 * BITSET_CHUNK);
	bitset_set_range(&t, 0, BITSET_CHUNK);
	bitset_add_bytes(&t, BITSET_CHUNK, BITSET_CHUNK, ones);
	assert_int_equal(s.table[0], BITSET_FULL);
	assert_int_equal(t.table[1], BITSET_FULL);
	assert_int_equal(t.fresh, BITSET_OWN);
	assert_true(bitset_set(&s, 5));
	assert_true(bitset_clear(&s, 5));
	assert_false(bitset_clear(&s, 5));
	bitset_add_bytes(&t, 0, 8, (const unsigned char *)"\1");
	for (i = 0; i < 2 * BITSET_CHUNK; i++) {
		assert_int_equal(bitset_test(&s, i), i != 5);
		assert_true(bitset_test(&t, i));
	}
	bitset_clear_range(&t, 0, BITSET_CHUNK);
	assert_int_equal(t.table[0], BITSET_CLEAR);
	assert_false(bitset_is_empty(&t));
	bitset_free(&s);
	bitset_free(&t);
}

/* The pool has a chunk for each entry of the table, all within the mapping. */
static void all_chunks_of_its_own(void **state)
{
	struct bitset s;
	uint64_t c;
	int round;

	(void)state;
	assert_true(bitset_init(&s, BITS));
	for (round = 0; round < 3; round++) {
		for (c = 0; c < s.chunks; c++)
			bitset_set(&s, c * BITSET_CHUNK + BITSET_CHUNK - 1);
		assert_true(s.fresh == BITSET_OWN + s.chunks);
		assert_true(bitset_chunk(&s, s.chunks - 1) +
			    BITSET_CHUNK / 8 <=
			    (unsigned char *)s.table + s.bytes);
		bitset_clear_range(&s, 0, END);
		assert_true(bitset_is_empty(&s));
	}
	bitset_free(&s);
}

static void nothing_set_takes_nothing(void **state)
{
	struct bitset s;
	unsigned char zero[512] = { 0 };

	(void)state;
	assert_true(bitset_init(&s, UINT64_C(1) << 32));
	assert_true(s.bytes == bitset_bytes(UINT64_C(1) << 32));
	bitset_add_bytes(&s, 1 << 20, 4096, zero);
	bitset_clear_range(&s, 0, UINT64_C(1) << 32);
	assert_true(bitset_first_set(&s, 0, UINT32_MAX) == UINT64_MAX);
	assert_true(s.low > s.high);
	assert_int_equal(s.fresh, BITSET_OWN);
	bitset_free(&s);
	assert_false(bitset_init(&s, UINT64_MAX));
	assert_true(bitset_bytes(UINT64_MAX) == UINT64_MAX);
}

/* Of the table's pages, some thousand, allow access only to one. */
static void deny_all_but(const struct bitset *s, uint64_t chunk, int others)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t here = chunk * sizeof(*s->table) / page * page;
	size_t end = (size_t)(s->pool - (unsigned char *)s->table);
	char *table = (char *)s->table;

	assert_int_equal(mprotect(table, here, others), 0);
	assert_int_equal(mprotect(table + here + page, end - here - page,
				  others), 0);
}

/* However large the map is, a search examines only the part in which bits were
 * set; access to any other part would crash. */
static void search_where_something_is(void **state)
{
	const uint64_t bits = UINT64_C(1) << 32, c = bits / BITSET_CHUNK / 2;
	const uint64_t bit = c * BITSET_CHUNK + 100;
	struct bitset s;

	(void)state;
	assert_true(bitset_init(&s, bits));
	assert_true(bitset_first_set(&s, 0, bits) == UINT64_MAX);
	bitset_set(&s, bit);
	deny_all_but(&s, c, PROT_NONE);
	assert_true(bitset_first_set(&s, 0, bits - 1) == bit);
	assert_true(bitset_first_set(&s, bit + 1, bits - 1) == UINT64_MAX);
	assert_true(bitset_first_set(&s, 0, bit - 1) == UINT64_MAX);
	assert_true(bitset_first_clear(&s, bit, bits - 1) == bit + 1);
	assert_false(bitset_is_empty(&s));
	bitset_clear(&s, bit);
	assert_true(bitset_is_empty(&s));
	deny_all_but(&s, c, PROT_READ | PROT_WRITE);
	bitset_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_model),
		cmocka_unit_test(full_chunks),
		cmocka_unit_test(all_chunks_of_its_own),
		cmocka_unit_test(nothing_set_takes_nothing),
		cmocka_unit_test(search_where_something_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
