/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The source of work for btrfs check, which does not report its position: the
 * engine follows its reads. */
#ifndef BTRFS_SOURCE_H
#define BTRFS_SOURCE_H

#include <pthread.h>

#include "prefetch/source.h"
#include "leaf_order.h"

/* In the order of the check. */
enum bt_phase {
	BT_PHASE_NODES,		/* the root tree, the roots of the trees that it
				   names, and all nodes */
	BT_PHASE_LEAVES,	/* all leaves, in the order that is made before
				   (leaf_order.h) */
	BT_PHASES
};

/* The classes of metadata. */
enum bt_class {
	BT_CLASS_ROOTS,			/* of the root tree */
	BT_CLASS_NODES,			/* of another tree */
	BT_CLASS_LEAVES,
	BT_CLASSES
};

struct bt_source {
	struct pf_source source;

	/* Set before bt_source_init(): the filesystem, its devices (1 to
	 * PF_MAX_DEVICES; references name a device by its index), and their
	 * sizes. */
	struct bt_chunk_map map;
	uint64_t bytes[PF_MAX_DEVICES];

	/* Known when all nodes were read.  Any thread may read these. */
	_Atomic(uint64_t) leaves;	/* leaves that are read after all nodes */
	_Atomic(uint64_t) blocks;	/* these leaves, and all blocks read before */
	/* The preload library should drop blocks from the page cache after the check
	 * has read them, because the check keeps all leaves in its own memory.  Under
	 * memory pressure the kernel would evict unused blocks before used ones. */
	_Atomic(bool) drop_read;

	/* Private. */
	struct bt_slot_set seen;	/* blocks that were passed to a sink, or are
					   in the order */
	_Atomic(uint64_t) passed_on;	/* blocks that were passed to a sink */
	bool seek_bound;
	uint64_t room;			/* bytes that may be read ahead */
	pthread_mutex_t lock;		/* of the members below */
	struct bt_leaf_order order;
	struct bt_ptr *tree;		/* the roots of all trees, first that
					   of the root tree */
	size_t trees, tree_room;
};

/* Make a source of a struct whose other members are zero.  Reads the chunk tree. */
void bt_source_init(struct bt_source *btrfs, bt_reader read,
		    void *ctx);
/* Free its memory, if bt_source_init() was called. */
void bt_source_fini(struct bt_source *btrfs);

#endif
