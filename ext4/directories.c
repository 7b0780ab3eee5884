/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <stdlib.h>

#include "batch.h"
#include "directories.h"
#include "sweeps.h"
#include "tables.h"

/* The part of the budget that may be ahead of a program that is followed: the kernel's
 * inodes take five times the memory of their tables, and evict what is not used yet.
 * With a million files in a group of 256 MiB, find took 26 s alone on the network volume,
 * with 1/4, 1/8, 1/16, 1/32 and 1/64 29, 31, 18, 10.2 and 10.1 s; on a disk 127 s, with
 * 1/16, 1/24 and 1/32 40.5, 41.7 and 44.0 s. */
#define WINDOW_PART 24u

/* What is read for it at once, bytes.  With 16 MiB on the network volume the program
 * overtakes: 15 s in place of 7.8.  On a disk find took with 2, 8 and 32 MiB 34.7, 24.6
 * and 20.8 s. */
#define SEEK_PORTION (32u << 20)
#define FLASH_PORTION (4u << 20)

struct directories {
	struct ext4_source ext4;
	struct pf_source_ops ops;
	struct pf_phase phase, walk_phase;
	uint64_t window, portion;	/* bytes ahead of a program that is followed */
	struct ext4_sweeps *sweeps;	/* NULL: all is read, or a program is followed */
	_Atomic(struct ext4_walk *) walk;	/* NULL: none is.  Never replaced, because
						   any thread uses it */
};

static const struct pf_source_ops *const whole = &ext4_source_ops;

static struct directories *directories_of(struct pf_source *source)
{
	return (struct directories *)source;
}

static void release(struct ext4_source *ext4)
{
	struct directories *d = directories_of(&ext4->source);

	ext4_sweeps_free(d->sweeps);
	ext4_walk_free(d->walk);
}

/* All that is below these directories may be more than fits into memory. */
static void follow(struct directories *d)
{
	const struct ext4_source_options *what = &d->ext4.options;

	if (!d->walk)
		d->walk = ext4_walk_new(d->ext4.geo, what->follow, d->window, d->portion,
					what->below, what->below_count);
}

/* All that is below the root is the whole filesystem. */
static bool has_root(const struct ext4_source_options *what)
{
	unsigned i;

	for (i = 0; i < what->below_count; i++)
		if (what->below[i] == EXT2_ROOT_INO)
			return true;
	return false;
}

/* There are few units at first, so the device is not measured. */
static void begin(struct pf_source *source, const struct pf_options *options,
		  bool asleep)
{
	struct directories *d = directories_of(source);
	const struct ext4_source_options *what = &d->ext4.options;

	whole->begin(source, options, asleep);
	ext4_sweeps_free(d->sweeps);
	d->window = options->budget / WINDOW_PART;
	d->portion = options->seek_bound ? SEEK_PORTION : FLASH_PORTION;
	d->sweeps = NULL;
	if (what->follow && !asleep && has_root(what))
		follow(d);
	else
		d->sweeps = ext4_sweeps_new(&d->ext4, options->seek_bound,
					    what->follow ? d->window : UINT64_MAX);
	d->walk_phase = (struct pf_phase) {
		.number = EXT4_WALK, .at_once = 1, .paced = true
	};
	d->phase = (struct pf_phase) {
		.number = EXT4_DIRECTORIES, .followed = true, .gated = true,
		.deferred = 1u << EXT4_DIRS
	};
}

static const struct pf_phase *next(struct pf_source *source,
				     const struct pf_phase *after)
{
	struct directories *d = directories_of(source);
	const struct pf_phase *tables = whole->next(source, NULL);
	const struct ext4_source_options *what = &d->ext4.options;

	if (!after)
		return d->sweeps ? &d->phase : d->walk ? &d->walk_phase : tables;
	if (after == &d->walk_phase)
		return NULL;
	if (after != &d->phase)
		return whole->next(source, after);
	if (!ext4_sweeps_are_full(d->sweeps))
		return whole->next(source, tables);
	ext4_sweeps_free(d->sweeps);
	d->sweeps = NULL;
	if (what->follow)
		follow(d);
	return d->walk ? &d->walk_phase : tables;
}

