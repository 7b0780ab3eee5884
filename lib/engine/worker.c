/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>

#include "cached.h"
#include "core.h"
#include "worker.h"

/* References of 24 bytes that all workers together hold: 1.1 MiB, and one for
 * REF_BUDGET bytes of the budget; and that each may hold and parse in any case.  With
 * half of it a check on a disk took 1.02 to 1.05 as long. */
#define REFS_MOST (48u << 10)
#define REF_BUDGET 1024u
#define LEAST_REFS 4096u

/* Bytes requested and not yet parsed. */
#define HEAD_AHEAD (32u << 20)
#define FLASH_AHEAD (8u << 20)

/* Requests in flight on a device that may be failing: each that hits a bad sector has
 * to be waited for, at the latest at the end. */
#define SUSPECT_MOST 2u

/* How long to wait for a request before asking whether it is still wanted. */
#define STEP_NS 100000000u

/* Bytes read of a request that has not completed. */
#define LATE_BYTES 4096u

/* Does nobody want what it has taken?  Needs no lock. */
static bool is_obsolete(const struct e2pf_worker *w)
{
	const struct e2pf_engine *e = w->e;

	return !e2pf_is_reading(e) || w->taken.epoch != e->schedule.epoch ||
	       e2pf_passed(e, w->taken.last);
}

static void set_state(struct e2pf_worker *w, enum e2pf_worker_state state)
{
	e2pf_pool_set_state(w->e, w->number, state);
}

/* The lock is held. */
static void publish(struct e2pf_worker *w)
{
	e2pf_pool_publish(w->e, w->number, &w->elevator.totals,
			  w->requests_made, w->requests.in_flight,
			  w->piece.room);
	e2pf_pacing_publish(w->e, &w->cost);
}

/*
 * Waits.  The state is THROTTLED because a checker at the gate must not wait for
 * a worker that sleeps.
 */

/* Leave a stuck device to the checker.  The lock is held. */
static void wait_while_stuck(struct e2pf_worker *w)
{
	struct e2pf_engine *e = w->e;

	while (e->pacing.stuck && !is_obsolete(w)) {
		set_state(w, E2PF_WORKER_THROTTLED);
		e2pf_wait(&e->pool.work, &e->lock);
	}
	set_state(w, E2PF_WORKER_READING);
}

static bool has_room(struct e2pf_worker *w)
{
	return !w->e->cfg.paced ||
	       !e2pf_window_is_full(w->e, &w->taken,
				    e2pf_pool_is_nearest(w->e, w->number));
}

/* Wait for room in the window.  Returns false if nobody wants it any more. */
static bool wait_for_room(struct e2pf_worker *w)
{
	struct e2pf_engine *e = w->e;
	bool wanted, throttled = false;

	e2pf_lock(&e->lock);
	wait_while_stuck(w);
	/* A total budget is never freed again: reading ahead ends here. */
	if (e2pf_window_is_used_up(e))
		e2pf_give_up(e);
	while (!is_obsolete(w) && !has_room(w)) {
		/* The checker wakes those it finds throttled: check again once
		 * this one can be found. */
		if (!throttled) {
			set_state(w, E2PF_WORKER_THROTTLED);
			throttled = true;
			continue;
		}
		e2pf_wait(&e->pool.work, &e->lock);
		e2pf_unlock(&e->lock);
		e2pf_window_query_memory(e);
		e2pf_lock(&e->lock);
	}
	set_state(w, E2PF_WORKER_READING);
	wanted = !is_obsolete(w);
	e2pf_unlock(&e->lock);
	return wanted;
}

/* Wait until the limits per second admit a request.  Returns false as above. */
static bool wait_for_limits(struct e2pf_worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;
	struct timespec ts;
	bool wanted;
	uint64_t ns;

	if (!e->cfg.bandwidth && !e->cfg.requests)
		return true;
	e2pf_lock(&e->lock);
	for (;;) {
		wanted = !is_obsolete(w);
		ns = wanted ? e2pf_pacing_take(e, bytes) : 0;
		if (!ns)
			break;
		set_state(w, E2PF_WORKER_THROTTLED);
		/* To be woken also when nobody wants the request any more. */
		ts = e2pf_deadline(ns);
		e2pf_wait_until(&e->pool.work, &e->lock, &ts);
	}
	set_state(w, E2PF_WORKER_READING);
	e2pf_unlock(&e->lock);
	return wanted;
}

/*
 * Requests in flight.
 */

/* A block that was evicted again has been completed.  If the device can
 * distinguish this case, the block is not read again, which would take a seek
 * back on a rotational disk. */
static bool is_complete(struct e2pf_engine *e, const struct e2pf_request *r)
{
	struct e2pf_device *dev = e->devices[r->device];

	return (!dev->blind && e2pf_is_cached(dev, r->offset, 1)) ||
	       (dev->ops->holds && !dev->ops->holds(dev, r->offset));
}

