/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Which accelerations work with this e2fsck and libext2fs; and everything that
 * e2fsck-prefetch.so uses of e2fsck-accel.so, which contains the accelerations.
 */
#ifndef E2FSCK_ACCEL_ACCELERATE_H
#define E2FSCK_ACCEL_ACCELERATE_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>

#include "prefetch/settings.h"

/* The callback of ext2fs_block_iterate3(). */
typedef int block_fn(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		     blk64_t ref_block, int ref_offset, void *data);

/* Why an acceleration cannot be used; NULL if it can. */
struct findings {
	const char *why_not[PF_ACCELERATIONS];
};

/* The wrapper calls this function of e2fsck-prefetch.so in its own process. */
bool prefetch_wants_accel(void);

extern const struct accel {
	const char *version;	/* of both preload libraries */
	/*
	 * The self-test.  `findings` is a struct findings.  This changes how bitmaps,
	 * checksums and walks are made in this process, and may crash with an
	 * unknown version of the library.  Call it in a process that ends
	 * afterwards, never in a check.
	 */
	void (*try)(void *findings);
	/* Begin one (enum pf_acceleration) that passed it.  Called before there
	 * is any bitmap of the filesystem. */
	void (*begin)(unsigned which);
	/* interposers.h */
	bool (*have_claims)(void);
	void (*watch_claims)(void (*claimed)(void *ctx), void *ctx);
} e2fsck_accel __attribute__((weak));

#endif
