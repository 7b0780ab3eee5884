/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pass over some references, level by level: each level is sorted in device
 * order and merged into runs, then read and parsed, which fills the next.
 *
 * Does not know about budgets, the checker or other workers: it asks ahead.c
 * whether a reference for a later phase has room and which gaps are read through,
 * and calls worker.c for each run and read, which can end the pass.
 *
 * Memory is bounded: when a level is full, it is read and parsed, with
 * everything below it, before the level above continues.  Time is bounded on
 * hostile trees, too: duplicate references within a level are read once, the
 * number of levels is fixed, and the number of pieces parsed has a limit that
 * no valid filesystem comes near.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "engine_state.h"

/* Bytes requested and not yet waited for. */
#define HEAD_AHEAD (32u << 20)
#define FLASH_AHEAD (8u << 20)

/* A run that is at least so long ends, and there must be room for the next. */
#define RUN_MOST (4u << 20)

static void read_level(struct worker *w, unsigned number);

void e2pf_drop_level(struct worker *w, unsigned number)
{
	w->level[number].used = 0;
	w->level[number].bytes = 0;
}

void e2pf_free_levels(struct worker *w)
{
	unsigned i;

	for (i = 0; i < E2PF_ALL_LEVELS; i++) {
		free(w->level[i].ref);
		free(w->level[i].buf);
	}
	memset(w->level, 0, sizeof(w->level));
}

static bool have_room(struct worker *w, unsigned number)
{
	struct level *l = &w->level[number];
	void *refs = l->ref;
	bool room = (!number || l->used < w->level_most) &&
		    e2pf_have_room(&refs, &l->room, l->used, 1,
				   sizeof(*l->ref));

	l->ref = refs;
	return room;
}

bool e2pf_is_sound(const struct e2pf_source *source,
		   const struct e2pf_ref *ref)
{
	return ref->cls < source->classes && ref->device < source->devices &&
	       ref->length && ref->offset < source->bytes[ref->device] &&
	       ref->length <= source->bytes[ref->device] - ref->offset;
}

/* On a head deferred references belong to the sweep of the leaves. */
static unsigned level_of(const struct worker *w, const struct e2pf_ref *ref)
{
	if (ref->parse)
		return w->filling;
	if (w->phase && w->phase->deferred & UINT32_C(1) << ref->cls &&
	    !w->e->speed.has_head)
		return E2PF_DEFERRED;
	return w->filling ? E2PF_LEAVES : 0;
}

void e2pf_add(void *ctx, const struct e2pf_ref *ref)
{
	struct worker *w = ctx;
	unsigned filling = w->filling, number = level_of(w, ref);
	struct level *l = &w->level[number];

	if (w->ended || filling >= E2PF_LEVELS ||
	    !e2pf_is_sound(w->e->cfg.source, ref))
		return;
	if (w->phase && w->phase->later & UINT32_C(1) << ref->cls &&
	    !e2pf_has_room_later(w->e, ref->length))
		return;
	if (!have_room(w, number)) {
		if (!number) {
			w->incomplete = true;
			return;
		}
		/* The level is full: read it now, with everything it leads to.
		 * After that it is empty. */
		read_level(w, number);
		w->filling = filling;
		if (!have_room(w, number))
			return;
	}
	l->ref[l->used++] = *ref;
	l->bytes += ref->length;
	w->now.refs++;
	w->now.bytes += ref->length;
	if (!number)
		w->now.unit_bytes += ref->length;
}

/* Device order.  The order of two references to the same place does not matter,
 * but equal ones must become neighbours. */
static int in_device_order(const void *a, const void *b)
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

static void add_asked(struct worker *w, uint64_t bytes)
{
	w->now.asked_refs++;
	w->now.asked_bytes += bytes;
}

/* Sort, and drop duplicates. */
static void sort_level(struct worker *w, struct level *l)
{
	size_t i, n = 0;

	if (!l->used)
		return;
	qsort(l->ref, l->used, sizeof(*l->ref), in_device_order);
	for (i = 1; i < l->used; i++)
		if (in_device_order(&l->ref[n], &l->ref[i]))
			l->ref[++n] = l->ref[i];
		else
			add_asked(w, l->ref[i].length);
	l->used = n + 1;
}

