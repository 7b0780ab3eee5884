/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine on a simulated device with a filesystem made by hand: what the
 * tests of the engine have in common.
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
	unsigned classes;	/* that are wanted */
	struct e2pf_engine_config cfg;
	struct e2pf_engine *e;
};

/* So many workers, past a head or not.  Configuration and classes may be
 * changed before the start. */
void rig_set_up(struct rig *r, uint32_t groups, unsigned workers);
/* With groups of another size, in blocks. */
void rig_set_up_sized(struct rig *r, uint32_t groups, uint32_t per_group,
		      unsigned workers);
/* Make the source; the source and the engine. */
void rig_prepare(struct rig *r);
void rig_new(struct rig *r);
void rig_start(struct rig *r);
/* Start, and come to where the directory blocks that were deferred are asked
 * for, with a worker blocked in that.  Of directories without nodes, and
 * without bitmaps, which are deferred as well. */
void rig_start_held_later(struct rig *r);
/* Let go of all that is held, and see that no thread is left. */
void rig_tear_down(struct rig *r);

struct e2pf_engine_stats rig_stats(struct rig *r);
/* Times the table of a group was asked for. */
unsigned rig_table_asked(struct rig *r, uint32_t group);
/* The block bitmap of each group was asked for so many times. */
void rig_assert_bitmaps_asked(struct rig *r, unsigned times);
/* The checker reads both bitmaps of each group, and after each group all
 * workers come to rest. */
void rig_checker_reads_bitmaps(struct rig *r);
/* The checker reads these blocks. */
void rig_checker_reads(struct rig *r, uint64_t block, uint64_t count);

/* A directory with one leaf node, in each group, in blocks of the next. */
void rig_make_directories(struct rig *r);
/* The block of the directory that lies in a group. */
uint64_t rig_directory(const struct rig *r, uint32_t group);
/* Tables, bitmaps, nodes and directories were. */
void rig_assert_all_asked_once(struct rig *r);

#endif
