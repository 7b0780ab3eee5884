/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The set of blocks, compared with an array of bytes: what is added and removed
 * in any order, and at its cap.
 */
#include "unit.h"
#include "prefetch/blockset.h"
#include "fake-threads.h"
#include "numbers.h"

#define BLOCKS 20000u
#define FAR (UINT64_C(1) << 50)

/* Random ranges, near 0 and far from it, some of them sparse. */
TEST(like_an_array)
{
	static unsigned char is[BLOCKS];
	struct pf_blockset set = { .entry = NULL };
	uint64_t base, size = 0, i, n;
	unsigned step;

	for (base = 0; base <= FAR; base += FAR) {
		memset(is, 0, sizeof(is));
		pf_blockset_reset(&set, 1 << 20);
		for (step = size = 0; step < 20000; step++) {
			uint64_t at = number(BLOCKS);
			uint64_t count = number(step % 5 ? 9 : 700);
			bool add = number(2);

			if (count > BLOCKS - at)
				count = BLOCKS - at;
			for (i = at, n = 0; i < at + count; i++) {
				n += is[i] != add;
				is[i] = add;
			}
			size += add ? n : -n;
			assert_int_equal(add ?
				pf_blockset_add(&set, base + at, count) :
				pf_blockset_remove(&set, base + at, count), n);
			assert_int_equal(set.size, size);
		}
		assert_false(pf_blockset_is_full(&set));
		assert_int_equal(pf_blockset_remove(&set, base, BLOCKS), size);
		assert_int_equal(set.size, 0);
	}
	pf_blockset_reset(&set, 0);
}

/* It takes little memory before it holds much, keeps what it holds when it grows, and
 * grows no further than to its cap; in the end nothing is left of it. */
TEST(grows)
{
	struct pf_blockset set = { .entry = NULL };
	uint64_t i, n;

	pf_blockset_reset(&set, 4 << 20);
	assert_uint_in_range(set.entries * 16, 1, 16 << 10);
	for (i = 0; i < 190000; i++) {
		assert_int_equal(pf_blockset_add(&set, i * 1000, 3), 3);
		assert_true(set.entries <= 1024 || set.used * 4 > set.entries);
		assert_true(set.entries * 16 <= 4 << 20);
	}
	assert_false(pf_blockset_is_full(&set));
	for (i = n = 0; i < 190000; i++)
		n += pf_blockset_remove(&set, i * 1000, 1000);
	assert_int_equal(n, 570000);
	assert_int_equal(set.used, 0);
	pf_blockset_reset(&set, 0);
	assert_int_equal(fake_mappings(), 0);
}

/* Beyond the cap blocks are counted as new and not kept; what was kept stays, and
 * there is room again when it is removed. */
TEST(at_its_cap)
{
	struct pf_blockset set = { .entry = NULL };
	uint64_t kept, i;

	pf_blockset_reset(&set, 16 << 10);
	for (i = 0; i < 2000; i++)
		assert_int_equal(pf_blockset_add(&set, i * 1000, 1), 1);
	assert_true(pf_blockset_is_full(&set));
	kept = set.size;
	assert_int_equal(kept, 768);
	for (i = 0; i < kept; i++)
		assert_int_equal(pf_blockset_add(&set, i * 1000, 1), 0);
	/* Those next to them cost nothing. */
	assert_int_equal(pf_blockset_add(&set, 1000, 20), 19);
	assert_int_equal(set.size, kept + 19);
	assert_int_equal(pf_blockset_remove(&set, 1000, 20), 20);
	assert_false(pf_blockset_is_full(&set));
	assert_int_equal(pf_blockset_add(&set, 1999 * 1000, 1), 1);
	assert_int_equal(pf_blockset_remove(&set, 1999 * 1000, 1), 1);
	pf_blockset_reset(&set, 0);
}

/* A set that may take nothing. */
TEST(without_room)
{
	struct pf_blockset set = { .entry = NULL };

	assert_true(pf_blockset_is_full(&set));
	assert_int_equal(pf_blockset_add(&set, 5, 7), 7);
	assert_int_equal(pf_blockset_remove(&set, 5, 7), 0);
}

UNIT_MAIN(NULL, NULL)
