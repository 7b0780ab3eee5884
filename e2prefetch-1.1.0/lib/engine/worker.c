/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker thread: takes batches, and reads them ahead in elevator passes.
 * Decides, for each run, which blocks to request from the device.  batch.c
 * decides which units come next, and throttle.c how far ahead the worker may
 * read.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "engine_state.h"

/* Bytes issued and not yet waited for.  A rotational disk sorts all requests it
 * has; flash needs only as many as its queue holds. */
#define HEAD_ISSUE_AHEAD (32u << 20)
#define FLASH_ISSUE_AHEAD (8u << 20)

/* References that all workers together hold per level: 6 MiB. */
#define LEVEL_REFS (256u << 10)

/* The minimum number of references that each worker may hold and parse. */
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

/* This worker has moved on to another batch, so a throttled one may now be the
 * nearest to the checker, which is allowed more of the budget. */
static void wake_throttled(struct e2pf_engine *e)
{
	if (e->throttled)
		pthread_cond_broadcast(&e->work_cond);
}

/* The unit that the checker has to pass before this worker can go on. */
static uint64_t sleeps_until_beyond(struct worker *w, enum worker_state state)
{
	if (state == WORKER_THROTTLED)
		return e2pf_room_beyond(w);
	return w->window_full ? w->window[w->window_first].last : UINT64_MAX;
}

static void sleep_on_work(struct worker *w, enum worker_state state)
{
	struct e2pf_engine *e = w->e;
	uint64_t beyond = sleeps_until_beyond(w, state);

	set_state(w, state);
	if (beyond < atomic_load(&e->wake_beyond))
		atomic_store(&e->wake_beyond, beyond);
	/* The checker may have passed it just before wake_beyond was set. */
	if (!e2pf_passed(e, beyond))
		pthread_cond_wait(&e->work_cond, &e->lock);
}

/* Is this class used in a later phase than the current one? */
static bool is_later(const struct e2pf_engine *e, unsigned cls)
{
	const struct e2pf_phase *phase = e2pf_phase_now(e);

	return phase->order == E2PF_ORDER_DEFERRED ||
	       (phase->later & UINT32_C(1) << cls);
}

/* Count requested bytes for which a set has no room.  If the checker reports
 * its position, they are used when it has passed the batch, so they count with
 * the batch. */
static void count_unrecorded(struct worker *w, uint64_t bytes, bool later)
{
	if (!later && e2pf_is_followed(e2pf_phase_now(w->e)))
		e2pf_count_unrecorded(w, bytes);
	else
		w->e->unrecorded += bytes;
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
		uint64_t b = e2pf_place(e, device, end), missing, added;
		bool later = is_later(e, refs[i].cls);
		struct e2pf_blockset *set = later ? e->ahead_later :
						    e->ahead_now;

		if (a < first)
			a = first;
		if (b > last)
			b = last;
		if (a > b)
			continue;
		if (!later)
			e2pf_blockset_remove(e->ahead_later, a, b - a + 1);
		missing = e2pf_blockset_missing(set, a, b - a + 1);
		added = e2pf_blockset_add(set, a, b - a + 1);
		count_unrecorded(w, (missing - added) * grain, later);
		new_places += missing;
		covered += b - a + 1;
		if (missing)
			count_asked(e, &refs[i], i ? &refs[i - 1] : &refs[i],
				    missing * grain);
		if (!later)
			e2pf_count_bytes(w, missing * grain);
	}
	if (!new_places)
		return;		/* all of it is already in flight */
	gap = last - first + 1 > covered ? last - first + 1 - covered : 0;
	e->gaps += gap * grain;
	e2pf_count_bytes(w, gap * grain);
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
	struct e2pf_engine *e = w->e;
	struct e2pf_control *c = &e->control;
	unsigned i;

	e->stats.prefetched_requests += w->done.requests;
	e2pf_control_asked(c, w->done.requests, w->done.bytes);
	for (i = 0; i < w->done.ones; i++)
		e2pf_control_came(c, w->done.one[i].in_flight * e->workers,
				  w->done.one[i].bytes * e->workers,
				  w->done.one[i].ns);
	if (w->done.came || w->done.waited_ns)
		e2pf_control_count(c, e2pf_now(e), w->done.waited_ns,
				   w->done.came, w->done.came_bytes);
	w->done.requests = w->done.bytes = w->done.waited_ns = 0;
	w->done.came = w->done.came_bytes = w->done.ones = 0;
	e2pf_follow_control(e);
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
static void came(struct worker *w, bool late, uint64_t now)
{
	const struct e2pf_request *r = e2pf_inflight_oldest(&w->inflight);

	w->done.came += r->covers;
	w->done.came_bytes += r->bytes;
	if (w->done.ones < E2PF_INFLIGHT_SAMPLES) {
		w->done.one[w->done.ones].in_flight = r->depth;
		w->done.one[w->done.ones].bytes = r->queued;
		w->done.one[w->done.ones++].ns = now - r->asked;
	}
	e2pf_inflight_came(&w->inflight, late);
}

/* A block that was evicted again has been completed.  If the device can
 * distinguish this case, the block is not read again, which would take a seek
 * back on a rotational disk. */
