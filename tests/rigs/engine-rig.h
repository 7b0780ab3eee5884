/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * An engine on a simulated device with a hand-made filesystem, shared by the
 * tests of the engine.
 */
#ifndef ENGINE_RIG_H
#define ENGINE_RIG_H

#include "engine/engine.h"
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
	struct e2pf_device *device;
	unsigned classes;	/* the classes to prefetch */
	struct e2pf_source *source;
	struct e2pf_engine_config cfg;
	struct e2pf_engine *e;
};

/* Set up with this many workers, whether or not the device is rotational.  The
 * test may change configuration and classes before the start. */
void rig_set_up(struct rig *r, uint32_t groups, unsigned workers);
/* The same with another group size, in blocks. */
void rig_set_up_sized(struct rig *r, uint32_t groups, uint32_t per_group,
		      unsigned workers);
/* rig_prepare() creates the source; rig_new() the source and the engine. */
void rig_prepare(struct rig *r);
void rig_new(struct rig *r);
void rig_start(struct rig *r);
/* The same, and wait until the workers have read all that they may. */
void rig_run(struct rig *r);
/* Start, and run until the deferred directory blocks are requested, with one
 * worker blocked in that request.  For directories without tree nodes: reads
 * are held until then.  Bitmaps are left out because they are deferred too. */
void rig_start_held_later(struct rig *r);
/* Release all held calls, free everything, and assert that no thread is
 * left. */
void rig_tear_down(struct rig *r);

struct e2pf_engine_stats rig_stats(struct rig *r);
/* How often the table of a group was requested. */
unsigned rig_table_asked(struct rig *r, uint32_t group);
/* Assert that the block bitmap of each group was requested this many times. */
void rig_assert_bitmaps_asked(struct rig *r, unsigned times);
/* The checker reads both bitmaps of each group; after each group, wait until
 * all workers sleep. */
void rig_checker_reads_bitmaps(struct rig *r);
/* The checker reads these blocks. */
void rig_checker_reads(struct rig *r, uint64_t block, uint64_t count);

/* Make a directory with one leaf node in each group; its blocks lie in the next
 * group. */
void rig_make_directories(struct rig *r);
/* The directory block that lies in this group. */
uint64_t rig_directory(const struct rig *r, uint32_t group);
/* Assert that all tables, bitmaps, nodes and directories were requested
 * once. */
void rig_assert_all_asked_once(struct rig *r);

#endif
