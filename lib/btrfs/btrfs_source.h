/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source of work for btrfs.  The phases are in the order of btrfs check:
 *
 *	E2PF_BTRFS_ROOTS	the root tree, which names the other trees
 *	E2PF_BTRFS_TREES	the roots of all trees, which the check reads
 *				when it opens the filesystem; and all nodes
 *	E2PF_BTRFS_LEAVES	all leaves, in an order that is made before
 *				(leaf_order.h); in a window in front of the
 *				check if there are more than may be read ahead
 *				of it
 *
 * The check does not report its position; the engine follows its reads.  The
 * functions of this source may be called as engine/source.h says.
 */
#ifndef E2PF_BTRFS_SOURCE_H
#define E2PF_BTRFS_SOURCE_H

#include "chunk_map.h"
#include "engine/source.h"

enum e2pf_btrfs_phase {
	E2PF_BTRFS_ROOTS,
	E2PF_BTRFS_TREES,
	E2PF_BTRFS_LEAVES,
	E2PF_BTRFS_PHASES
};

/* The classes of metadata. */
enum e2pf_btrfs_class {
	E2PF_BTRFS_CLASS_ROOTS,		/* of the root tree */
	E2PF_BTRFS_CLASS_NODES,		/* of another tree */
	E2PF_BTRFS_CLASS_LEAVES,
	E2PF_BTRFS_CLASSES
};

struct e2pf_btrfs;

/*
 * Create a source for this filesystem on these devices (1 to E2PF_DEVICES) of
 * so many bytes.  References name a device by its index.  All arguments are
 * copied.  Reads the chunk tree, which the check reads first, too: then all
 * metadata chunks are known.  Returns NULL if memory runs out.
 */
struct e2pf_btrfs *e2pf_btrfs_new(const struct e2pf_btrfs_super *super,
				  const struct e2pf_btrfs_device *devices,
				  const uint64_t *bytes, unsigned count,
				  e2pf_btrfs_reader read, void *ctx);
void e2pf_btrfs_free(struct e2pf_btrfs *btrfs);

struct e2pf_source *e2pf_btrfs_source(struct e2pf_btrfs *btrfs);

/* True if this byte of a device lies in a chunk of the chunk tree.  May be
 * called from any thread, with or without an engine. */
bool e2pf_btrfs_in_system(const struct e2pf_btrfs *btrfs, unsigned device,
			  uint64_t offset);

/*
 * The check asks for `length` bytes of a copy of a tree block: change *device
 * and *offset to the copy that it will read, if it is another one.  Nothing
 * changes if no such block is known, or if it is not contiguous.  May be called
 * from any thread.
 */
void e2pf_btrfs_copy_read(const struct e2pf_btrfs *btrfs, unsigned *device,
			  uint64_t *offset, uint64_t length);

/* What is known when all nodes were read. */
struct e2pf_btrfs_facts {
	uint64_t leaves;		/* that are read after all nodes */
	uint64_t bytes_left;		/* of leaves that are left to the check,
					   because there are far more than the
					   budget allows to keep track of */
	size_t chunks;			/* that may hold tree blocks */
	bool window;			/* there are more leaves than may be
					   read ahead at the same time */
	/*
	 * The page cache of a block is best dropped once the check has read it:
	 * leaves are read in a window, and the check keeps all of them.  Under
	 * memory pressure the kernel would otherwise evict blocks read ahead,
	 * which were not used yet, before blocks that were.
	 */
	bool used_once;
};

/* May be called from any thread. */
struct e2pf_btrfs_facts e2pf_btrfs_facts(const struct e2pf_btrfs *btrfs);

#endif
