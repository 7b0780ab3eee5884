/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The workers: threads that claim units, and request and parse what they refer to in the
 * order of their elevators.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "device/thread.h"
#include "elevator.h"
#include "monitor.h"

/* References of 24 bytes that all workers together hold: 1.1 MiB, and one for
 * REF_BUDGET bytes of the budget; and that each may hold and parse in any case.  With
 * half of it a check on a disk took 1.02 to 1.05 as long. */
#define REFS_MOST (48u << 10)
#define REF_BUDGET 1024u
#define LEAST_REFS 4096u

/* Bytes requested and not yet parsed. */
#define SEEK_AHEAD (32u << 20)
#define FLASH_AHEAD (8u << 20)

/* Requests in flight on a device that may be failing: each that hits a bad sector has
 * to be waited for, at the latest at the end. */
#define DEGRADED_MAX_REQUESTS 2u

/* How long to wait for a request before asking whether it is still wanted, and whether
 * others have completed; and after how many of these waits a page that could not be read
 * is dropped, to tell it from one that is being read. */
#define WAIT_NS 20000000u
#define WAITS_TO_DROP 5u

/* Without a checker, a page is read after so long although disks are busy, or not known. */
#define PASSED_NS UINT64_C(5000000000)

/* Bytes that are read of a request if the kernel does not tell whether it has completed. */
#define TOUCHED_BYTES 4096u

/*
 * How many requests may be in flight: the end of a check has to wait for all of them, minutes
 * for a full queue on a disk that takes seconds for a request.  The limit grows by one with
 * each that completes in time, and is halved if one is late.  A disk with 64 requests to
 * choose among takes half a second for them.  At first it is as many as complete in half of
 * that time, FIRST_LEAST if that is not known.
 */
#define LATE_NS 500000000u
#define FIRST_LEAST 4u
#define FIRST_MOST 64u

/* The mean is of about so many requests.  If it is of 20, a few large ones keep gaps narrow
 * for many small ones behind them. */
#define MEAN_OF 100u

struct request {
	unsigned device;
	uint64_t offset, bytes;
	uint64_t made;			/* when, ns */
};

/* Only the worker's thread uses it. */
struct pf_worker {
	pthread_t thread;
	struct pf_engine *e;
	struct pf_turn turn;
	struct pf_elevator elevator;
	unsigned char piece[PF_MAX_PIECE];	/* that is parsed */
	struct request ring[PF_MAX_INFLIGHT];	/* those in flight */
	unsigned oldest, in_flight;	/* index in it; number */
	unsigned most;			/* that may be in flight, at present */
	uint64_t mean;			/* bytes of a request, of late */
};

static bool is_obsolete(const struct pf_worker *w)
{
	return pf_state_is_obsolete(w->e, &w->turn.stripe);
}

/*
 * Requests in flight.
 */

/* How many may be in flight at first.  Each takes `latency_ns` while others are in flight;
 * 0: not measured. */
static unsigned first_limit(uint64_t latency_ns)
{
	uint64_t n = latency_ns ? LATE_NS / 2 / latency_ns : FIRST_LEAST;

	if (n < FIRST_LEAST)
		return FIRST_LEAST;
	return n < FIRST_MOST ? (unsigned)n : FIRST_MOST;
}

static struct request *request_at(struct pf_worker *w, unsigned index)
{
	return &w->ring[(w->oldest + index) % PF_MAX_INFLIGHT];
}

/* Judged by the request's last block.  If that is missing it was evicted again, and the
 * request has completed.  Only where the device can tell a missing block from a held one:
 * elsewhere the caller reads the block, which takes a seek back where the device seeks. */
static bool is_complete(struct pf_engine *e, const struct request *r)
{
	struct e2pf_device *dev = e->devices[r->device];
	enum e2pf_residency state;

	dev->ops->span(dev, r->offset + r->bytes - e->source->grain, 1, &state);
	return state == E2PF_CACHED ||
	       (state == E2PF_MISSING && dev->sees_held);
}

/* The oldest request is no longer in flight.  `late`: it took long or has failed, and then
 * counts as completed, too. */
