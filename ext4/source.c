/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * ext4 as a source of work: its phases, and the groups and list entries that are
 * their units.  Decides which blocks are read in which phase.  lib/engine/
 * decides how far ahead; plan_*.c know the meaning of the bytes.
 */
#include <stdlib.h>

#include "source.h"
#include "tables.h"

/* The number of entries of the list that are kept. */
#define LIST_ROOM 32768u

/* Inode tables are parsed in pieces of this size: each worker has a buffer for one,
 * and holds all that it refers to. */
#define TABLE_PIECE (64u << 10)

/* SAMPLE_BYTES of a group's table are parsed, to find out whether the blocks that
 * its first inodes refer to are cached. */
#define SAMPLE_BYTES 4096u

/* Classes that are in the inode tables or found through them. */
#define TABLE_CLASSES (EXT4_TREE_CLASSES | 1u << EXT4_INODES)

/* At most this part of all blocks is parsed as tree blocks.  A sound filesystem has
 * far fewer: an extent node describes 84 extents or more. */
#define PARSED_PART 64u

const char *const ext4_class_names[EXT4_CLASSES] = {
	[EXT4_BITMAPS] = "bitmaps",
	[EXT4_INODES] = "inodes",
	[EXT4_EXTENTS] = "extents",
	[EXT4_INDIRECT] = "indirect",
	[EXT4_DIRS] = "dirs",
	[EXT4_XATTRS] = "xattrs",
	[EXT4_SYMLINKS] = "symlinks",
	[EXT4_FILES] = "files",
};

const char *const ext4_stage_names[EXT4_STAGES] = {
	[EXT4_OPEN] = "open",
	[EXT4_PASS1] = "pass1",
	[EXT4_PASS1B] = "pass1b",
	[EXT4_PASS1C] = "pass1c",
	[EXT4_PASS1D] = "pass1d",
	[EXT4_PASS2] = "pass2",
	[EXT4_PASS3] = "pass3-4",
	[EXT4_PASS5] = "pass5",
};

static struct ext4_source *ext4_of(struct pf_source *source)
{
	return (struct ext4_source *)source;
}

/*
 * The operations.
 */

/* Bitmaps take at most 1/4096 of the device, so an eighth of the budget holds
 * them on any filesystem for which the budget is not too small.  They may take
 * a quarter if they are read with the tables in one sweep: to read them later takes
 * the same time again. */
static bool bitmaps_are_few(const struct ext4_source *ext4,
			    const struct pf_options *options)
{
	unsigned part = options->seek_bound ? 4 : 8;

	return 2ull * ext4->geo->groups * ext4->geo->block_size <=
	       options->budget / part;
}

static void ext4_begin(struct pf_source *source,
		       const struct pf_options *options, bool asleep)
{
	static const struct pf_phase phases[EXT4_PHASES] = {
		[EXT4_PHASE_TABLES] = {
			.number = EXT4_PHASE_TABLES, .followed = true,
			.gated = true,
			.deferred = 1u << EXT4_DIRS | 1u << EXT4_BITMAPS
		},
		[EXT4_PHASE_LIST] = {
			.number = EXT4_PHASE_LIST, .followed = true,
			.gated = true
		},
		/* Between pass 2 and pass 5 the checker reads other blocks. */
		[EXT4_PHASE_BITMAPS] = {
			.number = EXT4_PHASE_BITMAPS, .at_once = 512
		}
	};
	struct ext4_source *ext4 = ext4_of(source);

	/* All groups are looked at only if something is read. */
	ext4->ordered = ext4->options.guarded && !asleep &&
			ext4_source_tables_are_ordered(ext4);
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
	struct ext4_source *ext4 = ext4_of(source);

	if (!after)
		return &ext4->phases[EXT4_PHASE_TABLES];
	if (after->number == EXT4_PHASE_TABLES)
		ext4->bitmaps_done = ext4->bitmaps_early;
	if (after->number == EXT4_PHASE_BITMAPS || ext4->bitmaps_done ||
	    (after->number == EXT4_PHASE_TABLES && ext4->has_checker))
		return NULL;
	return &ext4->phases[EXT4_PHASE_BITMAPS];
}

