/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * btrfs as a source of work: its phases, their units, and the conversion of the
 * planner's pointers to references.  Decides what is read in which phase.  Does
 * not know how far ahead anything is read (lib/engine/), nor what the bytes
 * mean (plan_*.c).
 *
 * Snapshots share most of their blocks.  One bit per block records which blocks
 * were passed on, so a subtree is walked once, however many trees refer to it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "array.h"
#include "btrfs_source.h"
#include "format.h"
#include "leaf_order.h"
#include "slot_set.h"

/* The number of trees that are kept; no known filesystem has more. */
#define TREES_MOST (1u << 20)

/* The number of places that are sampled to measure the first device. */
#define SAMPLES 64u

/* At most one tree block in eight, plus a constant, is parsed as a node.  A
 * sound filesystem has far fewer: the smallest nodes hold 121 pointers. */
#define NODES_PART 8u
#define NODES_LEAST 65536u

/* Sweeps over the leaves (leaf_order.h), and distances up to which leaves of
 * later sweeps are taken along.  On an aged filesystem each tree's leaves are
 * all over the disk, so that a sweep of one tree costs nearly half of one of
 * all six; without a head it costs little more than its share.  Simulated with
 * bench's models until the check has read its last block, with 454 MB and 4.4 s
 * of computing until then: one sweep and these, on one disk 9.8 and 9.5 s, USB
 * 13.1 and 12.8 s, network volume 7.9 and 5.5 s, SATA SSD 5.0 and 4.6 s. */
#define HEAD_SWEEPS 3u
#define HEAD_NEAR (512u << 10)
#define FLASH_SWEEPS 16u
#define FLASH_NEAR (48u << 10)

/* The nodes and links of leaf_order.h may take this part of the budget. */
#define ORDER_PART 16u

struct trees {
	struct e2pf_btrfs_ptr *root;
	size_t count, room;
};

struct e2pf_btrfs {
	struct e2pf_source source;
	struct e2pf_btrfs_super super;
	unsigned members;
	uint64_t bytes[E2PF_DEVICES];
	struct e2pf_btrfs_device device[E2PF_DEVICES];
	uint8_t fsid[E2PF_DEVICES][E2PF_BTRFS_UUID];
	struct e2pf_chunk_map map;
	struct e2pf_slot_set seen;		/* passed on, or in the order */
	struct e2pf_leaf_order order;	/* of leaves */
	atomic_uint_fast64_t leaves;	/* in it, once it is complete */
	bool has_head;
	atomic_bool used_once;		/* e2pf_btrfs_used_once() */
	atomic_uint_fast64_t extent_bytes;	/* of leaves of extent trees */
	uint64_t room;			/* bytes that may be read ahead; the
					   check reads the rest itself */
	pthread_mutex_t lock;		/* of the lists of trees */
	struct trees extent_trees, other_trees;
};

static struct e2pf_btrfs *btrfs_of(struct e2pf_source *source)
{
	return (struct e2pf_btrfs *)source;
}

/*
 * The cookie of a reference encodes the pointer that led to it: its address in
 * units of 4 KiB, the low bits of its generation, its level and its tree.
 */
#define COOKIE_UNIT 4096u
#define COOKIE_ADDRESS 44u		/* bits */
#define COOKIE_GENERATION 12u
#define COOKIE_LEVEL 3u
#define COOKIE_SUBVOLUME 31u		/* instead of a tree: any subvolume */

#define COOKIE_MASK(bits) ((UINT64_C(1) << (bits)) - 1)

static bool make_cookie(const struct e2pf_btrfs_ptr *ptr, uint64_t *cookie)
{
	uint64_t unit = ptr->logical / COOKIE_UNIT, owner = ptr->owner;

	if (e2pf_btrfs_is_subvolume(owner))
		owner = COOKIE_SUBVOLUME;
	else if (owner >= COOKIE_SUBVOLUME)
		return false;
	if (ptr->logical % COOKIE_UNIT || unit > COOKIE_MASK(COOKIE_ADDRESS))
		return false;
	*cookie = owner << COOKIE_LEVEL | ptr->level;
	*cookie = *cookie << COOKIE_GENERATION |
		  (ptr->generation & COOKIE_MASK(COOKIE_GENERATION));
	*cookie = *cookie << COOKIE_ADDRESS | unit;
	return true;
}

