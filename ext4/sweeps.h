/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Sweeps over what is below some directories.
 *
 * A unit is a sweep over all that is known to be below them and was not read yet: the
 * inode tables of the groups in which inodes are named, and the blocks of directories.
 * The tables tell where other directories lie, too, and those next to one that is wanted
 * are read with it: mostly they turn out to be below as well, and what they name is known
 * without another sweep.
 *
 * The functions lock the sweeps.
 */
#ifndef EXT4_SWEEPS_H
#define EXT4_SWEEPS_H

#include "source.h"

struct ext4_sweeps;

/* The first sweep is over the tables of the directories in the options of the source.
 * If more than `limit` bytes are wanted, the sweeps are full.  Returns NULL if memory has
 * run out. */
struct ext4_sweeps *ext4_sweeps_new(const struct ext4_source *ext4, bool seek_bound,
				    uint64_t limit);
void ext4_sweeps_free(struct ext4_sweeps *s);

/* Number of sweeps that are known. */
uint64_t ext4_sweeps_count(struct ext4_sweeps *s);

/* Returns true if more is below the directories than can be kept, so that it must be read
 * in another way. */
bool ext4_sweeps_are_full(struct ext4_sweeps *s);

/* Pass on what a sweep wants, and what lies near it. */
void ext4_sweeps_seed(struct ext4_sweeps *s, uint64_t unit,
		      const struct ext4_plan *plan);

/* `ino` is the first inode of a table, `block` the number of any other block.  Returns
 * true if there are more sweeps. */
bool ext4_sweeps_parse(struct ext4_sweeps *s, const struct ext4_plan *plan,
		       struct ext4_kind kind, uint32_t ino, uint64_t block,
		       const void *bytes, uint32_t size);

#endif
