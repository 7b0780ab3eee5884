/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The leaves that are read ahead of a walk of a mounted btrfs, counted. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "unit.h"
#include "btrfs-fs.h"
#include "btrfs/send_mounted.h"
#include "btrfs/walk.h"

#define MIB (UINT64_C(1) << 20)

/*
 * A mounted btrfs without a kernel, in place of btrfs/send_mounted.c.  Tree t has one
 * node at t MiB with FAKE_LEAVES leaves behind it; leaf i has the inodes 256 + 10 * i to
 * 265 + 10 * i; leaf FAKE_EXTENTS has only extents of its last inode.
 */

#define FAKE_LEAVES 100u
#define FAKE_EXTENTS 90u
#define FAKE_TOP 300u			/* the subvolume of the walk */
#define FAKE_BELOW 301u			/* a subvolume below its root */
#define FAKE_INNER 302u			/* one below a directory of it */

static const struct entry {
	uint64_t directory, inode;
	unsigned type;			/* of the key: an inode, or a subvolume */
	bool is_directory;
} entries[] = {
	{ 256, 500, BTRFS_INODE_ITEM_KEY, true },
	{ 256, 501, BTRFS_INODE_ITEM_KEY, false },
	{ 500, 700, BTRFS_INODE_ITEM_KEY, true },
	{ 500, 800, BTRFS_INODE_ITEM_KEY, false },
	{ 500, FAKE_INNER, BTRFS_ROOT_ITEM_KEY, true },
	{ 700, 900, BTRFS_INODE_ITEM_KEY, false },
	{ 700, 901, BTRFS_INODE_ITEM_KEY, false },
	{ 700, 500, BTRFS_INODE_ITEM_KEY, true },	/* a damaged filesystem */
	{ 700, 810, BTRFS_INODE_ITEM_KEY, true },
	{ 810, 811, BTRFS_INODE_ITEM_KEY, false },	/* in the same leaf */
	{ 810, 812, BTRFS_INODE_ITEM_KEY, true },	/* which is searched again */
};

static struct {
	bool cached;
	unsigned searched[3][FAKE_LEAVES], searches;	/* of each tree's leaves */
	unsigned nodes;					/* read from the device */
	unsigned stale;			/* reads of nodes that find another one */
	unsigned refs;			/* more subvolumes below; a search finds 100 */
	struct pf_session *stops;			/* at the tenth search */
} fake;

static unsigned with_stale, with_refs;	/* of the next walk */

static uint64_t at_inode;		/* of the directory */
static __thread uint64_t bytes_read;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int read_node(void *ctx, const struct pf_ref *ref, void *block)
{
	unsigned i;

	(void)ctx;
	fake.nodes++;
	fs_block(block, ref->offset, ref->offset / MIB, 1);
	if (fake.stale) {
		fake.stale--;
		fs_block(block, ref->offset + FS_NODE, ref->offset / MIB, 1);
	}
	for (i = 0; i < FAKE_LEAVES; i++)
		fs_add_child(block, ref->offset + (i + 1) * FS_NODE, FS_GENERATION,
			     256 + 10 * i + (i == FAKE_EXTENTS ? 9 : 0),
			     i == FAKE_EXTENTS ? BTRFS_EXTENT_DATA_KEY : 0, 0);
	return 0;
}

const char *bt_mounted_open(struct bt_mounted *fs, int fd, bool leaf)
{
	(void)leaf;
	fs->fd = dup(fd);
	fs->inode = at_inode;
	fs->counts_bytes = true;
	return NULL;
}

const char *bt_mounted_open_devices(struct bt_mounted *fs)
{
	fs_open_devices(fs, read_node);
	return NULL;
}

void bt_mounted_close(struct bt_mounted *fs)
{
	close(fs->fd);
	fs_close_devices(fs);
}

uint64_t bt_mounted_bytes_read(void)
{
	return bytes_read;
}

uint64_t bt_mounted_tree_of(int fd)
{
	(void)fd;
	return FAKE_TOP;
}

int bt_mounted_root(const struct bt_mounted *fs, uint64_t tree,
		    struct bt_ptr *root)
{
	(void)fs;
	*root = fs_tree_root(tree, FS_GENERATION);
	return 0;
}

static void pass_entry(const struct entry *e, bt_item_sink sink, void *ctx)
{
	uint8_t b[BT_SIZE(dir_item) + 1] = { 0 };
	const struct bt_item item = {
		.key = { e->directory, 2, BTRFS_DIR_INDEX_KEY }, .bytes = b,
		.size = sizeof(b)
	};

	put64(b, e->inode);
	b[8] = (uint8_t)e->type;
	b[BT_AT(dir_item, type)] = e->is_directory ? BTRFS_FT_DIR : BTRFS_FT_REG_FILE;
	sink(ctx, &item);
}

