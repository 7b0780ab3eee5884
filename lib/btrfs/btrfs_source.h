/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source of work for btrfs, in the order of btrfs check:
 *
 *	E2PF_BTRFS_CHUNKS	the chunk tree, which tells where all else is
 *	E2PF_BTRFS_ROOTS	the root tree, which names the other trees
 *	E2PF_BTRFS_TREES	the roots of all trees, which the check reads
 *				when it opens the filesystem; the nodes; and
 *				the leaves of extent and block group trees,
 *				which it walks first, block by block
 *	E2PF_BTRFS_LEAVES	all other leaves, whose addresses are known
 *				then, in the order of the devices; unless they
 *				are more than may be ahead of the check
 *
 * Nobody reports where the check is: it is followed by what it reads.
 * The parts of this source may be used as engine/source.h says.
 */
#ifndef E2PF_BTRFS_SOURCE_H
#define E2PF_BTRFS_SOURCE_H

#include "chunk_map.h"
#include "engine/source.h"

enum e2pf_btrfs_phase {
	E2PF_BTRFS_CHUNKS,
	E2PF_BTRFS_ROOTS,
	E2PF_BTRFS_TREES,
	E2PF_BTRFS_LEAVES,
	E2PF_BTRFS_PHASES
};

/* What a block of metadata is. */
enum e2pf_btrfs_class {
	E2PF_BTRFS_CLASS_CHUNKS,	/* of the chunk tree */
	E2PF_BTRFS_CLASS_ROOTS,		/* of the root tree, or the log's */
	E2PF_BTRFS_CLASS_EXTENTS,	/* of extent and block group trees */
	E2PF_BTRFS_CLASS_NODES,		/* of another tree */
	E2PF_BTRFS_CLASS_LEAVES,
	E2PF_BTRFS_CLASSES
};

/* A device to read from, and what is known of it. */
struct e2pf_btrfs_member {
	uint64_t bytes;			/* its size */
	uint64_t devid;
	uint8_t uuid[E2PF_BTRFS_UUID];
	uint8_t node_fsid[E2PF_BTRFS_UUID];	/* of blocks: a seed's differ
						   from the others' */
};

struct e2pf_btrfs;

/* A source for this filesystem on these devices (1 to E2PF_DEVICES), by whose
 * indices references name them.  All is copied.  NULL without memory. */
struct e2pf_btrfs *e2pf_btrfs_new(const struct e2pf_btrfs_super *super,
				  const struct e2pf_btrfs_member *members,
				  unsigned count);
void e2pf_btrfs_free(struct e2pf_btrfs *btrfs);

struct e2pf_source *e2pf_btrfs_source(struct e2pf_btrfs *btrfs);

/* Does this byte of a device lie in a chunk that the superblock itself names:
 * one of the chunk tree's?  From any thread, with or without an engine. */
bool e2pf_btrfs_in_system(const struct e2pf_btrfs *btrfs, unsigned device,
			  uint64_t offset);

/* Reads a reference; 0 or an errno. */
typedef int (*e2pf_btrfs_reader)(void *ctx, const struct e2pf_ref *ref,
				 void *bytes);

/*
 * Find out where metadata lies, from the first blocks of the chunk tree, so
 * that the devices are measured at places that will be read anyway, and
 * e2pf_btrfs_copy_read() knows from the start.  For a check that has read the
 * chunk tree already this takes no time.  Before an engine is started.
 */
void e2pf_btrfs_learn_chunks(struct e2pf_btrfs *btrfs, e2pf_btrfs_reader read,
			     void *ctx);

/*
 * The copy that the check reads of the tree block that has a copy there, and
 * whether it is among what has been handed out, or is going to be.  False
 * where that is not known, or not one piece.  From any thread, but not while
 * an engine is started.
 */
bool e2pf_btrfs_copy_read(struct e2pf_btrfs *btrfs, unsigned device,
			  uint64_t offset, struct e2pf_ref *ref,
			  bool *planned);

/* Bytes of leaves that are left to the check, more than may be ahead of it;
 * 0 where they are read ahead.  Not while there are threads. */
uint64_t e2pf_btrfs_leaves_left(const struct e2pf_btrfs *btrfs);

/* Chunks that tree blocks lie in, as far as they are known; not while there
 * are threads. */
size_t e2pf_btrfs_chunks(const struct e2pf_btrfs *btrfs);

#endif
