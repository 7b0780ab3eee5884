/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * btrfs as a source of work: decides which blocks are read in which phase.
 * Snapshots share most of their blocks; one bit per block records which were
 * passed on, so a subtree is walked once, however many trees refer to it.
 */
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "lib/array.h"
#include "source.h"
#include "format.h"
#include "lib/lock.h"

/* The number of trees that are kept; no known filesystem has more. */
#define MAX_TREES (1u << 20)

/* The number of samples, by which the first device is measured. */
#define SAMPLES 64u

/* Sweeps over the leaves (leaf_order.h), and bytes up to which leaves of later
 * sweeps are taken along: on an aged filesystem a sweep of one tree costs a disk
 * nearly half of one of all six (doc/performance.md, "Sweeps
 * of btrfs check"). */
#define SEEK_SWEEPS 3u
#define SEEK_NEAR (512u << 10)
#define FLASH_SWEEPS 16u
#define FLASH_NEAR (48u << 10)

/* The nodes and links of leaf_order.h may take this part of the budget. */
#define ORDER_PART 16u

static struct bt_source *btrfs_of(struct pf_source *source)
{
	return (struct bt_source *)source;
}

/* Where references are passed to. */
struct ref_sink {
	struct bt_source *btrfs;
	pf_sink sink;
	void *ctx;
};

/* Pass on a reference to the block at this address, which is its cookie. */
static void pass_ref(const struct ref_sink *to, uint64_t logical,
		     enum bt_class cls, bool parse)
{
	struct pf_ref ref;

	if (!bt_chunk_map_find(&to->btrfs->map, logical, &ref))
		return;
	ref.cls = (uint8_t)cls;
	ref.parse = parse;
	ref.cookie = logical;
	to->sink(to->ctx, &ref);
}

/* Pass on a block that was not passed on before. */
static void pass_block(const struct ref_sink *to,
		       const struct bt_ptr *ptr)
{
	uint64_t slot = bt_chunk_map_slot(&to->btrfs->map, ptr->logical);
	bool is_root_tree = ptr->owner == BTRFS_ROOT_TREE_OBJECTID;

	if (slot == UINT64_MAX || !bt_slot_set_add(&to->btrfs->seen, slot))
		return;
	to->btrfs->passed_on++;
	pass_ref(to, ptr->logical,
		 is_root_tree ? BT_CLASS_ROOTS :
		 ptr->level ? BT_CLASS_NODES :
		 BT_CLASS_LEAVES, ptr->level || is_root_tree);
}

static void add_tree(struct bt_source *btrfs,
		     const struct bt_ptr *root)
{
	E2PF_LOCKED(btrfs);

	if (btrfs->trees < MAX_TREES &&
	    e2pf_have_room((void **)&btrfs->tree, &btrfs->tree_room,
			   btrfs->trees, 1, sizeof(*btrfs->tree)))
		btrfs->tree[btrfs->trees++] = *root;
}

/*
 * The operations.
 */

static void btrfs_begin(struct pf_source *source,
			const struct pf_options *options, bool asleep)
{
	struct bt_source *btrfs = btrfs_of(source);

	(void)asleep;
	btrfs->room = options->has_checker ? options->budget : UINT64_MAX;
	btrfs->seek_bound = options->seek_bound;
	btrfs->drop_read = false;
	btrfs->leaves = btrfs->blocks = btrfs->passed_on = 0;
	bt_slot_set_free(&btrfs->seen);
	bt_leaf_order_clear(&btrfs->order, btrfs->room / ORDER_PART);
	bt_slot_set_init(&btrfs->seen, btrfs->map.slots);
	btrfs->trees = 0;
	add_tree(btrfs, &btrfs->map.super.root);
}

static uint64_t btrfs_units(struct pf_source *source, unsigned phase,
			    bool *more)
{
	struct bt_source *btrfs = btrfs_of(source);
	E2PF_LOCKED(btrfs);

	*more = false;
	return phase == BT_PHASE_NODES ? btrfs->trees : btrfs->leaves;
}