static const struct e2pf_request *next_step(const struct e2pf_worker *w)
{
	return e2pf_requests_step(&w->requests, w->e->cfg.settle);
}

static void populate(struct e2pf_worker *w, unsigned device, uint64_t offset,
		     uint64_t len)
{
	struct e2pf_device *dev = w->e->devices[device];

	if (dev->ops->populate)
		dev->ops->populate(dev, offset, len);
}

/* The request to wait for has completed, or was late. */
static void completed(struct e2pf_worker *w, bool late, uint64_t now)
{
	const struct e2pf_request *last = next_step(w), *r = NULL;
	unsigned i;

	for (i = 0; !late && r != last; i++) {
		r = e2pf_requests_at(&w->requests, i);
		populate(w, r->device,
			 r->offset + w->e->source->grain - r->bytes, r->bytes);
	}
	e2pf_cost_learn(&w->cost, w->e->pool.workers, next_step(w), now);
	e2pf_requests_completed(&w->requests, w->e->cfg.settle, late);
}

/* Count what has completed meanwhile. */
static void count_completed(struct e2pf_worker *w)
{
	uint64_t now = e2pf_now(w->e);

	while (w->requests.in_flight && is_complete(w->e, next_step(w)))
		completed(w, false, now);
}

/* A read of ours at this place has returned after `ns`; `error` is an errno or 0.  Returns false
 * if nobody wants the rest. */
static bool read_returned(struct e2pf_worker *w, uint64_t offset, int error,
			  uint64_t ns)
{
	struct e2pf_engine *e = w->e;

	if (ns >= E2PF_STALL_NS)
		count_completed(w);
	e2pf_pool_progressed(e);
	/* Take the lock only if somebody has to know. */
	if (error || ns >= E2PF_STUCK_NS || e->checker.gate_waiters ||
	    e->pacing.stuck) {
		e2pf_lock(&e->lock);
		if (error)
			e2pf_pool_count_error(e);
		e2pf_checker_open_gate(e);
		e2pf_pacing_judge_ours(e, offset, error, ns);
		wait_while_stuck(w);
		e2pf_unlock(&e->lock);
	}
	return !is_obsolete(w);
}

/*
 * Wait until what was requested here has been read, or might have been.  Returns false
 * if it could not be, or if nobody wants it any more.  What is on its way for a second
 * is waited for as long as the checker has not passed it: a device that tries a bad
 * sector is not asked for more.
 */
static bool arrives(struct e2pf_worker *w, unsigned device, uint64_t offset,
		    uint64_t len)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_device *dev = e->devices[device];
	uint64_t began = e2pf_now(e);
	unsigned failures = e->pacing.failures;
	bool stuck = false, wanted = true, first = true;

	while (dev->ops->arrives && wanted &&
	       !dev->ops->arrives(dev, offset, len, is_obsolete(w) ?
				  E2PF_STUCK_NS : STEP_NS,
				  first && !e->pacing.suspect)) {
		/* What fails later, or again, costs too much to be tried once
		 * more by us. */
		first = false;
		wanted = !is_obsolete(w) && e->pacing.failures == failures;
		if (stuck || (!e->pacing.suspect &&
			      e2pf_now(e) - began < E2PF_STUCK_NS))
			continue;
		stuck = true;
		e2pf_lock(&e->lock);
		e2pf_pacing_judge_ours(e, offset, 0, e2pf_now(e) - began);
		set_state(w, E2PF_WORKER_THROTTLED);
		e2pf_unlock(&e->lock);
	}
	if (stuck) {
		e2pf_lock(&e->lock);
		set_state(w, E2PF_WORKER_READING);
		e2pf_unlock(&e->lock);
	}
	return wanted;
}

/*
 * Wait for one of the requests in flight; returns 0 or an errno.  If the kernel does
 * not tell whether it has completed, one block of it is read.  Such a read returns when
 * a signal kills the process, and reports read errors, which readahead does not.
 */
static int wait_for_request(struct e2pf_worker *w)
{
	struct e2pf_engine *e = w->e;
	const struct e2pf_request r = *next_step(w);
	struct e2pf_device *dev = e->devices[r.device];
	uint32_t len = e->source->grain;
	uint64_t began = e2pf_now(e), now;
	char buf[LATE_BYTES];
	int err = 0;

	if (is_complete(e, &r)) {
		completed(w, false, began);
		return 0;
	}
	if (!arrives(w, r.device, r.offset, 1)) {
		completed(w, true, e2pf_now(e));
		return EIO;
	}
	if (!is_complete(e, &r))
		err = dev->ops->read(dev, buf, r.offset,
				     len < sizeof(buf) ? len : sizeof(buf));
	now = e2pf_now(e);
	completed(w, err || now - r.made >= E2PF_LATE_NS, now);
	read_returned(w, r.offset, err, now - began);
	return err;
}

