/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The searches and reads ahead of a send, counted, when the kernel has cached
 * nothing, everything, or the leaves without the data. */
#include <sched.h>
#include <sys/mman.h>

#include "unit.h"
#include "btrfs-fs.h"
#include "fake-threads.h"
#include "btrfs/send_mounted.h"
#include "btrfs/send_state.h"

#define MIB (UINT64_C(1) << 20)

/*
 * A mounted btrfs without a kernel, in place of btrfs/send_mounted.c.  Every tree has one
 * node with FAKE_LEAVES leaves; leaf i has the keys of inode 1000 + 10 * i, whose data is
 * the extent i.  The newer subvolume differs from the older one in every leaf.
 */

#define FAKE_LEAVES 100u
#define FAKE_NEWER 256u
#define FAKE_OLDER 257u
#define FAKE_CLONES 264u		/* trees from here on may be cloned
					   from */
#define NEW 6u				/* generation of new leaves */
#define OLD 5u

static struct fake_mounted {
	bool leaves_cached, data_cached;
	bool counts;			/* the kernel counts bytes read */
	uint64_t length;		/* of data, 0: 4096 */
	bool in_leaves;			/* the data is in the leaves */
	bool adjacent;			/* all extents are */
	bool shared;			/* each also with the same leaf of the first
					   clone, by its address */
	/* The requests: searches in the newer, the older and all other
	 * subvolumes and in the extent tree, and reads of data. */
	unsigned newer, older, clones, records, data;
	unsigned threads;		/* the most that were alive meanwhile */
} fake;

static __thread uint64_t bytes_read;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Tree t has its node at t MiB and its leaves behind it. */
static int read_node(void *ctx, const struct pf_ref *ref, void *block)
{
	uint64_t tree = ref->offset / MIB;
	unsigned i;

	(void)ctx;
	fs_block(block, ref->offset, tree, 1);
	for (i = 0; i < FAKE_LEAVES; i++) {
		uint64_t address = ref->offset + (i + 1) * FS_NODE;

		fs_add_child(block, address, tree == FAKE_OLDER ? OLD : NEW,
			     tree == BTRFS_EXTENT_TREE_OBJECTID ?
			     (i + 1) * MIB : 1000 + 10 * i, 0, 0);
	}
	if (tree == FAKE_OLDER)
		put64((uint8_t *)block + BT_HEADER_GENERATION, OLD);
	return 0;
}

const char *bt_mounted_open_devices(struct bt_mounted *fs)
{
	fs_open_devices(fs, read_node);
	return NULL;
}

const char *bt_mounted_open(struct bt_mounted *fs, int fd, bool leaf)
{
	(void)fd, (void)leaf;
	fs->counts_bytes = fake.counts;
	return NULL;
}

void bt_mounted_close(struct bt_mounted *fs)
{
	fs_close_devices(fs);
}

uint64_t bt_mounted_bytes_read(void)
{
	return bytes_read;
}

uint64_t bt_mounted_tree_of(int fd)
{
	(void)fd;
	return FAKE_NEWER;
}

int bt_mounted_root(const struct bt_mounted *fs, uint64_t tree,
		    struct bt_ptr *root)
{
	(void)fs;
	*root = fs_tree_root(tree, tree == FAKE_OLDER ? OLD : FS_GENERATION);
	return 0;
}

/* One item of the newer subvolume: the data of the leaf's inode. */
static void pass_item(uint64_t inode, bt_item_sink sink, void *ctx)
{
	uint64_t length = fake.length ? fake.length : 4096;
	uint8_t b[BT_SIZE(file_extent_item)] = { 0 };
	const struct bt_item item = {
		.key = { inode, 0, BTRFS_EXTENT_DATA_KEY }, .bytes = b,
		.size = sizeof(b)
	};

	put64(b + BT_AT(file_extent_item, generation), NEW);
	b[BT_AT(file_extent_item, type)] = fake.in_leaves ?
		BTRFS_FILE_EXTENT_INLINE : BTRFS_FILE_EXTENT_REG;
	put64(b + BT_AT(file_extent_item, disk_bytenr),
	      fake.adjacent ? MIB + (inode - 1000) / 10 * 4096 :
			      ((inode - 1000) / 10 + 1) * MIB);
	put64(b + BT_AT(file_extent_item, disk_num_bytes), length);
	put64(b + BT_AT(file_extent_item, num_bytes), length);
	sink(ctx, &item);
}

