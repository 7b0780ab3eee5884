/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the plan: everything a source has, without reading it ahead. */
#include <errno.h>
#include <string.h>

#include "engine_state.h"

static bool count_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct worker *w = ctx;
	unsigned last = E2PF_CLASS_BITS;
	size_t i;

	for (i = 0; i < n; i++) {
		w->count[refs[i].cls].bytes += refs[i].length;
		w->count[refs[i].cls].runs += refs[i].cls != last;
		last = refs[i].cls;
	}
	return true;
}

static bool count_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct worker *w = ctx;

	(void)waited_ns;
	if (error)
		w->e->stats.errors++;
	return w->e->stats.errors < ERRORS_TOLERATED;
}

/* Nothing to do: count_phase() asks for the number of units each time. */
static void count_units_added(void *ctx)
{
	(void)ctx;
}

static const struct e2pf_elevator_ops count_ops = {
	.issue = count_issue,
	.arrived = count_arrived,
	.units_added = count_units_added,
};

/* Units whose references are held at once. */
#define UNITS_AT_ONCE 8192u

static int count_phase(struct worker *w, unsigned phase)
{
	struct e2pf_source *source = w->e->cfg.source;
	struct e2pf_elevator *ev = &w->elevator;
	uint64_t unit = 0, end;
	bool more;

	while (unit < source->ops->units(source, phase, &more)) {
		end = unit + UNITS_AT_ONCE;
		for (; unit < end &&
		     unit < source->ops->units(source, phase, &more); unit++)
			source->ops->seed(source, phase, unit,
					  e2pf_elevator_add, ev);
		if (ev->incomplete)
			return ENOMEM;
		e2pf_elevator_run(ev);
	}
	return 0;
}

int e2pf_engine_plan(struct e2pf_engine *e, struct e2pf_class_count *count)
{
	struct worker w = { .e = e, .count = count };
	struct e2pf_source *source = e->cfg.source;
	const struct e2pf_phase *phase;
	int err = 0;

	e2pf_adopt_config(e);
	memset(count, 0, source->classes * sizeof(*count));
	/* With room for everything, no phase repeats another. */
	e2pf_begin_source(e, UINT64_MAX, true, false);
	e2pf_worker_init(&w);
	w.elevator.ops = &count_ops;
	for (phase = e->first_phase; phase && !err;
	     phase = source->ops->next(source, phase))
		err = count_phase(&w, phase->number);
	e2pf_elevator_fini(&w.elevator);
	if (!err && e->stats.errors >= ERRORS_TOLERATED)
		err = EIO;
	return err;
}
