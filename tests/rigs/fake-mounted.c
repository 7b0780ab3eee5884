/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "btrfs-fs.h"
#include "fake-mounted.h"

#define MIB (UINT64_C(1) << 20)
#define NEW 6u				/* generation of new leaves */
#define OLD 5u

struct fake_mounted fake;

static __thread uint64_t bytes_read;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

unsigned fake_threads(void)
{
	struct stat st;

	/* The folder's links but for itself and what it is in. */
	return stat("/proc/self/task", &st) ? 0 : (unsigned)st.st_nlink - 2;
}

/* Tree t has its node at t MiB and its leaves behind it. */
static int read_node(void *ctx, const struct e2pf_ref *ref, void *block)
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

/* One chunk, of all addresses that are used. */
const char *e2pf_mounted_open(struct e2pf_mounted *fs, int fd)
{
	(void)fd;
	fs_map(&fs->map, 1);
	fs_add_chunk(&fs->map, 0, BTRFS_BLOCK_GROUP_METADATA, 1, 1024 * MIB, 1);
	e2pf_chunk_map_finish(&fs->map);
	fs->device[0] = memfd_create("fake", MFD_CLOEXEC);
	fs->map.read = read_node;
	fs->counts_bytes = fake.counts;
	return NULL;
}

void e2pf_mounted_close(struct e2pf_mounted *fs)
{
	if (fs->map.devices)
		close(fs->device[0]);
	e2pf_chunk_map_free(&fs->map);
}

uint64_t e2pf_mounted_bytes_read(void)
{
	return bytes_read;
}

uint64_t e2pf_mounted_tree_of(int fd)
{
	(void)fd;
	return FAKE_NEWER;
}

int e2pf_mounted_root(const struct e2pf_mounted *fs, uint64_t tree,
		      struct e2pf_btrfs_ptr *root)
{
	(void)fs;
	*root = (struct e2pf_btrfs_ptr){
		.logical = tree * MIB, .owner = tree, .level = 1,
		.generation = tree == FAKE_OLDER ? OLD : FS_GENERATION
	};
	return 0;
}

/* One item of the newer subvolume: the data of the leaf's inode. */
static void pass_item(uint64_t inode, e2pf_btrfs_item_sink sink, void *ctx)
{
	uint64_t length = fake.length ? fake.length : 4096;
	uint8_t b[BT_SIZE(file_extent_item)] = { 0 };
	const struct e2pf_btrfs_item item = {
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
static void pass_record(uint64_t extent, e2pf_btrfs_item_sink sink, void *ctx)
{
	uint8_t b[BT_SIZE(extent_item) + 1 + 8 + BT_SIZE(shared_data_ref)] = {
		0
	};
	const struct e2pf_btrfs_item item = {
		.key = { extent, 4096, BTRFS_EXTENT_ITEM_KEY }, .bytes = b,
		.size = sizeof(b)
	};

	put64(b + BT_AT(extent_item, flags), BTRFS_EXTENT_FLAG_DATA);
	b[BT_SIZE(extent_item)] = BTRFS_SHARED_DATA_REF_KEY;
	put64(b + BT_SIZE(extent_item) + 1,
	      FAKE_CLONES * MIB + extent / MIB * FS_NODE);
	sink(ctx, &item);
}

int e2pf_mounted_search(const struct e2pf_mounted *fs, uint64_t tree,
			const struct e2pf_btrfs_range *keys,
			e2pf_btrfs_item_sink sink, void *ctx)
{
	uint64_t inode = keys->first.objectid;
	unsigned threads = fake_threads();

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

int e2pf_mounted_open_file(const struct e2pf_mounted *fs, uint64_t tree,
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
