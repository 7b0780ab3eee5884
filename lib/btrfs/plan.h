/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The planner for btrfs: from bytes to the tree blocks they refer to, and from
 * logical addresses to places on devices.
 *
 * Every function here is pure: no I/O, no allocation, no global state, safe
 * from any thread and on hostile bytes.  Numbers of the disk are checked
 * before they are handed out, and every loop is bounded by the size of the
 * buffer it reads.  What cannot be true is left out, silently: that it is
 * wrong is the checker's to say.
 */
#ifndef E2PF_BTRFS_PLAN_H
#define E2PF_BTRFS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define E2PF_BTRFS_SUPER_BYTES 4096u
#define E2PF_BTRFS_SUPER_MIRRORS 3u
#define E2PF_BTRFS_SYS_ARRAY 2048u
#define E2PF_BTRFS_UUID 16u

/* Levels of a tree, leaves included. */
#define E2PF_BTRFS_LEVELS 8u

/* Stripes of a chunk that are looked at: more devices than this the engine
 * does not take. */
#define E2PF_BTRFS_STRIPES 64u

/* Bytes that lie on one device before the next stripe begins. */
#define E2PF_BTRFS_STRIPE_LEN 65536u

/* Where a tree block is, and what must be found there. */
struct e2pf_btrfs_ptr {
	uint64_t logical;	/* bytes, a multiple of the sector size */
	uint64_t generation;
	uint64_t owner;		/* tree: BT_*_TREE_OBJECTID */
	uint8_t level;		/* 0: a leaf */
};

/* What is needed of a superblock, in host order. */
struct e2pf_btrfs_super {
	uint8_t fsid[E2PF_BTRFS_UUID];		/* that devices have */
	uint8_t node_fsid[E2PF_BTRFS_UUID];	/* that tree blocks have */
	uint8_t device_uuid[E2PF_BTRFS_UUID];
	uint64_t devid;
	uint64_t generation;
	uint64_t bytes_used;			/* data and metadata */
	uint64_t devices;			/* that there should be */
	uint32_t nodesize;			/* 4096 to 65536 */
	uint32_t sectorsize;			/* 4096 to nodesize */
	struct e2pf_btrfs_ptr root, chunk_root;
	struct e2pf_btrfs_ptr log_root;		/* logical 0: there is none */
	uint32_t sys_array_size;		/* bytes */
	uint8_t sys_array[E2PF_BTRFS_SYS_ARRAY];
};

enum e2pf_btrfs_verdict {
	E2PF_BTRFS_OK,
	E2PF_BTRFS_NONE,	/* no superblock, or one whose numbers cannot
				   hold together */
	E2PF_BTRFS_TREE_V2	/* extent-tree-v2: other roots than these */
};

/* Where copy `mirror` (below E2PF_BTRFS_SUPER_MIRRORS) of the superblock
 * lies, bytes from the start of the device. */
uint64_t e2pf_btrfs_super_offset(unsigned mirror);

/* Parse the E2PF_BTRFS_SUPER_BYTES bytes of the superblock that lies there.
 * Unless it is well, *super is undefined. */
enum e2pf_btrfs_verdict e2pf_btrfs_plan_super(const void *bytes,
					      uint64_t offset,
					      struct e2pf_btrfs_super *super);

/* How a chunk is laid out over its stripes. */
enum e2pf_btrfs_profile {
	E2PF_BTRFS_COPIES,	/* single, DUP, RAID1: each stripe has all */
	E2PF_BTRFS_RAID0,
	E2PF_BTRFS_RAID10,
	E2PF_BTRFS_RAID56
};

struct e2pf_btrfs_layout {
	uint64_t logical, length;	/* bytes */
	uint16_t stripes;		/* 1 to E2PF_BTRFS_STRIPES */
	uint16_t across;		/* stripes that data is spread over */
	uint8_t copies;			/* that can be read as they are */
	uint8_t profile;		/* enum e2pf_btrfs_profile */
	bool metadata;			/* tree blocks may lie in it */
	bool system;			/* those of the chunk tree do */
};

