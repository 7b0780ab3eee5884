/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * An engine on a simulated device with a hand-made filesystem, shared by the
 * tests of the engine.
 */
#ifndef ENGINE_RIG_H
#define ENGINE_RIG_H

#include "ext4/tables.h"
#include "prefetch/engine.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "tiny-fs.h"

#define BS 1024u
#define INODES 64u
#define TABLE_BLOCKS 8u
#define PER_GROUP 256u
#define PLENTY (64u << 20)
#define SECOND UINT64_C(1000000000)

struct rig {
	struct tiny_fs fs;
	struct fake_device dev;
	struct pf_device *device;
	unsigned classes;	/* the classes to prefetch */
	struct pf_source *source;
	struct pf_source_ops ops;	/* its own, ext4_source_ops at first */
	struct pf_options options;
	struct pf_engine *e;
};

/* Set up with this many workers, whether or not the device is seek-bound.  The
 * test may change configuration and classes before the start. */
void rig_set_up(struct rig *r, uint32_t groups, unsigned workers);
/* The same with another group size, in blocks. */
void rig_set_up_sized(struct rig *r, uint32_t groups, uint32_t per_group,
		      unsigned workers);
/* Creates the source and the engine.  The test may change r->ops before the start. */
void rig_new(struct rig *r);
/* A read of the checker has failed. */
void rig_read_fails(struct rig *r, uint64_t offset);
void rig_start(struct rig *r);
/* The same, and wait until all workers sleep. */
void rig_settle(struct rig *r);
/* Start, and wait until the workers have read all that they may; rig_go_on() with
 * an engine that is there, and may have been stopped. */
void rig_run(struct rig *r);
void rig_go_on(struct rig *r);
/* Release all held calls, free everything, and assert that no thread is
 * left. */
void rig_tear_down(struct rig *r);

/*
 * A test that is made `times` times, each with a rig `r' of its own, which this call
 * has set up; `way' counts from 0.  RIG_TEST() is made once.
 */
#define RIG_TESTS(name, times, set_up) \
	static void name##_way(struct rig *r, unsigned way); \
	TEST(name) \
	{ \
		struct rig r[1]; \
		unsigned way; \
		\
		for (way = 0; way < (times); way++) { \
			set_up; \
			name##_way(r, way); \
			rig_tear_down(r); \
		} \
	} \
	static void name##_way(struct rig *r, \
			       __attribute__((unused)) unsigned way)
#define RIG_TEST(name, groups, workers) \
	RIG_TESTS(name, 1, rig_set_up(r, groups, workers))

struct pf_engine_stats rig_stats(struct rig *r);
/* How often a block was requested, these blocks, and the table of a group. */
unsigned rig_asked(struct rig *r, uint64_t block);
unsigned rig_asked_of(struct rig *r, const uint64_t *block, size_t count);
unsigned rig_table_asked(struct rig *r, uint32_t group);
/* Assert that the block bitmap of each group was requested this many times. */
void rig_assert_bitmaps_asked(struct rig *r, unsigned times);
/* The checker reads these blocks.  Returns whether a worker had read any for it. */
bool rig_checker_reads(struct rig *r, uint64_t block, uint64_t count);

/* Make a directory with one leaf node in each group; its blocks lie in the next
 * group, 5 and 10 blocks behind the table. */
void rig_make_directories(struct rig *r);
/* Assert that all tables, bitmaps, nodes and directories were requested
 * once. */
void rig_assert_all_asked_once(struct rig *r);

#endif
