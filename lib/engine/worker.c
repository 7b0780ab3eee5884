/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worker threads: what they request from the device, and how many requests
 * are in flight.  work.c decides which units come next, elevator.c in which
 * order they are read, and ahead.c how far ahead the worker may read.
 *
 * The end of a check has to wait for all requests in flight: the last close of
 * a block device, and the exit of a process that reads it, wait for each page
 * that is being read, even after a signal.  On a disk that takes seconds for a
 * request, a full queue takes minutes.  So the limit follows the time that a
 * request takes: it grows by one with each that completes in time, and is halved
 * if one is late.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engine_state.h"

/* References of 24 bytes that all workers together hold per level: 6 MiB, and
 * one for so many bytes of the budget; and that each may hold and parse in any
 * case. */
#define LEVEL_REFS (256u << 10)
#define REF_BUDGET 1024u
#define LEAST_REFS 4096u

/* Requests in flight at first: at least, and on a device known to be fast. */
#define FIRST 4u
#define FIRST_FAST 64u

/* A request is late after this time.  A rotational disk with 64 requests to
 * choose among takes half a second for them. */
#define LATE_NS 500000000u

/* Of a full queue so many are waited for one after the other: to ask the kernel
 * about each takes 1 us. */
#define STEPS 32u

/* Bytes read of a request that has not completed. */
#define LATE_BYTES 4096u

/*
 * States.
 */

void e2pf_set_state(struct worker *w, enum worker_state state)
{
	struct e2pf_engine *e = w->e;
	uint64_t now = e2pf_now(e);

	if (state == WORKER_READING && w->state != state)
		e->last_progress = now;
	e->throttled += state == WORKER_THROTTLED;
	e->throttled -= w->state == WORKER_THROTTLED;
	w->state = state;
	/* A checker does not wait at the gate for a worker that sleeps. */
	if (e->gate_waiters && state != WORKER_READING)
		pthread_cond_broadcast(&e->gate_cond);
	if (state == WORKER_IDLE)
		pthread_cond_broadcast(&e->end_cond);
}

/* The lock is held. */
static void publish(struct worker *w)
{
	w->e->stats.prefetched_requests += w->now.requests - w->found.requests;
	w->found = w->now;
	w->found.in_flight = w->in_flight;
	w->e->stats.gap_bytes = e2pf_widest_gap(w->e, w->request_ns);
}

/*
 * Requests in flight.
 */

static struct request *request_at(struct worker *w, unsigned index)
{
	return &w->request[(w->oldest + index) % E2PF_IN_FLIGHT_MOST];
}

static void add_request(struct worker *w, unsigned device, uint64_t offset,
			uint64_t bytes, uint64_t now)
{
	w->in_flight_bytes += bytes;
	*request_at(w, w->in_flight++) = (struct request) {
		.device = device, .offset = offset, .bytes = bytes,
		.asked = now, .depth = w->in_flight,
		.queued = w->in_flight_bytes
	};
}

/* The index of the request to wait for next: then those before it have
 * completed, too, or will soon. */
static unsigned next_step(const struct worker *w)
{
	unsigned step = w->e->cfg.settle ? 0 : w->in_flight_most / STEPS;

	if (step > w->in_flight)
		step = w->in_flight;
	return step ? step - 1 : 0;
}

/* Those up to this one have completed; or, if it is late, it took LATE_NS, or
 * failed. */
static void completed(struct worker *w, unsigned index, bool late, uint64_t now)
{
	unsigned i;

	e2pf_learn(w, request_at(w, index), now);
	for (i = 0; i <= index; i++)
		w->in_flight_bytes -= request_at(w, i)->bytes;
	w->oldest = (w->oldest + i) % E2PF_IN_FLIGHT_MOST;
	w->in_flight -= i;
	if (late)
		w->in_flight_most = (w->in_flight_most + 1) / 2;
	else if (w->in_flight_most + i <= E2PF_IN_FLIGHT_MOST)
		w->in_flight_most += i;
	else
		w->in_flight_most = E2PF_IN_FLIGHT_MOST;
}

