/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elevator.h"
#include "survey.h"

/* Samples that are checked, at most, to find out whether everything is cached. */
#define MAX_SAMPLES 48u

/* Units that are walked at once; references in memory may be twice as many. */
#define UNITS_AT_ONCE 4096u

/* Failed reads before the walk ends. */
#define MAX_ERRORS 16u

/*
 * What a few samples show.
 */

/* The samples, and what they refer to. */
struct sampling {
	struct pf_source *source;
	struct pf_device *const *devices;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
	void *piece;		/* that is parsed: the program's stack may be small */
};

/* Pages that are not up to date count as cached: blocks that the kernel reads of a
 * mounted filesystem for itself are up to date in its buffers, not in their pages. */
static void check_ref(void *ctx, const struct pf_ref *ref)
{
	struct sampling *s = ctx;
	struct pf_device *dev = s->devices[ref->device];
	uint64_t length = ref->length;

	/* Check one block, because a query by reading copies what it checks. */
	if (dev->asks_by_reading && length > s->source->grain)
		length = s->source->grain;
	if (pf_elevator_is_sound(s->source, ref) && !s->missing)
		s->missing = !pf_device_is_cached(dev, ref->offset, length,
						  true);
}

/* Check a sample and what it refers to, because the sample may be cached only by the
 * kernel's own readahead. */
static void check_sample(void *ctx, const struct pf_ref *ref)
{
	struct sampling *s = ctx;
	struct pf_source *source = s->source;
	struct pf_device *dev;
	uint64_t at;
	uint32_t size;

	if (!pf_elevator_is_sound(source, ref))
		return;
	s->seen = true;
	check_ref(s, ref);
	dev = s->devices[ref->device];
	for (at = 0; ref->parse && at < ref->length && !s->missing; at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size)
			break;
		s->missing = dev->ops->read(dev, s->piece, ref->offset + at, size);
		if (!s->missing)
			source->ops->parse(source, ref, at, s->piece, size,
					   check_ref, s);
	}
}

bool pf_survey_is_cached(struct pf_source *source,
			 struct pf_device *const *devices)
{
	struct sampling s = {
		.source = source, .devices = devices,
		.piece = malloc(PF_MAX_PIECE)
	};
	uint64_t i;

	for (i = 0; s.piece && i < source->samples && !s.missing;
	     i += source->samples / MAX_SAMPLES + 1)
		source->ops->sample(source, i, check_sample, &s);
	free(s.piece);
	return s.seen && !s.missing;
}

/* The longest reference of a sample. */
static void choose_longest(void *ctx, const struct pf_ref *ref)
{
	struct pf_ref *longest = ctx;

	if (!ref->device && ref->length > longest->length)
		*longest = *ref;
}

static uint64_t get_sample(void *ctx, uint64_t index, uint64_t *offset)
{
	struct pf_source *source = ctx;
	struct pf_ref ref = { .length = 0 };

	source->ops->sample(source, index, choose_longest, &ref);
	*offset = ref.offset;
	return ref.length;
}

static bool may_read(void *ctx, uint64_t offset, uint64_t length)
{
	struct pf_source *source = ctx;

	return source->ops->may_read(source, offset, length);
}

const char *pf_survey_measure(struct pf_source *source,
			      struct pf_device *dev, bool with_bytes,
			      struct pf_speed *speed)
{
	struct pf_speed_samples samples = {
		.bytes = source->bytes[0],
		.count = source->ops->sample ? source->samples : 0,
		.at = get_sample, .ctx = source,
		.may_read = source->ops->may_read ? may_read : NULL
	};

	return pf_speed_measure(dev, &samples, with_bytes, speed);
}

/*
 * A walk over all that there is to read ahead: reads only what must be parsed, and counts
 * the rest.
 */

struct walk {
	struct pf_source *source;
	struct pf_device *const *devices;
	struct pf_elevator elevator;
	struct pf_class_count *count;
	unsigned errors;
	void *piece;
};

/* A sink whose `ctx` is the walk. */
static void add_found(void *ctx, const struct pf_ref *ref)
{
	struct walk *walk = ctx;

	if (pf_elevator_is_sound(walk->source, ref))
		pf_elevator_add(&walk->elevator, ref);
}

static void count_run(struct walk *walk, const struct pf_elevator_step *step)
{
	unsigned last = PF_MAX_CLASSES;	/* no class */
	size_t i;

	for (i = 0; i < step->n; i++) {
		const struct pf_ref *ref = &step->ref[i];

		walk->count[ref->cls].bytes += ref->length;
		walk->count[ref->cls].runs += ref->cls != last;
		last = ref->cls;
	}
}

static void parse_piece(struct walk *walk,
			const struct pf_elevator_step *step)
{
	struct pf_source *source = walk->source;
	const struct pf_ref ref = *step->ref;
	struct pf_device *dev = walk->devices[ref.device];
	uint32_t size = source->ops->piece(source, &ref, step->at);

	if (size && dev->ops->read(dev, walk->piece, ref.offset + step->at, size))
		walk->errors++;
	else if (size)
		source->ops->parse(source, &ref, step->at, walk->piece, size,
				   add_found, walk);
	pf_elevator_advance(&walk->elevator, size);
}

/* One pass over the units that were added. */
static void walk_units(struct walk *walk)
{
	struct pf_elevator_step step;
	enum pf_step next = PF_STEP_RUN;

	pf_elevator_begin(&walk->elevator);
	while (next != PF_STEP_END && walk->errors < MAX_ERRORS) {
		next = pf_elevator_next(&walk->elevator, 0, &step);
		if (next == PF_STEP_RUN)
			count_run(walk, &step);
		else if (next == PF_STEP_PARSE)
			parse_piece(walk, &step);
	}
	pf_elevator_end(&walk->elevator);
}

static int walk_phase(struct walk *walk, unsigned phase)
{
	struct pf_source *source = walk->source;
	uint64_t unit = 0, end, units;
	bool more;

	while ((units = source->ops->units(source, phase, &more)) > unit) {
		end = unit + UNITS_AT_ONCE < units ? unit + UNITS_AT_ONCE : units;
		for (; unit < end; unit++)
			source->ops->seed(source, phase, unit, add_found, walk);
		walk_units(walk);
		if (walk->elevator.out_of_memory)
			return ENOMEM;
		if (walk->errors >= MAX_ERRORS)
			return EIO;
	}
	return 0;
}

const struct pf_phase *pf_survey_begin(struct pf_source *source)
{
	/* With room for everything, no phase repeats another. */
	const struct pf_options options = {
		.budget = UINT64_MAX, .seek_bound = true
	};

	source->ops->begin(source, &options, false);
	return source->ops->next(source, NULL);
}

int pf_survey_count(struct pf_source *source,
		    struct pf_device *const *devices,
		    struct pf_class_count *count)
{
	struct walk walk = {
		.source = source, .devices = devices, .count = count,
		.elevator = {
			.max_refs = 2 * UNITS_AT_ONCE, .max_ahead = UINT64_MAX,
			.parse_left = source->parse_limit + UNITS_AT_ONCE
		}, .piece = malloc(PF_MAX_PIECE)
	};
	const struct pf_phase *phase = NULL, *next = pf_survey_begin(source);
	int err = walk.piece ? 0 : ENOMEM;

	memset(count, 0, source->classes * sizeof(*count));
	for (; next && !err; next = source->ops->next(source, phase)) {
		/* A phase that comes again has other units, of everything. */
		if (next == phase)
			memset(count, 0, source->classes * sizeof(*count));
		phase = next;
		err = walk_phase(&walk, phase->number);
	}
	free(walk.piece);
	return err;
}
