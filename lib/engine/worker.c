/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker thread: takes work, and reads it ahead in elevator passes.  Decides,
 * for each run, which blocks to request from the device.  work.c decides which
 * units come next, and ahead.c how far ahead the worker may read.
 */
#include <inttypes.h>

#include "engine_state.h"

/* Bytes issued and not yet waited for.  A rotational disk sorts all requests it
 * has; flash needs only as many as its queue holds. */
#define HEAD_ISSUE_AHEAD (32u << 20)
#define FLASH_ISSUE_AHEAD (8u << 20)

/* References of 24 bytes that all workers together hold per level: 6 MiB, and
 * one for so many bytes of the budget; and that each may hold and parse in any
 * case. */
#define LEVEL_REFS (256u << 10)
#define REF_BUDGET 1024u
#define LEAST_REFS 4096u

/* Bytes read of a request that has not completed. */
#define LATE_BYTES 4096u

static void set_state(struct worker *w, enum worker_state state)
{
	struct e2pf_engine *e = w->e;

	if (state == WORKER_READING && w->state != state)
		e->last_progress = e2pf_now(e);
	e->throttled += state == WORKER_THROTTLED;
	e->throttled -= w->state == WORKER_THROTTLED;
	w->state = state;
	/* A checker does not wait at the gate for a worker that sleeps. */
	if (e->gate_waiters && state != WORKER_READING)
		pthread_cond_broadcast(&e->gate_cond);
	if (state == WORKER_IDLE)
		pthread_cond_broadcast(&e->end_cond);
}

/* This worker has moved on, so a throttled one may now be the nearest to the
 * checker, which is allowed more of the budget. */
static void wake_throttled(struct e2pf_engine *e)
{
	if (e->throttled)
		pthread_cond_broadcast(&e->work_cond);
}

/* Count a reference that is asked for, as count.c does: one that is not adjacent
 * to the reference before it, or of another class, begins a run. */
static void count_asked(struct e2pf_engine *e, const struct e2pf_ref *ref,
			const struct e2pf_ref *before, uint64_t bytes)
{
	struct e2pf_class_count *asked = &e->stats.asked[ref->cls];

	asked->bytes += bytes;
	asked->runs += ref == before || ref->cls != before->cls ||
		       ref->offset > before->offset + before->length;
}

/* New bytes of a reference count for the units, or for a later phase: there room
 * was made for those of deferred classes when they were found or taken. */
static void count_bytes(struct worker *w, const struct e2pf_ref *ref,
			uint64_t bytes)
{
	uint32_t cls = UINT32_C(1) << ref->cls;

	if (!(w->phase->later & cls))
		e2pf_count_ahead(w, bytes);
	else if (!(w->phase->deferred & cls))
		w->e->later_bytes += bytes;
}

/* Record that `len` bytes of a run of references will be requested.  This is
 * done just before the request, so that the checker cannot read and forget a
 * block before it is recorded. */
static void record(struct worker *w, const struct e2pf_ref *refs, size_t n,
		   uint64_t offset, uint64_t len)
{
	struct e2pf_engine *e = w->e;
	unsigned device = refs[0].device;
	uint64_t first = e2pf_place(e, device, offset);
	uint64_t last = e2pf_place(e, device, offset + len - 1);
	uint64_t grain = e->cfg.source->grain;
	uint64_t covered = 0, new_places = 0, gap;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t end = refs[i].offset + refs[i].length - 1;
		uint64_t a = e2pf_place(e, device, refs[i].offset);
		uint64_t b = e2pf_place(e, device, end), missing;

		if (a < first)
			a = first;
		if (b > last)
			b = last;
		if (a > b)
			continue;
		covered += b - a + 1;
		missing = e2pf_blockset_add(e->ahead, a, b - a + 1);
		if (!missing)
			continue;
		new_places += missing;
		count_asked(e, &refs[i], i ? &refs[i - 1] : &refs[i],
			    missing * grain);
		count_bytes(w, &refs[i], missing * grain);
	}
	if (!new_places)
		return;		/* all of it is already in flight */
	gap = last - first + 1 > covered ? last - first + 1 - covered : 0;
	e->gaps += gap * grain;
	e2pf_count_ahead(w, gap * grain);
	e->stats.prefetched_bytes += (new_places + gap) * grain;
	atomic_store(&e->tracking, true);
	if (e2pf_ahead_bytes(e) > e->stats.peak_lookahead_bytes)
		e->stats.peak_lookahead_bytes = e2pf_ahead_bytes(e);
}

