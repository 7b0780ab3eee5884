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
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "btrfs_source.h"
#include "format.h"
#include "slot_set.h"

/* The number of trees that are kept; no known filesystem has more. */
#define TREES_MOST (1u << 20)

/* The number of places that are sampled to measure the first device. */
#define SAMPLES 64u

/* The number of blocks of the chunk tree that are read before the start: those
 * of 20,000 chunks in nodes of 16 KiB. */
#define CHUNK_BLOCKS 256u

/* At most one tree block in eight, plus a constant, is parsed as a node.  A
 * sound filesystem has far fewer: the smallest nodes hold 121 pointers. */
#define NODES_PART 8u
#define NODES_LEAST 65536u

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
	/* Three maps: the chunks in the superblock, which never change; all
	 * chunks; and those that were known before the engine was started. */
	struct e2pf_chunk_map system, map, known;
	atomic_bool complete;		/* `map` no longer changes */
	struct e2pf_slot_set seen;		/* passed on or deferred */
	struct e2pf_slot_set leaves;	/* deferred */
	atomic_uint_fast64_t leaf_bytes;	/* of deferred leaves */
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
	case BT_CHUNK_TREE_OBJECTID:
		return E2PF_BTRFS_CLASS_CHUNKS;
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
	const struct e2pf_chunk_map *map;
	e2pf_sink sink;
	void *ctx;
	bool at_once;			/* leaves are not deferred */
	unsigned device;		/* only this one, or ANY_DEVICE */
};

#define ANY_DEVICE E2PF_DEVICES

static void pass_ref(const struct ref_sink *to, uint64_t logical,
		     struct e2pf_ref ref)
{
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	unsigned n = e2pf_chunk_map_find(to->map, logical, extent), i;

