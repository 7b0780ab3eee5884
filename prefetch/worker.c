/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <sys/prctl.h>

#include "claim.h"
#include "worker.h"

/* All workers together may have MAX_REFS references of 24 bytes in memory, which are
 * 1.1 MiB, and at most one for REF_BUDGET bytes of the budget.  Each worker may have,
 * and parse, at least MIN_REFS.  With half of MAX_REFS a check on a disk took 1.02 to
 * 1.05 of the time. */
#define MAX_REFS (48u << 10)
#define REF_BUDGET 1024u
#define MIN_REFS 4096u

/* Limits of the bytes that were requested and not yet parsed. */
#define SEEK_AHEAD (32u << 20)
#define FLASH_AHEAD (8u << 20)

/* A worker waits WAIT_NS for a request before it checks whether the request is still
 * wanted, and whether others have completed.  After WAITS_TO_DROP of these waits it
 * drops a page that could not be read, to tell it from a page that is being read. */
#define WAIT_NS 20000000u
#define WAITS_TO_DROP 5u

/* Without a checker, a worker reads a page after this time even if disks are busy, or not
 * known. */
#define PASSED_NS UINT64_C(5000000000)

/* If the kernel cannot tell whether a request has completed, a worker reads this many
 * bytes of it. */
#define TOUCHED_BYTES 4096u

/*
 * Requests in flight.
 */

static bool is_complete(const struct pf_worker *w, const struct pf_request *r)
{
	const struct pf_engine *e = w->engine;

	return pf_inflight_is_complete(r, e->devices[r->device],
				       e->source->grain);
}

/* Remove the requests that have completed meanwhile, and count each as progress. */
static void count_completed(struct pf_worker *w)
{
	while (w->inflight.count &&
	       is_complete(w, w->inflight.oldest)) {
		pf_inflight_remove_oldest(&w->inflight, false);
		pf_pool_note_progress(&w->engine->pool,
				      pf_state_now(w->engine));
	}
}

/* This worker's read at this offset has returned after `ns`; `error` is an errno or 0.
 * Returns false if the rest of the stripe is no longer wanted. */
static bool read_returned(struct pf_worker *w, uint64_t offset, int error,
			  uint64_t ns)
{
	if (ns >= PF_STALL_NS)
		count_completed(w);
	return pf_claim_read_returned(w, offset, error, ns);
}

/* The state of a range that was requested. */
enum arrival {
	PENDING,
	ARRIVED,
	READ_IT,	/* the caller must read it: the kernel cannot tell, or the
			   disks are idle, so that the range will not arrive */
	FAILED,
	UNWANTED	/* the stripe is obsolete */
};

/* A wait for a range. */
struct wait {
	uint64_t offset, began;
	unsigned waits;			/* of WAIT_NS */
	unsigned failed_offsets;	/* the count before the wait began */
	bool stalled;			/* the stall was reported */
};

/* Returns true if the page will not be read unless this worker reads it.  On a degraded
 * device such a page is left to the checker.  Without a checker the worker reads it,
 * because it may be one of many pages of a request that failed for a single bad
 * sector. */
static bool is_passed_over(const struct pf_engine *e, const struct wait *wait)
{
	if (wait->waits <= WAITS_TO_DROP ||
	    (e->health.degraded && e->options.has_checker))
		return false;
	return pf_health_query_disks(&e->health) == 0 ||
	       (!e->options.has_checker &&
		pf_state_now(e) - wait->began >= PASSED_NS);
}

/* Decide about a range that has not arrived in time.  A request that takes a second is
 * waited for until the checker has passed it, so that a device that retries a bad
 * sector gets no further requests. */
static enum arrival judge_wait(struct pf_worker *w, struct wait *wait)
{
	struct pf_engine *e = w->engine;
	bool unwanted = pf_state_is_obsolete(w);
	bool failed = e->health.failed_offsets != wait->failed_offsets;
	uint64_t ns = pf_state_now(e) - wait->began;

	if (!wait->stalled && (e->health.degraded || ns >= PF_STALLED_NS)) {
		wait->stalled = true;
		pf_claim_read_stalls(w, wait->offset, ns);
	} else if (!unwanted && !failed && is_passed_over(e, wait)) {
		return READ_IT;
	}
	wait->waits++;
	return unwanted ? UNWANTED : failed ? FAILED : PENDING;
}

/* Wait until this range, which was requested, has been read.  Requests that complete
 * meanwhile count as progress.  `is_oldest`: the range belongs to the oldest request,
 * the one that count_completed() checks first. */
static enum arrival wait_for_range(struct pf_worker *w, unsigned device,
				   uint64_t offset, uint64_t len, bool is_oldest)
{
	struct pf_engine *e = w->engine;
	struct pf_device *dev = e->devices[device];
	struct wait wait = {
		.offset = offset, .began = pf_state_now(e), .waits = 1,
		.failed_offsets = e->health.failed_offsets
	};
	enum arrival arrival = dev->ops->arrives ? PENDING : READ_IT;

	while (arrival == PENDING) {
		/* On a degraded device another attempt at a failed page costs too
		 * much. */
		bool drop = wait.waits == WAITS_TO_DROP && !e->health.degraded;

		if (dev->ops->arrives(dev, offset, len, pf_state_is_obsolete(w) ?
				      PF_STALLED_NS : WAIT_NS, drop)) {
			arrival = ARRIVED;
		} else {
			if (!is_oldest)
				count_completed(w);
			arrival = judge_wait(w, &wait);
		}
	}
	if (wait.stalled)
		pf_claim_read_ended(w);
	return arrival;
}