/* Leave a stuck device to the checker.  The lock is held. */
static void wait_while_stuck(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	while (e->stuck && !e2pf_ended(w)) {
		set_state(w, WORKER_THROTTLED);
		pthread_cond_wait(&e->work_cond, &e->lock);
	}
}

/* Add the worker's counts since it last held the lock.  The lock is held. */
static void count_done(struct worker *w)
{
	unsigned i;

	e2pf_count_requests(w->e, w->done.requests, w->done.bytes);
	for (i = 0; i < w->done.ones; i++)
		e2pf_learn(w->e, &w->done.one[i]);
	w->done.requests = w->done.bytes = 0;
	w->done.ones = 0;
}

/* Report the arrival of bytes to be parsed.  Needed only after a failure or a
 * slow read, or if a checker waits, because it takes the lock. */
static void tell_arrival(struct worker *w, int error, uint64_t waited_ns)
{
	struct e2pf_engine *e = w->e;

	pthread_mutex_lock(&e->lock);
	if (error)
		e2pf_count_failure(e, &e->stats.errors);
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	if (waited_ns >= STUCK_NS && e->cfg.paced)
		e->stuck = STUCK_PROOFS;
	wait_while_stuck(w);
	set_state(w, WORKER_READING);
	pthread_mutex_unlock(&e->lock);
}

static bool is_wanted(const struct worker *w)
{
	return !e2pf_ended(w) && !e2pf_passed(w->e, w->last);
}

/* The worker's oldest request has completed: count it. */
static void completed(struct worker *w, bool late, uint64_t now)
{
	const struct e2pf_request *r = e2pf_inflight_oldest(&w->inflight);

	if (w->done.ones < E2PF_INFLIGHT_SAMPLES)
		w->done.one[w->done.ones++] = (struct e2pf_completed) {
			.ns = now - r->asked, .depth = r->depth,
			.queued = r->queued
		};
	e2pf_inflight_completed(&w->inflight, late);
}

/* A block that was evicted again has been completed.  If the device can
 * distinguish this case, the block is not read again, which would take a seek
 * back on a rotational disk. */
static bool is_complete(struct e2pf_engine *e, const struct e2pf_request *r)
{
	struct e2pf_device *dev = e->cfg.devices[r->device];

	return (!dev->blind && e2pf_is_resident(e, r->device, r->offset, 1)) ||
	       (dev->ops->is_gone && dev->ops->is_gone(dev, r->offset));
}

/* After a wait: count what has completed meanwhile. */
static void count_completed(struct worker *w)
{
	uint64_t now = e2pf_now(w->e);
	const struct e2pf_request *r;

	while ((r = e2pf_inflight_oldest(&w->inflight)) && is_complete(w->e, r))
		completed(w, false, now);
}

static bool worker_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct worker *w = ctx;
	struct e2pf_engine *e = w->e;

	if (waited_ns >= STALL_NS)
		count_completed(w);
	atomic_store(&e->last_progress, e2pf_now(e));
	if (error || waited_ns >= STUCK_NS || atomic_load(&e->gate_waiters) ||
	    atomic_load(&e->stuck))
		tell_arrival(w, error, waited_ns);
	return is_wanted(w);
}

/*
 * Wait until there is room for another request; false if it is no longer wanted.
 * If the oldest request has not completed, one block of it is read.  Such a read
 * waits for a request in flight, returns when a signal kills the process, and
 * reports read errors, which readahead does not.
 */
