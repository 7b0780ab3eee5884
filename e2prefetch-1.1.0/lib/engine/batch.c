/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: which units of the current phase a worker takes next.  Called with
 * the engine's lock held, except e2pf_seed_batch().
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* The largest batch on flash, by weight, in bytes.  A worker begins with one
 * unit, to be ahead of the checker at once, and doubles up to this.  If IOPS
 * are the limit, batches are smaller, so that one worker's units, which cost
 * bandwidth, are read while another worker's trees cost requests. */
#define FLASH_BATCH (16u << 20)
#define DEAR_BATCH (4u << 20)
#define LEAST_BATCH (256u << 10)

/* The largest batch on a rotational disk: a few seconds of reading, after which
 * a checker that waited at the gate can go on. */
#define HEAD_BATCH (512u << 20)

/* Grains of deferred blocks that a worker takes at once. */
#define DEFERRED_BATCH 2048u

/* Units a worker takes at once if the checker does not report its position.
 * The blocks that adjacent units refer to are often adjacent, too; if workers
 * took single units, each of these blocks would become a separate request. */
#define SHARED_BATCH 512u

/* Units of a batch on flash if all units have the same weight. */
#define EVEN_BATCH 512u

/* The worker's next stripe, from `stripe` on: worker T of N has the stripes T,
 * T + N, T + 2N, ... */
static uint64_t own_stripe_from(const struct worker *w, uint64_t stripe)
{
	uint64_t n = w->e->workers, r = stripe % n;

	return stripe + (w->number + n - r) % n;
}

static uint64_t units(const struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	bool more;

	return source->ops->units(source, (unsigned)e->phase, &more);
}

static uint64_t weight(const struct e2pf_engine *e, uint64_t unit)
{
	struct e2pf_source *source = e->cfg.source;

	return source->ops->weight(source, (unsigned)e->phase, unit);
}

/* The first unit from `next` on that may be taken.  Units behind the checker
 * are skipped: it has read them itself. */
static uint64_t first_unit(struct e2pf_engine *e, uint64_t next)
{
	uint64_t at;

	if (e->cfg.paced && e2pf_checker_at(e, &at) && next < at)
		return at + 1;
	return next;
}

/* The first unit that some worker has still to take.  Only at the end of the
 * phase may it be taken already. */
static uint64_t first_left(const struct e2pf_engine *e)
{
	uint64_t first = UINT64_MAX;
	unsigned i;

	for (i = 0; i < e->workers; i++)
		if (e->worker[i].next < first)
			first = e->worker[i].next;
	return first;
}

/*
 * If IOPS are the limit, each idle worker takes adjacent units, so that the
 * blocks that they refer to become one request.  Otherwise the workers' units
 * alternate, so that all workers read what the checker needs next.  After a
 * change some units may be taken twice, which costs nothing: they are cached or
 * in flight.
 */
void e2pf_follow_control(struct e2pf_engine *e)
{
	bool together = e->control.dear && !e->has_head;
	unsigned i;

	if (together == e->together)
		return;
	e->together = together;
	if (e2pf_phase_now(e)->order != E2PF_ORDER_WEIGHED)
		return;
	if (together)
		e->next_unit = first_left(e);
	for (i = 0; i < e->workers && !together; i++)
		e->worker[i].next = e->next_unit;
	/* An idle worker, whose own units were all taken, may now take
	 * others. */
	pthread_cond_broadcast(&e->work_cond);
}

/* Take the worker's units until they weigh the target; at least one. */
static bool take_weighed(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t unit, end = units(e), taken = 0;
	unsigned n = 0;

	w->step = e->together ? 1 : e->workers;
	w->next = e->together ? first_unit(e, e->next_unit) :
				own_stripe_from(w, first_unit(e, w->next));
	if (w->next >= end)
		return false;
	w->first = w->next;
	for (unit = w->next; unit < end && n < BATCH_UNITS;
	     unit += w->step, n++) {
		uint64_t one = weight(e, unit);

		if (n && taken + one > w->target)
			break;
		taken += one;
		w->last = unit;
	}
	w->weight = taken;
	w->next = e->next_unit = unit;
	return true;
}

/* Take the rest of one part of the sequence. */
static bool take_even(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t first = first_unit(e, w->next), known = units(e), part, end;

	/* A single elevator pass takes everything, so that everything is
	 * sorted. */
	part = !e->has_head ? EVEN_BATCH :
	       e->workers > 1 ? e2pf_phase_now(e)->window / 2 : UINT64_MAX;
	if (first / part % e->workers != w->number)
		first = own_stripe_from(w, first / part) * part;
	end = part == UINT64_MAX ? known : (first / part + 1) * part;
	if (end > known)
		end = known;
	if (first >= end)
		return false;
	w->first = first;
	w->last = end - 1;
	w->next = end;
	return true;
}

