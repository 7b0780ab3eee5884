/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A source of work that reads only what is below some directories of an ext2, ext3 or
 * ext4 filesystem, in the phase EXT4_DIRECTORIES.  Bitmaps follow as in the source of
 * the whole filesystem, which takes over if what is below cannot be kept in memory.
 *
 * A unit is a sweep over all that is known to be below them and was not read yet: the
 * inode tables of the groups in which inodes are named, and the blocks of directories.
 * The tables tell where other directories lie, too, and those next to one that is wanted
 * are read with it: mostly they turn out to be below as well, and what they name is known
 * without another sweep.
 */
#ifndef EXT4_DIRECTORIES_H
#define EXT4_DIRECTORIES_H

#include "source.h"

/* As ext4_source_new(), with which it shares the rest of its interface; the directories
 * are those in the options. */
struct ext4_source *ext4_directories_new(const struct ext4_geometry *geo,
					 const struct ext4_source_options *options);

#endif