int bt_mounted_search(const struct bt_mounted *fs, uint64_t tree,
		      const struct bt_range *keys,
		      bt_item_sink sink, void *ctx)
{
	struct bt_item ref = {
		.key = { FAKE_TOP, FAKE_BELOW, BTRFS_ROOT_REF_KEY }
	};
	const uint64_t leaf = keys->first.objectid < 256 ? 0 :
			      (keys->first.objectid - 256) / 10;
	size_t i;

	(void)fs;
	if (tree == BTRFS_ROOT_TREE_OBJECTID) {
		for (i = 0; i < 100 && keys->first.objectid == FAKE_TOP; i++) {
			ref.key.offset = keys->first.offset + i;
			if (ref.key.offset < FAKE_BELOW)
				ref.key.offset = FAKE_BELOW + i;
			if (ref.key.offset <= FAKE_BELOW + fake.refs)
				sink(ctx, &ref);
		}
		return 0;
	}
	pthread_mutex_lock(&lock);
	if (tree > FAKE_INNER)
		tree = FAKE_BELOW;
	fake.searched[tree - FAKE_TOP][leaf]++;
	if (++fake.searches == 10 && fake.stops)
		pf_session_interrupt(fake.stops, -1);
	if (!fake.cached)
		bytes_read += FS_NODE;
	pthread_mutex_unlock(&lock);
	for (i = 0; i < COUNT(entries) && sink && tree == FAKE_TOP; i++)
		if (entries[i].directory >= keys->first.objectid &&
		    entries[i].directory <= keys->last.objectid)
			pass_entry(&entries[i], sink, ctx);
	return 0;
}

int bt_mounted_open_file(const struct bt_mounted *fs, uint64_t tree, uint64_t inode)
{
	(void)fs, (void)tree, (void)inode;
	return -1;
}

/* Leaves of this tree that were searched. */
static unsigned leaves(unsigned tree)
{
	unsigned i, n = 0;

	for (i = 0; i < FAKE_LEAVES; i++)
		n += fake.searched[tree - FAKE_TOP][i] != 0;
	return n;
}

static struct pf_engine_stats stats;
static const char *why_off;

static void walk(uint64_t inode, bool subvolumes, uint64_t memory, bool cached, bool stop)
{
	const struct pf_settings settings = { .memory = memory, .threads = 2 };
	struct pf_session *session;
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	const char *why;

	memset(&fake, 0, sizeof(fake));
	fake.cached = cached;
	fake.stale = with_stale;
	fake.refs = with_refs;
	with_stale = with_refs = 0;
	at_inode = inode;
	session = bt_walk_open(fd, "fake", subvolumes, &settings, &why);
	assert_non_null(session);
	close(fd);
	fake.stops = stop ? session : NULL;
	bt_walk_read(session, UINT64_MAX);
	pf_session_count(session, &stats);
	why_off = session->why_off;
	pf_session_free(session);
}

#define MUCH (UINT64_C(1) << 30)

/* All leaves but those of extents alone, each once; the subvolumes below. */
TEST(whole_subvolume)
{
	walk(256, true, MUCH, false, false);
	assert_int_equal(leaves(FAKE_TOP), FAKE_LEAVES - 1);
	assert_int_equal(leaves(FAKE_BELOW), FAKE_LEAVES - 1);
	assert_int_equal(leaves(FAKE_INNER), 0);
	assert_int_equal(stats.prefetched_requests, 2 * (FAKE_LEAVES - 1));
	assert_int_equal(fake.nodes, 2);
	walk(256, false, MUCH, false, false);
	assert_int_equal(leaves(FAKE_BELOW), 0);
}

/* The leaves of inodes 500, 700, 800, 810, 900; nodes are read once. */
TEST(directory)
{
	walk(500, false, MUCH, false, false);
	assert_int_equal(leaves(FAKE_TOP), 5);
	assert_int_equal(fake.nodes, 1);
	/* A leaf that is searched for entries again is no more memory. */
	assert_int_equal(stats.prefetched_bytes, 5 * FS_NODE);
	walk(500, true, MUCH, false, false);
	assert_int_equal(leaves(FAKE_TOP), 5);
	assert_int_equal(leaves(FAKE_INNER), FAKE_LEAVES - 1);
	assert_int_equal(leaves(FAKE_BELOW), 0);
	walk(900, true, MUCH, false, false);
	assert_int_equal(leaves(FAKE_TOP), 1);
}

/* Nothing is read, and no node, if samples are cached. */
TEST(cached)
{
	walk(256, true, MUCH, true, false);
	assert_int_equal(fake.nodes, 0);
	assert_int_equal(stats.prefetched_requests, 0);
	assert_uint_in_range(fake.searches, 1, 400);
	walk(500, true, MUCH, true, false);
	assert_int_equal(fake.nodes, 0);
}

TEST(budget)
{
	walk(256, true, 20 * FS_NODE, false, false);
	assert_int_equal(stats.prefetched_requests, 20);
	assert_true(stats.gave_up);
}

/* The kernel has not written the root yet, or another node is there by now: later it is
 * read, or there is a reason. */
TEST(stale)
{
	with_stale = 2;
	walk(256, false, MUCH, false, false);
	assert_int_equal(leaves(FAKE_TOP), FAKE_LEAVES - 1);
	assert_int_equal(fake.nodes, 3);
	assert_null(why_off);
	with_stale = UINT_MAX;
	walk(256, false, MUCH, false, false);
	assert_uint_in_range(fake.nodes, 1, 20);
	assert_non_null(why_off);
}

/* More subvolumes than a search finds; few samples of each, if they are cached. */
TEST(many_subvolumes)
{
	with_refs = 250;
	walk(256, true, MUCH, false, false);
	assert_int_equal(fake.nodes, 252);
	with_refs = 250;
	walk(256, true, MUCH, true, false);
	assert_int_equal(fake.nodes, 0);
	assert_uint_in_range(fake.searches, 251, 2500);
}

TEST(stopped)
{
	walk(256, true, MUCH, false, true);
	assert_uint_in_range(fake.searches, 10, 12);
}

UNIT_MAIN(NULL, NULL)
