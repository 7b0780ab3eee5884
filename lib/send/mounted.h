/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A mounted btrfs filesystem: its devices, trees and files, as far as they can
 * be read from user space.
 *
 * The kernel keeps the tree blocks of a mounted filesystem in a cache of its
 * own.  A search (BTRFS_IOC_TREE_SEARCH_V2) reads blocks into that cache, one
 * after the other.  To find out where these blocks are, nodes are read directly
 * from the devices (e2pf_chunk_map_read()), so that no stale page stays in the
 * page cache.
 *
 * After e2pf_mounted_open(), all functions may be called from any thread.
 */
#ifndef E2PF_SEND_MOUNTED_H
#define E2PF_SEND_MOUNTED_H

#include "btrfs/chunk_map.h"

struct e2pf_mounted {
	int fd;				/* a directory of the filesystem */
	int device[E2PF_DEVICES];	/* those that could be opened, in the
					   order of the map */
	struct e2pf_chunk_map map;
	/* The kernel counts the bytes that a thread reads: known from the
	 * reads of the superblocks. */
	bool counts_bytes;
};

/*
 * Open the filesystem that contains the subvolume `fd`, through descriptors of
 * its own.  Returns NULL, or the reason why its devices are not opened: it cannot be
 * searched, they cannot be read, or the subvolume is a single leaf.  To be closed if it
 * was opened; may be if it is zero.
 */
const char *e2pf_mounted_open(struct e2pf_mounted *fs, int fd);
void e2pf_mounted_close(struct e2pf_mounted *fs);

/* The number of bytes that the calling thread has read from devices so far: none
 * by a search that finds everything in the kernel's cache. */
uint64_t e2pf_mounted_bytes_read(void);

/* The number of the tree that holds the files below this directory; 0 if it is
 * unknown. */
uint64_t e2pf_mounted_tree_of(int fd);

/* Find the root of a tree.  Returns 0 or an errno. */
int e2pf_mounted_root(const struct e2pf_mounted *fs, uint64_t tree,
		      struct e2pf_btrfs_ptr *root);

/* Search a tree for the keys in this range.  The items, of a whole leaf at most, are
 * passed to `sink`; if that is NULL, only the first key is searched for.  Returns 0
 * or an errno. */
int e2pf_mounted_search(const struct e2pf_mounted *fs, uint64_t tree,
			const struct e2pf_btrfs_range *keys,
			e2pf_btrfs_item_sink sink, void *ctx);

/* Open a file of this tree by its inode number, to read ahead in it.  Returns -1 if
 * it is not a regular file or cannot be opened. */
int e2pf_mounted_open_file(const struct e2pf_mounted *fs, uint64_t tree,
			   uint64_t inode);

#endif