/* A block that was evicted again has been completed.  If the device can
 * distinguish this case, the block is not read again, which would take a seek
 * back on a rotational disk. */
static bool is_complete(struct e2pf_engine *e, const struct request *r)
{
	struct e2pf_device *dev = e->cfg.devices[r->device];

	return (!dev->blind && e2pf_is_resident(e, r->device, r->offset, 1)) ||
	       (dev->ops->is_gone && dev->ops->is_gone(dev, r->offset));
}

/* Count what has completed meanwhile. */
static void count_completed(struct worker *w)
{
	uint64_t now = e2pf_now(w->e);

	while (w->in_flight &&
	       is_complete(w->e, request_at(w, next_step(w))))
		completed(w, next_step(w), false, now);
}

static void count_error(struct e2pf_engine *e)
{
	if (++e->stats.errors < ERRORS_TOLERATED)
		return;
	e->gave_up = true;
	pthread_cond_broadcast(&e->work_cond);
	pthread_cond_broadcast(&e->gate_cond);
}

bool e2pf_read_returned(struct worker *w, int error, uint64_t waited_ns)
{
	struct e2pf_engine *e = w->e;

	if (waited_ns >= STALL_NS)
		count_completed(w);
	atomic_store(&e->last_progress, e2pf_now(e));
	/* Take the lock only if somebody has to know. */
	if (error || waited_ns >= STUCK_NS || atomic_load(&e->gate_waiters) ||
	    atomic_load(&e->stuck)) {
		pthread_mutex_lock(&e->lock);
		if (error)
			count_error(e);
		if (e->gate_waiters)
			pthread_cond_broadcast(&e->gate_cond);
		if (waited_ns >= STUCK_NS && e->cfg.paced)
			e->stuck = STUCK_PROOFS;
		if (!w->count)
			e2pf_wait_while_stuck(w);
		pthread_mutex_unlock(&e->lock);
	}
	return !e2pf_is_obsolete(w);
}

/*
 * Wait for one of the requests in flight; returns 0 or an errno.  If it has not
 * completed, one block of it is read.  Such a read returns when a signal kills
 * the process, and reports read errors, which readahead does not.
 */
static int wait_for_request(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	unsigned index = next_step(w);
	const struct request *r = request_at(w, index);
	struct e2pf_device *dev = e->cfg.devices[r->device];
	uint32_t len = e->cfg.source->grain;
	uint64_t began = e2pf_now(e), now;
	char buf[LATE_BYTES];
	int err;

	if (is_complete(e, r)) {
		completed(w, index, false, began);
		return 0;
	}
	err = dev->ops->read(dev, buf, r->offset,
			     len < sizeof(buf) ? len : sizeof(buf));
	now = e2pf_now(e);
	completed(w, index, err || now - r->asked >= LATE_NS, now);
	e2pf_read_returned(w, err, now - began);
	return err;
}

/* Wait until there is room for another request; false if nobody wants it. */
static bool make_room(struct worker *w)
{
	while (w->in_flight >= w->in_flight_most && !e2pf_is_obsolete(w))
		wait_for_request(w);
	return !e2pf_is_obsolete(w);
}

/*
 * What is requested.
 */

/* Record that `len` bytes of a run of references will be requested.  This is
 * done just before the request, so that the checker cannot read and forget a
 * block before it is recorded. */
