/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Which blocks of a journal are requested when a check walks its map, and when
 * it is replayed. */
#include <endian.h>

#include "unit.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "numbers.h"
#include "ext4/journal.h"

#define BS 4096u
#define BLOCKS 40000u
#define LEAST (512u * 1024 / BS)
#define MOST (8u * 1024 * 1024 / BS)
#define LARGE 65536u
#define MANY 2000u

static struct {
	unsigned char *image;
	struct fake_device dev;
	struct e2pf_journal j;
} r[1];

FIXTURE(set_up)
{
	memset(r, 0, sizeof(r));
	fake_threads_reset();
	r->image = calloc(BLOCKS, BS);
	assert_non_null(r->image);
	fake_new(&r->dev, r->image, (uint64_t)BLOCKS * BS, BS);
	e2pf_journal_init(&r->j, &r->dev.dev, BS);
	return 0;
}

FIXTURE(tear_down)
{
	e2pf_journal_fini(&r->j);
	fake_free(&r->dev);
	free(r->image);
	return 0;
}

#define RIG_TEST(name) TEST_WITH(name, set_up, tear_down)

static void add(uint64_t block, uint64_t count)
{
	while (count--)
		e2pf_journal_add(&r->j, block++);
}

/* Exactly the blocks of [block, block + count) were requested. */
static void asked(uint64_t block, uint64_t count)
{
	uint64_t b;

	for (b = 0; b < BLOCKS; b++)
		assert_int_equal(fake_asked(&r->dev, b),
				 b >= block && b - block < count);
}

/* A read of the journal's superblock, or of another block, starts no
 * readahead. */
RIG_TEST(only_the_log)
{
	add(1000, 2000);
	e2pf_journal_at(&r->j, 1000);
	e2pf_journal_at(&r->j, 999);
	e2pf_journal_at(&r->j, 3000);
	asked(0, 0);
	e2pf_journal_at(&r->j, 1001);
	asked(1001, LEAST);
	assert_int_equal(r->j.bytes, LEAST * BS);
}

/* The window grows while reads are sequential, and ends with the journal. */
RIG_TEST(grows)
{
	uint64_t b;

	add(100, 10000);
	for (b = 101; b < 101 + LEAST / 2; b++)
		e2pf_journal_at(&r->j, b);
	asked(101, LEAST);
	e2pf_journal_at(&r->j, 101 + LEAST / 2);
	asked(101, LEAST / 2 + 4 * LEAST);
	for (; b < 5000; b++)
		e2pf_journal_at(&r->j, b);
	assert_true(fake_asked(&r->dev, 5000 + MOST / 2 - 1));
	assert_false(fake_asked(&r->dev, 5000 + MOST));
	for (; b < 10100; b++)
		e2pf_journal_at(&r->j, b);
	asked(101, 9999);
}

/* The log wraps around, and the replay starts again: cached blocks are not
 * requested a second time. */
RIG_TEST(goes_round)
{
	add(100, 20000);
	e2pf_journal_at(&r->j, 20099);
	asked(20099, 1);
	e2pf_journal_at(&r->j, 101);
	assert_int_equal(fake_asked(&r->dev, 101 + LEAST - 1), 1);
	assert_int_equal(fake_asked(&r->dev, 101 + LEAST), 0);
	e2pf_journal_at(&r->j, 20099);
	assert_int_equal(fake_asked(&r->dev, 20099), 1);
}

/* A journal in several pieces: as on ext3, with an indirect block between two
 * of them, and one piece that lies before another. */
RIG_TEST(pieces)
{
	add(5000, 12);
	add(5013, 50);
	add(300, 1000);
	e2pf_journal_at(&r->j, 5001);
	assert_int_equal(fake_asked(&r->dev, 5000), 0);
	assert_int_equal(fake_asked(&r->dev, 5011), 1);
	assert_int_equal(fake_asked(&r->dev, 5012), 0);
	assert_int_equal(fake_asked(&r->dev, 5062), 1);
	assert_int_equal(fake_asked(&r->dev, 5063), 0);
	assert_int_equal(fake_asked(&r->dev, 300), 1);
	assert_int_equal(fake_asked(&r->dev, 300 + LEAST - 61 - 1), 1);
	assert_int_equal(fake_asked(&r->dev, 300 + LEAST - 61), 0);
}

