/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The source of work for btrfs check, which does not report its position: the
 * engine follows its reads. */
#ifndef E2PF_BTRFS_SOURCE_H
#define E2PF_BTRFS_SOURCE_H

#include <pthread.h>

#include "engine/source.h"
#include "leaf_order.h"

/* In the order of the check. */
enum e2pf_btrfs_phase {
	E2PF_BTRFS_NODES,	/* the root tree, the roots of the trees that it
				   names, and all nodes */
	E2PF_BTRFS_LEAVES,	/* all leaves, in the order that is made before
				   (leaf_order.h) */
	E2PF_BTRFS_PHASES
};

/* The classes of metadata. */
enum e2pf_btrfs_class {
	E2PF_BTRFS_CLASS_ROOTS,		/* of the root tree */
	E2PF_BTRFS_CLASS_NODES,		/* of another tree */
	E2PF_BTRFS_CLASS_LEAVES,
	E2PF_BTRFS_CLASSES
};

struct e2pf_btrfs {
	struct pf_source source;

	/* Set before e2pf_btrfs_init(): the filesystem, its devices (1 to
	 * PF_MAX_DEVICES; references name a device by its index), and their
	 * sizes. */
	struct e2pf_chunk_map map;
	uint64_t bytes[PF_MAX_DEVICES];

	/* Known when all nodes were read.  May be read by any thread. */
	_Atomic(uint64_t) leaves;	/* that are read after all nodes */
	_Atomic(uint64_t) blocks;	/* these, and those read before them */
	/* The module is to drop blocks from the page cache once the check has read
	 * them: leaves are read in a window, and the check keeps all of them.
	 * Under memory pressure the kernel would evict blocks that were not used
	 * yet before those that were. */
	_Atomic(bool) drop_read;

	/* Private. */
	struct e2pf_slot_set seen;	/* blocks that were passed to a sink, or are
					   in the order */
	_Atomic(uint64_t) passed_on;	/* number of the former */
	bool seeks;
	uint64_t room;			/* bytes that may be read ahead */
	pthread_mutex_t lock;		/* of what follows */
	struct e2pf_leaf_order order;
	struct e2pf_btrfs_ptr *tree;	/* the roots of all trees, first that
					   of the root tree */
	size_t trees, tree_room;
};

/* Make a source of a struct that is otherwise zero.  Reads the chunk tree. */
void e2pf_btrfs_init(struct e2pf_btrfs *btrfs, e2pf_btrfs_reader read,
		     void *ctx);
/* Free its memory, if e2pf_btrfs_init() was called. */
void e2pf_btrfs_fini(struct e2pf_btrfs *btrfs);

#endif
