/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Which accelerations work with this e2fsck and libext2fs; and everything that
 * e2fsck-prefetch.so uses of e2fsck-accel.so, which contains the accelerations.
 */
#ifndef ACCELERATE_H
#define ACCELERATE_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>

#include "settings.h"

/* The callback of ext2fs_block_iterate3(). */
typedef int block_fn(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		     blk64_t ref_block, int ref_offset, void *data);

/* Why an acceleration cannot be used; NULL if it can. */
struct findings {
	const char *why_not[E2PF_ACCELERATIONS];
};

/* The launcher calls this function of e2fsck-prefetch.so in its own process. */
bool prefetch_wants_accel(void);

extern const struct accel {
	const char *version;	/* of both modules */
	/*
	 * The self-test.  `findings` is a struct findings.  This changes how bitmaps,
	 * checksums and walks are made in this process, and may crash with an
	 * unknown version of the library.  Call it in a process that ends
	 * afterwards, never in a check.
	 */
	void (*try)(void *findings);
	/* Begin one (enum e2pf_acceleration) that passed it.  Called before there
	 * is any bitmap of the filesystem. */
	void (*begin)(unsigned which);
	/* standins.h */
	bool (*have_claims)(void);
	void (*watch_claims)(void (*claimed)(void *ctx), void *ctx);
} e2pf_accel __attribute__((weak));

#endif