/* The record of an extent. */
static void pass_record(uint64_t extent, bt_item_sink sink, void *ctx)
{
	uint8_t b[BT_SIZE(extent_item) + 1 + 8 + BT_SIZE(shared_data_ref)] = {
		0
	};
	const struct bt_item item = {
		.key = { extent, 4096, BTRFS_EXTENT_ITEM_KEY }, .bytes = b,
		.size = sizeof(b)
	};

	put64(b + BT_AT(extent_item, flags), BTRFS_EXTENT_FLAG_DATA);
	b[BT_SIZE(extent_item)] = BTRFS_SHARED_DATA_REF_KEY;
	put64(b + BT_SIZE(extent_item) + 1,
	      FAKE_CLONES * MIB + extent / MIB * FS_NODE);
	sink(ctx, &item);
}

int bt_mounted_search(const struct bt_mounted *fs, uint64_t tree,
		      const struct bt_range *keys,
		      bt_item_sink sink, void *ctx)
{
	uint64_t inode = keys->first.objectid;
	unsigned threads = fake_threads_alive();

	(void)fs;
	pthread_mutex_lock(&lock);
	/* The kernel searches that of its descriptor for tree 0. */
	*(tree == FAKE_NEWER ? &fake.newer :
	  !tree || tree == FAKE_OLDER ? &fake.older :
	  tree >= FAKE_CLONES ? &fake.clones : &fake.records) += 1;
	if (fake.threads < threads)
		fake.threads = threads;
	if (!fake.leaves_cached)
		bytes_read += FS_NODE;
	pthread_mutex_unlock(&lock);
	if (tree == BTRFS_EXTENT_TREE_OBJECTID && sink && fake.shared)
		pass_record(inode, sink, ctx);
	if (tree == FAKE_NEWER && sink)
		pass_item(inode < 1000 ? 1000 : inode, sink, ctx);
	return 0;
}

int bt_mounted_open_file(const struct bt_mounted *fs, uint64_t tree,
			 uint64_t inode)
{
	(void)tree, (void)inode;
	pthread_mutex_lock(&lock);
	fake.data++;
	if (!fake.data_cached)
		bytes_read += 4096;
	pthread_mutex_unlock(&lock);
	return dup(fs->device[0]);
}

/*
 * The sends.
 */

#define SAMPLES 16
#define THREADS 2u

static unsigned waits;			/* for the send, seen */
static bool stops;			/* at the first of them */
static uint64_t requests, bytes;

/* Reads ahead until nothing is left.  Returns the most that was ahead. */
static uint64_t send_all(struct fake_mounted is, uint64_t parent,
			 uint64_t memory)
{
	const struct btrfs_ioctl_send_args args = {
		.parent_root = parent
	};
	const struct pf_settings settings = {
		.memory = memory, .threads = THREADS
	};
	struct pf_session *session;
	uint64_t peak = 0, before = 0;
	const char *why;
	struct send *s;

	fake = is;
	waits = 0;
	session = bt_send_open(-1, "fake", &settings, &why);
	assert_non_null(session);
	s = (struct send *)session;
	pthread_mutex_lock(&s->sweep.lock);
	assert_null(bt_send_start(session, -1, &args));
	while (s->running && !(stops && s->waiting)) {
		uint64_t more = 0;

		/* The send reaches the end of each part when it is waited
		 * for. */
		if (s->waiting) {
			more = s->stream - s->came_out;
			waits++;
			if (more && s->sweep.bytes - before > peak)
				peak = s->sweep.bytes - before;
			if (more)
				before = s->part_bytes;
		}
		pthread_mutex_unlock(&s->sweep.lock);
		if (more)
			bt_send_came_out(session, more);
		else
			sched_yield();
		pthread_mutex_lock(&s->sweep.lock);
	}
	pthread_mutex_unlock(&s->sweep.lock);
	assert_true(bt_send_stop(session, 10000));
	assert_int_equal(session->last.errors, 0);
	assert_true(stops || s->leaves_changed == FAKE_LEAVES);
	assert_int_equal(fake_threads_alive(), 0);
	assert_uint_in_range(fake.threads, 1, settings.threads);
	requests = session->last.prefetched_requests;
	bytes = session->last.prefetched_bytes;
	pf_session_free(session);
	return peak;
}