/* Decode a pointer.  A cookie has only the low bits of the generation; the high
 * bits are taken from `generation`, the one in the block that was read.  So the
 * two generations are equal if their low bits are. */
static struct e2pf_btrfs_ptr pointer_of(uint64_t cookie,
					uint64_t generation)
{
	struct e2pf_btrfs_ptr ptr;

	ptr.logical = (cookie & COOKIE_MASK(COOKIE_ADDRESS)) * COOKIE_UNIT;
	cookie >>= COOKIE_ADDRESS;
	ptr.generation = (generation & ~COOKIE_MASK(COOKIE_GENERATION)) |
			 (cookie & COOKIE_MASK(COOKIE_GENERATION));
	cookie >>= COOKIE_GENERATION;
	ptr.level = cookie & COOKIE_MASK(COOKIE_LEVEL);
	ptr.owner = cookie >> COOKIE_LEVEL;
	if (ptr.owner == COOKIE_SUBVOLUME)
		ptr.owner = BT_FS_TREE_OBJECTID;
	return ptr;
}

static enum e2pf_btrfs_class class_of(const struct e2pf_btrfs_ptr *ptr)
{
	switch (ptr->owner) {
	case BT_ROOT_TREE_OBJECTID:
	case BT_TREE_LOG_OBJECTID:
		return E2PF_BTRFS_CLASS_ROOTS;
	case BT_EXTENT_TREE_OBJECTID:
	case BT_BLOCK_GROUP_TREE_OBJECTID:
		return E2PF_BTRFS_CLASS_EXTENTS;
	default:
		return ptr->level ? E2PF_BTRFS_CLASS_NODES :
				    E2PF_BTRFS_CLASS_LEAVES;
	}
}

/* The destination of pointers. */
struct ref_sink {
	struct e2pf_btrfs *btrfs;
	e2pf_sink sink;
	void *ctx;
	bool at_once;			/* leaves are read now */
};

static void pass_ref(const struct ref_sink *to, uint64_t logical,
		     struct e2pf_ref ref)
{
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	unsigned n = e2pf_chunk_map_find(&to->btrfs->map, logical,
					 extent), i;

	/* A block in two parts cannot be parsed. */
	if (n > 1)
		ref.parse = false;
	for (i = 0; i < n; i++) {
		ref.device = extent[i].device;
		ref.offset = extent[i].offset;
		ref.length = extent[i].length;
		to->sink(to->ctx, &ref);
	}
}

/* The check walks the extent tree in key order.  If a worker waited for room in
 * the budget and then continued in device order, the disk would seek back and
 * forth, so leaves beyond the budget are left to the check. */
static bool has_room(struct e2pf_btrfs *btrfs, enum e2pf_btrfs_class cls,
		     const struct e2pf_btrfs_ptr *ptr)
{
	const uint64_t size = btrfs->super.nodesize;

	return cls != E2PF_BTRFS_CLASS_EXTENTS || ptr->level ||
	       atomic_fetch_add(&btrfs->extent_bytes, size) + size <=
	       btrfs->room;
}

/* Pass on a block as a reference, unless it is a leaf that has a place in the
 * order. */
static void pass_block(void *ctx, const struct e2pf_btrfs_ptr *ptr)
{
	const struct ref_sink *to = ctx;
	struct e2pf_btrfs *btrfs = to->btrfs;
	enum e2pf_btrfs_class cls = class_of(ptr);
	struct e2pf_ref ref = { .cls = (uint8_t)cls };
	bool aligned = false;
	uint64_t slot;

	ref.parse = ptr->level || ptr->owner == BT_ROOT_TREE_OBJECTID;
	if (ref.parse && !make_cookie(ptr, &ref.cookie))
		return;
	slot = e2pf_chunk_map_slot(&btrfs->map, ptr->logical, &aligned);
	if (aligned && cls == E2PF_BTRFS_CLASS_LEAVES && !to->at_once)
		return;
	if (slot == UINT64_MAX || !has_room(btrfs, cls, ptr) ||
	    !e2pf_slot_set_add(&btrfs->seen, slot))
		return;
	pass_ref(to, ptr->logical, ref);
}

