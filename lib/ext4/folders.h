/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Units of the source when only blocks below some folders are read.
 *
 * A unit is a sweep over all that is known to be below them and was not read yet: the
 * inode tables of the groups in which inodes are named, and the blocks of folders.  The
 * tables tell where other folders lie, too, and those next to one that is wanted are
 * read with it: mostly they turn out to be below as well, and what they name is known
 * without another sweep.
 */
#ifndef E2PF_FOLDERS_H
#define E2PF_FOLDERS_H

#include "plan.h"

struct e2pf_ext4;
struct e2pf_folders;

/* Begin with those that the source names, on a device that seeks or does not.  Returns
 * NULL without memory. */
struct e2pf_folders *e2pf_folders_new(const struct e2pf_ext4 *ext4, bool seeks);
void e2pf_folders_free(struct e2pf_folders *f);

/* The number of units; it grows by parsing. */
uint64_t e2pf_folders_units(struct e2pf_folders *f);

/* Were there more than can be kept in memory?  Then everything is to be read, when the
 * last unit has been. */
bool e2pf_folders_are_full(const struct e2pf_folders *f);

/* Pass the references of a sweep to the plan's sink. */
void e2pf_folders_seed(struct e2pf_folders *f, uint64_t unit,
		       const struct e2pf_plan *plan);

/* Parse what a sweep refers to: `size` bytes of a table from inode `ino` on, or block
 * number `block`.  Returns true if there are more units. */
bool e2pf_folders_parse(struct e2pf_folders *f, const struct e2pf_plan *plan,
			const struct e2pf_ref *ref, uint32_t ino, uint64_t block,
			const void *bytes, uint32_t size);

#endif