static bool make_room(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint32_t len = e->cfg.source->grain;
	char buf[LATE_BYTES];
	bool go = true;

	if (len > sizeof(buf))
		len = sizeof(buf);
	while (go && e2pf_inflight_is_full(&w->inflight)) {
		const struct e2pf_request *r =
				e2pf_inflight_oldest(&w->inflight);
		struct e2pf_device *dev = e->cfg.devices[r->device];
		uint64_t began = e2pf_now(e), now = began;
		int err;

		if (is_complete(e, r)) {
			completed(w, false, now);
			continue;
		}
		err = dev->ops->read(dev, buf, r->offset, len);
		now = e2pf_now(e);
		completed(w, err || now - r->asked >= E2PF_INFLIGHT_LATE_NS,
			  now);
		go = worker_arrived(w, err, now - began);
	}
	return go;
}

/* Ask the device for a missing part of a run. */
static bool ask_for(struct worker *w, unsigned device, uint64_t pos,
		    uint64_t len)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_device *dev = e->cfg.devices[device];
	uint32_t grain = e->cfg.source->grain;
	uint64_t end = pos + len, began, now;

	for (; pos < end; pos += len) {
		if (!make_room(w))
			return false;
		/* One request at a time: the next may have to wait. */
		len = end - pos;
		if (len > dev->max_readahead)
			len = dev->max_readahead - dev->max_readahead % grain;
		if (!e2pf_within_limits(w, len))
			return false;
		began = e2pf_now(e);
		/* This may block while the device's queue is full. */
		w->done.requests += dev->ops->willneed(dev, pos, len);
		w->done.bytes += len;
		now = e2pf_now(e);
		e2pf_inflight_add(&w->inflight, device, pos + len - grain,
				  len, now);
		e2pf_trace_event(e->trace, "[\"request\",%" PRIu64 ",%" PRIu64
				 ",%" PRIu64 ",%u,%u]\n", began, pos, len,
				 w->number, w->inflight.in_flight +
				 w->inflight.since);
		atomic_store(&e->last_progress, now);
	}
	return true;
}

/* Wait for room in the budget, with the lock held.  Returns true if it had to
 * wait. */
static bool wait_for_room(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	bool waited = e->stuck;

	wait_while_stuck(w);
	while (is_wanted(w) && e2pf_over_budget(w)) {
		/* A total budget is never freed again: reading ahead ends
		 * here. */
		if (!e->cfg.paced) {
			e->gave_up = true;
			break;
		}
		/* The checker wakes those it finds throttled: look again once
		 * this one can be found. */
		if (w->state != WORKER_THROTTLED) {
			set_state(w, WORKER_THROTTLED);
			continue;
		}
		pthread_cond_wait(&e->work_cond, &e->lock);
		waited = true;
		pthread_mutex_unlock(&e->lock);
		e2pf_ask_memory(e);
		pthread_mutex_lock(&e->lock);
	}
	set_state(w, WORKER_READING);
	return waited;
}

enum go { GO, GO_LOOK_AGAIN, GO_NOT };

/*
 * Decide whether this part of a run may be read ahead.  If so, count it, and
 * record it if it is `missing` from memory.  This is the only place where a
 * worker takes the lock for each run.  The first part waits for room in the
 * budget.  After such a wait the caller checks again what is cached, because
 * the checker may have read it meanwhile.
 */
static enum go may_read(struct worker *w, const struct e2pf_ref *refs,
			size_t n, bool first, uint64_t pos, uint64_t len,
			bool missing)
{
	struct e2pf_engine *e = w->e;
	enum go go = GO;

	pthread_mutex_lock(&e->lock);
	count_done(w);
	if (first && wait_for_room(w))
		go = GO_LOOK_AGAIN;
	if (!is_wanted(w))
		go = GO_NOT;
	if (go == GO) {
		e->stats.planned_bytes += len;
		if (missing)
			record(w, refs, n, pos, len);
		w->elevator.gap = e2pf_gap(e);
		w->elevator.gap_room = e2pf_gap_room(e);
	}
	pthread_mutex_unlock(&e->lock);
	return go;
}