/*
 * Collecting the results of parsing.
 */

static void add_root(void *ctx, const struct e2pf_btrfs_ptr *root)
{
	struct e2pf_btrfs *btrfs = ctx;
	struct trees *trees = class_of(root) == E2PF_BTRFS_CLASS_EXTENTS ?
			      &btrfs->extent_trees : &btrfs->other_trees;
	pthread_mutex_lock(&btrfs->lock);
	if (trees->count < TREES_MOST &&
	    e2pf_have_room((void **)&trees->root, &trees->room, trees->count,
			   1, sizeof(*trees->root)))
		trees->root[trees->count++] = *root;
	pthread_mutex_unlock(&btrfs->lock);
}

static bool is_ours(const struct e2pf_btrfs *btrfs, const void *block)
{
	const uint8_t *fsid = e2pf_btrfs_node_fsid(block);
	unsigned i;

	for (i = 0; i < btrfs->members; i++)
		if (!memcmp(fsid, btrfs->fsid[i], E2PF_BTRFS_UUID))
			return true;
	return false;
}

/*
 * The operations.
 */

static void btrfs_begin(struct e2pf_source *source,
			const struct e2pf_start *start)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);

	btrfs->room = start->paced ? start->budget : UINT64_MAX;
	btrfs->has_head = start->has_head;
	atomic_store(&btrfs->used_once, false);
	atomic_store(&btrfs->extent_bytes, 0);
	atomic_store(&btrfs->leaves, 0);
	e2pf_slot_set_free(&btrfs->seen);
	e2pf_leaf_order_clear(&btrfs->order, btrfs->room / ORDER_PART);
	e2pf_slot_set_init(&btrfs->seen, btrfs->map.slots);
	btrfs->extent_trees.count = 0;
	btrfs->other_trees.count = 0;
}

/* True if there are more leaves than may be read ahead at the same time. */
static bool is_window(const struct e2pf_btrfs *btrfs)
{
	return btrfs->order.found > btrfs->room / btrfs->super.nodesize;
}

static uint64_t btrfs_units(struct e2pf_source *source, unsigned phase,
			    bool *more)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	uint64_t units = 0;

	*more = false;
	pthread_mutex_lock(&btrfs->lock);
	switch (phase) {
	case E2PF_BTRFS_ROOTS:
		units = 1;
		break;
	case E2PF_BTRFS_TREES:
		units = btrfs->extent_trees.count + btrfs->other_trees.count;
		break;
	case E2PF_BTRFS_LEAVES:
		units = atomic_load(&btrfs->leaves);
		break;
	}
	pthread_mutex_unlock(&btrfs->lock);
	return units;
}

static void seed_leaf(struct ref_sink *to, uint64_t unit)
{
	const struct e2pf_ref ref = { .cls = E2PF_BTRFS_CLASS_LEAVES };
	uint64_t slot = to->btrfs->order.leaf[unit];

	if (slot != E2PF_LEAF_NONE)
		pass_ref(to, e2pf_chunk_map_logical(&to->btrfs->map, slot),
			 ref);
}

/* The root of a tree.  Extent and block group trees come first. */
static struct e2pf_btrfs_ptr tree_root(struct e2pf_btrfs *btrfs, uint64_t unit)
{
	struct e2pf_btrfs_ptr root;

	pthread_mutex_lock(&btrfs->lock);
	root = unit < btrfs->extent_trees.count ?
	       btrfs->extent_trees.root[unit] :
	       btrfs->other_trees.root[unit - btrfs->extent_trees.count];
	pthread_mutex_unlock(&btrfs->lock);
	return root;
}

/* True if the check reads this root when it opens the filesystem.  Of the
 * subvolumes' roots it then reads only the first. */
static bool is_read_at_opening(const struct e2pf_btrfs_ptr *root)
{
	return root->owner == BT_FS_TREE_OBJECTID ||
	       !e2pf_btrfs_is_subvolume(root->owner);
}