static bool take_shared(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t known = units(e), left;

	if (e->next_unit >= known)
		return false;
	left = known - e->next_unit;
	w->first = e->next_unit;
	w->last = w->first + (left < SHARED_BATCH ? left : SHARED_BATCH) - 1;
	w->weight = 0;
	e->next_unit = w->last + 1;
	return true;
}

/* How many deferred grains may be read now.  At least one: the worker is
 * throttled between runs, and a run may be longer than what is left of the
 * budget. */
static uint64_t deferred_room(const struct e2pf_engine *e)
{
	uint64_t held = e2pf_later_bytes(e);
	uint64_t grain = e->cfg.source->grain, room = DEFERRED_BATCH;

	if (e->cfg.paced && held + room * grain > e->budget / 2)
		room = held < e->budget / 2 ? (e->budget / 2 - held) / grain : 0;
	return room ? room : 1;
}

/* The reference to `count` places, all on one device. */
static struct e2pf_ref ref_of(const struct e2pf_engine *e, uint64_t place,
			      uint64_t count)
{
	uint32_t grain = e->cfg.source->grain;
	unsigned device = e->cfg.source->devices - 1;

	while (device && place < e->base[device])
		device--;
	return (struct e2pf_ref) {
		.device = (uint8_t)device,
		.offset = (place - e->base[device]) * grain,
		.length = (uint32_t)count * grain
	};
}

/* Take the next deferred places, in device order. */
static bool take_deferred(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t place = e->deferred_next, most = deferred_room(e), taken = 0;
	uint64_t n;

	w->first = 0;
	w->last = UINT64_MAX;
	w->weight = 0;
	w->elevator.deferred = 0;
	while (taken < most && (n = e2pf_blockset_next(e->deferred, &place))) {
		struct e2pf_ref ref;

		if (n > most - taken)
			n = most - taken;
		ref = ref_of(e, place, n);
		e2pf_elevator_add(&w->elevator, &ref);
		taken += n;
		place += n;
	}
	e->deferred_next = place;
	return taken;
}

bool e2pf_take_batch(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	w->epoch = e->epoch;
	w->step = 1;
	w->phase = (unsigned)e->phase;
	w->additions = e->additions;
	e2pf_drop_passed(w);
	w->window_full = e2pf_is_followed(e2pf_phase_now(e)) &&
			 w->window_used == WINDOW_BATCHES;
	if (e->stop || e->gave_up || w->window_full)
		return false;
	switch (e2pf_phase_now(e)->order) {
	case E2PF_ORDER_WEIGHED:
		return take_weighed(w);
	case E2PF_ORDER_EVEN:
		return take_even(w);
	case E2PF_ORDER_NONE:
		return take_shared(w);
	case E2PF_ORDER_DEFERRED:
		return take_deferred(w);
	}
	return false;
}

void e2pf_seed_batch(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_source *source = e->cfg.source;
	const struct e2pf_phase *phase = &e->phases[w->phase];
	uint64_t unit;

	/* take_deferred() has already put references into the elevator. */
	if (phase->order == E2PF_ORDER_DEFERRED)
		return;
	w->elevator.deferred = phase->deferred;
	for (unit = w->first; unit <= w->last; unit += w->step)
		source->ops->seed(source, w->phase, unit, e2pf_elevator_add,
				  &w->elevator);
}

uint64_t e2pf_first_target(const struct e2pf_engine *e)
{
	if (!e->has_head)
		return 0;
	return e->budget / 4 < HEAD_BATCH ? e->budget / 4 : HEAD_BATCH;
}

/* Choose the weight of the next batch so that all workers' batches together
 * fill half the budget, judging by the bytes that this batch's units
 * brought. */
static void choose_target(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t share = e->budget / 2 / e->workers, most = share;

	if (w->bytes > w->weight && w->weight)
		most = (uint64_t)((double)share * (double)w->weight /
				  (double)w->bytes);
	if (e->has_head) {
		if (most > HEAD_BATCH)
			most = HEAD_BATCH;
	} else {
		uint64_t batch = e->together ? DEAR_BATCH : FLASH_BATCH;

		if (most > batch)
			most = batch;
		if (most > w->weight * 2 + LEAST_BATCH)
			most = w->weight * 2 + LEAST_BATCH;
	}
	w->target = most;
}

void e2pf_finish_batch(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	if (w->epoch == e->epoch) {
		const struct e2pf_phase *phase = e2pf_phase_now(e);

		if (phase->order == E2PF_ORDER_WEIGHED)
			choose_target(w);
		if (!e->phase)
			e->units_done += (w->last - w->first) / w->step + 1;
		if (w->bytes && e->cfg.paced && e2pf_is_followed(phase))
			e2pf_keep_batch(w);
	}
	e2pf_drop_batch(w);
}
