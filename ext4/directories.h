/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A source of work that reads only what is below some directories of an ext2, ext3 or
 * ext4 filesystem, in the phase EXT4_DIRECTORIES.  Bitmaps follow as in the source of
 * the whole filesystem, which takes over if what is below cannot be kept in memory.
 *
 * They are read in sweeps (sweeps.h).  A program that is followed may walk more than fits
 * into memory: then it is kept ahead of (walk.h), in the phase EXT4_WALK.
 */
#ifndef EXT4_DIRECTORIES_H
#define EXT4_DIRECTORIES_H

#include "source.h"

/* As ext4_source_new(), with which it shares the rest of its interface; the directories
 * are those in the options. */
struct ext4_source *ext4_directories_new(const struct ext4_geometry *geo,
					 const struct ext4_source_options *options);

/* Returns true if a program is followed and may come to this directory. */
bool ext4_directories_know(const struct ext4_source *ext4, uint32_t directory);

/* The program that is followed has opened the first directory of the path, as in
 * ext4_walk_open(). */
void ext4_directories_open(struct ext4_source *ext4, struct pf_engine *engine,
			   const uint32_t *path, unsigned count);

/* Do not keep ahead of the program any longer, if one is followed. */
void ext4_directories_end(struct ext4_source *ext4, struct pf_engine *engine);

/* Returns true if the program that was followed follows no order. */
bool ext4_directories_gave_up(const struct ext4_source *ext4);

/* Returns true once a program is followed: it may begin. */
bool ext4_directories_follow(const struct ext4_source *ext4);

#endif