/* The check keeps this many bytes of tree blocks in its own memory. */
static uint64_t kept_by_check(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (uint64_t)info.totalram * info.mem_unit /
				    4;
}

static int by_owner(const void *a, const void *b)
{
	const struct e2pf_btrfs_ptr *x = a, *y = b;

	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* The trees are complete, and no other thread uses them: the check walks them
 * in the order of their numbers. */
static void make_order(struct e2pf_btrfs *btrfs)
{
	struct e2pf_sweeps sweeps = {
		.most = btrfs->has_head ? HEAD_SWEEPS : FLASH_SWEEPS,
		.near = (btrfs->has_head ? HEAD_NEAR : FLASH_NEAR) /
			btrfs->super.nodesize,
		.room = btrfs->room / btrfs->super.nodesize,
		.by_device = btrfs->members > 1
	};
	struct trees *trees = &btrfs->other_trees;
	struct e2pf_tree_root *root = calloc(trees->count + 1, sizeof(*root));
	bool aligned;
	size_t i, n = 0;

	if (!root)
		return;
	if (trees->count)
		qsort(trees->root, trees->count, sizeof(*trees->root),
		      by_owner);
	for (i = 0; i < trees->count; i++) {
		root[n].slot = e2pf_chunk_map_slot(&btrfs->map,
						   trees->root[i].logical,
						   &aligned);
		root[n].level = trees->root[i].level;
		n += root[n].slot != UINT64_MAX && (aligned || root[n].level);
	}
	e2pf_leaf_order_make(&btrfs->order, root, n, &sweeps, &btrfs->map,
			     &btrfs->seen);
	free(root);
	atomic_store(&btrfs->leaves, btrfs->order.leaves);
	atomic_store(&btrfs->used_once, is_window(btrfs) &&
		     btrfs->order.found < kept_by_check() /
					  btrfs->super.nodesize);
}

static const struct e2pf_phase *btrfs_next(struct e2pf_source *source,
					   const struct e2pf_phase *after)
{
	/* Adjacent units often refer to adjacent blocks. */
#define PHASE(n) { .number = n, .gated = true, .at_once = E2PF_LEAF_PORTION }
	static const struct e2pf_phase phases[E2PF_BTRFS_PHASES] = {
		PHASE(E2PF_BTRFS_ROOTS), PHASE(E2PF_BTRFS_TREES),
		PHASE(E2PF_BTRFS_LEAVES)
	};
#undef PHASE

	if (!after)
		return &phases[E2PF_BTRFS_ROOTS];
	if (after->number == E2PF_BTRFS_ROOTS)
		return &phases[E2PF_BTRFS_TREES];
	if (after->number == E2PF_BTRFS_LEAVES)
		return NULL;
	make_order(btrfs_of(source));
	return &phases[E2PF_BTRFS_LEAVES];
}

static void btrfs_seed(struct e2pf_source *source, unsigned phase,
		       uint64_t unit, e2pf_sink sink, void *ctx)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	struct ref_sink to = {
		.btrfs = btrfs,
		.sink = sink,
		.ctx = ctx
	};
	struct e2pf_btrfs_ptr root;

	switch (phase) {
	case E2PF_BTRFS_ROOTS:
		pass_block(&to, &btrfs->super.root);
		/* The check reads only the root of the log tree. */
		if (btrfs->super.log_root.logical)
			pass_ref(&to, btrfs->super.log_root.logical,
				 (struct e2pf_ref) {
					.cls = E2PF_BTRFS_CLASS_ROOTS
				 });
		return;
	case E2PF_BTRFS_LEAVES:
		seed_leaf(&to, unit);
		return;
	}
	root = tree_root(btrfs, unit);
	to.at_once = is_read_at_opening(&root);
	pass_block(&to, &root);
}

static uint32_t btrfs_piece(struct e2pf_source *source,
			    const struct e2pf_ref *ref, uint64_t at)
{
	(void)source;
	return at ? 0 : ref->length;
}

/* The children of a node, as links. */
struct children {
	const struct e2pf_chunk_map *map;
	size_t count;
	uint64_t slot[E2PF_BTRFS_CHILDREN];
};

