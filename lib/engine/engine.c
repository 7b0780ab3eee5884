/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine's life: create, start, stop, free.  Reads the device while there are no
 * workers, which needs no lock: whether everything is cached, how fast it is, and how much
 * there is to read ahead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elevator.h"
#include "monitor.h"

/* Samples that are checked, at most, to find out whether everything is cached. */
#define SAMPLES_CHECKED 48u

/* Units that are walked at once; references in memory may be twice as many. */
#define UNITS_AT_ONCE 4096u

/* Failed reads before the walk ends. */
#define ERRORS_TOLERATED 16u

struct pf_engine *pf_engine_new(struct pf_source *source,
				    struct e2pf_device *const *devices)
{
	struct pf_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->source = source;
	e->devices = devices;
	pf_monitor_init(e);
	return e;
}

void pf_engine_free(struct pf_engine *e)
{
	if (!e)
		return;
	pf_engine_stop(e, -1);
	pf_monitor_destroy(e);
	free(e);
}

/*
 * What a few places of the source show.
 */

/* The samples, and what they refer to. */
struct sampling {
	const struct pf_engine *e;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
	void *piece;		/* that is parsed: the program's stack may be small */
};

/* Pages that are held count: what the kernel reads of a mounted filesystem for itself
 * is up to date in its buffers, not in their pages. */
static void check_ref(void *ctx, const struct pf_ref *ref)
{
	struct sampling *s = ctx;

	if (pf_elevator_is_sound(s->e->source, ref) && !s->missing)
		s->missing = !e2pf_is_cached(s->e->devices[ref->device],
					     ref->offset, ref->length, true);
}

/* A reference itself may be cached only because of the kernel's own readahead: what
 * it leads to is checked, too. */