static void record_part(struct worker *w, const struct e2pf_ref *refs,
			size_t n, uint64_t offset, uint64_t len)
{
	struct e2pf_engine *e = w->e;
	uint64_t first = e2pf_place(e, refs[0].device, offset);
	uint64_t last = e2pf_place(e, refs[0].device, offset + len - 1);
	uint64_t grain = e->cfg.source->grain;
	uint64_t covered = 0, new_bytes = 0, gap = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct e2pf_ref *ref = &refs[i], *before = ref - (i > 0);
		struct e2pf_class_count *asked = &e->stats.asked[ref->cls];
		uint64_t a = e2pf_place(e, ref->device, ref->offset), bytes;
		uint64_t b = e2pf_place(e, ref->device,
					ref->offset + ref->length - 1);

		if (a < first)
			a = first;
		if (b > last)
			b = last;
		if (a > b)
			continue;
		covered += b - a + 1;
		bytes = e2pf_blockset_add(&e->ahead, a, b - a + 1) * grain;
		if (!bytes)
			continue;
		new_bytes += bytes;
		asked->bytes += bytes;
		/* One that is not adjacent to the reference before it, or of
		 * another class, begins a run. */
		asked->runs += !i || ref->cls != before->cls ||
			       ref->offset > before->offset + before->length;
		/* What is for a later phase was counted when it was found. */
		if (!(w->phase->later & UINT32_C(1) << ref->cls))
			e2pf_count_ahead(w, bytes);
	}
	if (!new_bytes)
		return;		/* all of it is already in flight */
	if (last - first + 1 > covered)
		gap = (last - first + 1 - covered) * grain;
	e->unused += gap;
	e2pf_count_ahead(w, gap);
	e->stats.prefetched_bytes += new_bytes + gap;
	if (e2pf_ahead_bytes(e) > e->stats.peak_lookahead_bytes)
		e->stats.peak_lookahead_bytes = e2pf_ahead_bytes(e);
}

/* Count a part of a run, which is `missing` from memory or cached.  Returns
 * false if nobody wants it. */
static bool count_part(struct worker *w, const struct e2pf_ref *refs,
		       size_t n, uint64_t pos, uint64_t len, bool missing)
{
	struct e2pf_engine *e = w->e;
	bool wanted;

	pthread_mutex_lock(&e->lock);
	wanted = !e2pf_is_obsolete(w);
	if (wanted) {
		e->stats.planned_bytes += len;
		if (missing)
			record_part(w, refs, n, pos, len);
		publish(w);
	}
	pthread_mutex_unlock(&e->lock);
	return wanted;
}

/* Request a missing part of a run. */
static bool request_part(struct worker *w, unsigned device, uint64_t pos,
			 uint64_t len)
{
	struct e2pf_engine *e = w->e;
	struct e2pf_device *dev = e->cfg.devices[device];
	uint32_t grain = e->cfg.source->grain;
	uint64_t end = pos + len, began, now;
	unsigned requests;

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
		requests = dev->ops->willneed(dev, pos, len);
		now = e2pf_now(e);
		w->now.requests += requests;
		e2pf_count_requests(w, requests, len);
		add_request(w, device, pos + len - grain, len, now);
		e2pf_trace(e, "[\"request\",%" PRIu64 ",%" PRIu64
				 ",%" PRIu64 ",%u,%u]\n", began, pos, len,
				 w->number, w->in_flight);
		atomic_store(&e->last_progress, now);
	}
	return true;
}

/* Instead of requesting it, for e2pf_engine_plan(). */
static void count_planned(struct worker *w, const struct e2pf_ref *refs,
			  size_t n)
{
	unsigned last = E2PF_CLASS_BITS;
	size_t i;

	for (i = 0; i < n; i++) {
		w->count[refs[i].cls].bytes += refs[i].length;
		w->count[refs[i].cls].runs += refs[i].cls != last;
		last = refs[i].cls;
	}
}

