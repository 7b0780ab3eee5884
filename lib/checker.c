/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checker's side of the engine: where it is, what it reads, and when it
 * waits for a sweep.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "engine_state.h"

/* A checker behind the gate goes on when the sweep has not moved for this
 * long, or after that long in all: one read of its own in so many seconds
 * costs the sweep nothing. */
#define GATE_PATIENCE_NS 1000000000ull
#define GATE_LIMIT_NS 5000000000ull

/* A read of the checker that took longer waited for the device: from memory
 * 4 KiB take 1 us and 128 KiB 20, the fastest devices need 60 for a request
 * through the block layer. */
#define STALL_NS 30000u
#define STALL_NS_PER_KIB 500u

/* All seemed to be in memory, and is not: when so many reads, one in so many,
 * had to wait. */
#define WARM_MISSES 16u
#define SAMPLE 8u

void e2pf_engine_phase(struct e2pf_engine *e, enum e2pf_phase phase)
{
	pthread_mutex_lock(&e->lock);
	e2pf_end_phase(e);
	e->phase = phase;
	pthread_mutex_unlock(&e->lock);
}

static void move_to(struct e2pf_engine *e, enum work work, uint64_t unit)
{
	if (e->at_valid && atomic_load(&e->at) == unit)
		return;
	pthread_mutex_lock(&e->lock);
	if (e->work == work) {
		atomic_store(&e->at, unit);
		e->at_valid = true;
		pthread_cond_broadcast(&e->work_cond);
	}
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_at_group(struct e2pf_engine *e, uint32_t group)
{
	move_to(e, WORK_TABLES, group);
}

void e2pf_engine_list_begin(struct e2pf_engine *e, uint64_t total)
{
	pthread_mutex_lock(&e->lock);
	if (!e->list)
		e->list = calloc(LIST_ROOM, sizeof(*e->list));
	if (e->list && !e->stop) {
		e->at_valid = false;
		e->list_total = total;
		e->list_end = 0;
		e2pf_blockset_clear(e->wanted);
		e2pf_set_work(e, WORK_LIST);
	}
	pthread_mutex_unlock(&e->lock);
}

uint64_t e2pf_engine_list_wants(struct e2pf_engine *e, uint64_t *first)
{
	uint64_t room, at, n = 0;

	pthread_mutex_lock(&e->lock);
	if (e->work == WORK_LIST && e->lanes && !e->stop) {
		at = e->at_valid ? atomic_load(&e->at) : 0;
		if (e->list_end < at)
			e->list_end = at;
		room = LIST_ROOM - (e->list_end - at);
		if (e->list_end < e->list_total)
			n = e->list_total - e->list_end;
		if (n > room)
			n = room < LIST_ROOM / 2 ? 0 : room;
		*first = e->list_end;
	}
	pthread_mutex_unlock(&e->lock);
	return n;
}

void e2pf_engine_list_put(struct e2pf_engine *e, const uint64_t *blocks,
			  size_t count)
{
	size_t i;

	pthread_mutex_lock(&e->lock);
	if (e->work == WORK_LIST) {
		for (i = 0; i < count; i++)
			e->list[(e->list_end + i) % LIST_ROOM] = blocks[i];
		e->list_end += count;
		e->news++;
		pthread_cond_broadcast(&e->work_cond);
	}
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_list_at(struct e2pf_engine *e, uint64_t index)
{
	move_to(e, WORK_LIST, index);
}

/* Is a sweep under way that will come by what the checker is at? */
static bool sweep_covers_checker(struct e2pf_engine *e)
{
	uint64_t at = e->at_valid ? atomic_load(&e->at) : 0;
	unsigned i;

	/* Of the bitmaps the sweep has all, in the order of pass 5; what is
	 * read before that is something else. */
	if (!e->gated || e->ending ||
	    (e->work == WORK_BITMAPS && e->phase != E2PF_PHASE_PASS5))
		return false;
	for (i = 0; i < e->lanes; i++) {
		struct lane *l = &e->lane[i];

		if (l->generation != e->generation)
			return true;	/* has yet to take up its work */
		if (l->state == LANE_SWEEPING &&
		    (e->work == WORK_BITMAPS ||
		     (l->first <= at && at <= l->last)))
			return true;
	}
	return false;
}

/* Signals that are about to end the check, by the hand of its user. */
static void ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGQUIT);
}

/* One came while the checker waits with them blocked.  From here on nothing
 * is to be waited for. */
static bool is_ending(struct e2pf_engine *e, const sigset_t *ending)
{
	sigset_t pending;
	int sig;

	if (sigpending(&pending))
		return false;
	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(ending, sig) == 1 &&
		    sigismember(&pending, sig) == 1)
			e->ending = true;
	return e->ending;
}

/*
 * On a disk with a head a read of the checker's own sends the head elsewhere
 * and back.  It waits until the sweep has brought the block, has ended, or
 * does not move.
 */
