/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mounted btrfs filesystem: its devices, trees and files, as far as they can
 * be read from user space.
 *
 * The kernel keeps the tree blocks of a mounted filesystem in a cache of its
 * own.  A search (BTRFS_IOC_TREE_SEARCH_V2) reads blocks into that cache, one
 * after the other.  To find out where these blocks are, nodes are read directly
 * from the devices, bypassing the page cache so that no stale page stays there.
 *
 * After e2pf_mounted_open(), all functions may be called from any thread.
 */
#ifndef E2PF_BTRFS_MOUNTED_H
#define E2PF_BTRFS_MOUNTED_H

#include <sys/types.h>

#include "search.h"

struct e2pf_mounted;

/*
 * Open the filesystem that contains the directory `fd`, through descriptors of
 * its own.  If it cannot be searched or its devices cannot be read, returns
 * NULL and sets *why to the reason in words.
 */
struct e2pf_mounted *e2pf_mounted_open(int fd, const char **why);
void e2pf_mounted_close(struct e2pf_mounted *fs);

const struct e2pf_btrfs_super *e2pf_mounted_super(
		const struct e2pf_mounted *fs);

/* The number of devices that could be opened, and the descriptor of one of
 * them. */
unsigned e2pf_mounted_devices(const struct e2pf_mounted *fs);
int e2pf_mounted_device(const struct e2pf_mounted *fs, unsigned device);

/*
 * The number of bytes that the calling thread has read from devices so far.  It
 * does not change in a search that finds everything in the kernel's cache.
 * Whether the kernel counts them is known from the reads of the superblocks.
 */
uint64_t e2pf_mounted_bytes_read(void);
bool e2pf_mounted_counts_bytes(const struct e2pf_mounted *fs);

/* The number of the tree that holds the files below this directory; 0 if it is
 * unknown. */
uint64_t e2pf_mounted_tree_of(int fd);

/* Find the root of a tree.  Returns false if there is none. */
bool e2pf_mounted_root(const struct e2pf_mounted *fs, uint64_t tree,
		       struct e2pf_btrfs_ptr *root);

/* Read a tree block without the page cache.  Returns false if it is not the
 * block that `ptr` describes.  `block` must be aligned to 4096 bytes. */
bool e2pf_mounted_read(void *fs, const struct e2pf_btrfs_ptr *ptr,
		       void *block);

/* Find the device and the byte offset of a tree block.  Returns false if it is
 * on no open device. */
bool e2pf_mounted_place(const struct e2pf_mounted *fs, uint64_t logical,
			unsigned *device, uint64_t *offset);

/* The number of slots for a set of tree blocks (btrfs/slot_set.h), and the slot of
 * one block. */
uint64_t e2pf_mounted_slots(const struct e2pf_mounted *fs);
uint64_t e2pf_mounted_slot(const struct e2pf_mounted *fs, uint64_t logical);

/* The bytes that a search needs in addition to its results. */
extern const size_t e2pf_mounted_room;

/*
 * Search a tree for keys from `first` to `last`, which brings the leaves on the
 * way into the kernel's cache.  At most `most` items are returned, at *found
 * inside `room`, which has `size` bytes.  *count is the number of items, *bytes
 * the space they may take.  Returns 0 or an errno.
 */
int e2pf_mounted_search(const struct e2pf_mounted *fs, uint64_t tree,
			const struct e2pf_btrfs_key *first,
			const struct e2pf_btrfs_key *last, uint32_t most,
			void *room, size_t size, const void **found,
			size_t *bytes, uint32_t *count);

/*
 * Open a regular file of the tree `tree` by its inode number, to read ahead in
 * it.  Returns -1 if it is not a regular file or cannot be opened.
 */
int e2pf_mounted_open_file(const struct e2pf_mounted *fs, uint64_t tree,
			   uint64_t inode);

#endif