static void check_sample(void *ctx, const struct pf_ref *ref)
{
	struct sampling *s = ctx;
	struct pf_source *source = s->e->source;
	struct e2pf_device *dev;
	uint64_t at;
	uint32_t size;

	if (!pf_elevator_is_sound(source, ref))
		return;
	s->seen = true;
	check_ref(s, ref);
	dev = s->e->devices[ref->device];
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

/* Checks samples spread over the devices.  If there are none, nothing counts as cached. */
static bool all_seems_cached(const struct pf_engine *e)
{
	struct pf_source *source = e->source;
	struct sampling s = { .e = e, .piece = malloc(PF_MAX_PIECE) };
	uint64_t i;

	for (i = 0; s.piece && i < source->samples && !s.missing;
	     i += source->samples / SAMPLES_CHECKED + 1)
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

static uint64_t sample_at(void *ctx, uint64_t index, uint64_t *offset)
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

/* Measure the first device where its metadata is, and if asked what a byte costs.  Returns
 * NULL, or why nothing could be measured, as e2pf_measure_device(). */
static const char *measure(const struct pf_engine *e, bool with_bytes,
			   struct e2pf_speed *speed)
{
	struct pf_source *source = e->source;
	struct e2pf_speed_samples samples = {
		.bytes = source->bytes[0],
		.count = source->ops->sample ? source->samples : 0,
		.at = sample_at, .ctx = source,
		.may_read = source->ops->may_read ? may_read : NULL
	};

	return e2pf_measure_device(e->devices[0], &samples, with_bytes, speed);
}

const char *pf_engine_measure(struct pf_engine *e, struct e2pf_speed *speed)
{
	pf_monitor_begin_source(e);
	return measure(e, true, speed);
}

/*
 * A walk over all that there is to read ahead: reads only what must be parsed, and counts
 * the rest.
 */

struct walk {
	struct pf_engine *e;
	struct pf_elevator elevator;
	struct pf_class_count *count;
	unsigned errors;
	void *piece;
};

/* A sink whose `ctx` is the walk. */
static void add_found(void *ctx, const struct pf_ref *ref)
{
	struct walk *walk = ctx;

	if (pf_elevator_is_sound(walk->e->source, ref))
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
	struct pf_source *source = walk->e->source;
	const struct pf_ref ref = *step->ref;
	struct e2pf_device *dev = walk->e->devices[ref.device];
	uint32_t size = source->ops->piece(source, &ref, step->at);

	if (size && dev->ops->read(dev, walk->piece, ref.offset + step->at, size))
		walk->errors++;
	else if (size)
		source->ops->parse(source, &ref, step->at, walk->piece, size,
				   add_found, walk);
	pf_elevator_advance(&walk->elevator, size);
}

/* One pass over the units that were added. */
static void walk_pass(struct walk *walk)
{
	struct pf_elevator_step step;
	enum pf_step next = PF_STEP_RUN;

	pf_elevator_begin(&walk->elevator);
	while (next != PF_STEP_END && walk->errors < ERRORS_TOLERATED) {
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
	struct pf_source *source = walk->e->source;
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

int pf_count_metadata(struct pf_engine *e, struct pf_class_count *count)
{
	struct walk walk = {
		.e = e, .count = count, .elevator = {
			.max_refs = 2 * UNITS_AT_ONCE, .max_ahead = UINT64_MAX,
			.parse_left = e->source->parse_limit + UNITS_AT_ONCE
		}, .piece = malloc(PF_MAX_PIECE)
	};
	const struct pf_phase *phase = NULL;
	const struct pf_phase *next = pf_monitor_begin_source(e);
	int err = walk.piece ? 0 : ENOMEM;

	memset(count, 0, e->source->classes * sizeof(*count));
	for (; next && !err; next = e->source->ops->next(e->source, phase)) {
		/* A phase that comes again has other units, of everything. */
		if (next == phase)
			memset(count, 0, e->source->classes * sizeof(*count));
		phase = next;
		err = walk_phase(&walk, phase->number);
	}
	free(walk.piece);
	return err;
}

/*
 * Start and stop.
 */

/* Measure the device if its kind is a guess, and start the workers.  Returns 0, also when
 * the engine was stopped meanwhile, or an errno. */
static int start_reading(struct pf_engine *e)
{
	struct e2pf_speed speed = { .seeks = false };
	const char *unmeasured;
	unsigned workers;
	uint64_t began;
	int err = 0;

	if (pf_health_needs_speed(&e->health)) {
		began = pf_state_now(e);
		/* If the checker's first reads have shown that the device is stalled, the
		 * measurement would take just as long. */
		unmeasured = e->health.stalled ? "it was too slow from the start" :
			     measure(e, false, &speed);
		pf_monitor_measured(e, unmeasured, &speed,
				      pf_state_now(e) - began);
	}
	workers = pf_monitor_prepare(e);
	if (workers)
		workers = pf_workers_start(e, workers, &err);
	pf_monitor_started(e, workers, PF_STATE_IDLE);
	return err;
}

int pf_engine_start(struct pf_engine *e,
		      const struct pf_options *config)
{
	int err;

	if (!pf_monitor_start(e, config, &err))
		return err;
	if (!(config->has_checker || config->sampled) ||
	    !all_seems_cached(e))
		return start_reading(e);
	pf_monitor_started(e, 0, PF_STATE_ASLEEP);
	return 0;
}

void pf_engine_wake(struct pf_engine *e)
{
	if (pf_monitor_wake(e))
		start_reading(e);
}

bool pf_engine_after_read(struct pf_engine *e, const struct pf_read *r)
{
	bool ahead;

	if (pf_monitor_checker_read(e, r, &ahead))
		start_reading(e);
	return ahead;
}

bool pf_engine_stop(struct pf_engine *e, int milliseconds)
{
	if (!pf_monitor_stop(e, milliseconds))
		return false;
	/* Nobody else frees them: there is one that stops the engine. */
	pf_workers_join(e);
	pf_monitor_stopped(e);
	return true;
}
