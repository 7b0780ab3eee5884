/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "ext4_names.h"

const char *const e2pf_class_names[E2PF_CLASSES] = {
	[E2PF_DESCRIPTORS] = "descriptors",
	[E2PF_BITMAPS] = "bitmaps",
	[E2PF_INODES] = "inodes",
	[E2PF_EXTENTS] = "extents",
	[E2PF_INDIRECT] = "indirect",
	[E2PF_DIRS] = "dirs",
	[E2PF_XATTRS] = "xattrs",
	[E2PF_SYMLINKS] = "symlinks",
	[E2PF_FILES] = "files",
};

/* The first window of a sequence; that of inode tables, which are long. */
#define WINDOW (16u << 10)
#define TABLE_WINDOW (128u << 10)

const uint32_t e2pf_ext4_windows[E2PF_CLASSES] = {
	[E2PF_DESCRIPTORS] = WINDOW,
	[E2PF_BITMAPS] = WINDOW,
	[E2PF_INODES] = TABLE_WINDOW,
	[E2PF_EXTENTS] = WINDOW,
	[E2PF_INDIRECT] = WINDOW,
	[E2PF_DIRS] = WINDOW,
	[E2PF_XATTRS] = WINDOW,
	[E2PF_SYMLINKS] = WINDOW,
};

const char *const e2pf_ext4_stage_names[E2PF_EXT4_STAGES] = {
	[E2PF_EXT4_OPEN] = "open",
	[E2PF_EXT4_PASS1] = "pass1",
	[E2PF_EXT4_PASS1B] = "pass1b",
	[E2PF_EXT4_PASS1C] = "pass1c",
	[E2PF_EXT4_PASS1D] = "pass1d",
	[E2PF_EXT4_PASS2] = "pass2",
	[E2PF_EXT4_PASS3] = "pass3",
	[E2PF_EXT4_PASS3A] = "pass3a",
	[E2PF_EXT4_PASS4] = "pass4",
	[E2PF_EXT4_PASS5] = "pass5",
};
