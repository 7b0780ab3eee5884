/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * An engine on a simulated device with a hand-made filesystem.
 */
#include "unit.h"
#include "engine-rig.h"

void rig_set_up_sized(struct rig *r, uint32_t groups, uint32_t per_group,
		      unsigned workers)
{
	memset(r, 0, sizeof(*r));
	fake_threads_reset();
	tiny_new(&r->fs, groups, per_group, INODES, BS);
	fake_new(&r->dev, r->fs.image, r->fs.size, BS);
	r->classes = EXT4_ALL_CLASSES;
	r->device = &r->dev.dev;
	r->options = (struct pf_options) {
		.threads = workers, .seek_threads = workers, .has_checker = true,
		.budget = PLENTY
	};
}

void rig_set_up(struct rig *r, uint32_t groups, unsigned workers)
{
	rig_set_up_sized(r, groups, PER_GROUP, workers);
}

void rig_new(struct rig *r)
{
	r->source = tiny_source(&r->fs, r->classes);
	r->ops = ext4_source_ops;
	r->source->ops = &r->ops;
	r->e = pf_engine_new(r->source, &r->device);
	assert_non_null(r->e);
}

void rig_read_fails(struct rig *r, uint64_t offset)
{
	pf_engine_read_failed(r->e, &(struct pf_read) {
		.offset = offset, .length = r->fs.geo.block_size
	});
}

void rig_start(struct rig *r)
{
	rig_new(r);
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
}

void rig_settle(struct rig *r)
{
	rig_start(r);
	fake_threads_settle();
}

void rig_go_on(struct rig *r)
{
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	assert_true(pf_engine_wait(r->e, -1));
}

void rig_run(struct rig *r)
{
	rig_new(r);
	rig_go_on(r);
}

void rig_tear_down(struct rig *r)
{
	fake_hold(&r->dev, FAKE_WILLNEED, false);
	fake_hold(&r->dev, FAKE_READ, false);
	fake_set_late(&r->dev, false);
	fake_complete(&r->dev);
	pf_engine_free(r->e);
	assert_int_equal(fake_threads_alive(), 0);
	assert_int_equal(fake_mappings(), 0);
	fake_free(&r->dev);
	tiny_free(&r->fs);
}

struct pf_engine_stats rig_stats(struct rig *r)
{
	struct pf_engine_stats st;

	pf_engine_get_stats(r->e, 1000, &st);
	return st;
}

unsigned rig_asked(struct rig *r, uint64_t block)
{
	return fake_asked(&r->dev, block);
}

unsigned rig_asked_of(struct rig *r, const uint64_t *block, size_t count)
{
	unsigned asked = 0;

	while (count--)
		asked += rig_asked(r, *block++);
	return asked;
}

unsigned rig_table_asked(struct rig *r, uint32_t group)
{
	return rig_asked(r, r->fs.groups[group].inode_table);
}

bool rig_checker_reads(struct rig *r, uint64_t block, uint64_t count)
{
	struct pf_read read = { .offset = block * BS, .length = count * BS };
	char *buf = malloc(count * BS);
	bool ahead;

	pf_engine_before_read(r->e, &read);
	r->dev.dev.ops->read(&r->dev.dev, buf, block * BS,
			     (uint32_t)(count * BS));
	ahead = pf_engine_after_read(r->e, &read);
	free(buf);
	return ahead;
}

void rig_assert_bitmaps_asked(struct rig *r, unsigned times)
{
	uint32_t g;

	for (g = 0; g < r->fs.geo.groups; g++)
		assert_int_equal(rig_asked(r, r->fs.groups[g].block_bitmap), times);
}

void rig_make_directories(struct rig *r)
{
	uint32_t g;

	for (g = 0; g < r->fs.geo.groups; g++) {
		uint64_t at = tiny_free_block(&r->fs,
					      (g + 1) % r->fs.geo.groups);
		uint64_t node = at + 5, data = at + 10;

		tiny_inode(&r->fs, g * INODES + 20, LINUX_S_IFDIR, 1, &node,
			   1);
		tiny_node(&r->fs, node, 0, &data, 1);
	}
}

void rig_assert_all_asked_once(struct rig *r)
{
	uint32_t g, i;

	for (g = 0; g < r->fs.geo.groups; g++) {
		uint64_t at = tiny_free_block(&r->fs, g);

		for (i = 0; i < TABLE_BLOCKS + 2; i++)
			assert_int_equal(rig_asked(r, r->fs.groups[g].block_bitmap +
						   i), 1);
		assert_int_equal(fake_asked(&r->dev, at + 5), 1);
		assert_int_equal(fake_asked(&r->dev, at + 10), 1);
		assert_int_equal(fake_asked(&r->dev, at + 6), 0);
	}
	assert_int_equal(r->dev.missing_read, 0);
}
