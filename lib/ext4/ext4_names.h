/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The classes of ext4's metadata, and the stages of e2fsck: their numbers and names.
 * Needs nothing but libc. */
#ifndef E2PF_EXT4_NAMES_H
#define E2PF_EXT4_NAMES_H

/* The classes of metadata. */
enum e2pf_class {
	E2PF_BITMAPS,		/* block and inode bitmaps */
	E2PF_INODES,		/* inode tables, the part in use */
	E2PF_EXTENTS,		/* blocks of extent trees */
	E2PF_INDIRECT,		/* indirect, double and triple indirect
				   blocks */
	E2PF_DIRS,		/* directory blocks, including htree nodes */
	E2PF_XATTRS,		/* extended attribute blocks and values */
	E2PF_SYMLINKS,		/* symbolic links too long for the inode */
	E2PF_FILES,		/* maps of the journal and of other reserved
				   inodes; blocks that pass 1D clones */
	E2PF_CLASSES
};

#define E2PF_ALL_CLASSES ((1u << E2PF_CLASSES) - 1)

extern const char *const e2pf_class_names[E2PF_CLASSES];

/* The parts of a check.  These are the engine's stages. */
enum e2pf_ext4_stage {
	E2PF_EXT4_OPEN,		/* until the first inode is read */
	E2PF_EXT4_PASS1,	/* inodes and block maps */
	E2PF_EXT4_PASS1B,	/* again, to find who claims a block twice */
	E2PF_EXT4_PASS1C,	/* names of these files: directory blocks */
	E2PF_EXT4_PASS1D,	/* cloning of these files: bitmaps, data */
	E2PF_EXT4_PASS2,	/* directory blocks */
	E2PF_EXT4_PASS3,	/* connectivity; directories are rewritten;
				   then pass 4, which reads nothing */
	E2PF_EXT4_PASS5,	/* bitmaps, and everything after them */
	E2PF_EXT4_STAGES
};

/* Names of stages as in doc/statistics.md. */
extern const char *const e2pf_ext4_stage_names[E2PF_EXT4_STAGES];

#endif