static uint64_t ext4_units(struct pf_source *source, unsigned phase,
			   bool *more)
{
	struct ext4_source *ext4 = ext4_of(source);
	uint64_t units;

	*more = false;
	if (phase != EXT4_PHASE_LIST)
		return phase == EXT4_PHASE_TABLES ||
		       ext4->options.classes & 1u << EXT4_BITMAPS ?
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
	struct ext4_source *ext4 = ext4_of(source);

	return phase == EXT4_PHASE_LIST ? ext4->geo->block_size :
	       ext4_source_bytes_of_table(ext4, unit);
}

void ext4_source_get_progress(struct ext4_source *ext4,
			      struct ext4_progress *progress)
{
	uint32_t g;

	pthread_mutex_lock(&ext4->lock);
	progress->list_total = ext4->list_total;
	pthread_mutex_unlock(&ext4->lock);
	for (g = 0; g < ext4->geo->groups; g++) {
		uint64_t inodes = ext4_source_group(ext4, g).inodes_allocated;

		progress->inodes += inodes;
		progress->passed_inodes += g < progress->passed ? inodes : 0;
	}
}

/* An entry of the list: e2fsck took the block number from the disk, so it may
 * be anything. */
static void seed_entry(struct ext4_source *ext4, uint64_t index,
		       struct ext4_plan *plan)
{
	struct ext4_kind kind;
	uint64_t block;

	pthread_mutex_lock(&ext4->lock);
	kind = ext4_unparsed(ext4->list_class);
	block = ext4->list[index % LIST_ROOM];
	pthread_mutex_unlock(&ext4->lock);
	ext4_gather_add(plan, kind, block, 1);
	ext4_gather_flush(plan);
}

static void ext4_seed(struct pf_source *source, unsigned phase,
		      uint64_t unit, pf_sink sink, void *ctx)
{
	struct ext4_source *ext4 = ext4_of(source);
	struct ext4_whole_pages pages = { ext4, sink, ctx };
	struct ext4_plan plan = ext4_source_plan(&pages);
	uint32_t number = (uint32_t)unit;
	struct ext4_group group;

	if (phase == EXT4_PHASE_LIST) {
		seed_entry(ext4, unit, &plan);
		return;
	}
	group = ext4_source_group(ext4, number);
	if (phase == EXT4_PHASE_BITMAPS || !(ext4->options.classes & TABLE_CLASSES))
		group.inode_table = 0;
	if (phase == EXT4_PHASE_TABLES && !ext4->bitmaps_early)
		group.block_bitmap = group.inode_bitmap = 0;
	ext4_plan_group(&plan, number, &group);
}

static uint32_t ext4_piece(struct pf_source *source,
			   const struct pf_ref *ref, uint64_t at)
{
	struct ext4_source *ext4 = ext4_of(source);
	uint64_t left = ref->length - at, used;
	uint32_t ino;

	if (!ext4_has_inodes(ref))
		return ext4->geo->block_size;
	used = ext4_source_inodes_left(ext4, ref, at, &ino) *
	       ext4->geo->inode_size;
	left = used < left ? used : left;
	return (uint32_t)(left < TABLE_PIECE ? left : TABLE_PIECE);
}

static bool ext4_parse(struct pf_source *source, const struct pf_ref *ref,
		       uint64_t at, const void *bytes, uint32_t size,
		       pf_sink sink, void *ctx)
{
	struct ext4_source *ext4 = ext4_of(source);
	struct ext4_whole_pages pages = { ext4, sink, ctx };
	struct ext4_plan plan = ext4_source_plan(&pages);
	uint32_t ino;

	if (!ext4_has_inodes(ref))
		ext4_plan_block(&plan, ext4_kind_of(ref),
				(ref->offset + at) / ext4->geo->block_size, bytes);
	else if (ext4_source_inodes_left(ext4, ref, at, &ino))
		ext4_plan_inodes(&plan, ino, bytes, size);
	return false;
}

