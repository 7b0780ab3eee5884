/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * ext4 as a source of work: its phases, and the groups and list entries that are
 * their units.  Decides which blocks are read in which phase.  lib/engine/
 * decides how far ahead; plan_*.c know the meaning of the bytes.
 */
#include <stdlib.h>

#include "ext4_source.h"

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

struct e2pf_group e2pf_ext4_group(const struct e2pf_ext4 *ext4,
				  uint64_t number)
{
	struct e2pf_group group = { .inode_table = 0 };

	if (ext4->groups)
		group = ext4->groups[number];
	else if (ext4->copy_group)
		ext4->copy_group(ext4->groups_owner, (uint32_t)number, &group);
	return group;
}

/*
 * Unused parts of inode tables.  While a filesystem is mounted the kernel zeroes
 * them on the device, past its page cache (lazy_itable_init).  A block of one that
 * was read before stays in the page cache, and the kernel finds it when it begins
 * to use it: then inodes that never were seem to be there.
 */

static bool lie_in_order(const struct e2pf_ext4 *ext4)
{
	uint64_t table, before = 0;
	uint32_t i;

	for (i = 0; i < ext4->geo->groups; i++, before = table) {
		table = e2pf_ext4_group(ext4, i).inode_table;
		if (table <= before)
			return false;
	}
	return true;
}

/* The first group whose table ends behind this block. */
static uint32_t first_table(const struct e2pf_ext4 *ext4, uint64_t block,
			    uint32_t all)
{
	uint32_t low = 0, high = ext4->geo->groups, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (e2pf_ext4_group(ext4, middle).inode_table + all > block)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool ext4_may_read(struct pf_source *source, uint64_t offset,
			  uint64_t length)
{
	const struct e2pf_ext4 *ext4 = ext4_of(source);
	const struct e2pf_geometry *geo = ext4->geo;
	uint64_t first = offset / geo->block_size, table;
	uint64_t end = (offset + length - 1) / geo->block_size + 1;
	uint32_t all = e2pf_table_blocks(geo, geo->inodes_per_group), g, used;

	if (!ext4->options.guarded || !ext4->ordered)
		return !ext4->options.guarded;
	for (g = first_table(ext4, first, all); g < geo->groups; g++) {
		const struct e2pf_group group = e2pf_ext4_group(ext4, g);

		table = group.inode_table;
		used = e2pf_table_blocks(geo, group.inodes_in_use);
		if (table >= end)
			break;
		if (used < all && table + used < end)
			return false;
	}
	return true;
}

/* A sink that passes on what can be read in whole pages. */
struct whole_pages {
	struct pf_source *source;
	pf_sink sink;
	void *ctx;
};

static void pass_pages(void *ctx, const struct pf_ref *found)
{
	const struct whole_pages *w = ctx;
	uint32_t page = ext4_of(w->source)->options.page, before, behind;
	struct pf_ref ref = *found;

	before = ref.offset % page;
	if (before && !ext4_may_read(w->source, ref.offset - before, before)) {
		before = page - before;
		before = before < ref.length ? before : ref.length;
		ref.offset += before;
		ref.length -= before;
	}
	behind = (ref.offset + ref.length) % page;
	if (ref.length && behind &&
	    !ext4_may_read(w->source, ref.offset + ref.length, page - behind))
		ref.length -= behind < ref.length ? behind : ref.length;
	if (ref.length)
		w->sink(w->ctx, &ref);
}

static struct e2pf_plan plan_for(const struct e2pf_ext4 *ext4,
				 struct whole_pages *w)
{
	bool whole = ext4->options.page > ext4->geo->block_size;

	return (struct e2pf_plan) {
		.geo = ext4->geo,
		.classes = ext4->options.classes |
			   (ext4->folders ? 1u << E2PF_DIRS : 0),
		.sink = whole ? pass_pages : w->sink,
		.ctx = whole ? w : w->ctx
	};
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
	ext4->ordered = ext4->options.guarded && !asleep && lie_in_order(ext4);
	/* With folders there are few units at first, so the device is not measured. */
	e2pf_folders_free(ext4->folders);
	ext4->folders = NULL;
	if (ext4->options.below_count)
		ext4->folders = e2pf_folders_new(ext4, options->seeks);
	memcpy(ext4->phases, phases, sizeof(phases));
	ext4->has_checker = options->has_checker;
	/* Folders name no bitmaps: they follow. */
	ext4->bitmaps_early = !ext4->folders && bitmaps_are_few(ext4, options);
	ext4->bitmaps_done = false;
}

/* The phase LIST is begun by the checker alone, and BITMAPS follow it: what the checker
 * reads between pass 1 and its list is not known before.  When folders name too many inodes
 * the same phase is read once more, as groups. */
static const struct pf_phase *ext4_next(struct pf_source *source,
					const struct pf_phase *after)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);

	if (!after)
		return &ext4->phases[E2PF_EXT4_TABLES];
	if (ext4->folders && e2pf_folders_are_full(ext4->folders)) {
		e2pf_folders_free(ext4->folders);
		ext4->folders = NULL;
		return after;
	}
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
	if (phase == E2PF_EXT4_TABLES && ext4->folders)
		return e2pf_folders_units(ext4->folders);
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

static uint64_t table_bytes(const struct e2pf_ext4 *ext4, uint64_t group)
{
	return (uint64_t)e2pf_ext4_group(ext4, group).inodes_in_use *
	       ext4->geo->inode_size;
}

uint64_t e2pf_ext4_table_bytes(const struct e2pf_ext4 *ext4)
{
	uint64_t bytes = 0;
	uint32_t g;

	for (g = 0; g < ext4->geo->groups; g++)
		bytes += table_bytes(ext4, g);
	return bytes;
}