struct e2pf_btrfs_stripe {
	uint64_t devid;
	uint64_t offset;		/* bytes, on that device */
	uint8_t device_uuid[E2PF_BTRFS_UUID];
};

/* A chunk; layout.stripes of them, each layout.length * copies / across bytes
 * long at most, but for a part of the last row. */
struct e2pf_btrfs_chunk {
	struct e2pf_btrfs_layout layout;
	struct e2pf_btrfs_stripe stripe[E2PF_BTRFS_STRIPES];
};

/* Parse the chunk item of `size` bytes whose key has the address `logical`.
 * False when it cannot be one. */
bool e2pf_btrfs_plan_chunk(const struct e2pf_btrfs_super *super,
			   uint64_t logical, const void *item, size_t size,
			   struct e2pf_btrfs_chunk *chunk);

/* Bytes that each stripe of a chunk takes on its device. */
uint64_t e2pf_btrfs_stripe_bytes(const struct e2pf_btrfs_layout *layout);

/* A part of a chunk that lies on one stripe. */
struct e2pf_btrfs_place {
	unsigned stripe;
	uint64_t offset;		/* bytes from the stripe's start */
	uint64_t length;		/* bytes until another stripe */
};

/* Where the byte at `offset` (below layout->length) of copy `copy` (below
 * layout->copies) lies.  The check reads copy 0 if it can. */
struct e2pf_btrfs_place e2pf_btrfs_place(const struct e2pf_btrfs_layout *layout,
					 uint64_t offset, unsigned copy);

/* The other way: which byte of the chunk lies `offset` bytes from the start of
 * this stripe; UINT64_MAX with parity, where it is not looked for. */
uint64_t e2pf_btrfs_offset(const struct e2pf_btrfs_layout *layout,
			   unsigned stripe, uint64_t offset);

/* Takes what is found, valid during the call only. */
typedef void (*e2pf_btrfs_ptr_sink)(void *ctx,
				    const struct e2pf_btrfs_ptr *ptr);
typedef void (*e2pf_btrfs_chunk_sink)(void *ctx,
				      const struct e2pf_btrfs_chunk *chunk);

/* The chunks of the superblock's own array: those of the chunk tree. */
void e2pf_btrfs_plan_sys_array(const struct e2pf_btrfs_super *super,
			       e2pf_btrfs_chunk_sink sink, void *ctx);

/*
 * Are these super->nodesize bytes the tree block that `ptr` says?  Its own
 * address, level, generation and owner fit; its fsid is for
 * e2pf_btrfs_node_fsid().  The checksum is not verified.
 */
bool e2pf_btrfs_fits(const struct e2pf_btrfs_super *super,
		     const struct e2pf_btrfs_ptr *ptr, const void *block);

/* The fsid of a tree block, E2PF_BTRFS_UUID bytes, and its generation. */
const uint8_t *e2pf_btrfs_node_fsid(const void *block);
uint64_t e2pf_btrfs_generation(const void *block);

/* Does a tree of this owner hold files, so that its blocks may be another such
 * tree's (a snapshot's)? */
bool e2pf_btrfs_is_subvolume(uint64_t owner);

/* The children of a node, which fits `ptr` and has a level above 0. */
void e2pf_btrfs_plan_node(const struct e2pf_btrfs_super *super,
			  const struct e2pf_btrfs_ptr *ptr, const void *block,
			  e2pf_btrfs_ptr_sink sink, void *ctx);

/* The roots of other trees that a leaf of the root tree names. */
void e2pf_btrfs_plan_roots(const struct e2pf_btrfs_super *super,
			   const void *block, e2pf_btrfs_ptr_sink sink,
			   void *ctx);

/* The chunks of a leaf of the chunk tree. */
void e2pf_btrfs_plan_chunks(const struct e2pf_btrfs_super *super,
			    const void *block, e2pf_btrfs_chunk_sink sink,
			    void *ctx);

#endif