/* The check keeps this many bytes of tree blocks in its own memory. */
static uint64_t kept_by_check(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (uint64_t)info.totalram * info.mem_unit /
				    4;
}

/* The check walks the trees in the order of their numbers. */
static int by_owner(const void *a, const void *b)
{
	const struct bt_ptr *x = a, *y = b;

	return E2PF_COMPARE(x->owner, y->owner);
}

/* The trees are complete, and no other thread uses them. */
static void make_order(struct bt_source *btrfs)
{
	uint32_t size = btrfs->map.super.nodesize;
	struct bt_sweeps sweeps = {
		.max = btrfs->seek_bound ? SEEK_SWEEPS : FLASH_SWEEPS,
		.near = (btrfs->seek_bound ? SEEK_NEAR : FLASH_NEAR) / size,
		.room = btrfs->room / size,
		.by_device = btrfs->map.devices > 1
	};
	uint64_t n;

	if (btrfs->trees)
		qsort(btrfs->tree, btrfs->trees, sizeof(*btrfs->tree),
		      by_owner);
	bt_leaf_order_make(&btrfs->order, btrfs->tree, btrfs->trees, &sweeps,
			   &btrfs->map, &btrfs->seen);
	n = btrfs->order.leaves;
	btrfs->leaves = n;
	btrfs->blocks = btrfs->passed_on + n;
	btrfs->drop_read = n > sweeps.room && n < kept_by_check() / size;
}

static const struct pf_phase *btrfs_next(struct pf_source *source,
					 const struct pf_phase *after)
{
	/* Adjacent units often refer to adjacent blocks. */
#define PHASE(n) { .number = n, .gated = true, .at_once = BT_LEAF_PORTION }
	static const struct pf_phase phases[BT_PHASES] = {
		PHASE(BT_PHASE_NODES), PHASE(BT_PHASE_LEAVES)
	};
#undef PHASE
	unsigned number = after ? after->number + 1 : 0;

	if (number == BT_PHASE_LEAVES)
		make_order(btrfs_of(source));
	return number < BT_PHASES ? &phases[number] : NULL;
}

static struct bt_ptr root_of(struct bt_source *btrfs, uint64_t unit)
{
	E2PF_LOCKED(btrfs);

	return btrfs->tree[unit];
}

static void btrfs_seed(struct pf_source *source, unsigned phase,
		       uint64_t unit, pf_sink sink, void *ctx)
{
	struct bt_source *btrfs = btrfs_of(source);
	const struct ref_sink to = { btrfs, sink, ctx };
	struct bt_ptr root;

	if (phase == BT_PHASE_NODES) {
		root = root_of(btrfs, unit);
		pass_block(&to, &root);
	} else {
		pass_ref(&to, bt_chunk_map_logical(&btrfs->map,
					btrfs->order.leaf[unit].slot),
			 BT_CLASS_LEAVES, false);
	}
}

static uint32_t btrfs_piece(struct pf_source *source,
			    const struct pf_ref *ref, uint64_t at)
{
	(void)source;
	return at ? 0 : ref->length;
}

/* The pointers in a block. */
struct found {
	struct ref_sink to;
	size_t children;
	uint64_t slot[BT_CHILDREN];		/* theirs */
};

/* A leaf is read in the order that is made when all nodes were read, except for
 * those of the root tree. */
static void accept_child(void *ctx, const struct bt_node *child)
{
	struct found *f = ctx;
	uint64_t slot = bt_chunk_map_slot(&f->to.btrfs->map,
					  child->ptr.logical);

	if (slot != UINT64_MAX)
		f->slot[f->children++] = slot;
	if (child->ptr.level || child->ptr.owner == BTRFS_ROOT_TREE_OBJECTID)
		pass_block(&f->to, &child->ptr);
}

static void accept_root(void *ctx, const struct bt_item *item)
{
	struct bt_source *btrfs = ctx;
	struct bt_ptr root;

	if (bt_plan_root(&btrfs->map.super, item, &root))
		add_tree(btrfs, &root);
}

