/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/btrfs.h>

#include "btrfs-fs.h"
#include "fake-mounted.h"

#define MIB (UINT64_C(1) << 20)
#define NEW 6u				/* generation of new leaves */
#define OLD 5u

struct fake_mounted fake;

const size_t e2pf_mounted_room = sizeof(struct btrfs_ioctl_search_args_v2);

struct e2pf_mounted {
	struct e2pf_btrfs_super super;
	int device;
};

static __thread uint64_t bytes_read;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct e2pf_mounted *e2pf_mounted_open(int fd, const char **why)
{
	struct e2pf_mounted *fs = calloc(1, sizeof(*fs));
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];

	(void)fd;
	*why = "no memory";
	if (!fs)
		return NULL;
	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	e2pf_btrfs_plan_super(bytes, 65536, &fs->super);
	fs->device = memfd_create("fake", MFD_CLOEXEC);
	return fs;
}

void e2pf_mounted_close(struct e2pf_mounted *fs)
{
	if (fs)
		close(fs->device);
	free(fs);
}

const struct e2pf_btrfs_super *e2pf_mounted_super(
		const struct e2pf_mounted *fs)
{
	return &fs->super;
}

unsigned e2pf_mounted_devices(const struct e2pf_mounted *fs)
{
	(void)fs;
	return 1;
}

int e2pf_mounted_device(const struct e2pf_mounted *fs, unsigned device)
{
	(void)device;
	return fs->device;
}

uint64_t e2pf_mounted_bytes_read(void)
{
	return bytes_read;
}

bool e2pf_mounted_counts_bytes(const struct e2pf_mounted *fs)
{
	(void)fs;
	return fake.counts;
}

uint64_t e2pf_mounted_tree_of(int fd)
{
	(void)fd;
	return FAKE_NEWER;
}

bool e2pf_mounted_root(const struct e2pf_mounted *fs, uint64_t tree,
		       struct e2pf_btrfs_ptr *root)
{
	(void)fs;
	*root = (struct e2pf_btrfs_ptr){
		.logical = tree * MIB, .owner = tree, .level = 1,
		.generation = tree == FAKE_OLDER ? OLD : FS_GENERATION
	};
	return true;
}

/* Tree t has its node at t MiB and its leaves behind it. */
bool e2pf_mounted_read(void *fs, const struct e2pf_btrfs_ptr *ptr, void *block)
{
	uint64_t tree = ptr->logical / MIB;
	unsigned i;

	(void)fs;
	fs_block(block, ptr->logical, tree, 1);
	for (i = 0; i < FAKE_LEAVES; i++) {
		uint64_t address = ptr->logical + (i + 1) * FS_NODE;

		if (tree == BT_EXTENT_TREE_OBJECTID)
			fs_add_child(block, address, NEW, (i + 1) * MIB, 0, 0);
		else
			fs_add_child(block, address,
				     tree == FAKE_OLDER ? OLD : NEW,
				     1000 + 10 * i, 0, 0);
	}
	put64((uint8_t *)block + BT_HEADER_GENERATION, ptr->generation);
	return true;
}

bool e2pf_mounted_place(const struct e2pf_mounted *fs, uint64_t logical,
			unsigned *device, uint64_t *offset)
{
	(void)fs;
	*device = 0;
	*offset = logical;
	return true;
}

uint64_t e2pf_mounted_slots(const struct e2pf_mounted *fs)
{
	(void)fs;
	return 1024 * MIB / FS_NODE;
}

uint64_t e2pf_mounted_slot(const struct e2pf_mounted *fs, uint64_t logical)
{
	(void)fs;
	return logical / FS_NODE;
}

/* One item of the newer subvolume: the data of the leaf's inode. */
static size_t put_item(void *to, uint64_t inode)
{
	struct btrfs_ioctl_search_header h = {
		.transid = NEW, .objectid = inode,
		.type = BT_EXTENT_DATA_KEY, .len = BT_FILE_EXTENT_BYTES
	};
	uint8_t b[BT_FILE_EXTENT_BYTES] = { 0 };

	put64(b + BT_FILE_EXTENT_GENERATION, NEW);
	b[BT_FILE_EXTENT_TYPE] = BT_FILE_EXTENT_REG;
	put64(b + BT_FILE_EXTENT_DISK_BYTENR, ((inode - 1000) / 10 + 1) * MIB);
	put64(b + BT_FILE_EXTENT_DISK_NUM_BYTES, 4096);
	put64(b + BT_FILE_EXTENT_NUM_BYTES, 4096);
	memcpy(to, &h, sizeof(h));
	memcpy((uint8_t *)to + sizeof(h), b, sizeof(b));
	return sizeof(h) + sizeof(b);
}

int e2pf_mounted_search(const struct e2pf_mounted *fs, uint64_t tree,
			const struct e2pf_btrfs_key *first,
			const struct e2pf_btrfs_key *last, uint32_t most,
			void *room, size_t size, const void **found,
			size_t *bytes, uint32_t *count)
{
	(void)fs;
	(void)last;
	pthread_mutex_lock(&lock);
	*(tree == FAKE_NEWER ? &fake.newer : tree == FAKE_OLDER ? &fake.older :
	  tree >= FAKE_CLONES ? &fake.clones : &fake.records) += 1;
	if (!fake.leaves_cached)
		bytes_read += FS_NODE;
	pthread_mutex_unlock(&lock);
	*found = room;
	*bytes = size;
	*count = 0;
	if (tree == FAKE_NEWER && most > 1) {
		*bytes = put_item(room, first->objectid < 1000 ? 1000 :
				  first->objectid);
		*count = 1;
	}
	return 0;
}

int e2pf_mounted_open_file(const struct e2pf_mounted *fs, uint64_t tree,
			   uint64_t inode)
{
	(void)tree;
	(void)inode;
	pthread_mutex_lock(&lock);
	fake.data++;
	if (!fake.data_cached)
		bytes_read += 4096;
	pthread_mutex_unlock(&lock);
	return dup(fs->device);
}