static bool has_come(struct e2pf_engine *e, const struct e2pf_request *r)
{
	struct e2pf_device *dev = e->cfg.devices[r->device];

	return (!dev->blind && e2pf_is_resident(e, r->device, r->offset, 1)) ||
	       (dev->ops->is_gone && dev->ops->is_gone(dev, r->offset));
}

/* After a wait: count what has completed meanwhile. */
static void look_what_came(struct worker *w)
{
	uint64_t now = e2pf_now(w->e);
	const struct e2pf_request *r;

	while ((r = e2pf_inflight_oldest(&w->inflight)) && has_come(w->e, r))
		came(w, false, now);
}

static bool worker_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct worker *w = ctx;
	struct e2pf_engine *e = w->e;

	if (waited_ns >= STALL_NS)
		look_what_came(w);
	atomic_store(&e->last_progress, e2pf_now(e));
	w->done.waited_ns += waited_ns;
	if (error || waited_ns >= STUCK_NS || atomic_load(&e->gate_waiters) ||
	    atomic_load(&e->stuck))
		tell_arrival(w, error, waited_ns);
	return is_wanted(w);
}

/*
 * Wait until there is room for another request; false if the batch is no longer
 * wanted.  If the oldest request has not completed, one block of it is read.
 * Such a read waits for a request in flight, returns when a signal kills the
 * process, and reports read errors, which readahead does not.
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
		int err = 0;

		if (has_come(e, r)) {
			came(w, false, now);
			continue;
		}
		err = dev->ops->read(dev, buf, r->offset, len);
		now = e2pf_now(e);
		came(w, err || now - r->asked >= E2PF_INFLIGHT_LATE_NS, now);
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
		w->done.waited_ns += now - began;
		e2pf_inflight_add(&w->inflight, device, pos + len - grain,
				  len, now);
		e2pf_trace_request(e->trace, began, pos, len, w->number,
				   w->inflight.in_flight + w->inflight.since);
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
		sleep_on_work(w, WORKER_THROTTLED);
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

/* Keep the reference until the phase has ended: the checker does not need it
 * before, and all deferred references together make one elevator pass. */
static void worker_defer(void *ctx, const struct e2pf_ref *ref)
{
	struct worker *w = ctx;
	struct e2pf_engine *e = w->e;

	pthread_mutex_lock(&e->lock);
	if (w->epoch == e->epoch)
		e2pf_blockset_add(e->deferred,
				  e2pf_place(e, ref->device, ref->offset),
				  ref->length / e->cfg.source->grain);
	pthread_mutex_unlock(&e->lock);
}

static void worker_units_added(void *ctx)
{
	struct worker *w = ctx;

	pthread_mutex_lock(&w->e->lock);
	e2pf_note_addition(w->e);
	pthread_mutex_unlock(&w->e->lock);
}

static const struct e2pf_elevator_ops worker_ops = {
	.issue = worker_issue,
	.defer = worker_defer,
	.arrived = worker_arrived,
	.units_added = worker_units_added,
};

void e2pf_worker_init_elevator(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_elevator *ev = &w->elevator;
	unsigned workers = e2pf_wanted_workers(e);

	ev->source = e->cfg.source;
	ev->devices = e->cfg.devices;
	ev->ops = &worker_ops;
	ev->ctx = w;
	ev->deferred = 0;
	ev->leaves_last = e->has_head;
	ev->gap = 0;
	ev->gap_room = UINT64_MAX;
	ev->issue_ahead = e->has_head ? HEAD_ISSUE_AHEAD : FLASH_ISSUE_AHEAD;
	ev->level_cap = LEVEL_REFS / workers > LEAST_REFS ?
			LEVEL_REFS / workers : LEAST_REFS;
	ev->parse_left = e->cfg.source->parse_limit / workers + LEAST_REFS;
	e2pf_elevator_init(ev);
	e2pf_inflight_init(&w->inflight, e->stats.deep_latency_ns * workers);
}

void *e2pf_worker_main(void *arg)
{
	struct worker *w = arg;
	struct e2pf_engine *e = w->e;

	if (e->cfg.thread_begins)
		e->cfg.thread_begins(e->cfg.available_ctx);
	pthread_mutex_lock(&e->lock);
	while (!e->stop) {
		if (!e2pf_take_batch(w)) {
			if (w->state != WORKER_IDLE)
				wake_throttled(e);
			set_state(w, WORKER_IDLE);
			e2pf_next_phase(e);
			/* Sleep, unless this worker itself has just begun the
			 * next phase. */
			if (w->epoch == e->epoch && !e->stop)
				sleep_on_work(w, WORKER_IDLE);
			continue;
		}
		set_state(w, WORKER_READING);
		wake_throttled(e);
		pthread_mutex_unlock(&e->lock);
		e2pf_seed_batch(w);
		e2pf_elevator_run(&w->elevator);
		pthread_mutex_lock(&e->lock);
		count_done(w);
		e2pf_finish_batch(w);
	}
	set_state(w, WORKER_IDLE);
	e->running--;
	pthread_cond_broadcast(&e->end_cond);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}