static uint64_t units(struct pf_source *source, unsigned phase, bool *more)
{
	if (phase == EXT4_WALK)
		return ext4_walk_batches(directories_of(source)->walk, more);
	if (phase != EXT4_DIRECTORIES)
		return whole->units(source, phase, more);
	*more = false;
	return ext4_sweeps_count(directories_of(source)->sweeps);
}

static uint64_t weight(struct pf_source *source, unsigned phase, uint64_t unit)
{
	return phase == EXT4_DIRECTORIES ? source->grain :
	       whole->weight(source, phase, unit);
}

static void seed(struct pf_source *source, unsigned phase, uint64_t unit,
		 pf_sink sink, void *ctx)
{
	struct directories *d = directories_of(source);
	struct ext4_whole_pages pages = { &d->ext4, sink, ctx };
	const struct ext4_plan plan = ext4_source_plan(&pages);

	if (phase == EXT4_WALK)
		ext4_batch_seed(&d->ext4, d->walk, &plan);
	else if (phase == EXT4_DIRECTORIES)
		ext4_sweeps_seed(d->sweeps, unit, &plan);
	else
		whole->seed(source, phase, unit, sink, ctx);
}

static bool parse(struct pf_source *source, const struct pf_ref *ref,
		  uint64_t at, const void *bytes, uint32_t size, pf_sink sink,
		  void *ctx)
{
	struct directories *d = directories_of(source);
	struct ext4_whole_pages pages = { &d->ext4, sink, ctx };
	struct ext4_plan plan = ext4_source_plan(&pages);
	struct ext4_kind kind = ext4_kind_of(ref);
	uint32_t ino = 0;

	if (!d->sweeps && !d->walk)
		return whole->parse(source, ref, at, bytes, size, sink, ctx);
	if (ext4_has_inodes(ref) &&
	    !ext4_source_inodes_left(&d->ext4, ref, at, &ino))
		return false;
	plan.classes |= 1u << EXT4_DIRS;
	if (d->walk)
		return ext4_batch_parse(&d->ext4, d->walk, &plan, kind, ino,
					(ref->offset + at) / source->grain, bytes, size);
	/* A sample's table is none that a sweep has passed. */
	if (kind.parse == EXT4_INODE_TABLE) {
		ext4_plan_inodes(&plan, ino, bytes, size);
		return false;
	}
	return ext4_sweeps_parse(d->sweeps, &plan, kind, ino,
				 (ref->offset + at) / source->grain, bytes, size);
}

struct ext4_source *ext4_directories_new(const struct ext4_geometry *geo,
					 const struct ext4_source_options *options)
{
	struct directories *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	ext4_source_init(&d->ext4, geo, options);
	d->ops = ext4_source_ops;
	d->ops.begin = begin;
	d->ops.next = next;
	d->ops.units = units;
	d->ops.weight = weight;
	d->ops.seed = seed;
	d->ops.parse = parse;
	d->ext4.source.ops = &d->ops;
	d->ext4.release = release;
	return &d->ext4;
}

bool ext4_directories_know(const struct ext4_source *ext4, uint32_t directory)
{
	const struct directories *d = (const struct directories *)ext4;

	return d->walk && ext4_walk_knows(d->walk, directory);
}

void ext4_directories_open(struct ext4_source *ext4, struct pf_engine *engine,
			   const uint32_t *path, unsigned count)
{
	struct directories *d = directories_of(&ext4->source);

	if (d->walk && ext4_walk_open(d->walk, path, count))
		pf_engine_add_units(engine, EXT4_WALK, NULL, NULL);
}

void ext4_directories_end(struct ext4_source *ext4, struct pf_engine *engine)
{
	struct directories *d = directories_of(&ext4->source);

	if (!d->walk)
		return;
	ext4_walk_end(d->walk);
	pf_engine_add_units(engine, EXT4_WALK, NULL, NULL);
}

bool ext4_directories_follow(const struct ext4_source *ext4)
{
	const struct directories *d = (const struct directories *)ext4;

	return d->walk;
}

bool ext4_directories_gave_up(const struct ext4_source *ext4)
{
	const struct directories *d = (const struct directories *)ext4;

	return d->walk && ext4_walk_is_over(d->walk);
}
