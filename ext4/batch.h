/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What is read for a batch of a walk (walk.h): the inodes of its directories, their
 * blocks, the parts of tables with the inodes that these name, and what those lead to.
 */
#ifndef EXT4_BATCH_H
#define EXT4_BATCH_H

#include "source.h"
#include "walk.h"

/* Choose the next batch, and pass on the inodes of its directories. */
void ext4_batch_seed(const struct ext4_source *ext4, struct ext4_walk *walk,
		     const struct ext4_plan *plan);

/* Parse bytes of a batch: `ino` is the first inode of a table, `block` the number of any
 * other block.  Returns true if there is another batch. */
bool ext4_batch_parse(const struct ext4_source *ext4, struct ext4_walk *walk,
		      const struct ext4_plan *plan, struct ext4_kind kind, uint32_t ino,
		      uint64_t block, const void *bytes, uint32_t size);

#endif