bool e2pf_request_run(struct worker *w, const struct e2pf_ref *refs, size_t n)
{
	struct e2pf_engine *e = w->e;
	unsigned device = refs[0].device;
	struct e2pf_device *dev = e->cfg.devices[device];
	uint64_t pos = refs[0].offset, end = pos, len;
	bool resident;
	size_t i;

	if (w->count) {
		count_planned(w, refs, n);
		return true;
	}
	e2pf_ask_memory(e);
	if (!e2pf_wait_for_room(w))
		return false;
	for (i = 0; i < n; i++)
		if (refs[i].offset + refs[i].length > end)
			end = refs[i].offset + refs[i].length;
	for (; pos < end; pos += len) {
		len = dev->ops->span(dev, pos, end - pos, &resident);
		if (!count_part(w, refs, n, pos, len, !resident) ||
		    (!resident && !request_part(w, device, pos, len)))
			return false;
	}
	return true;
}

/*
 * Threads.
 */

void e2pf_worker_init(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	unsigned workers = e2pf_wanted_workers(e);
	uint64_t refs = e->budget / REF_BUDGET;
	uint64_t ns = e->speed.deep_latency_ns * workers;

	refs = (refs < LEVEL_REFS ? refs : LEVEL_REFS) / workers;
	w->level_most = refs > LEAST_REFS ? (size_t)refs : LEAST_REFS;
	w->parse_left = e->cfg.source->parse_limit / workers + LEAST_REFS;
	w->request_ns = (double)e->speed.request_ns;
	/* As many as complete in half of the time. */
	w->in_flight_most = FIRST;
	if (ns && ns < LATE_NS / 2 / FIRST_FAST)
		w->in_flight_most = FIRST_FAST;
	else if (ns && ns < LATE_NS / 2 / FIRST)
		w->in_flight_most = (unsigned)(LATE_NS / 2 / ns);
}

/* Nothing can be taken: begin the next phase, or sleep. */
static void idle(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	if (w->state != WORKER_IDLE && e->throttled)
		pthread_cond_broadcast(&e->work_cond);
	w->news = e->news;
	e2pf_set_state(w, WORKER_IDLE);
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
		e->cfg.thread_begins(e->cfg.ctx);
	pthread_mutex_lock(&e->lock);
	while (!e->stop) {
		if (!e2pf_take(w)) {
			idle(w);
			continue;
		}
		e2pf_set_state(w, WORKER_READING);
		/* A throttled one may now be the nearest to the checker, which
		 * is allowed more of the budget. */
		if (e->throttled)
			pthread_cond_broadcast(&e->work_cond);
		pthread_mutex_unlock(&e->lock);
		e2pf_seed(w);
		e2pf_pass(w);
		pthread_mutex_lock(&e->lock);
		publish(w);
	}
	e2pf_set_state(w, WORKER_IDLE);
	pthread_mutex_unlock(&e->lock);
	/* If reads fail, each may take minutes. */
	while (e->cfg.settle && w->in_flight && !wait_for_request(w))
		;
	pthread_mutex_lock(&e->lock);
	e->running--;
	pthread_cond_broadcast(&e->end_cond);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

static int plan_phase(struct worker *w, unsigned phase)
{
	struct e2pf_source *source = w->e->cfg.source;
	uint64_t unit = 0, end, units;
	bool more;

	for (; (units = source->ops->units(source, phase, &more)) > unit;
	     e2pf_pass(w)) {
		end = unit + LEAST_REFS < units ? unit + LEAST_REFS : units;
		for (; unit < end; unit++)
			source->ops->seed(source, phase, unit, e2pf_add, w);
		if (w->incomplete)
			return ENOMEM;
	}
	return 0;
}

/* A worker that only counts, in this thread. */
int e2pf_engine_plan(struct e2pf_engine *e, struct e2pf_class_count *count)
{
	struct worker w = { .e = e, .count = count };
	struct e2pf_source *source = e->cfg.source;
	const struct e2pf_phase *phase;
	int err = 0;

	memset(count, 0, source->classes * sizeof(*count));
	e2pf_begin_walk(e);
	e2pf_worker_init(&w);
	for (phase = e->first_phase; phase && !err;
	     phase = source->ops->next(source, phase))
		err = plan_phase(&w, phase->number);
	e2pf_free_levels(&w);
	return !err && e->gave_up ? EIO : err;
}
