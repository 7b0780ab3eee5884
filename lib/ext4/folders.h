/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Units of the source when only blocks below some folders are read.
 *
 * A unit is an inode; if it is a folder's, its blocks are parsed for names.  So the tree
 * is read level by level, each in one sweep.  As soon as the inodes are a large part of
 * the filesystem all of its groups become units: fewer sweeps, and large requests.
 */
#ifndef E2PF_FOLDERS_H
#define E2PF_FOLDERS_H

#include "plan.h"

struct e2pf_ext4;
struct e2pf_folders;

/* Begin with those that the source names.  Returns NULL without memory. */
struct e2pf_folders *e2pf_folders_new(const struct e2pf_ext4 *ext4);
void e2pf_folders_free(struct e2pf_folders *f);

/* The number of units; it grows by parsing. */
uint64_t e2pf_folders_units(struct e2pf_folders *f);

/* Is the unit a group, or an inode?  *number is which. */
bool e2pf_folders_is_group(struct e2pf_folders *f, uint64_t unit, uint32_t *number);

/* Pass the references of an inode to the plan's sink. */
void e2pf_folders_seed(struct e2pf_folders *f, uint32_t ino, struct e2pf_plan *plan);

/* Parse a block of a folder below which all is wanted; true if it is one, and there may
 * be more units. */
bool e2pf_folders_parse(struct e2pf_folders *f, struct e2pf_plan *plan,
			const struct e2pf_ref *ref, uint64_t block,
			const void *bytes);

#endif
