/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Blocks that several files claim.  Pass 1B finds them in the order in which
 * pass 1D clones them, each by a read and a write, so they can be read ahead of
 * pass 1D.
 *
 * All functions must be called from the checker's thread.
 */
#ifndef CLONES_H
#define CLONES_H

#include <stdint.h>

#include "ext4/ext4_source.h"

/* Forget all blocks: a scan of all inodes begins. */
void clones_forget(void);

/* Pass 1B has found that this block of a file is claimed several times.  Without
 * memory it is not read ahead. */
void clones_add(uint64_t block);

/* Pass 1D has reached such a block of a file whose blocks it clones.  The engine
 * and its source are those of the check. */
void clones_at(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
	       uint64_t block);

#endif