static void wait_at_gate(struct e2pf_engine *e, const struct e2pf_read *r)
{
	sigset_t ending, mask;
	uint64_t began, t;

	ending_signals(&ending);
	pthread_sigmask(SIG_BLOCK, &ending, &mask);
	pthread_mutex_lock(&e->lock);
	began = e2pf_now(e);
	e->gate_waiters++;
	if (sweep_covers_checker(e) && began - e->moved < GATE_PATIENCE_NS)
		e->stats.gate_waits++;
	for (t = began; !e->stop && !e->gave_up &&
	     !is_ending(e, &ending) && sweep_covers_checker(e) &&
	     t - began < GATE_LIMIT_NS && t - e->moved < GATE_PATIENCE_NS;
	     t = e2pf_now(e)) {
		struct timespec ts;
		bool there;

		e2pf_deadline(&ts, 20);
		pthread_cond_timedwait(&e->gate_cond, &e->lock, &ts);
		pthread_mutex_unlock(&e->lock);
		there = e2pf_is_resident(e, r->offset, r->length);
		pthread_mutex_lock(&e->lock);
		if (there)
			break;
	}
	e->gate_waiters--;
	pthread_mutex_unlock(&e->lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* While all is in memory and nobody asked for figures, one read in eight
 * tells whether it still is: timing costs 50 ns, a read of a block 1000. */
static bool is_passed_over(struct e2pf_engine *e)
{
	return e->asleep && !e->cfg.exact &&
	       atomic_fetch_add_explicit(&e->unsampled, 1,
					 memory_order_relaxed) % SAMPLE;
}

void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *r)
{
	r->began = 0;
	if (is_passed_over(e))
		return;
	r->began = r->asked = e2pf_now(e);
	r->waited = false;
	/* What comes from memory tells nothing of a stuck device. */
	r->missed = atomic_load(&e->stuck) &&
		    !e2pf_is_resident(e, r->offset, r->length);
	if (!atomic_load(&e->gated) || e2pf_is_resident(e, r->offset, r->length))
		return;
	r->waited = true;
	wait_at_gate(e, r);
	r->asked = e2pf_now(e);
}

/* Did this read wait for the device?  Asking the kernel before each read
 * costs more than the read (mincore() 0.9 us, a block from memory 0.6). */
static bool was_stall(const struct e2pf_read *r, uint64_t ns)
{
	return r->waited || ns > STALL_NS + r->length / 1024 * STALL_NS_PER_KIB;
}

/* All seemed to be in memory, and is not: when one read in sixteen waits.
 * Single ones only met another process on this processor. */
static void count_sleep_miss(struct e2pf_engine *e)
{
	uint64_t reads = 0;
	unsigned i;

	for (i = 0; i < E2PF_PHASES; i++)
		reads += atomic_load(&e->reads[i]);
	if (!e->sleep_misses ||
	    reads - e->sleep_since > WARM_MISSES * WARM_MISSES) {
		e->sleep_since = reads;
		e->sleep_misses = 0;
	}
	if (++e->sleep_misses >= WARM_MISSES)
		e2pf_wake(e);
}

/* A read of the checker tells whether the device is stuck, and whether it is
 * still. */
static void judge_device(struct e2pf_engine *e, const struct e2pf_read *r,
			 uint64_t ns)
{
	if (ns >= STUCK_NS)
		e->stuck = STUCK_PROOFS;
	else if (r->missed && e->stuck && ns < STUCK_NS / 4 && !--e->stuck)
		pthread_cond_broadcast(&e->work_cond);
}

static void count_stall(struct e2pf_engine *e, const struct e2pf_read *r,
			uint64_t now)
{
	uint64_t ns = now - r->began;

	pthread_mutex_lock(&e->lock);
	judge_device(e, r, now - r->asked);
	e->stats.phase[e->phase].stalls++;
	e->stats.phase[e->phase].stall_ns += ns;
	if (e->asleep)
		count_sleep_miss(e);
	pthread_mutex_unlock(&e->lock);
}

/* In the last pass only bitmaps are read.  One that is in no set is one that
 * had no room there, if there are such. */
static bool forget_unrecorded(struct e2pf_engine *e, uint64_t bytes)
{
	if (e->work != WORK_BITMAPS || e->phase != E2PF_PHASE_PASS5)
		return false;
	if (bytes > e->unrecorded)
		bytes = e->unrecorded;
	e->unrecorded -= bytes;
	return bytes;
}

/* What was read is ahead of the checker no more.  True if it was, some of
 * it. */
static bool forget(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t bs = e->cfg.geo->block_size;
	uint64_t first = r->offset / bs, count, n;

	count = (r->offset + r->length - 1) / bs - first + 1;
	pthread_mutex_lock(&e->lock);
	n = e2pf_blockset_remove(e->ahead, first, count) +
	    e2pf_blockset_remove(e->later, first, count);
	/* Bitmaps have no place in an order: what is read makes room. */
	if ((n < count && forget_unrecorded(e, (count - n) * bs)) ||
	    (n && e->work == WORK_BITMAPS))
		pthread_cond_broadcast(&e->work_cond);
	pthread_mutex_unlock(&e->lock);
	return n;
}

/* A read that had to wait, and after which the blocks are not in memory, has
 * failed: libext2fs passes on what the checker's handler makes of it. */
static void count_failed_ahead(struct e2pf_engine *e, const struct e2pf_read *r)
{
	if (e->cfg.dev->blind || e2pf_is_resident(e, r->offset, r->length))
		return;
	pthread_mutex_lock(&e->lock);
	e2pf_count_failure(e, &e->stats.failed_ahead);
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_after_read(struct e2pf_engine *e, const struct e2pf_read *r)
{
	bool stalled;
	uint64_t ns, t;

	if (!r->began)
		return;
	t = e2pf_now(e);
	ns = t - r->began;
	atomic_fetch_add(&e->checker_bytes, r->length);
	atomic_fetch_add(&e->reads[atomic_load(&e->phase)], 1);
	stalled = was_stall(r, ns);
	if (stalled)
		count_stall(e, r, t);
	else
		atomic_fetch_add(&e->hits[atomic_load(&e->phase)], 1);
	if (atomic_load(&e->tracking) && r->length && forget(e, r) && stalled)
		count_failed_ahead(e, r);
}