static void note_child(void *ctx, const struct e2pf_btrfs_ptr *ptr)
{
	struct children *c = ctx;
	bool aligned = false;
	uint64_t slot = e2pf_chunk_map_slot(c->map, ptr->logical, &aligned);

	if (slot != UINT64_MAX && (aligned || ptr->level))
		c->slot[c->count++] = slot;
}

/* Record where this node leads to, for the order of leaves. */
static void note_node(struct e2pf_btrfs *btrfs,
		      const struct e2pf_btrfs_ptr *ptr, const void *bytes)
{
	struct children c = { .map = &btrfs->map };
	bool aligned;
	uint64_t slot = e2pf_chunk_map_slot(c.map, ptr->logical, &aligned);

	e2pf_btrfs_plan_node(&btrfs->super, ptr, bytes, note_child, &c);
	e2pf_leaf_order_add(&btrfs->order, slot, ptr->level, c.slot, c.count);
}

static bool btrfs_parse(struct e2pf_source *source, const struct e2pf_ref *ref,
			uint64_t at, const void *bytes, uint32_t size,
			e2pf_sink sink, void *ctx)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	struct ref_sink to = {
		.btrfs = btrfs,
		.sink = sink,
		.ctx = ctx
	};
	struct e2pf_btrfs_ptr ptr;

	(void)at;
	if (size != btrfs->super.nodesize || !is_ours(btrfs, bytes))
		return false;
	ptr = pointer_of(ref->cookie, e2pf_btrfs_generation(bytes));
	if (!e2pf_btrfs_fits(&btrfs->super, &ptr, bytes))
		return false;
	if (ref->cls == E2PF_BTRFS_CLASS_NODES)
		note_node(btrfs, &ptr, bytes);
	if (ptr.level) {
		e2pf_btrfs_plan_node(&btrfs->super, &ptr, bytes, pass_block,
				     &to);
		return false;
	}
	e2pf_btrfs_plan_roots(&btrfs->super, bytes, add_root, btrfs);
	return true;
}

/* Sample places spread over the metadata chunks. */
static void btrfs_sample(struct e2pf_source *source, uint64_t index,
			 e2pf_sink sink, void *ctx)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	const struct ref_sink to = { .btrfs = btrfs, .sink = sink, .ctx = ctx };
	uint64_t logical = e2pf_chunk_map_logical(&btrfs->map,
				btrfs->map.slots / SAMPLES * index);

	if (logical)
		pass_ref(&to, logical, (struct e2pf_ref) { .cls = 0 });
}

static const struct e2pf_source_ops btrfs_ops = {
	.begin = btrfs_begin,
	.next = btrfs_next,
	.units = btrfs_units,
	.seed = btrfs_seed,
	.piece = btrfs_piece,
	.parse = btrfs_parse,
	.sample = btrfs_sample,
};

static uint64_t parse_limit(const struct e2pf_btrfs *btrfs)
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < btrfs->members; i++)
		if (btrfs->bytes[i] <= UINT64_MAX - all)
			all += btrfs->bytes[i];
	if (all > btrfs->super.bytes_used)
		all = btrfs->super.bytes_used;
	return all / btrfs->super.nodesize / NODES_PART + NODES_LEAST;
}

/* The device of the first copy may be missing, or the block elsewhere. */
struct chunk_reader {
	struct e2pf_btrfs *btrfs;
	e2pf_btrfs_reader read;
	void *ctx;
};

static bool read_chunks(void *ctx, const struct e2pf_btrfs_ptr *ptr,
			void *block)
{
	const struct chunk_reader *r = ctx;
	const struct e2pf_btrfs *btrfs = r->btrfs;
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	struct e2pf_ref ref;

	if (e2pf_chunk_map_find(&btrfs->map, ptr->logical, extent) != 1)
		return false;
	ref = (struct e2pf_ref) {
		.offset = extent[0].offset, .length = extent[0].length,
		.device = extent[0].device
	};
	return ref.offset <= btrfs->bytes[ref.device] &&
	       !r->read(r->ctx, &ref, block) && is_ours(btrfs, block) &&
	       e2pf_btrfs_fits(&btrfs->super, ptr, block);
}

