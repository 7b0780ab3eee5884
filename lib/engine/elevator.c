/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One elevator pass, level by level.
 *
 * Decides the order within a pass and what is merged.  Does not know about
 * budgets, the checker or other workers: it asks its owner before each run, and
 * the owner can end the pass.
 *
 * Memory is bounded: when a level is full, it is read and parsed, with
 * everything below it, before the level above continues.  Time is bounded on
 * hostile trees, too: duplicate references within a level are read once, the
 * number of levels is fixed, and the number of pieces parsed has a limit that
 * no valid filesystem comes near.
 */
#include <stdlib.h>
#include <string.h>

#include "elevator.h"

/* The level of references that are not parsed, if these come last. */
#define LEAVES E2PF_LEVELS

static void run_level(struct e2pf_elevator *ev, unsigned number);

void e2pf_elevator_init(struct e2pf_elevator *ev)
{
	memset(ev->level, 0, sizeof(ev->level));
	ev->filling = 0;
	atomic_store(&ev->found_bytes, 0);
	atomic_store(&ev->issued_bytes, 0);
	atomic_store(&ev->issued_runs, 0);
	atomic_store(&ev->queued_runs, 0);
	atomic_store(&ev->unit_bytes, 0);
	atomic_store(&ev->parsed_bytes, 0);
	ev->ended = false;
	ev->incomplete = false;
}

void e2pf_elevator_fini(struct e2pf_elevator *ev)
{
	unsigned i;

	for (i = 0; i <= LEAVES; i++) {
		free(ev->level[i].ref);
		free(ev->level[i].buf);
	}
	e2pf_elevator_init(ev);
}

static bool grow(const struct e2pf_elevator *ev, struct e2pf_level *l)
{
	size_t room = l->room ? l->room * 2 : 256;
	struct e2pf_ref *ref;

	if (l != ev->level && room > ev->level_cap)
		room = ev->level_cap;
	if (room <= l->used)
		return false;
	ref = realloc(l->ref, room * sizeof(*ref));
	if (!ref)
		return false;
	l->ref = ref;
	l->room = room;
	return true;
}

/* Only the thread of the pass writes these. */
static void add_to(atomic_uint_fast64_t *count, uint64_t n)
{
	atomic_store_explicit(count, atomic_load_explicit(count,
			      memory_order_relaxed) + n, memory_order_relaxed);
}

static bool is_sound(const struct e2pf_source *source,
			 const struct e2pf_ref *ref)
{
	return ref->cls < source->classes && ref->device < source->devices &&
	       ref->length && ref->offset < source->bytes[ref->device] &&
	       ref->length <= source->bytes[ref->device] - ref->offset;
}

/* May two references be in one run? */
static bool is_near(const struct e2pf_elevator *ev, const struct e2pf_ref *a,
		    const struct e2pf_ref *b)
{
	return a->device == b->device &&
	       b->offset <= a->offset + a->length + ev->gap &&
	       a->offset <= b->offset + b->length + ev->gap;
}

void e2pf_elevator_add(void *ctx, const struct e2pf_ref *ref)
{
	struct e2pf_elevator *ev = ctx;
	unsigned filling = ev->filling, number = filling;
	struct e2pf_level *l;

	if (ev->ended || number >= E2PF_LEVELS || !is_sound(ev->source, ref))
		return;
	if (!ref->parse && (ev->deferred & UINT32_C(1) << ref->cls) &&
	    ev->ops->defer(ev->ctx, ref))
		return;
	if (ev->leaves_last && filling && !ref->parse)
		number = LEAVES;
	l = &ev->level[number];
	if (l->used == l->room && !grow(ev, l)) {
		if (!number) {
			ev->incomplete = true;
			return;
		}
		/* The level is full: read it now, with everything it leads to.
		 * After that it is empty. */
		run_level(ev, number);
		ev->filling = filling;
		if (l->used == l->room)
			return;
	}
	if (!l->used || !is_near(ev, &l->ref[l->used - 1], ref)) {
		l->runs++;
		add_to(&ev->queued_runs, 1);
	}
	l->ref[l->used++] = *ref;
	add_to(&ev->found_bytes, ref->length);
	if (!number)
		add_to(&ev->unit_bytes, ref->length);
}

/* Device order.  The order of two references to the same place does not matter,
 * but equal ones must become neighbours. */
static int by_place(const void *a, const void *b)
{
	const struct e2pf_ref *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	if (x->cls != y->cls)
		return x->cls < y->cls ? -1 : 1;
	if (x->parse != y->parse)
		return x->parse < y->parse ? -1 : 1;
	return x->cookie < y->cookie ? -1 : x->cookie > y->cookie;
}

/* Sort, and drop duplicates. */
static void sort_level(struct e2pf_elevator *ev, struct e2pf_level *l)
{
	size_t i, n = 0;

	if (!l->used)
		return;
	qsort(l->ref, l->used, sizeof(*l->ref), by_place);
	for (i = 1; i < l->used; i++)
		if (by_place(&l->ref[n], &l->ref[i]))
			l->ref[++n] = l->ref[i];
		else
			add_to(&ev->issued_bytes, l->ref[i].length);
	l->used = n + 1;
}

/* Returns the index after the run that begins with reference `i`: all that
 * follow on the same device with no larger gaps than allowed, each and in
 * all, until the run is long enough. */
