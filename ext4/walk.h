/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The window of a walk: which directories are read ahead next for a program that walks a
 * filesystem larger than memory, and how far.
 *
 * The directories that are known form a tree.  They are read in the order in which the
 * program is expected to come to them: each before those in it, and siblings in the order
 * of their hashes, names or inodes, whichever the program turns out to use.  A unit of
 * the source is a batch of them: their blocks and the inodes that these name.  A batch is
 * ahead until the program has opened all of its directories, or has opened so many others
 * since that it seems to leave the rest out.  If it opens a directory that was not read
 * ahead, that one and those it is in are read next, and then what follows it.  The
 * program may have several threads, each elsewhere.
 *
 * Reads nothing itself, and uses no clock.  Safe from any thread.
 */
#ifndef EXT4_WALK_H
#define EXT4_WALK_H

#include "plan.h"

struct ext4_walk;

/* Begin at these directories, in this order, with about `window` bytes ahead at most, and
 * `portion` bytes in a batch, or a quarter of the window.  Returns NULL if memory has run
 * out. */
struct ext4_walk *ext4_walk_new(const struct ext4_geometry *geo, ext4_hash_fn *hash,
				uint64_t window, uint64_t portion,
				const uint32_t *directories, unsigned count);
void ext4_walk_free(struct ext4_walk *w);

/* Number of batches so far.  Sets *more if the program's opens may add others. */
uint64_t ext4_walk_batches(struct ext4_walk *w, bool *more);

/* Choose no more batches. */
void ext4_walk_end(struct ext4_walk *w);

/* Returns true if that was done, or if the program follows no order: nothing more is
 * read. */
bool ext4_walk_is_over(struct ext4_walk *w);

/* Choose the next batch, and pass on each of its directories. */
void ext4_walk_next(struct ext4_walk *w,
		    void (*read)(void *ctx, uint32_t directory), void *ctx);

/* Returns true if this directory is in a batch and its inode was not parsed before. */
bool ext4_walk_takes(struct ext4_walk *w, uint32_t directory);

/* A directory of a batch leads to these blocks.  Returns true, and counts them, if they
 * are to be read: they are not ahead, and the batch is not larger than the window. */
bool ext4_walk_admit(struct ext4_walk *w, uint32_t directory, uint64_t block,
		     uint32_t blocks);

/* A directory of a batch names another one.  Returns true if there is a new batch. */
bool ext4_walk_add(struct ext4_walk *w, uint32_t directory,
		   const struct ext4_entry *entry);

/* Returns true if this directory was found, and is not passed. */
bool ext4_walk_knows(struct ext4_walk *w, uint32_t directory);

/* The program has opened the first directory of this path: `count` inodes that the
 * filesystem has, each in the next one, at least one; those behind one that is known are
 * not needed.  Returns true if there is a new batch, or will be no more. */
bool ext4_walk_open(struct ext4_walk *w, const uint32_t *path, unsigned count);

#endif
