/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mounted btrfs filesystem: its devices, its trees and its files, as far as
 * they can be read beside the kernel.
 *
 * The kernel keeps the tree blocks of a mounted filesystem in a cache of its
 * own.  A search (BTRFS_IOC_TREE_SEARCH_V2) brings them there, one after the
 * other; where they lie is learnt from the nodes, which are read from the
 * devices past the page cache, so that no stale page of a device is left.
 *
 * Once open, safe from any thread.
 */
#ifndef E2PF_BTRFS_MOUNTED_H
#define E2PF_BTRFS_MOUNTED_H

#include <sys/types.h>

#include "search.h"

struct e2pf_mounted;

/*
 * Open the filesystem of the directory `fd`, on descriptors of its own.
 * NULL, and in *why the reason in words, where it cannot be searched or its
 * devices cannot be read.
 */
struct e2pf_mounted *e2pf_mounted_open(int fd, const char **why);
void e2pf_mounted_close(struct e2pf_mounted *fs);

const struct e2pf_btrfs_super *e2pf_mounted_super(
		const struct e2pf_mounted *fs);

/* Devices that could be opened, and a descriptor of each. */
unsigned e2pf_mounted_devices(const struct e2pf_mounted *fs);
int e2pf_mounted_device(const struct e2pf_mounted *fs, unsigned device);

/* The number of the tree that holds the files below this descriptor; 0 where
 * it cannot be told. */
uint64_t e2pf_mounted_tree_of(int fd);

/* The root of a tree; false when there is none. */
bool e2pf_mounted_root(const struct e2pf_mounted *fs, uint64_t tree,
		       struct e2pf_btrfs_ptr *root);

/* Read a tree block past the page cache; false where it is not the one that
 * `ptr` says.  `block` is aligned as aligned_alloc(4096) does. */
bool e2pf_mounted_read(void *fs, const struct e2pf_btrfs_ptr *ptr,
		       void *block);

/* Where a tree block lies: a device and an offset in bytes.  False when it
 * lies nowhere. */
bool e2pf_mounted_place(const struct e2pf_mounted *fs, uint64_t logical,
			unsigned *device, uint64_t *offset);

/* Slots of a set of tree blocks (slots.h), and that of one. */
uint64_t e2pf_mounted_slots(const struct e2pf_mounted *fs);
uint64_t e2pf_mounted_slot(const struct e2pf_mounted *fs, uint64_t logical);

/* Room that a search takes beside what it finds, bytes. */
extern const size_t e2pf_mounted_room;

/*
 * Search a tree for keys from first to last, so that what is passed comes
 * into the kernel's memory.  What is found, `most` items at most, is at *found
 * inside of `room`, which has `size` bytes; *count is the number of items and
 * *bytes what they may reach over.  0 or an errno.
 */
int e2pf_mounted_search(const struct e2pf_mounted *fs, uint64_t tree,
			const struct e2pf_btrfs_key *first,
			const struct e2pf_btrfs_key *last, uint32_t most,
			void *room, size_t size, const void **found,
			size_t *bytes, uint32_t *count);

/*
 * Open a regular file of the tree `tree` by its inode, to read ahead in it.
 * -1 where it is none, or cannot be opened so.
 */
int e2pf_mounted_open_file(const struct e2pf_mounted *fs, uint64_t tree,
			   uint64_t inode);

#endif