/* With an invalid journal map, nothing beyond the device is read, and only a
 * limited number of pieces. */
RIG_TEST(hostile)
{
	uint64_t b;

	for (b = 0; b < 2 * 4096; b++)
		e2pf_journal_add(&r->j, 10 + b * 2);
	e2pf_journal_at(&r->j, 10 + 4095 * 2);
	asked(10 + 4095 * 2, 1);
	e2pf_journal_at(&r->j, 10 + 4096 * 2);
	asked(10 + 4095 * 2, 1);
	e2pf_journal_fini(&r->j);

	e2pf_journal_init(&r->j, &r->dev.dev, BS);
	add(BLOCKS - 3, 3);
	e2pf_journal_add(&r->j, BLOCKS);
	e2pf_journal_add(&r->j, UINT64_MAX);
	add(20, 20);
	e2pf_journal_at(&r->j, BLOCKS);
	e2pf_journal_at(&r->j, UINT64_MAX);
	e2pf_journal_at(&r->j, 21);
	assert_int_equal(fake_asked(&r->dev, 21), 0);
	e2pf_journal_at(&r->j, BLOCKS - 2);
	assert_int_equal(fake_asked(&r->dev, BLOCKS - 2), 1);
	assert_int_equal(fake_asked(&r->dev, BLOCKS - 1), 1);
}

static const struct e2pf_geometry geo = { .block_size = BS, .blocks = BLOCKS };

/* Everything that the double indirect block refers to, if it can be a block. */
RIG_TEST(map)
{
	static const uint32_t named[] = { 300, 301, 0, 5000, BLOCKS, 100 };
	const uint32_t blocks[3] = { 200, 100, 50 };
	const uint32_t none[3] = { 0, 0, BLOCKS };
	unsigned char *at = r->image + 100 * BS;
	unsigned i;
	uint64_t b;

	for (i = 0; i < COUNT(named); i++)
		put32(at + i * 4, named[i]);
	put32(r->image + 50 * BS, 7000);
	e2pf_journal_request_map(&r->j, &geo, none);
	asked(0, 0);
	fake_fail_allocation(0);
	e2pf_journal_request_map(&r->j, &geo, blocks);
	fake_fail_allocation(-1);
	assert_int_equal(r->j.bytes, 3 * BS);
	e2pf_journal_request_map(&r->j, &geo, blocks);
	for (b = 0; b < BLOCKS; b++)
		assert_int_equal(fake_asked(&r->dev, b),
				 b == 50 || b == 100 || b == 200 ||
				 b == 300 || b == 301 || b == 5000);
	assert_int_equal(r->j.bytes, 6 * BS);
	/* Everything is cached, so nothing more is requested. */
	e2pf_journal_request_map(&r->j, &geo, blocks);
	assert_int_equal(r->j.bytes, 6 * BS);
}

/* A hostile one of large blocks, all different. */
RIG_TEST(map_of_large_blocks)
{
	const struct e2pf_geometry large = { .block_size = LARGE, .blocks = MANY };
	const uint32_t blocks[3] = { 0, 1, 0 };
	uint32_t i, *map;

	tear_down(NULL);
	r->image = calloc(MANY, LARGE);
	assert_non_null(r->image);
	fake_new(&r->dev, r->image, (uint64_t)MANY * LARGE, LARGE);
	e2pf_journal_init(&r->j, &r->dev.dev, LARGE);
	map = (uint32_t *)(r->image + LARGE);
	for (i = 2; i < MANY; i++)
		map[i] = htole32(i);
	e2pf_journal_request_map(&r->j, &large, blocks);
	assert_int_equal(r->j.bytes, LARGE + (4u << 20));
}

/* The checker has to find an unreadable double indirect block itself. */
RIG_TEST(map_not_readable)
{
	const uint32_t blocks[3] = { 200, 100, 0 };

	fake_set_bad(&r->dev, 100, 1);
	e2pf_journal_request_map(&r->j, &geo, blocks);
	assert_int_equal(r->j.bytes, 2 * BS);
}

RIG_TEST(no_memory)
{
	fake_fail_allocation(0);
	add(100, 50);
	fake_fail_allocation(-1);
	e2pf_journal_at(&r->j, 110);
	asked(0, 0);
}

UNIT_MAIN(NULL, NULL)