/* Whether a block is the one that was meant, as far as can be known. */
static bool is_meant(const struct bt_source *btrfs, const struct pf_ref *ref,
		     const struct bt_ptr *self, const void *bytes)
{
	bool is_root_tree = self->owner == BTRFS_ROOT_TREE_OBJECTID;

	return self->logical == ref->cookie &&
	       is_root_tree == (ref->cls == BT_CLASS_ROOTS) &&
	       (is_root_tree || self->level) &&
	       bt_fits(&btrfs->map.super, self, bytes);
}

static bool btrfs_parse(struct pf_source *source, const struct pf_ref *ref,
			uint64_t at, const void *bytes, uint32_t size,
			pf_sink sink, void *ctx)
{
	struct bt_source *btrfs = btrfs_of(source);
	struct found found = { .to = { btrfs, sink, ctx }, .children = 0 };
	struct bt_node node;
	uint64_t slot;

	(void)at;
	if (size != btrfs->map.super.nodesize)
		return false;
	node = (struct bt_node) { .ptr = bt_self(bytes) };
	if (!is_meant(btrfs, ref, &node.ptr, bytes))
		return false;
	if (!node.ptr.level) {
		bt_plan_leaf(&btrfs->map.super, bytes, accept_root,
			     btrfs);
		return true;
	}
	bt_plan_node(&btrfs->map.super, &node, bytes, accept_child,
		     &found);
	/* Where this node leads to, for the order of leaves. */
	slot = bt_chunk_map_slot(&btrfs->map, node.ptr.logical);
	pthread_mutex_lock(&btrfs->lock);
	bt_leaf_order_add(&btrfs->order, slot, node.ptr.level, found.slot,
			  found.children);
	pthread_mutex_unlock(&btrfs->lock);
	return false;
}

/* Samples are blocks spread over the metadata chunks. */
static void btrfs_sample(struct pf_source *source, uint64_t index,
			 pf_sink sink, void *ctx)
{
	struct bt_source *btrfs = btrfs_of(source);
	const struct ref_sink to = { btrfs, sink, ctx };
	uint64_t logical = bt_chunk_map_logical(&btrfs->map,
				btrfs->map.slots / SAMPLES * index);

	if (logical)
		pass_ref(&to, logical, BT_CLASS_ROOTS, false);
}

static const struct pf_source_ops btrfs_ops = {
	.begin = btrfs_begin,
	.next = btrfs_next,
	.units = btrfs_units,
	.seed = btrfs_seed,
	.piece = btrfs_piece,
	.parse = btrfs_parse,
	.sample = btrfs_sample,
};

/* No more blocks than the devices have room for: those that a damaged
 * filesystem leads to have no other limit. */
static uint64_t parse_limit(const struct bt_source *btrfs)
{
	uint64_t blocks = 0;
	unsigned i;

	for (i = 0; i < btrfs->map.devices; i++)
		blocks += btrfs->bytes[i] / btrfs->map.super.nodesize;
	return blocks;
}

void bt_source_init(struct bt_source *btrfs, bt_reader read,
		    void *ctx)
{
	pthread_mutex_init(&btrfs->lock, NULL);
	bt_chunk_map_make(&btrfs->map, read, ctx);
	btrfs->source = (struct pf_source) {
		.ops = &btrfs_ops,
		.grain = btrfs->map.super.sectorsize,
		.devices = btrfs->map.devices,
		.bytes = btrfs->bytes,
		.classes = BT_CLASSES,
		.samples = SAMPLES,
		.parse_limit = parse_limit(btrfs)
	};
}

void bt_source_fini(struct bt_source *btrfs)
{
	if (!btrfs->source.ops)
		return;
	bt_chunk_map_free(&btrfs->map);
	bt_slot_set_free(&btrfs->seen);
	bt_leaf_order_clear(&btrfs->order, 0);
	free(btrfs->tree);
	pthread_mutex_destroy(&btrfs->lock);
}
