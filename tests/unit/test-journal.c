/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Which blocks are requested when a check walks the block map of a journal. */
#include <endian.h>

#include "unit.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "numbers.h"
#include "ext4/session.h"

#define BS 4096u
#define BLOCKS 40000u
#define LARGE 65536u
#define MANY 2000u

static struct {
	unsigned char *image;
	struct fake_device dev;
} r[1];

FIXTURE(set_up)
{
	memset(r, 0, sizeof(r));
	fake_threads_reset();
	r->image = calloc(BLOCKS, BS);
	assert_non_null(r->image);
	fake_new(&r->dev, r->image, (uint64_t)BLOCKS * BS, BS);
	return 0;
}

FIXTURE(tear_down)
{
	fake_free(&r->dev);
	free(r->image);
	return 0;
}

#define RIG_TEST(name) TEST_WITH(name, set_up, tear_down)

static const struct ext4_geometry geo = { .block_size = BS, .blocks = BLOCKS };

static uint64_t request(const uint32_t blocks[3])
{
	return ext4_journal_request(&r->dev.dev, &geo, blocks);
}

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
	assert_int_equal(request(none), 0);
	fake_fail_allocation(0);
	assert_int_equal(request(blocks), 3 * BS);
	fake_fail_allocation(-1);
	assert_int_equal(request(blocks), 3 * BS);
	for (b = 0; b < BLOCKS; b++)
		assert_int_equal(fake_asked(&r->dev, b),
				 b == 50 || b == 100 || b == 200 ||
				 b == 300 || b == 301 || b == 5000);
	/* Everything is cached, so nothing more is requested. */
	assert_int_equal(request(blocks), 0);
}

/* A hostile one of large blocks, all different. */
RIG_TEST(map_of_large_blocks)
{
	const struct ext4_geometry large = { .block_size = LARGE, .blocks = MANY };
	const uint32_t blocks[3] = { 0, 1, 0 };
	uint32_t i, *map;

	tear_down(NULL);
	r->image = calloc(MANY, LARGE);
	assert_non_null(r->image);
	fake_new(&r->dev, r->image, (uint64_t)MANY * LARGE, LARGE);
	map = (uint32_t *)(r->image + LARGE);
	for (i = 2; i < MANY; i++)
		map[i] = htole32(i);
	assert_int_equal(ext4_journal_request(&r->dev.dev, &large, blocks),
			 LARGE + (4u << 20));
}

/* The checker has to find an unreadable double indirect block itself. */
RIG_TEST(map_not_readable)
{
	const uint32_t blocks[3] = { 200, 100, 0 };

	fake_set_bad(&r->dev, 100, 1);
	assert_int_equal(request(blocks), 2 * BS);
}

UNIT_MAIN(NULL, NULL)