/* Wait until there may be another request; false if nobody wants it. */
static bool wait_for_requests(struct e2pf_worker *w)
{
	const struct e2pf_requests *q = &w->requests;

	while ((q->in_flight >= q->most ||
		(w->e->pacing.careful && q->in_flight >= SUSPECT_MOST)) &&
	       !is_obsolete(w))
		wait_for_request(w);
	return !is_obsolete(w);
}

/*
 * A step of the elevator: a run is requested.
 */

/* Count a part of a run.  Returns false if nobody wants it. */
static bool count_part(struct e2pf_worker *w, struct e2pf_run_parts *parts,
		       uint64_t pos, uint64_t len, bool missing)
{
	struct e2pf_engine *e = w->e;
	bool wanted;

	e2pf_lock(&e->lock);
	wanted = !is_obsolete(w);
	if (wanted) {
		e2pf_window_count_part(e, parts, &w->taken, w->range, pos, len,
				       missing);
		publish(w);
	}
	e2pf_unlock(&e->lock);
	return wanted;
}

/* Request a missing part of a run. */
static bool request_part(struct e2pf_worker *w, unsigned device, uint64_t pos,
			 uint64_t len)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_device *dev = e->devices[device];
	uint32_t grain = e->source->grain;
	uint64_t end = pos + len;
	unsigned requests;

	for (; pos < end; pos += len) {
		struct e2pf_request r = { .device = device };

		if (!wait_for_requests(w))
			return false;
		/* One request at a time: the next may have to wait. */
		len = end - pos;
		if (len > dev->max_readahead)
			len = dev->max_readahead - dev->max_readahead % grain;
		if (!wait_for_limits(w, len))
			return false;
		e2pf_pool_requests(e);
		/* This may block while the device's queue is full. */
		requests = dev->ops->willneed(dev, pos, len);
		e2pf_checker_requested(e, pos, len);
		w->requests_made += requests;
		e2pf_cost_requested(&w->cost, requests, len);
		r.offset = pos + len - grain;
		r.bytes = len;
		r.made = e2pf_now(e);
		e2pf_requests_add(&w->requests, &r);
		e2pf_pool_requests(e);
	}
	return true;
}

/* Request a run as far as it is not cached.  Returns false if nobody wants it. */
static bool request_run(struct e2pf_worker *w,
			const struct e2pf_elevator_step *step)
{
	struct e2pf_run_parts parts = { .ref = step->ref, .n = step->n };
	unsigned device = step->ref->device;
	struct e2pf_device *dev = w->e->devices[device];
	uint64_t pos = step->ref->offset, end = pos, len;
	bool resident;
	size_t i;

	e2pf_window_query_memory(w->e);
	if (!wait_for_room(w))
		return false;
	for (i = 0; i < step->n; i++)
		if (step->ref[i].offset + step->ref[i].length > end)
			end = step->ref[i].offset + step->ref[i].length;
	for (; pos < end; pos += len) {
		len = dev->ops->span(dev, pos, end - pos, &resident);
		if (resident)
			populate(w, device, pos, len);
		if (!count_part(w, &parts, pos, len, !resident) ||
		    (!resident && !request_part(w, device, pos, len)))
			return false;
	}
	return true;
}

/*
 * Another step: a piece is read and parsed.
 */

/* A sink whose `ctx` is the worker. */
static void add_found(void *ctx, const struct e2pf_ref *ref)
{
	struct e2pf_worker *w = ctx;
	struct e2pf_engine *e = w->e;
	const struct e2pf_phase *phase = w->taken.phase;
	uint32_t bit;

	if (!e2pf_is_sound(e->source, ref))
		return;
	bit = UINT32_C(1) << ref->cls;
	if (phase->later & bit && !e2pf_window_admits_later(e, ref->length))
		return;
	/* On a head deferred references belong to the sweep of the last
	 * level. */
	e2pf_elevator_add(&w->elevator, ref,
			  phase->deferred & bit && !e->pacing.speed.has_head);
}

static bool parse_piece(struct e2pf_worker *w,
			const struct e2pf_elevator_step *step)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_source *source = e->source;
	struct e2pf_piece *piece = &w->piece;
	const struct e2pf_ref ref = *step->ref;
	uint64_t began = e2pf_now(e), offset = ref.offset + step->at;
	bool wanted = true;
	int err;

	piece->size = source->ops->piece(source, &ref, step->at);
	if (!arrives(w, ref.device, offset, piece->size)) {
		e2pf_elevator_parsed(&w->elevator, piece->size);
		return !is_obsolete(w);
	}
	err = e2pf_piece_read(e->devices[ref.device], offset, piece);
	if (piece->size)
		wanted = read_returned(w, offset, err, e2pf_now(e) - began);
	if (piece->size && wanted && !err &&
	    source->ops->parse(source, &ref, step->at, piece->bytes,
			       piece->size, add_found, w)) {
		e2pf_lock(&e->lock);
		e2pf_schedule_tell_news(e);
		e2pf_unlock(&e->lock);
	}
	e2pf_elevator_parsed(&w->elevator, piece->size);
	return wanted;
}