/*
 * Wait for the oldest request in flight.  Returns 0 or an errno.  If the kernel cannot
 * tell whether the request has completed, read one block of it.  Unlike readahead, such
 * a read reports errors, and it returns when a signal kills the process.
 */
static int wait_for_request(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;
	const struct pf_request *r = w->inflight.oldest;
	struct pf_device *dev = e->devices[r->device];
	uint32_t len = e->source->grain;
	uint64_t offset = r->offset + r->length - len;
	uint64_t began = pf_state_now(e), now;
	enum arrival arrival;
	char buf[TOUCHED_BYTES];
	int err = 0;

	if (is_complete(w, r)) {
		pf_inflight_remove_oldest(&w->inflight, false);
		return 0;
	}
	arrival = wait_for_range(w, r->device, offset, 1, true);
	if (arrival == FAILED || arrival == UNWANTED) {
		pf_inflight_remove_oldest(&w->inflight, true);
		return EIO;
	}
	if (!is_complete(w, r))
		err = dev->ops->read(dev, buf, offset,
				     len < sizeof(buf) ? len : sizeof(buf));
	now = pf_state_now(e);
	pf_inflight_remove_oldest(&w->inflight,
				  err || now - r->made >= PF_LATE_NS);
	read_returned(w, offset, err, now - began);
	return err;
}

/* Wait until another request may be made.  Returns false if it is no longer wanted. */
static bool wait_for_requests(struct pf_worker *w)
{
	const struct pf_health *h = &w->engine->health;

	while (pf_inflight_is_full(&w->inflight, pf_health_limits_requests(h)) &&
	       !pf_state_is_obsolete(w))
		wait_for_request(w);
	return !pf_state_is_obsolete(w);
}

/*
 * PF_STEP_RUN: request a run.
 */

/* Request a missing span of a run.  Returns false if the rest is no longer wanted. */
static bool request_span(struct pf_worker *w, unsigned device, uint64_t pos,
			 uint64_t len)
{
	struct pf_engine *e = w->engine;
	struct pf_device *dev = e->devices[device];
	uint32_t grain = e->source->grain;
	uint64_t end = pos + len, began, now;

	for (; pos < end; pos += len) {
		began = pf_state_now(e);
		if (!wait_for_requests(w))
			return false;
		/* Make one request at a time, because the next may have to wait. */
		len = end - pos;
		if (len > dev->max_readahead)
			len = dev->max_readahead - dev->max_readahead % grain;
		pf_pool_note_progress(&e->pool, pf_state_now(e));
		pf_stats_count_request(&e->stats);
		pf_inflight_add(&w->inflight, dev, device, pos, (uint32_t)len);
		now = pf_state_now(e);
		pf_pool_note_progress(&e->pool, now);
		pf_cost_add_wait(&w->cost, now - began);
		pf_cost_observe_request(&w->cost, now, e->stats.requests);
	}
	return true;
}

/* Mark the references in pages that are not up to date.  Perhaps no read of these pages
 * is under way, and a wait would not show that, so the worker reads them itself when it
 * parses them. */
static void mark_not_uptodate(const struct pf_run *run, uint64_t pos,
			      uint64_t len)
{
	size_t i;

	for (i = run->next; i < run->n &&
	     run->ref[i].offset < pos + len; i++)
		if (pos < run->ref[i].offset + run->ref[i].length)
			run->ref[i].not_uptodate = true;
}

static uint64_t run_end(const struct pf_run *run)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < run->n; i++)
		if (run->ref[i].offset + run->ref[i].length > end)
			end = run->ref[i].offset + run->ref[i].length;
	return end;
}

/* Request the parts of a run that are not in the cache.  Returns false if the rest is no
 * longer wanted. */
static bool request_run(struct pf_worker *w,
			const struct pf_elevator_step *step)
{
	struct pf_run run = { .ref = step->ref, .n = step->n };
	struct pf_engine *e = w->engine;
	unsigned device = step->ref->device;
	struct pf_device *dev = e->devices[device];
	uint64_t pos = step->ref->offset, end = run_end(&run), len;
	enum pf_residency state;
	bool missing;

	pf_health_sample_disks(&e->health);
	pf_window_query_memory(&e->window);
	if (!pf_claim_wait_for_room(w))
		return false;
	for (; pos < end; pos += len) {
		len = dev->ops->span(dev, pos, end - pos, &state);
		missing = state == PF_MISSING;
		pf_window_advance_run(&run, pos);
		if (state == PF_NOT_UPTODATE)
			mark_not_uptodate(&run, pos, len);
		if (!pf_claim_count_span(w, &run, pos, len, missing) ||
		    (missing && !request_span(w, device, pos, len)))
			return false;
	}
	return true;
}