static void end_request(struct pf_worker *w, bool late)
{
	const struct request *r = request_at(w, 0);

	if (!late)
		e2pf_device_populate(w->e->devices[r->device], r->offset,
				     r->bytes);
	w->oldest = (w->oldest + 1) % PF_MAX_INFLIGHT;
	w->in_flight--;
	if (late)
		w->most = (w->most + 1) / 2;
	else if (w->most < PF_MAX_INFLIGHT)
		w->most++;
}

/* Count the requests that have completed meanwhile: they are progress, too. */
static void count_completed(struct pf_worker *w)
{
	while (w->in_flight && is_complete(w->e, request_at(w, 0))) {
		end_request(w, false);
		pf_pool_note_progress(&w->e->pool, pf_state_now(w->e));
	}
}

/* A read of ours at this place has returned after `ns`; `error` is an errno or 0.  Returns
 * false if nobody wants the rest. */
static bool read_returned(struct pf_worker *w, uint64_t offset, int error,
			  uint64_t ns)
{
	if (ns >= PF_STALL_NS)
		count_completed(w);
	return pf_claim_read_returned(w->e, &w->turn, offset, error, ns);
}

/* Has this wait been for a page that nobody will read but this worker?  One of a degraded
 * device is left to the checker; without a checker, such a page may be one of many in a
 * request of which one sector is bad. */
static bool is_passed_over(const struct pf_engine *e, uint64_t began,
			   unsigned waits)
{
	if (waits <= WAITS_TO_DROP || (e->health.degraded && e->cfg.has_checker))
		return false;
	return pf_health_query_disks(&e->health) == 0 ||
	       (!e->cfg.has_checker && pf_state_now(e) - began >= PASSED_NS);
}

/*
 * Wait until this range, which was requested, has been read.  Returns false if that has
 * failed or the stripe is obsolete; true also if nobody can tell, or if no disk reads
 * anything, so that nobody will read it: the caller does.  A request that takes a second is
 * waited for as long as the checker has not passed it: a device that tries a bad sector is
 * not asked for more.  Requests that complete meanwhile are progress; `is_next`: this is
 * the one that count_completed() would ask about.
 */
static bool wait_for_range(struct pf_worker *w, unsigned device,
			   uint64_t offset, uint64_t len, bool is_next)
{
	struct pf_engine *e = w->e;
	struct e2pf_device *dev = e->devices[device];
	uint64_t began = pf_state_now(e);
	unsigned failed = e->health.failed_offsets, waits = 1;
	bool stalled = false, wanted = true;

	/* A page that fails later, or again, costs too much to be tried once more by
	 * us. */
	for (; dev->ops->arrives && wanted &&
	     !dev->ops->arrives(dev, offset, len, is_obsolete(w) ?
				PF_STALLED_NS : WAIT_NS,
				waits == WAITS_TO_DROP && !e->health.degraded);
	     waits++) {
		if (!is_next)
			count_completed(w);
		wanted = !is_obsolete(w) && e->health.failed_offsets == failed;
		if (!stalled && (e->health.degraded ||
			       pf_state_now(e) - began >= PF_STALLED_NS)) {
			stalled = true;
			pf_claim_read_stalls(e, &w->turn, offset,
						pf_state_now(e) - began);
		} else if (is_passed_over(e, began, waits)) {
			break;
		}
	}
	if (stalled)
		pf_claim_resume(e, &w->turn);
	return wanted;
}

/*
 * Wait for the oldest request in flight.  Returns 0 or an errno.  If the kernel does not
 * tell whether it has completed, one block of it is read.  Such a read returns when a signal
 * kills the process, and reports read errors, which readahead does not.
 */
static int wait_for_request(struct pf_worker *w)
{
	struct pf_engine *e = w->e;
	const struct request r = *request_at(w, 0);
	struct e2pf_device *dev = e->devices[r.device];
	uint32_t len = e->source->grain;
	uint64_t offset = r.offset + r.bytes - len, began = pf_state_now(e), now;
	char buf[TOUCHED_BYTES];
	int err = 0;

	if (is_complete(e, &r)) {
		end_request(w, false);
		return 0;
	}
	if (!wait_for_range(w, r.device, offset, 1, true)) {
		end_request(w, true);
		return EIO;
	}
	if (!is_complete(e, &r))
		err = dev->ops->read(dev, buf, offset,
				     len < sizeof(buf) ? len : sizeof(buf));
	now = pf_state_now(e);
	end_request(w, err || now - r.made >= LATE_NS);
	read_returned(w, offset, err, now - began);
	return err;
}

