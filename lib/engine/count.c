/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "elevator.h"

/* Units that are walked at once; references in memory may be twice as many. */
#define UNITS_AT_ONCE 4096u

/* Failed reads before the walk ends. */
#define MAX_ERRORS 16u

struct walk {
	struct pf_source *source;
	struct e2pf_device *const *devices;
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
	struct e2pf_device *dev = walk->devices[ref.device];
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

const struct pf_phase *pf_count_begin(struct pf_source *source)
{
	/* With room for everything, no phase repeats another. */
	const struct pf_options options = {
		.budget = UINT64_MAX, .seeks = true
	};

	source->ops->begin(source, &options, false);
	return source->ops->next(source, NULL);
}

int pf_count_metadata(struct pf_source *source,
		      struct e2pf_device *const *devices,
		      struct pf_class_count *count)
{
	struct walk walk = {
		.source = source, .devices = devices, .count = count,
		.elevator = {
			.max_refs = 2 * UNITS_AT_ONCE, .max_ahead = UINT64_MAX,
			.parse_left = source->parse_limit + UNITS_AT_ONCE
		}, .piece = malloc(PF_MAX_PIECE)
	};
	const struct pf_phase *phase = NULL, *next = pf_count_begin(source);
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