/*
 * PF_STEP_PARSE: read and parse a piece.
 */

/* A sink whose `ctx` is the worker. */
static void add_found(void *ctx, const struct pf_ref *ref)
{
	struct pf_worker *w = ctx;
	struct pf_engine *e = w->engine;
	uint32_t deferred = w->stripe.phase->deferred;

	if (!pf_elevator_is_sound(e->source, ref))
		return;
	if (deferred & UINT32_C(1) << ref->cls &&
	    !pf_window_admit_deferred(&e->window, ref->length))
		return;
	pf_elevator_add(&w->elevator, ref);
}

/* Read a piece into w->piece.  Returns true if it is to be parsed.  Sets *wanted to
 * false if the rest of the stripe is no longer wanted. */
static bool read_piece(struct pf_worker *w, const struct pf_ref *ref,
		       uint64_t offset, uint32_t size, bool *wanted)
{
	struct pf_engine *e = w->engine;
	struct pf_device *dev = e->devices[ref->device];
	uint64_t began = pf_state_now(e);
	enum arrival arrival = READ_IT;
	int err;

	/* Do not request a page twice from a device that may be failing. */
	if (!ref->not_uptodate || (e->health.degraded && e->options.has_checker))
		arrival = wait_for_range(w, ref->device, offset, size, false);
	*wanted = true;
	if (arrival == FAILED || arrival == UNWANTED) {
		*wanted = !pf_state_is_obsolete(w);
		return false;
	}
	pf_cost_add_wait(&w->cost, pf_state_now(e) - began);
	if (!size)
		return false;
	err = dev->ops->read(dev, w->piece, offset, size);
	*wanted = read_returned(w, offset, err, pf_state_now(e) - began);
	return *wanted && !err;
}

static bool parse_piece(struct pf_worker *w,
			const struct pf_elevator_step *step)
{
	struct pf_source *source = w->engine->source;
	const struct pf_ref ref = *step->ref;
	uint32_t size = source->ops->piece(source, &ref, step->at);
	bool wanted;

	if (read_piece(w, &ref, ref.offset + step->at, size, &wanted) &&
	    source->ops->parse(source, &ref, step->at, w->piece, size, add_found,
			       w))
		pf_claim_announce_units(w->engine);
	pf_elevator_advance(&w->elevator, size);
	return wanted;
}

/*
 * The thread.
 */

/* Fill the elevator's first level. */
static void seed_units(struct pf_worker *w)
{
	struct pf_source *source = w->engine->source;
	const struct pf_stripe *s = &w->stripe;
	uint64_t unit;

	for (unit = s->first; unit <= s->last; unit++)
		source->ops->seed(source, s->phase->number, unit, add_found, w);
}

/* A degraded device gets no gaps, because the bad sectors may lie in them. */
static uint64_t choose_gap(const struct pf_worker *w)
{
	const struct pf_health *h = &w->engine->health;

	return h->degraded ? 0 : pf_elevator_gap(&h->speed, w->cost.request_ns,
						 w->inflight.mean);
}

/* Read a stripe, without the lock, until it is obsolete. */
static void read_stripe(struct pf_worker *w)
{
	struct pf_elevator *el = &w->elevator;
	struct pf_elevator_step step;
	bool wanted = true;

	seed_units(w);
	pf_elevator_begin(el);
	while (wanted) {
		switch (pf_elevator_next(el, choose_gap(w), &step)) {
		case PF_STEP_RUN:
			wanted = request_run(w, &step);
			break;
		case PF_STEP_PARSE:
			wanted = parse_piece(w, &step);
			break;
		case PF_STEP_END:
			wanted = false;
			break;
		}
	}
	pf_elevator_end(el);
}

static void prepare_worker(struct pf_worker *w)
{
	const struct pf_engine *e = w->engine;
	uint64_t refs = e->window.budget / REF_BUDGET;

	refs = (refs < MAX_REFS ? refs : MAX_REFS) / w->sharers;
	w->elevator = (struct pf_elevator) {
		.source = e->source,
		.max_refs = refs > MIN_REFS ? (size_t)refs : MIN_REFS,
		.parse_left = e->source->parse_limit / w->sharers + MIN_REFS,
		.max_ahead = e->health.speed.seek_bound ? SEEK_AHEAD :
			     FLASH_AHEAD
	};
	pf_inflight_reset(&w->inflight,
			  e->health.speed.latency_qd8_ns * w->sharers);
	pf_cost_reset(&w->cost, e->health.speed.request_ns, pf_state_now(e),
		      e->stats.requests);
}

void *pf_worker_run(void *worker)
{
	struct pf_worker *w = worker;

	/* A pause of 20 us takes 84 us by default, and 34 us with this slack. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	prepare_worker(w);
	while (pf_claim_next_stripe(w))
		read_stripe(w);
	/* Stop at the first failure, because each failing read may take minutes. */
	while (w->engine->options.drain && w->inflight.count &&
	       !wait_for_request(w))
		;
	pf_claim_end_worker(w);
	return NULL;
}