/*
 * The thread.
 */

void e2pf_worker_init(struct e2pf_worker *w, struct e2pf_engine *e,
		      unsigned number, unsigned workers)
{
	struct e2pf_elevator *el = &w->elevator;
	uint64_t refs = e->window.budget / REF_BUDGET;

	e2pf_assert_held(e);
	w->e = e;
	w->number = number;
	refs = (refs < REFS_MOST ? refs : REFS_MOST) / workers;
	el->source = e->source;
	el->refs_most = refs > LEAST_REFS ? (size_t)refs : LEAST_REFS;
	el->parse_left = e->source->parse_limit / workers + LEAST_REFS;
	el->ahead_most = e->pacing.speed.has_head ? HEAD_AHEAD : FLASH_AHEAD;
	e2pf_requests_init(&w->requests,
			   e->pacing.speed.deep_latency_ns * workers);
	e2pf_cost_init(&w->cost, e);
}

void e2pf_worker_free(struct e2pf_worker *w)
{
	e2pf_elevator_free(&w->elevator);
	e2pf_piece_free(&w->piece);
}

/* Find what its units refer to. */
static void seed_units(struct e2pf_worker *w)
{
	struct e2pf_source *source = w->e->source;
	uint64_t unit;

	for (unit = w->taken.first; unit <= w->taken.last; unit++)
		source->ops->seed(source, w->taken.phase->number, unit,
				  add_found, w);
}

/* Read what it has taken, without the lock, as long as somebody wants it. */
static void read_taken(struct e2pf_worker *w)
{
	struct e2pf_elevator *el = &w->elevator;
	struct e2pf_elevator_step step;
	bool wanted = true;

	if (!e2pf_is_deferred(&w->taken))
		seed_units(w);
	e2pf_elevator_begin(el, e2pf_is_deferred(&w->taken));
	while (wanted) {
		switch (e2pf_elevator_next(el, e2pf_gap(w->e, &w->cost),
					   &step)) {
		case E2PF_STEP_RUN:
			wanted = request_run(w, &step);
			break;
		case E2PF_STEP_PARSE:
			wanted = parse_piece(w, &step);
			break;
		case E2PF_STEP_END:
			wanted = false;
			break;
		}
	}
	e2pf_elevator_end(el);
}

/* Take something to read; the lock is held. */
static bool take(struct e2pf_worker *w)
{
	struct e2pf_engine *e = w->e;

	if (w->taken.epoch != e->schedule.epoch)
		e2pf_elevator_drop_deferred(&w->elevator);
	if (!e2pf_schedule_take(e, e2pf_elevator_deferred(&w->elevator),
				&w->taken))
		return false;
	if (!e2pf_is_deferred(&w->taken))
		w->range = e2pf_window_add_range(e, &w->taken);
	e2pf_pool_taken(e, w->number, &w->taken);
	return true;
}

/* Nothing can be taken: begin the next phase, or sleep.  The lock is held. */
static void be_idle(struct e2pf_worker *w)
{
	struct e2pf_engine *e = w->e;

	e2pf_pool_found_nothing(e, w->number);
	e2pf_schedule_next_phase(e);
	/* Unless there was something new meanwhile. */
	if (e->pool.member[w->number].news == e->schedule.news &&
	    e->run != E2PF_RUN_STOPPING)
		e2pf_wait(&e->pool.work, &e->lock);
}

void *e2pf_worker_main(void *arg)
{
	struct e2pf_worker *w = arg;
	struct e2pf_engine *e = w->e;

	if (e->cfg.thread_begins)
		e->cfg.thread_begins(e->cfg.ctx);
	e2pf_lock(&e->lock);
	while (e->run != E2PF_RUN_STOPPING) {
		if (!take(w)) {
			be_idle(w);
			continue;
		}
		e2pf_unlock(&e->lock);
		read_taken(w);
		e2pf_lock(&e->lock);
		publish(w);
	}
	set_state(w, E2PF_WORKER_IDLE);
	e2pf_unlock(&e->lock);
	/* If reads fail, each may take minutes. */
	while (e->cfg.settle && w->requests.in_flight && !wait_for_request(w))
		;
	e2pf_lock(&e->lock);
	e2pf_pool_leave(e);
	e2pf_unlock(&e->lock);
	return NULL;
}
