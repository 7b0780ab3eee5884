/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A mounted btrfs filesystem: its devices, trees and files.  The kernel keeps its tree
 * blocks in a cache of its own, into which a search (BTRFS_IOC_TREE_SEARCH_V2) reads
 * them.  Nodes, which tell where blocks are, are read directly from the devices, so
 * that no stale page stays in the page cache.  Once it is open, all functions may be
 * called from any thread. */
#ifndef BTRFS_SEND_MOUNTED_H
#define BTRFS_SEND_MOUNTED_H

#include "chunk_map.h"

struct bt_mounted {
	int fd;				/* a directory of the filesystem */
	int device[PF_MAX_DEVICES];	/* those of the chunk map, in its order */
	struct bt_chunk_map map;
	uint64_t inode;			/* of the directory that it was opened by */
	uint64_t max_id;		/* of a device */
	bool counts_bytes;		/* the kernel does, that a thread reads */
};

/* Open the filesystem that contains the subvolume of `fd`, through descriptors of its
 * own; `fs` is zero.  Unless `leaf`, a subvolume of a single leaf is not opened.  Returns
 * NULL, or the reason why it cannot be used.  It must be closed in either case. */
const char *bt_mounted_open(struct bt_mounted *fs, int fd, bool leaf);

/* Open the devices that are present, and make the chunk map; missing devices are left
 * out.  Before that only trees can be searched.  Returns NULL, or the reason why there is
 * no device. */
const char *bt_mounted_open_devices(struct bt_mounted *fs);
void bt_mounted_close(struct bt_mounted *fs);

/* Bytes that the calling thread has read from devices so far. */
uint64_t bt_mounted_bytes_read(void);

/* The number of the tree that has this directory's files; 0 if it is
 * unknown. */
uint64_t bt_mounted_tree_of(int fd);

/* Find the root of a tree.  Returns 0 or an errno. */
int bt_mounted_root(const struct bt_mounted *fs, uint64_t tree,
		    struct bt_ptr *root);

/* Search a tree for these keys.  The items, of a whole leaf at most, are passed to
 * `sink`; if that is NULL, only the first key is searched for.  Returns 0 or an
 * errno. */
int bt_mounted_search(const struct bt_mounted *fs, uint64_t tree,
		      const struct bt_range *keys,
		      bt_item_sink sink, void *ctx);

/* Open a file of this tree by its inode number.  Returns -1 if it is not a regular file
 * or cannot be opened. */
int bt_mounted_open_file(const struct bt_mounted *fs, uint64_t tree,
			 uint64_t inode);

#endif