static uint64_t ext4_weight(struct pf_source *source, unsigned phase,
			    uint64_t unit)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);

	return phase == E2PF_EXT4_LIST || ext4->folders ?
	       ext4->geo->block_size : table_bytes(ext4, unit);
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
	struct whole_pages whole = { source, sink, ctx };
	struct e2pf_plan plan = plan_for(ext4, &whole);
	uint32_t number = (uint32_t)unit;
	struct e2pf_group group;

	if (phase == E2PF_EXT4_LIST) {
		seed_entry(ext4, unit, &plan);
		return;
	}
	if (phase == E2PF_EXT4_TABLES && ext4->folders) {
		e2pf_folders_seed(ext4->folders, unit, &plan);
		return;
	}
	group = e2pf_ext4_group(ext4, number);
	if (phase == E2PF_EXT4_BITMAPS ||
	    !(ext4->options.classes & TABLE_CLASSES))
		group.inode_table = 0;
	if (phase == E2PF_EXT4_TABLES && !ext4->bitmaps_early)
		group.block_bitmap = group.inode_bitmap = 0;
	e2pf_plan_group(&plan, number, &group);
}

static bool is_table(struct e2pf_kind kind)
{
	return kind.parse == E2PF_INODE_TABLE || kind.parse == E2PF_FOLDER_TABLE;
}

/* Inodes of a table that are in use, from byte `at` of the reference to the table's
 * end, and *before that.  The checker may have moved the table meanwhile. */
static uint64_t inodes_left(const struct e2pf_ext4 *ext4,
			    const struct pf_ref *ref, uint64_t at,
			    uint32_t *before)
{
	struct e2pf_group group = e2pf_ext4_group(ext4,
						  e2pf_kind_of(ref).group);

	at += ref->offset - group.inode_table * ext4->geo->block_size;
	at /= ext4->geo->inode_size;
	*before = (uint32_t)at;
	return at < group.inodes_in_use ? group.inodes_in_use - at : 0;
}

static uint32_t ext4_piece(struct pf_source *source,
			   const struct pf_ref *ref, uint64_t at)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	uint64_t left = ref->length - at, used;
	uint32_t before;

	if (!is_table(e2pf_kind_of(ref)))
		return ext4->geo->block_size;
	used = inodes_left(ext4, ref, at, &before) * ext4->geo->inode_size;
	left = used < left ? used : left;
	return (uint32_t)(left < TABLE_PIECE ? left : TABLE_PIECE);
}

static bool ext4_parse(struct pf_source *source, const struct pf_ref *ref,
		       uint64_t at, const void *bytes, uint32_t size,
		       pf_sink sink, void *ctx)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	const struct e2pf_geometry *geo = ext4->geo;
	struct e2pf_kind kind = e2pf_kind_of(ref);
	struct whole_pages whole = { source, sink, ctx };
	struct e2pf_plan plan = plan_for(ext4, &whole);
	uint64_t block = (ref->offset + at) / geo->block_size;
	uint32_t ino = 0;

	if (is_table(kind)) {
		if (!inodes_left(ext4, ref, at, &ino))
			return false;
		ino += kind.group * geo->inodes_per_group + 1;
	}
	/* A sample's table is none that the folders have passed. */
	if (ext4->folders && kind.parse != E2PF_INODE_TABLE)
		return e2pf_folders_parse(ext4->folders, &plan, ref, ino, block,
					  bytes, size);
	if (is_table(kind))
		e2pf_plan_inodes(&plan, ino, bytes, size);
	else
		e2pf_plan_block(&plan, kind, block, bytes);
	return false;
}

/* Pass the group's whole table as a reference, and its beginning as another one
 * that is parsed. */
static void ext4_sample(struct pf_source *source, uint64_t index,
			pf_sink sink, void *ctx)
{
	struct e2pf_ext4 *ext4 = ext4_of(source);
	const struct e2pf_group group = e2pf_ext4_group(ext4, index);
	uint64_t bytes = table_bytes(ext4, index);
	const struct e2pf_kind table = {
		.parse = E2PF_INODE_TABLE, .group = (uint32_t)index
	};
	struct pf_ref ref = {
		.offset = group.inode_table * ext4->geo->block_size,
		.length = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX),
		.cookie = e2pf_cookie_of(table),
		.cls = E2PF_INODES
	};
	struct whole_pages whole = { source, sink, ctx };
	const struct e2pf_plan plan = plan_for(ext4, &whole);

	if (!group.inode_table || !bytes)
		return;
	plan.sink(plan.ctx, &ref);
	ref.parse = true;
	if (ref.length > SAMPLE_BYTES)
		ref.length = SAMPLE_BYTES;
	plan.sink(plan.ctx, &ref);
}

static const struct pf_source_ops ext4_ops = {
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

struct e2pf_ext4 *e2pf_ext4_new(const struct e2pf_geometry *geo,
				const struct e2pf_ext4_options *options)
{
	struct e2pf_ext4 *ext4 = calloc(1, sizeof(*ext4));

	if (!ext4)
		return NULL;
	pthread_mutex_init(&ext4->lock, NULL);
	ext4->geo = geo;
	ext4->options = *options;
	ext4->bytes = geo->blocks * geo->block_size;
	ext4->source = (struct pf_source) {
		.ops = &ext4_ops,
		.grain = geo->block_size,
		.devices = 1,
		.bytes = &ext4->bytes,
		.classes = E2PF_CLASSES,
		.samples = geo->groups,
		.parse_limit = geo->blocks / PARSED_PART
	};
	return ext4;
}

void e2pf_ext4_free(struct e2pf_ext4 *ext4)
{
	if (!ext4)
		return;
	pthread_mutex_destroy(&ext4->lock);
	e2pf_folders_free(ext4->folders);
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