static void take_members(struct e2pf_btrfs *btrfs,
			 const struct e2pf_btrfs_member *members,
			 unsigned count)
{
	unsigned i;

	btrfs->members = count;
	for (i = 0; i < count; i++) {
		btrfs->bytes[i] = members[i].bytes;
		btrfs->device[i].devid = members[i].devid;
		memcpy(btrfs->device[i].uuid, members[i].uuid,
		       E2PF_BTRFS_UUID);
		memcpy(btrfs->fsid[i], members[i].node_fsid, E2PF_BTRFS_UUID);
	}
}

struct e2pf_btrfs *e2pf_btrfs_new(const struct e2pf_btrfs_super *super,
				  const struct e2pf_btrfs_member *members,
				  unsigned count, e2pf_btrfs_reader read,
				  void *ctx)
{
	struct chunk_reader reader = { .read = read, .ctx = ctx };
	struct e2pf_btrfs *btrfs;

	if (!count || count > E2PF_DEVICES)
		return NULL;
	btrfs = calloc(1, sizeof(*btrfs));
	if (!btrfs)
		return NULL;
	pthread_mutex_init(&btrfs->lock, NULL);
	e2pf_leaf_order_init(&btrfs->order);
	btrfs->super = *super;
	take_members(btrfs, members, count);
	reader.btrfs = btrfs;
	e2pf_chunk_map_read(&btrfs->map, &btrfs->super, btrfs->device, count,
			    read_chunks, &reader);
	btrfs->source = (struct e2pf_source) {
		.ops = &btrfs_ops,
		.grain = super->sectorsize,
		.devices = count,
		.bytes = btrfs->bytes,
		.classes = E2PF_BTRFS_CLASSES,
		.samples = SAMPLES,
		.parse_limit = parse_limit(btrfs)
	};
	return btrfs;
}

void e2pf_btrfs_free(struct e2pf_btrfs *btrfs)
{
	if (!btrfs)
		return;
	e2pf_chunk_map_free(&btrfs->map);
	e2pf_slot_set_free(&btrfs->seen);
	e2pf_leaf_order_fini(&btrfs->order);
	free(btrfs->extent_trees.root);
	free(btrfs->other_trees.root);
	pthread_mutex_destroy(&btrfs->lock);
	free(btrfs);
}

struct e2pf_source *e2pf_btrfs_source(struct e2pf_btrfs *btrfs)
{
	return &btrfs->source;
}

bool e2pf_btrfs_in_system(const struct e2pf_btrfs *btrfs, unsigned device,
			  uint64_t offset)
{
	return e2pf_chunk_map_in_system(&btrfs->map, device, offset);
}

bool e2pf_btrfs_copy_read(struct e2pf_btrfs *btrfs, unsigned device,
			  uint64_t offset, struct e2pf_ref *ref, bool *planned)
{
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	const struct e2pf_chunk_map *map = &btrfs->map;
	uint64_t logical, slot;
	bool aligned;

	logical = e2pf_chunk_map_address(map, device, offset);
	if (!logical || e2pf_chunk_map_find(map, logical, extent) != 1)
		return false;
	slot = e2pf_chunk_map_slot(map, logical, &aligned);
	*planned = slot != UINT64_MAX &&
		   e2pf_slot_set_has(&btrfs->seen, slot);
	*ref = (struct e2pf_ref) {
		.device = extent[0].device,
		.offset = extent[0].offset,
		.length = extent[0].length
	};
	return true;
}

uint64_t e2pf_btrfs_leaves(const struct e2pf_btrfs *btrfs)
{
	return atomic_load(&btrfs->leaves);
}

uint64_t e2pf_btrfs_leaves_left(const struct e2pf_btrfs *btrfs)
{
	return btrfs->order.left * btrfs->super.nodesize;
}

bool e2pf_btrfs_used_once(const struct e2pf_btrfs *btrfs)
{
	return atomic_load(&btrfs->used_once);
}

bool e2pf_btrfs_has_window(const struct e2pf_btrfs *btrfs)
{
	return is_window(btrfs);
}

size_t e2pf_btrfs_chunks(const struct e2pf_btrfs *btrfs)
{
	return btrfs->map.count;
}
