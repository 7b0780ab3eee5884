/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A walk over all that there is to read ahead, by an engine that is idle: it only
 * reads what must be parsed, and counts the rest.
 */
#include <errno.h>
#include <string.h>

#include "elevator.h"
#include "monitor.h"

/* Units that are walked at once; references in memory may be twice as many. */
#define UNITS_AT_ONCE 4096u

/* Failed reads before the walk ends. */
#define ERRORS_TOLERATED 16u

struct walk {
	struct e2pf_engine *e;
	struct e2pf_elevator elevator;
	struct e2pf_class_count *count;
	unsigned errors;
	unsigned char piece[E2PF_PIECE_MOST];
};

/* A sink whose `ctx` is the walk. */
static void add_found(void *ctx, const struct e2pf_ref *ref)
{
	struct walk *walk = ctx;

	if (e2pf_is_sound(walk->e->source, ref))
		e2pf_elevator_add(&walk->elevator, ref);
}

static void count_run(struct walk *walk, const struct e2pf_elevator_step *step)
{
	unsigned last = E2PF_CLASS_BITS;	/* no class */
	size_t i;

	for (i = 0; i < step->n; i++) {
		const struct e2pf_ref *ref = &step->ref[i];

		walk->count[ref->cls].bytes += ref->length;
		walk->count[ref->cls].runs += ref->cls != last;
		last = ref->cls;
	}
}

static void parse_piece(struct walk *walk,
			const struct e2pf_elevator_step *step)
{
	struct e2pf_source *source = walk->e->source;
	const struct e2pf_ref ref = *step->ref;
	struct e2pf_device *dev = walk->e->devices[ref.device];
	uint32_t size = source->ops->piece(source, &ref, step->at);

	if (size && dev->ops->read(dev, walk->piece, ref.offset + step->at, size))
		walk->errors++;
	else if (size)
		source->ops->parse(source, &ref, step->at, walk->piece, size,
				   add_found, walk);
	e2pf_elevator_parsed(&walk->elevator, size);
}

/* One pass over the units that were added. */
static void walk_pass(struct walk *walk)
{
	struct e2pf_elevator_step step;
	enum e2pf_step next = E2PF_STEP_RUN;

	e2pf_elevator_begin(&walk->elevator);
	while (next != E2PF_STEP_END && walk->errors < ERRORS_TOLERATED) {
		next = e2pf_elevator_next(&walk->elevator, 0, &step);
		if (next == E2PF_STEP_RUN)
			count_run(walk, &step);
		else if (next == E2PF_STEP_PARSE)
			parse_piece(walk, &step);
	}
	e2pf_elevator_end(&walk->elevator);
}

static int walk_phase(struct walk *walk, unsigned phase)
{
	struct e2pf_source *source = walk->e->source;
	uint64_t unit = 0, end, units;
	bool more;

	while ((units = source->ops->units(source, phase, &more)) > unit) {
		end = unit + UNITS_AT_ONCE < units ? unit + UNITS_AT_ONCE : units;
		for (; unit < end; unit++)
			source->ops->seed(source, phase, unit, add_found, walk);
		walk_pass(walk);
		if (walk->elevator.out_of_memory)
			return ENOMEM;
		if (walk->errors >= ERRORS_TOLERATED)
			return EIO;
	}
	return 0;
}

int e2pf_engine_count(struct e2pf_engine *e, struct e2pf_class_count *count)
{
	struct walk walk = {
		.e = e, .count = count, .elevator = {
			.refs_most = 2 * UNITS_AT_ONCE, .ahead_most = UINT64_MAX,
			.parse_left = e->source->parse_limit + UNITS_AT_ONCE
		}
	};
	const struct e2pf_phase *phase = NULL;
	const struct e2pf_phase *next = e2pf_monitor_begin_source(e);
	int err = 0;

	memset(count, 0, e->source->classes * sizeof(*count));
	for (; next && !err; next = e->source->ops->next(e->source, phase)) {
		/* A phase that comes again has other units, of everything. */
		if (next == phase)
			memset(count, 0, e->source->classes * sizeof(*count));
		phase = next;
		err = walk_phase(&walk, phase->number);
	}
	return err;
}
