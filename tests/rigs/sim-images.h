/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Made-up filesystems, the same on every machine, and what a check of each
 * reads.  Those with names of bench/images are like these, but small: what
 * lies between two blocks is shorter.
 */
#ifndef SIM_IMAGES_H
#define SIM_IMAGES_H

#include "btrfs-fs.h"
#include "tiny-fs.h"

/* A read of the checker. */
struct step {
	uint64_t block;		/* of 4096 bytes */
	uint64_t turn;		/* private */
	uint32_t count;
	uint32_t group;		/* that the inode scan is in */
};

struct steps {
	struct step *step;
	size_t count, room;
};

struct sim_image {
	const char *name;
	uint64_t size;			/* bytes */
	uint64_t budget;		/* bytes that may be ahead of the
					   checker */
	const unsigned char *bytes;
	struct tiny_fs fs;		/* without groups: this is btrfs */
	struct e2pf_btrfs btrfs;
	/* In the order of the checker: ext4's pass 1 and pass 2; pass 5 reads
	 * the bitmaps of each group.  Or all of btrfs. */
	struct steps walk, dirs;
	/* Private. */
	unsigned char *memory;
	uint64_t *next_free, *dirs_at;	/* blocks, of groups and of flex
					   groups */
	uint64_t late;			/* of steps that the checker takes at
					   the end of a group: their turn */
	uint64_t random;
};

/* The names of all images, NULL at the end. */
extern const char *const sim_image_names[];

/* Aborts without memory. */
void sim_image_make(struct sim_image *im, const char *name);
void sim_image_free(struct sim_image *im);

#endif
