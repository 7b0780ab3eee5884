/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "ext4_names.h"

const char *const e2pf_class_names[E2PF_CLASSES] = {
	[E2PF_BITMAPS] = "bitmaps",
	[E2PF_INODES] = "inodes",
	[E2PF_EXTENTS] = "extents",
	[E2PF_INDIRECT] = "indirect",
	[E2PF_DIRS] = "dirs",
	[E2PF_XATTRS] = "xattrs",
	[E2PF_SYMLINKS] = "symlinks",
	[E2PF_FILES] = "files",
};

const char *const e2pf_ext4_stage_names[E2PF_EXT4_STAGES] = {
	[E2PF_EXT4_OPEN] = "open",
	[E2PF_EXT4_PASS1] = "pass1",
	[E2PF_EXT4_PASS1B] = "pass1b",
	[E2PF_EXT4_PASS1C] = "pass1c",
	[E2PF_EXT4_PASS1D] = "pass1d",
	[E2PF_EXT4_PASS2] = "pass2",
	[E2PF_EXT4_PASS3] = "pass3-4",
	[E2PF_EXT4_PASS5] = "pass5",
};