/* Returns the index after the run that begins with reference `i`: all that
 * follow on the same device with no larger gaps than allowed, until the run is
 * long enough. */
static size_t run_end(const struct worker *w, const struct level *l, size_t i)
{
	const struct e2pf_ref *ref = &l->ref[i];
	uint64_t begin = ref->offset, end = begin, gap = e2pf_gap(w);
	unsigned device = ref->device;

	for (; i < l->used && ref->device == device &&
	     ref->offset <= end + gap && end - begin < RUN_MOST; ref++, i++)
		if (ref->offset + ref->length > end)
			end = ref->offset + ref->length;
	return i;
}

/* Read a reference piece by piece, and add what it leads to to the next
 * level. */
static void parse_ref(struct worker *w, unsigned number,
		      const struct e2pf_ref *ref)
{
	struct e2pf_source *source = w->e->cfg.source;
	struct e2pf_device *dev = w->e->cfg.devices[ref->device];
	struct level *l = &w->level[number];
	uint64_t at, began;
	uint32_t size;
	int err;

	for (at = 0; at < ref->length && !w->ended; at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size || (number && (!w->parse_left || !w->parse_left--)) ||
		    !e2pf_have_room(&l->buf, &l->buf_size, 0, size, 1))
			return;
		began = e2pf_now(w->e);
		err = dev->ops->read(dev, l->buf, ref->offset + at, size);
		w->ended = !e2pf_read_returned(w, err,
					       e2pf_now(w->e) - began);
		if (w->ended || err ||
		    !source->ops->parse(source, ref, at, l->buf, size,
					e2pf_add, w))
			continue;
		pthread_mutex_lock(&w->e->lock);
		e2pf_tell_news(w->e);
		pthread_mutex_unlock(&w->e->lock);
	}
}

/* Request runs until enough bytes are requested and not yet waited for. */
static size_t request_more(struct worker *w, const struct level *l,
			   size_t requested, uint64_t *ahead)
{
	uint64_t most = w->e->speed.has_head ? HEAD_AHEAD : FLASH_AHEAD;

	while (requested < l->used && *ahead < most && !w->ended) {
		size_t end = run_end(w, l, requested);

		w->ended = !e2pf_request_run(w, &l->ref[requested],
					     end - requested);
		for (; requested < end; requested++) {
			*ahead += l->ref[requested].length;
			add_asked(w, l->ref[requested].length);
		}
	}
	return requested;
}

/* Read one level and, from what it leads to, all below it. */
static void read_level(struct worker *w, unsigned number)
{
	struct level *l = &w->level[number];
	size_t requested = 0, i;
	uint64_t ahead = 0;

	sort_level(w, l);
	w->filling = number + 1;
	for (i = 0; i < l->used && !w->ended; i++) {
		/* Request runs well before waiting for their bytes, so that the
		 * device always has a queue. */
		requested = request_more(w, l, requested, &ahead);
		ahead -= l->ref[i].length;
		if (l->ref[i].parse)
			parse_ref(w, number, &l->ref[i]);
		if (!number)
			w->now.parsed_bytes += l->ref[i].length;
	}
	e2pf_drop_level(w, number);
	w->filling = number + 1;
	if (!w->ended && number + 1 < E2PF_LEVELS && l[1].used)
		read_level(w, number + 1);
}

void e2pf_pass(struct worker *w)
{
	const struct level *deferred = &w->level[E2PF_DEFERRED];
	unsigned i;

	if (e2pf_is_deferred(w)) {
		read_level(w, E2PF_DEFERRED);
	} else {
		read_level(w, 0);
		if (!w->ended)
			read_level(w, E2PF_LEAVES);
	}
	for (i = 0; i <= E2PF_LEAVES; i++)
		e2pf_drop_level(w, i);
	w->now.asked_bytes = w->now.bytes - deferred->bytes;
	w->now.asked_refs = w->now.refs - deferred->used;
	w->now.parsed_bytes = w->now.unit_bytes;
	w->filling = 0;
	w->ended = false;
}