static size_t run_end(const struct e2pf_elevator *ev,
		      const struct e2pf_level *l, size_t i)
{
	uint64_t end = l->ref[i].offset + l->ref[i].length;
	uint64_t begin = l->ref[i].offset, most = ev->source->run_most;
	uint64_t room = ev->gap_room;
	unsigned device = l->ref[i].device;

	for (i++; i < l->used && l->ref[i].device == device &&
	     l->ref[i].offset <= end + ev->gap &&
	     (!most || end - begin < most); i++) {
		const struct e2pf_ref *ref = &l->ref[i];

		if (ref->offset > end && ref->offset - end > room)
			break;
		room -= ref->offset > end ? ref->offset - end : 0;
		if (ref->offset + ref->length > end)
			end = ref->offset + ref->length;
	}
	return i;
}

/* Now that they are sorted it is known how many runs they make. */
static void count_runs(struct e2pf_elevator *ev, struct e2pf_level *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->used; i = run_end(ev, l, i))
		n++;
	add_to(&ev->queued_runs, n - l->runs);
	l->runs = n;
}

static int read_timed(struct e2pf_device *dev, void *buf, uint64_t offset,
		      uint32_t len, uint64_t *waited)
{
	uint64_t began = dev->ops->now(dev);
	int err = dev->ops->read(dev, buf, offset, len);

	*waited = dev->ops->now(dev) - began;
	return err;
}

static bool have_buffer(struct e2pf_level *l, uint32_t size)
{
	unsigned char *buf;

	if (size <= l->buf_size)
		return true;
	buf = realloc(l->buf, size);
	if (!buf)
		return false;
	l->buf = buf;
	l->buf_size = size;
	return true;
}

/* May another piece of this level be parsed? */
static bool may_parse(struct e2pf_elevator *ev, unsigned number)
{
	if (!number)
		return true;
	if (!ev->parse_left)
		return false;
	ev->parse_left--;
	return true;
}

/* Read a reference piece by piece, and add what it leads to to the next
 * level. */
static void parse_ref(struct e2pf_elevator *ev, unsigned number,
		      const struct e2pf_ref *ref)
{
	struct e2pf_source *source = ev->source;
	struct e2pf_level *l = &ev->level[number];
	struct e2pf_device *dev = ev->devices[ref->device];
	uint64_t at, waited;
	uint32_t size;
	int err;

	for (at = 0; at < ref->length && !ev->ended; at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size || !have_buffer(l, size) || !may_parse(ev, number))
			return;
		err = read_timed(dev, l->buf, ref->offset + at, size, &waited);
		if (!ev->ops->arrived(ev->ctx, err, waited))
			ev->ended = true;
		else if (!err &&
			 source->ops->parse(source, ref, at, l->buf, size,
					    e2pf_elevator_add, ev))
			ev->ops->units_added(ev->ctx);
	}
}

/* Issue runs until issue_ahead bytes are issued and not yet passed. */
static size_t issue_more(struct e2pf_elevator *ev, struct e2pf_level *l,
			 size_t issued, uint64_t *ahead)
{
	while (issued < l->used && *ahead < ev->issue_ahead && !ev->ended) {
		size_t end = run_end(ev, l, issued);
		uint64_t bytes = 0, i;

		if (!ev->ops->issue(ev->ctx, &l->ref[issued], end - issued))
			ev->ended = true;
		for (i = issued; i < end; i++)
			bytes += l->ref[i].length;
		add_to(&ev->issued_bytes, bytes);
		add_to(&ev->issued_runs, 1);
		if (l->runs) {
			l->runs--;
			add_to(&ev->queued_runs, -UINT64_C(1));
		}
		*ahead += bytes;
		issued = end;
	}
	return issued;
}

/* Read one level and, from what it leads to, all below it. */
static void run_level(struct e2pf_elevator *ev, unsigned number)
{
	struct e2pf_level *l = &ev->level[number];
	size_t issued = 0, i;
	uint64_t ahead = 0;

	sort_level(ev, l);
	count_runs(ev, l);
	ev->filling = number + 1;
	for (i = 0; i < l->used && !ev->ended; i++) {
		/* Issue runs well before waiting for their bytes, so that the
		 * device always has a queue. */
		issued = issue_more(ev, l, issued, &ahead);
		ahead -= l->ref[i].length;
		if (l->ref[i].parse)
			parse_ref(ev, number, &l->ref[i]);
		if (!number)
			add_to(&ev->parsed_bytes, l->ref[i].length);
	}
	l->used = 0;
	add_to(&ev->queued_runs, -(uint64_t)l->runs);
	l->runs = 0;
	ev->filling = number + 1;
	if (!ev->ended && number + 1 < E2PF_LEVELS &&
	    ev->level[number + 1].used)
		run_level(ev, number + 1);
}

void e2pf_elevator_run(struct e2pf_elevator *ev)
{
	unsigned i;

	run_level(ev, 0);
	if (!ev->ended)
		run_level(ev, LEAVES);
	for (i = 0; i <= LEAVES; i++)
		ev->level[i].used = ev->level[i].runs = 0;
	atomic_store(&ev->queued_runs, 0);
	atomic_store(&ev->issued_bytes, ev->found_bytes);
	atomic_store(&ev->parsed_bytes, ev->unit_bytes);
	ev->filling = 0;
	ev->ended = false;
}