/* Wait until there may be another request; false if nobody wants it. */
static bool wait_for_requests(struct pf_worker *w)
{
	while ((w->in_flight >= w->most ||
		(w->in_flight >= DEGRADED_MAX_REQUESTS &&
		 pf_health_limits_requests(&w->e->health))) && !is_obsolete(w))
		wait_for_request(w);
	return !is_obsolete(w);
}

/*
 * A step of the elevator: a run is requested.
 */

/* Request a missing span of a run. */
static bool request_span(struct pf_worker *w, unsigned device, uint64_t pos,
			 uint64_t len)
{
	struct pf_engine *e = w->e;
	struct e2pf_device *dev = e->devices[device];
	uint32_t grain = e->source->grain;
	uint64_t end = pos + len;

	for (; pos < end; pos += len) {
		if (!wait_for_requests(w))
			return false;
		/* One request at a time: the next may have to wait. */
		len = end - pos;
		if (len > dev->max_readahead)
			len = dev->max_readahead - dev->max_readahead % grain;
		pf_pool_note_progress(&e->pool, pf_state_now(e));
		pf_inflight_add(&e->reads, dev, device, pos, (uint32_t)len);
		*request_at(w, w->in_flight++) = (struct request) {
			.device = device, .offset = pos, .bytes = len,
			.made = pf_state_now(e)
		};
		w->mean = (w->mean * (MEAN_OF - 1) + len) / MEAN_OF;
		pf_pool_note_progress(&e->pool, pf_state_now(e));
	}
	return true;
}

/* Nobody may be reading these pages, which a wait would not show: references in them are
 * read when they are parsed. */
static void mark_held(const struct pf_run *run, uint64_t pos,
		      uint64_t len)
{
	size_t i;

	for (i = run->next; i < run->n &&
	     run->ref[i].offset < pos + len; i++)
		if (pos < run->ref[i].offset + run->ref[i].length)
			run->ref[i].held = true;
}

/* Request a run as far as none of it is in the cache.  Returns false if nobody wants
 * it. */
static bool request_run(struct pf_worker *w,
			const struct pf_elevator_step *step)
{
	struct pf_run run = { .ref = step->ref, .n = step->n };
	struct pf_engine *e = w->e;
	unsigned device = step->ref->device;
	struct e2pf_device *dev = e->devices[device];
	uint64_t pos = step->ref->offset, end = pos, len;
	enum e2pf_residency state;
	bool missing;
	size_t i;

	pf_health_sample_disks(&e->health);
	pf_window_query_memory(&e->window);
	if (!pf_claim_wait_for_room(e, &w->turn))
		return false;
	for (i = 0; i < step->n; i++)
		if (step->ref[i].offset + step->ref[i].length > end)
			end = step->ref[i].offset + step->ref[i].length;
	for (; pos < end; pos += len) {
		len = dev->ops->span(dev, pos, end - pos, &state);
		missing = state == E2PF_MISSING;
		if (state == E2PF_CACHED)
			e2pf_device_populate(dev, pos, len);
		if (state == E2PF_HELD)
			mark_held(&run, pos, len);
		if (!pf_claim_count_span(e, &w->turn, &run, pos, len,
					     missing) ||
		    (missing && !request_span(w, device, pos, len)))
			return false;
	}
	return true;
}

/*
 * Another step: a piece is read and parsed.
 */

/* A sink whose `ctx` is the worker. */
static void add_found(void *ctx, const struct pf_ref *ref)
{
	struct pf_worker *w = ctx;
	struct pf_engine *e = w->e;
	const struct pf_phase *phase = w->turn.stripe.phase;
	uint32_t bit;

	if (!pf_elevator_is_sound(e->source, ref))
		return;
	bit = UINT32_C(1) << ref->cls;
	if (phase->later & bit && !pf_window_admit_deferred(&e->window, ref->length))
		return;
	pf_elevator_add(&w->elevator, ref);
}