/* Pass the group's whole table as a reference, and its beginning as another one
 * that is parsed. */
static void ext4_sample(struct pf_source *source, uint64_t index,
			pf_sink sink, void *ctx)
{
	struct ext4_source *ext4 = ext4_of(source);
	const struct ext4_group group = ext4_source_group(ext4, index);
	uint64_t bytes = ext4_source_bytes_of_table(ext4, index);
	const struct ext4_kind table = {
		.parse = EXT4_INODE_TABLE, .group = (uint32_t)index
	};
	struct pf_ref ref = {
		.offset = group.inode_table * ext4->geo->block_size,
		.length = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX),
		.cookie = ext4_cookie_of(table),
		.cls = EXT4_INODES
	};
	struct ext4_whole_pages pages = { ext4, sink, ctx };
	const struct ext4_plan plan = ext4_source_plan(&pages);

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
	return ext4_source_may_read(ext4_of(source), offset, length);
}

const struct pf_source_ops ext4_source_ops = {
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

void ext4_source_init(struct ext4_source *ext4, const struct ext4_geometry *geo,
		      const struct ext4_source_options *options)
{
	pthread_mutex_init(&ext4->lock, NULL);
	ext4->geo = geo;
	ext4->options = *options;
	ext4->bytes = geo->blocks * geo->block_size;
	ext4->source = (struct pf_source) {
		.ops = &ext4_source_ops,
		.grain = geo->block_size,
		.devices = 1,
		.bytes = &ext4->bytes,
		.classes = EXT4_CLASSES,
		.samples = geo->groups,
		.parse_limit = geo->blocks / PARSED_PART
	};
}

struct ext4_source *ext4_source_new(const struct ext4_geometry *geo,
				    const struct ext4_source_options *options)
{
	struct ext4_source *ext4 = calloc(1, sizeof(*ext4));

	if (ext4)
		ext4_source_init(ext4, geo, options);
	return ext4;
}

void ext4_source_free(struct ext4_source *ext4)
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

void ext4_source_list_begin(struct ext4_source *ext4, struct pf_engine *engine,
			    uint64_t total, enum ext4_class cls)
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
				      &ext4->phases[EXT4_PHASE_LIST]);
}

uint64_t ext4_source_list_count_wanted(struct ext4_source *ext4,
				       struct pf_engine *engine,
				       uint64_t reached, uint64_t *first)
{
	uint64_t room, n = 0;

	if (!pf_engine_is_in_phase(engine, EXT4_PHASE_LIST))
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
	struct ext4_source *ext4;
	const uint64_t *blocks;
	size_t count;
};

static void add_to_list(void *ctx)
{
	const struct list_part *part = ctx;
	struct ext4_source *ext4 = part->ext4;
	size_t i;

	pthread_mutex_lock(&ext4->lock);
	for (i = 0; i < part->count; i++)
		ext4->list[(ext4->list_end + i) % LIST_ROOM] = part->blocks[i];
	ext4->list_end += part->count;
	pthread_mutex_unlock(&ext4->lock);
}

void ext4_source_list_add(struct ext4_source *ext4, struct pf_engine *engine,
			  const uint64_t *blocks, size_t count)
{
	struct list_part part = {
		.ext4 = ext4, .blocks = blocks, .count = count
	};

	if (pf_engine_is_in_phase(engine, EXT4_PHASE_LIST))
		pf_engine_add_units(engine, EXT4_PHASE_LIST, add_to_list,
				    &part);
}

static void forget_rest(void *ctx)
{
	struct ext4_source *ext4 = ctx;

	pthread_mutex_lock(&ext4->lock);
	ext4->list_total = ext4->list_end;
	pthread_mutex_unlock(&ext4->lock);
}

/* If a walk ends early, the phase must not wait for more units: otherwise
 * bitmaps would never be read. */
void ext4_source_list_end(struct ext4_source *ext4, struct pf_engine *engine)
{
	pf_engine_add_units(engine, EXT4_PHASE_LIST, forget_rest, ext4);
}