/* Handle the cached and the missing parts of a run in turn. */
static bool worker_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct worker *w = ctx;
	struct e2pf_engine *e = w->e;
	unsigned device = refs[0].device;
	struct e2pf_device *dev = e->cfg.devices[device];
	uint64_t start = refs[0].offset, pos = start, end = pos;
	size_t i;

	e2pf_ask_memory(e);
	for (i = 0; i < n; i++)
		if (refs[i].offset + refs[i].length > end)
			end = refs[i].offset + refs[i].length;
	while (pos < end) {
		bool resident;
		uint64_t len = dev->ops->span(dev, pos, end - pos, &resident);

		switch (may_read(w, refs, n, pos == start, pos, len,
				 !resident)) {
		case GO_LOOK_AGAIN:
			continue;
		case GO_NOT:
			return false;
		case GO:
			break;
		}
		/* This run was issued even if the next one is no longer
		 * wanted. */
		if (!resident && !ask_for(w, device, pos, len))
			return true;
		pos += len;
	}
	return true;
}

static bool worker_defer(void *ctx, const struct e2pf_ref *ref)
{
	struct worker *w = ctx;
	bool deferred = true;

	pthread_mutex_lock(&w->e->lock);
	if (w->epoch == w->e->epoch)
		deferred = e2pf_defer(w->e, ref);
	pthread_mutex_unlock(&w->e->lock);
	return deferred;
}

static void worker_units_added(void *ctx)
{
	struct worker *w = ctx;

	pthread_mutex_lock(&w->e->lock);
	e2pf_tell_news(w->e);
	pthread_mutex_unlock(&w->e->lock);
}

static const struct e2pf_elevator_ops worker_ops = {
	.issue = worker_issue,
	.defer = worker_defer,
	.arrived = worker_arrived,
	.units_added = worker_units_added,
};

void e2pf_worker_init(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_elevator *ev = &w->elevator;
	unsigned workers = e2pf_wanted_workers(e);
	uint64_t refs = e->budget / REF_BUDGET;

	refs = (refs < LEVEL_REFS ? refs : LEVEL_REFS) / workers;
	ev->source = e->cfg.source;
	ev->devices = e->cfg.devices;
	ev->ops = &worker_ops;
	ev->ctx = w;
	ev->deferred = 0;
	ev->leaves_last = e->has_head;
	ev->gap = 0;
	ev->gap_room = UINT64_MAX;
	ev->issue_ahead = e->has_head ? HEAD_ISSUE_AHEAD : FLASH_ISSUE_AHEAD;
	ev->level_cap = refs > LEAST_REFS ? (size_t)refs : LEAST_REFS;
	ev->parse_left = e->cfg.source->parse_limit / workers + LEAST_REFS;
	e2pf_elevator_init(ev);
	e2pf_inflight_init(&w->inflight, e->stats.deep_latency_ns * workers);
}

/* Nothing can be taken: begin the next phase, or sleep. */
static void idle(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	if (w->state != WORKER_IDLE)
		wake_throttled(e);
	w->news = e->news;
	set_state(w, WORKER_IDLE);
	e2pf_next_phase(e);
	/* Unless there was something new meanwhile. */
	if (w->news == e->news && !e->stop)
		pthread_cond_wait(&e->work_cond, &e->lock);
}

void *e2pf_worker_main(void *arg)
{
	struct worker *w = arg;
	struct e2pf_engine *e = w->e;

	if (e->cfg.thread_begins)
		e->cfg.thread_begins(e->cfg.available_ctx);
	pthread_mutex_lock(&e->lock);
	while (!e->stop) {
		if (!e2pf_take(w)) {
			idle(w);
			continue;
		}
		set_state(w, WORKER_READING);
		wake_throttled(e);
		pthread_mutex_unlock(&e->lock);
		e2pf_seed(w);
		e2pf_elevator_run(&w->elevator);
		pthread_mutex_lock(&e->lock);
		count_done(w);
		e2pf_finish(w);
	}
	set_state(w, WORKER_IDLE);
	e->running--;
	pthread_cond_broadcast(&e->end_cond);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}