static bool parse_piece(struct pf_worker *w,
			const struct pf_elevator_step *step)
{
	struct pf_engine *e = w->e;
	struct pf_source *source = e->source;
	const struct pf_ref ref = *step->ref;
	uint64_t began = pf_state_now(e), offset = ref.offset + step->at;
	struct e2pf_device *dev = e->devices[ref.device];
	bool wanted = true;
	uint32_t size = source->ops->piece(source, &ref, step->at);
	int err = 0;

	/* A device that may be failing is not asked a second time. */
	if ((!ref.held || (e->health.degraded && e->cfg.has_checker)) &&
	    !wait_for_range(w, ref.device, offset, size, false)) {
		pf_elevator_advance(&w->elevator, size);
		return !is_obsolete(w);
	}
	if (size) {
		err = dev->ops->read(dev, w->piece, offset, size);
		wanted = read_returned(w, offset, err, pf_state_now(e) - began);
	}
	if (size && wanted && !err &&
	    source->ops->parse(source, &ref, step->at, w->piece, size, add_found,
			       w))
		pf_claim_announce_units(e);
	pf_elevator_advance(&w->elevator, size);
	return wanted;
}

/*
 * The thread.
 */

/* Fill the elevator's first level. */
static void seed_units(struct pf_worker *w)
{
	struct pf_source *source = w->e->source;
	uint64_t unit;

	for (unit = w->turn.stripe.first; unit <= w->turn.stripe.last; unit++)
		source->ops->seed(source, w->turn.stripe.phase->number, unit,
				  add_found, w);
}

/* Read a stripe, without the lock, as long as somebody wants it. */
static void read_stripe(struct pf_worker *w)
{
	struct pf_elevator *el = &w->elevator;
	struct pf_elevator_step step;
	bool wanted = true;

	seed_units(w);
	pf_elevator_begin(el);
	while (wanted) {
		switch (pf_elevator_next(el, pf_elevator_gap(&w->e->health, w->mean),
					   &step)) {
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

static void *work(void *arg)
{
	struct pf_worker *w = arg;
	struct pf_engine *e = w->e;

	/* A pause of 20 us takes 84 by default, and 34 with this. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (pf_claim_units(e, &w->turn))
		read_stripe(w);
	/* If reads fail, each may take minutes. */
	while (e->cfg.drain && w->in_flight && !wait_for_request(w))
		;
	pf_claim_leave(e);
	return NULL;
}

static void init(struct pf_worker *w, struct pf_engine *e, unsigned number,
		 unsigned workers)
{
	struct pf_elevator *el = &w->elevator;
	uint64_t refs = e->window.budget / REF_BUDGET;

	w->e = e;
	w->turn.number = number;
	refs = (refs < REFS_MOST ? refs : REFS_MOST) / workers;
	el->source = e->source;
	el->max_refs = refs > LEAST_REFS ? (size_t)refs : LEAST_REFS;
	el->parse_left = e->source->parse_limit / workers + LEAST_REFS;
	el->max_ahead = e->health.speed.seeks ? SEEK_AHEAD : FLASH_AHEAD;
	w->most = first_limit(e->health.speed.deep_latency_ns * workers);
}

unsigned pf_workers_start(struct pf_engine *e, unsigned wanted, int *err)
{
	unsigned i;

	e->worker = calloc(wanted, sizeof(*e->worker));
	*err = ENOMEM;
	if (e->worker && e->cfg.before_threads)
		e->cfg.before_threads();
	for (i = 0; e->worker && i < wanted; i++) {
		struct pf_worker *w = &e->worker[i];

		init(w, e, i, wanted);
		*err = e2pf_thread_start(&w->thread, work, w);
		if (*err)
			break;
	}
	if (i)
		*err = 0;
	else
		free(e->worker);
	return i;
}

void pf_workers_join(struct pf_engine *e)
{
	unsigned i;

	for (i = 0; i < e->pool.workers; i++)
		pthread_join(e->worker[i].thread, NULL);
	if (e->pool.workers)
		free(e->worker);
}