#define MUCH (UINT64_C(1) << 30)

/* The cached part, whether the kernel counts reads, and the number of searches and
 * reads: everything once, or samples with the blocks that belong to them.
 * Cached leaves are searched if data is not: they lead to it. */
TEST(test_cached)
{
	static const struct {
		uint64_t parent;
		bool leaves_cached, data_cached, counts;
		unsigned expected;
	} cases[] = {
		{ FAKE_OLDER, false, false, true, FAKE_LEAVES },
		{ FAKE_OLDER, true, true, true, SAMPLES },
		{ FAKE_OLDER, true, false, true, FAKE_LEAVES },
		{ FAKE_OLDER, true, true, false, FAKE_LEAVES },
		{ 0, false, false, true, FAKE_LEAVES },
		{ 0, true, true, true, SAMPLES },
		{ 0, true, false, true, FAKE_LEAVES },
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		unsigned n = cases[i].expected;

		send_all((struct fake_mounted) {
			.leaves_cached = cases[i].leaves_cached,
			.data_cached = cases[i].data_cached,
			.counts = cases[i].counts
		}, cases[i].parent, MUCH);
		assert_int_equal(fake.threads, n == SAMPLES ? 1 : THREADS);
		assert_int_equal(fake.newer, n);
		/* There is nothing to compare a full send with. */
		if (cases[i].parent)
			assert_uint_in_range(fake.older, n, n + 1);
		else
			assert_int_equal(fake.older, 0);
		assert_uint_in_range(fake.records, n == SAMPLES ? 0 : n, n + 1);
		assert_uint_in_range(fake.data, n, n + 1);
		assert_int_equal(bytes, FS_NODE * (fake.newer + fake.older +
						   fake.records + fake.data));
	}
}

/* At most the limit is ahead. */
TEST(test_budget)
{
	uint64_t peak;

	peak = send_all((struct fake_mounted){ .counts = true }, FAKE_OLDER,
			1 << 20);
	assert_uint_in_range(peak, 1 << 19, 1 << 20);
	assert_true(waits > 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.data, FAKE_LEAVES);
	/* 50 MiB of data; two windows are ahead. */
	peak = send_all((struct fake_mounted){
		.counts = true, .length = 1 << 19
	}, 0, 8 << 20);
	assert_uint_in_range(peak, 1 << 20, 8 << 20);
	assert_int_equal(fake.data, FAKE_LEAVES);
	stops = true;
	send_all((struct fake_mounted){ .counts = true }, 0, 1 << 20);
	stops = false;
	/* Leaves whose contents are sent are waited for, too. */
	send_all((struct fake_mounted){ .counts = true, .in_leaves = true }, 0,
		 1 << 20);
	assert_true(waits > 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.data, 0);
}

/* Data that is adjacent, of 100 files, is read by 64 extents at a time. */
TEST(test_adjacent)
{
	unsigned searches;

	send_all((struct fake_mounted){ .counts = true }, 0, MUCH);
	searches = fake.newer + fake.records;
	assert_int_equal(requests, searches + FAKE_LEAVES);
	send_all((struct fake_mounted){ .counts = true, .adjacent = true }, 0,
		 MUCH);
	assert_int_equal(fake.data, FAKE_LEAVES);
	searches = fake.newer + fake.records;
	assert_int_equal(requests, searches + 2);
}

/* Leaves that records name by their address are found in another tree. */
TEST(test_shared)
{
	send_all((struct fake_mounted){ .counts = true }, 0, MUCH);
	assert_int_equal(fake.clones, 0);
	send_all((struct fake_mounted){ .counts = true, .shared = true }, 0,
		 MUCH);
	assert_int_equal(fake.clones, FAKE_LEAVES);
}

UNIT_MAIN(NULL, NULL)
