/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * ext4 as a source of work: its phases, and the groups and list entries that are
 * their units.  Decides which blocks are read in which phase.  lib/engine/
 * decides how far ahead; plan_*.c know the meaning of the bytes.
 */
#include <stdlib.h>

#include "ext4_source.h"
#include "ext4_tables.h"

/* The number of entries of the list that are kept. */
#define LIST_ROOM 32768u

/* Inode tables are parsed in pieces of this size: each worker has a buffer for one,
 * and holds all that it refers to. */
#define TABLE_PIECE (64u << 10)

/* SAMPLE_BYTES of a group's table are parsed, to find out whether the blocks that
 * its first inodes refer to are cached. */
#define SAMPLE_BYTES 4096u

/* Classes that are in the inode tables or found through them. */
#define TABLE_CLASSES (E2PF_TREE_CLASSES | 1u << E2PF_INODES)

/* At most this part of all blocks is parsed as tree blocks.  A sound filesystem has
 * far fewer: an extent node describes 84 extents or more. */
#define PARSED_PART 64u

const char *const e2pf_class_names[E2PF_CLASSES] = {
	[E2PF_BITMAPS] = "bitmaps",
	[E2PF_INODES] = "inodes",
	[E2PF_EXTENTS] = "extents",
	[E2PF_INDIRECT] = "indirect",
	[E2PF_DIRS] = "dirs",
	[E2PF_XATTRS] = "xattrs",
	[E2PF_SYMLINKS] = "symlinks",
	[E2PF_FILES] = "files",
};

const char *const e2pf_ext4_stage_names[E2PF_EXT4_STAGES] = {
	[E2PF_EXT4_OPEN] = "open",
	[E2PF_EXT4_PASS1] = "pass1",
	[E2PF_EXT4_PASS1B] = "pass1b",
	[E2PF_EXT4_PASS1C] = "pass1c",
	[E2PF_EXT4_PASS1D] = "pass1d",
	[E2PF_EXT4_PASS2] = "pass2",
	[E2PF_EXT4_PASS3] = "pass3-4",
	[E2PF_EXT4_PASS5] = "pass5",
};

static struct e2pf_ext4 *ext4_of(struct pf_source *source)
{
	return (struct e2pf_ext4 *)source;
}

/*
 * The operations.
 */

/* Bitmaps take at most 1/4096 of the device, so an eighth of the budget holds
 * them on any filesystem for which the budget is not too small.  They may take
 * a quarter if they are read with the tables in one sweep: to read them later takes
 * the same time again. */
static bool bitmaps_are_few(const struct e2pf_ext4 *ext4,
			    const struct pf_options *options)
{
	unsigned part = options->seeks ? 4 : 8;

	return 2ull * ext4->geo->groups * ext4->geo->block_size <=
	       options->budget / part;
}

static void ext4_begin(struct pf_source *source,
		       const struct pf_options *options, bool asleep)
{
	static const struct pf_phase phases[E2PF_EXT4_PHASES] = {
		[E2PF_EXT4_TABLES] = {
			.number = E2PF_EXT4_TABLES, .followed = true,
			.gated = true,
			.deferred = 1u << E2PF_DIRS | 1u << E2PF_BITMAPS
		},
		[E2PF_EXT4_LIST] = {
			.number = E2PF_EXT4_LIST, .followed = true,
			.gated = true
		},
		/* Between pass 2 and pass 5 the checker reads other blocks. */
		[E2PF_EXT4_BITMAPS] = {
			.number = E2PF_EXT4_BITMAPS, .at_once = 512
		}
	};
	struct e2pf_ext4 *ext4 = ext4_of(source);

	/* All groups are looked at only if something is read. */
	ext4->ordered = ext4->options.guarded && !asleep &&
			e2pf_ext4_tables_are_ordered(ext4);
	memcpy(ext4->phases, phases, sizeof(phases));
	ext4->has_checker = options->has_checker;
	ext4->bitmaps_early = !ext4->options.below_count &&
			      bitmaps_are_few(ext4, options);
	ext4->bitmaps_done = false;
}

/* The phase LIST is begun by the checker alone, and BITMAPS follow it: what the checker
 * reads between pass 1 and its list is not known before. */
static const struct pf_phase *ext4_next(struct pf_source *source,
					const struct pf_phase *after)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);

	if (!after)
		return &ext4->phases[E2PF_EXT4_TABLES];
	if (after->number == E2PF_EXT4_TABLES)
		ext4->bitmaps_done = ext4->bitmaps_early;
	if (after->number == E2PF_EXT4_BITMAPS || ext4->bitmaps_done ||
	    (after->number == E2PF_EXT4_TABLES && ext4->has_checker))
		return NULL;
	return &ext4->phases[E2PF_EXT4_BITMAPS];
}