	/* A block in two parts cannot be parsed. */
	if (n > 1)
		ref.parse = false;
	for (i = 0; i < n; i++) {
		if (to->device != ANY_DEVICE && to->device != extent[i].device)
			continue;
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

/* Defer a leaf that can wait; pass on anything else as a reference. */
static void pass_block(void *ctx, const struct e2pf_btrfs_ptr *ptr)
{
	const struct ref_sink *to = ctx;
	struct e2pf_btrfs *btrfs = to->btrfs;
	enum e2pf_btrfs_class cls = class_of(ptr);
	struct e2pf_ref ref = { .cls = (uint8_t)cls };
	bool aligned = false;
	uint64_t slot;

	ref.parse = ptr->level || ptr->owner == BT_CHUNK_TREE_OBJECTID ||
		    ptr->owner == BT_ROOT_TREE_OBJECTID;
	if (ref.parse && !make_cookie(ptr, &ref.cookie))
		return;
	if (to->map == &btrfs->map) {
		slot = e2pf_chunk_map_slot(to->map, ptr->logical, &aligned);
		if (slot == UINT64_MAX || !has_room(btrfs, cls, ptr) ||
		    !e2pf_slot_set_add(&btrfs->seen, slot))
			return;
		if (aligned && cls == E2PF_BTRFS_CLASS_LEAVES &&
		    !to->at_once) {
			if (e2pf_slot_set_add(&btrfs->leaves, slot))
				atomic_fetch_add(&btrfs->leaf_bytes,
						 btrfs->super.nodesize);
			return;
		}
	}
	pass_ref(to, ptr->logical, ref);
}

/*
 * Collecting the results of parsing.
 */

static void add_chunk(void *ctx, const struct e2pf_btrfs_chunk *chunk)
{
	e2pf_chunk_map_add(ctx, chunk);
}

static void add_root(void *ctx, const struct e2pf_btrfs_ptr *root)
{
	struct e2pf_btrfs *btrfs = ctx;
	struct trees *trees = class_of(root) == E2PF_BTRFS_CLASS_EXTENTS ?
			      &btrfs->extent_trees : &btrfs->other_trees;
	struct e2pf_btrfs_ptr *grown;

	pthread_mutex_lock(&btrfs->lock);
	if (trees->count == trees->room && trees->room < TREES_MOST) {
		size_t room = trees->room ? trees->room * 2 : 64;

		grown = realloc(trees->root, room * sizeof(*grown));
		if (grown) {
			trees->root = grown;
			trees->room = room;
		}
	}
	if (trees->count < trees->room)
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

static const struct e2pf_phase *btrfs_begin(struct e2pf_source *source,
					    const struct e2pf_start *start,
					    unsigned *count)
{
#define PHASE { .order = E2PF_ORDER_NONE, .covered_by = E2PF_NONE, \
		.stage = E2PF_NONE }
	static const struct e2pf_phase phases[E2PF_BTRFS_PHASES] = {
		PHASE, PHASE, PHASE, PHASE
	};
#undef PHASE
	struct e2pf_btrfs *btrfs = btrfs_of(source);

	btrfs->room = start->paced ? start->budget : UINT64_MAX;
	atomic_store(&btrfs->leaf_bytes, 0);
	atomic_store(&btrfs->extent_bytes, 0);
	atomic_store(&btrfs->complete, false);
	e2pf_chunk_map_free(&btrfs->map);
	e2pf_slot_set_free(&btrfs->seen);
	e2pf_slot_set_free(&btrfs->leaves);
	e2pf_chunk_map_init(&btrfs->map, &btrfs->super, btrfs->device,
			    btrfs->members);
	/* These are known even if the chunk tree is damaged. */
	e2pf_btrfs_plan_sys_array(&btrfs->super, add_chunk, &btrfs->map);
	btrfs->extent_trees.count = 0;
	btrfs->other_trees.count = 0;
	*count = E2PF_BTRFS_PHASES;
	return phases;
}

/*
 * True if there are more leaves than may be read ahead.  The check reads leaves
 * in address order, with readahead of its own, and keeps them in its memory.
 * While that memory grows, the kernel evicts blocks that the check has not read
 * yet before blocks that it has read, one part of a larger folio at a time, so
 * everything would be read twice.
 */
static bool leaves_are_left(const struct e2pf_btrfs *btrfs)
{
	return atomic_load(&btrfs->leaf_bytes) > btrfs->room;
}

static uint64_t btrfs_units(struct e2pf_source *source, unsigned phase,
			    bool *more)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	uint64_t units = 0;

	*more = false;
	pthread_mutex_lock(&btrfs->lock);
	switch (phase) {
	case E2PF_BTRFS_CHUNKS:
	case E2PF_BTRFS_ROOTS:
		units = 1;
		break;
	case E2PF_BTRFS_TREES:
		units = btrfs->extent_trees.count + btrfs->other_trees.count;
		break;
	case E2PF_BTRFS_LEAVES:
		/* The list of leaves is complete by now. */
		if (!leaves_are_left(btrfs))
			units = e2pf_slot_set_words(&btrfs->leaves) *
				btrfs->members;
		break;
	}
	pthread_mutex_unlock(&btrfs->lock);
	return units;
}

/*
 * Leaves are passed on a page of slots at a time, once for each device.  A
 * worker takes some hundred units, so the workers are at different disks.  If a
 * unit held the blocks of all devices, the workers would visit one disk after
 * the other.
 */
static void seed_leaves(struct ref_sink *to, uint64_t unit)
{
	const struct e2pf_ref ref = { .cls = E2PF_BTRFS_CLASS_LEAVES };
	uint64_t page = unit / E2PF_SLOTS_WORDS;
	uint64_t first, word, logical;

	to->device = (unsigned)(page % to->btrfs->members);
	unit = page / to->btrfs->members * E2PF_SLOTS_WORDS +
	       unit % E2PF_SLOTS_WORDS;
	word = e2pf_slot_set_word(&to->btrfs->leaves, unit, &first);
	for (; word; word &= word - 1) {
		logical = e2pf_chunk_map_logical(to->map, first +
				(unsigned)__builtin_ctzll(word));
		if (logical)
			pass_ref(to, logical, ref);
	}
}

/* All chunks are known: from now on the map does not change. */
static void finish_map(struct e2pf_btrfs *btrfs)
{
	e2pf_chunk_map_finish(&btrfs->map);
	e2pf_slot_set_init(&btrfs->seen, btrfs->map.slots);
	e2pf_slot_set_init(&btrfs->leaves, btrfs->map.slots);
	atomic_store(&btrfs->complete, true);
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

static void btrfs_seed(struct e2pf_source *source, unsigned phase,
		       uint64_t unit, e2pf_sink sink, void *ctx)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	struct ref_sink to = {
		.btrfs = btrfs,
		.map = &btrfs->map,
		.sink = sink,
		.ctx = ctx,
		.device = ANY_DEVICE
	};
	struct e2pf_btrfs_ptr root;

	switch (phase) {
	case E2PF_BTRFS_CHUNKS:
		to.map = &btrfs->system;
		pass_block(&to, &btrfs->super.chunk_root);
		return;
	case E2PF_BTRFS_ROOTS:
		finish_map(btrfs);
		pass_block(&to, &btrfs->super.root);
		/* The check reads only the root of the log tree. */
		if (btrfs->super.log_root.logical)
			pass_ref(&to, btrfs->super.log_root.logical,
				 (struct e2pf_ref) {
					.cls = E2PF_BTRFS_CLASS_ROOTS
				 });
		return;
	case E2PF_BTRFS_LEAVES:
		seed_leaves(&to, unit);
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

static bool btrfs_parse(struct e2pf_source *source, const struct e2pf_ref *ref,
			uint64_t at, const void *bytes, uint32_t size,
			e2pf_sink sink, void *ctx)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	struct ref_sink to = {
		.btrfs = btrfs,
		.map = &btrfs->map,
		.sink = sink,
		.ctx = ctx,
		.device = ANY_DEVICE
	};
	struct e2pf_btrfs_ptr ptr;

	(void)at;
	if (size != btrfs->super.nodesize || !is_ours(btrfs, bytes))
		return false;
	ptr = pointer_of(ref->cookie, e2pf_btrfs_generation(bytes));
	if (!e2pf_btrfs_fits(&btrfs->super, &ptr, bytes))
		return false;
	if (ref->cls == E2PF_BTRFS_CLASS_CHUNKS)
		to.map = &btrfs->system;
	if (ptr.level) {
		e2pf_btrfs_plan_node(&btrfs->super, &ptr, bytes, pass_block,
				     &to);
		return false;
	}
	if (ref->cls == E2PF_BTRFS_CLASS_CHUNKS) {
		e2pf_btrfs_plan_chunks(&btrfs->super, bytes, add_chunk,
				       &btrfs->map);
		return false;
	}
	e2pf_btrfs_plan_roots(&btrfs->super, bytes, add_root, btrfs);
	return true;
}

/* Sample places spread over the chunks that are known when the engine is
 * created: metadata chunks, if e2pf_btrfs_learn_chunks() has found them. */
static void btrfs_sample(struct e2pf_source *source, uint64_t index,
			 e2pf_sink sink, void *ctx)
{
	struct e2pf_btrfs *btrfs = btrfs_of(source);
	const struct e2pf_chunk_map *map = &btrfs->known;
	const struct ref_sink to = {
		.btrfs = btrfs,
		.map = map,
		.sink = sink,
		.ctx = ctx,
		.device = ANY_DEVICE
	};
	uint64_t logical = e2pf_chunk_map_logical(map, map->slots / SAMPLES *
						  index);

	if (logical)
		pass_ref(&to, logical, (struct e2pf_ref) { .cls = 0 });
}

static const struct e2pf_source_ops btrfs_ops = {
	.begin = btrfs_begin,
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

struct e2pf_btrfs *e2pf_btrfs_new(const struct e2pf_btrfs_super *super,
				  const struct e2pf_btrfs_member *members,
				  unsigned count)
{
	struct e2pf_btrfs *btrfs;
	unsigned i;

	if (!count || count > E2PF_DEVICES)
		return NULL;
	btrfs = calloc(1, sizeof(*btrfs));
	if (!btrfs)
		return NULL;
	pthread_mutex_init(&btrfs->lock, NULL);
	btrfs->super = *super;
	btrfs->members = count;
	for (i = 0; i < count; i++) {
		btrfs->bytes[i] = members[i].bytes;
		btrfs->device[i].devid = members[i].devid;
		memcpy(btrfs->device[i].uuid, members[i].uuid,
		       E2PF_BTRFS_UUID);
		memcpy(btrfs->fsid[i], members[i].node_fsid, E2PF_BTRFS_UUID);
	}
	e2pf_chunk_map_init(&btrfs->system, &btrfs->super, btrfs->device,
			    count);
	e2pf_btrfs_plan_sys_array(&btrfs->super, add_chunk, &btrfs->system);
	e2pf_chunk_map_finish(&btrfs->system);
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
	e2pf_chunk_map_free(&btrfs->system);
	e2pf_chunk_map_free(&btrfs->map);
	e2pf_chunk_map_free(&btrfs->known);
	e2pf_slot_set_free(&btrfs->seen);
	e2pf_slot_set_free(&btrfs->leaves);
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
	return e2pf_chunk_map_has_place(&btrfs->system, device, offset);
}

bool e2pf_btrfs_copy_read(struct e2pf_btrfs *btrfs, unsigned device,
			  uint64_t offset, struct e2pf_ref *ref, bool *planned)
{
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	const bool complete = atomic_load(&btrfs->complete);
	/* Until the walk has completed the map, use the chunks that were known
	 * before the start. */
	const struct e2pf_chunk_map *map = complete ? &btrfs->map :
						      &btrfs->known;
	uint64_t logical, slot = UINT64_MAX;
	bool aligned;

	logical = e2pf_chunk_map_address(map, device, offset);
	if (!logical || e2pf_chunk_map_find(map, logical, extent) != 1)
		return false;
	if (complete)
		slot = e2pf_chunk_map_slot(map, logical, &aligned);
	*planned = slot != UINT64_MAX &&
		   e2pf_slot_set_has(&btrfs->seen, slot) &&
		   !(leaves_are_left(btrfs) &&
		     e2pf_slot_set_has(&btrfs->leaves, slot));
	*ref = (struct e2pf_ref) {
		.device = extent[0].device,
		.offset = extent[0].offset,
		.length = extent[0].length
	};
	return true;
}

uint64_t e2pf_btrfs_leaves_left(const struct e2pf_btrfs *btrfs)
{
	return leaves_are_left(btrfs) ? atomic_load(&btrfs->leaf_bytes) : 0;
}

size_t e2pf_btrfs_chunks(const struct e2pf_btrfs *btrfs)
{
	return btrfs->map.count;
}

/* References to blocks of the chunk tree that have not been read yet. */
struct chunk_walk {
	struct e2pf_ref ref[CHUNK_BLOCKS];
	unsigned count;
};

static void keep_ref(void *ctx, const struct e2pf_ref *ref)
{
	struct chunk_walk *walk = ctx;

	if (ref->parse && walk->count < CHUNK_BLOCKS)
		walk->ref[walk->count++] = *ref;
}

void e2pf_btrfs_learn_chunks(struct e2pf_btrfs *btrfs, e2pf_btrfs_reader read,
			     void *ctx)
{
	const struct e2pf_start start = { .paced = true };
	struct chunk_walk *walk = calloc(1, sizeof(*walk));
	uint8_t *block = malloc(btrfs->super.nodesize);
	unsigned phases, next;

	btrfs_begin(&btrfs->source, &start, &phases);
	if (walk && block)
		btrfs_seed(&btrfs->source, E2PF_BTRFS_CHUNKS, 0, keep_ref,
			   walk);
	for (next = 0; walk && block && next < walk->count; next++) {
		const struct e2pf_ref ref = walk->ref[next];

		if (ref.length == btrfs->super.nodesize &&
		    ref.offset <= btrfs->bytes[ref.device] &&
		    !read(ctx, &ref, block))
			btrfs_parse(&btrfs->source, &ref, 0, block, ref.length,
				    keep_ref, walk);
	}
	e2pf_chunk_map_finish(&btrfs->map);
	e2pf_chunk_map_free(&btrfs->known);
	btrfs->known = btrfs->map;
	memset(&btrfs->map, 0, sizeof(btrfs->map));
	free(walk);
	free(block);
}