static uint64_t ext4_units(struct pf_source *source, unsigned phase,
			   bool *more)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	uint64_t units;

	*more = false;
	if (phase != E2PF_EXT4_LIST)
		return phase == E2PF_EXT4_TABLES ||
		       ext4->options.classes & 1u << E2PF_BITMAPS ?
		       ext4->geo->groups : 0;
	pthread_mutex_lock(&ext4->lock);
	units = ext4->list_end;
	*more = ext4->list_end < ext4->list_total;
	pthread_mutex_unlock(&ext4->lock);
	return units;
}

static uint64_t ext4_weight(struct pf_source *source, unsigned phase,
			    uint64_t unit)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);

	return phase == E2PF_EXT4_LIST ? ext4->geo->block_size :
	       e2pf_ext4_bytes_of_table(ext4, unit);
}

void e2pf_ext4_get_progress(struct e2pf_ext4 *ext4,
			    struct e2pf_ext4_progress *progress)
{
	uint32_t g;

	pthread_mutex_lock(&ext4->lock);
	progress->list_total = ext4->list_total;
	pthread_mutex_unlock(&ext4->lock);
	for (g = 0; g < ext4->geo->groups; g++) {
		uint64_t inodes = e2pf_ext4_group(ext4, g).inodes_allocated;

		progress->inodes += inodes;
		progress->passed_inodes += g < progress->passed ? inodes : 0;
	}
}

/* An entry of the list: e2fsck took the block number from the disk, so it may
 * be anything. */
static void seed_entry(struct e2pf_ext4 *ext4, uint64_t index,
		       struct e2pf_plan *plan)
{
	struct e2pf_kind kind;
	uint64_t block;

	pthread_mutex_lock(&ext4->lock);
	kind = e2pf_unparsed(ext4->list_class);
	block = ext4->list[index % LIST_ROOM];
	pthread_mutex_unlock(&ext4->lock);
	e2pf_gather_add(plan, kind, block, 1);
	e2pf_gather_flush(plan);
}

static void ext4_seed(struct pf_source *source, unsigned phase,
		      uint64_t unit, pf_sink sink, void *ctx)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	struct e2pf_whole_pages pages = { ext4, sink, ctx };
	struct e2pf_plan plan = e2pf_ext4_plan(&pages);
	uint32_t number = (uint32_t)unit;
	struct e2pf_group group;

	if (phase == E2PF_EXT4_LIST) {
		seed_entry(ext4, unit, &plan);
		return;
	}
	group = e2pf_ext4_group(ext4, number);
	if (phase == E2PF_EXT4_BITMAPS || !(ext4->options.classes & TABLE_CLASSES))
		group.inode_table = 0;
	if (phase == E2PF_EXT4_TABLES && !ext4->bitmaps_early)
		group.block_bitmap = group.inode_bitmap = 0;
	e2pf_plan_group(&plan, number, &group);
}

static uint32_t ext4_piece(struct pf_source *source,
			   const struct pf_ref *ref, uint64_t at)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	uint64_t left = ref->length - at, used;
	uint32_t ino;

	if (!e2pf_has_inodes(ref))
		return ext4->geo->block_size;
	used = e2pf_ext4_inodes_left(ext4, ref, at, &ino) *
	       ext4->geo->inode_size;
	left = used < left ? used : left;
	return (uint32_t)(left < TABLE_PIECE ? left : TABLE_PIECE);
}

static bool ext4_parse(struct pf_source *source, const struct pf_ref *ref,
		       uint64_t at, const void *bytes, uint32_t size,
		       pf_sink sink, void *ctx)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	struct e2pf_whole_pages pages = { ext4, sink, ctx };
	struct e2pf_plan plan = e2pf_ext4_plan(&pages);
	uint32_t ino;

	if (!e2pf_has_inodes(ref))
		e2pf_plan_block(&plan, e2pf_kind_of(ref),
				(ref->offset + at) / ext4->geo->block_size, bytes);
	else if (e2pf_ext4_inodes_left(ext4, ref, at, &ino))
		e2pf_plan_inodes(&plan, ino, bytes, size);
	return false;
}

/* Pass the group's whole table as a reference, and its beginning as another one
 * that is parsed. */
static void ext4_sample(struct pf_source *source, uint64_t index,
			pf_sink sink, void *ctx)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	const struct e2pf_group group = e2pf_ext4_group(ext4, index);
	uint64_t bytes = e2pf_ext4_bytes_of_table(ext4, index);
	const struct e2pf_kind table = {
		.parse = E2PF_INODE_TABLE, .group = (uint32_t)index
	};
	struct pf_ref ref = {
		.offset = group.inode_table * ext4->geo->block_size,
		.length = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX),
		.cookie = e2pf_cookie_of(table),
		.cls = E2PF_INODES
	};
	struct e2pf_whole_pages pages = { ext4, sink, ctx };
	const struct e2pf_plan plan = e2pf_ext4_plan(&pages);

	if (!group.inode_table || !bytes)
		return;
	plan.sink(plan.ctx, &ref);
	ref.parse = true;
	if (ref.length > SAMPLE_BYTES)
		ref.length = SAMPLE_BYTES;
	plan.sink(plan.ctx, &ref);
}

static bool ext4_may_read(struct pf_source *source, uint64_t offset,
			  uint64_t length)
{
	return e2pf_ext4_may_read(ext4_of(source), offset, length);
}

const struct pf_source_ops e2pf_ext4_ops = {
	.begin = ext4_begin,
	.next = ext4_next,
	.units = ext4_units,
	.weight = ext4_weight,
	.seed = ext4_seed,
	.piece = ext4_piece,
	.parse = ext4_parse,
	.sample = ext4_sample,
	.may_read = ext4_may_read,
};

void e2pf_ext4_init(struct e2pf_ext4 *ext4, const struct e2pf_geometry *geo,
		    const struct e2pf_ext4_options *options)
{
	pthread_mutex_init(&ext4->lock, NULL);
	ext4->geo = geo;
	ext4->options = *options;
	ext4->bytes = geo->blocks * geo->block_size;
	ext4->source = (struct pf_source) {
		.ops = &e2pf_ext4_ops,
		.grain = geo->block_size,
		.devices = 1,
		.bytes = &ext4->bytes,
		.classes = E2PF_CLASSES,
		.samples = geo->groups,
		.parse_limit = geo->blocks / PARSED_PART
	};
}

struct e2pf_ext4 *e2pf_ext4_new(const struct e2pf_geometry *geo,
				const struct e2pf_ext4_options *options)
{
	struct e2pf_ext4 *ext4 = calloc(1, sizeof(*ext4));

	if (ext4)
		e2pf_ext4_init(ext4, geo, options);
	return ext4;
}

void e2pf_ext4_free(struct e2pf_ext4 *ext4)
{
	if (!ext4)
		return;
	if (ext4->release)
		ext4->release(ext4);
	pthread_mutex_destroy(&ext4->lock);
	free(ext4->list);
	free(ext4);
}

/*
 * Reports from the checker.  The engine must not be called with the lock held:
 * it holds its own lock when it calls units().
 */

void e2pf_ext4_list_begin(struct e2pf_ext4 *ext4, struct pf_engine *engine,
			  uint64_t total, enum e2pf_class cls)
{
	bool have_list;

	pthread_mutex_lock(&ext4->lock);
	if (!ext4->list)
		ext4->list = calloc(LIST_ROOM, sizeof(*ext4->list));
	have_list = ext4->list;
	if (have_list) {
		ext4->list_class = cls;
		ext4->list_total = total;
		ext4->list_end = 0;
	}
	pthread_mutex_unlock(&ext4->lock);
	if (have_list)
		pf_engine_begin_phase(engine,
				      &ext4->phases[E2PF_EXT4_LIST]);
}

uint64_t e2pf_ext4_list_wants(struct e2pf_ext4 *ext4,
			      struct pf_engine *engine, uint64_t reached,
			      uint64_t *first)
{
	uint64_t room, n = 0;

	if (!pf_engine_is_in_phase(engine, E2PF_EXT4_LIST))
		return 0;
	pthread_mutex_lock(&ext4->lock);
	/* Entries that the checker has passed are no longer useful. */
	if (ext4->list_end < reached)
		ext4->list_end = reached;
	room = LIST_ROOM - (ext4->list_end - reached);
	if (ext4->list_end < ext4->list_total)
		n = ext4->list_total - ext4->list_end;
	if (n > room)
		n = room < LIST_ROOM / 2 ? 0 : room;
	*first = ext4->list_end;
	pthread_mutex_unlock(&ext4->lock);
	return n;
}

/* Entries that are about to be added to the list. */
struct list_part {
	struct e2pf_ext4 *ext4;
	const uint64_t *blocks;
	size_t count;
};

static void add_to_list(void *ctx)
{
	const struct list_part *part = ctx;
	struct e2pf_ext4 *ext4 = part->ext4;
	size_t i;

	pthread_mutex_lock(&ext4->lock);
	for (i = 0; i < part->count; i++)
		ext4->list[(ext4->list_end + i) % LIST_ROOM] = part->blocks[i];
	ext4->list_end += part->count;
	pthread_mutex_unlock(&ext4->lock);
}

void e2pf_ext4_list_put(struct e2pf_ext4 *ext4, struct pf_engine *engine,
			const uint64_t *blocks, size_t count)
{
	struct list_part part = {
		.ext4 = ext4, .blocks = blocks, .count = count
	};

	if (pf_engine_is_in_phase(engine, E2PF_EXT4_LIST))
		pf_engine_add_units(engine, E2PF_EXT4_LIST, add_to_list,
				    &part);
}

static void forget_rest(void *ctx)
{
	struct e2pf_ext4 *ext4 = ctx;

	pthread_mutex_lock(&ext4->lock);
	ext4->list_total = ext4->list_end;
	pthread_mutex_unlock(&ext4->lock);
}

/* If a walk ends early, the phase must not wait for more units: otherwise
 * bitmaps would never be read. */
void e2pf_ext4_list_end(struct e2pf_ext4 *ext4, struct pf_engine *engine)
{
	pf_engine_add_units(engine, E2PF_EXT4_LIST, forget_rest, ext4);
}
