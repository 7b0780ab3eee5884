/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/array.h"
#include "elevator.h"

/* A run ends when it is at least this long, so that the owner can check whether there
 * is room for more. */
#define MAX_RUN (4u << 20)

/* The first room of a level, in references.  These are 48 KiB, of which only the pages in
 * use take memory. */
#define FIRST_ROOM 2048u

/* Gaps on seek-bound devices (doc/performance.md, "Gaps").  On a disk 32 KiB pass under
 * the head in a quarter of a millisecond, less than any request takes.  Several disks,
 * whose requests take less than 3 ms with others in flight, are faster with 64 KiB. */
#define SEEK_GAP (32u << 10)
#define SPINDLES_GAP (64u << 10)
#define SPINDLES_NS 3000000u

/* Gaps on other devices.  If nothing is known about the device, there are no gaps.
 *
 * Gaps are narrow if one more request costs less than DEAR_NS; it costs 5 us on NVMe
 * and 12 to 20 us on a SATA SSD.  If requests were cheap when the device was measured,
 * perhaps because a volume admitted a burst, the limit is DEAR_AFTER_ALL_NS, because
 * waiting for 125 MB/s looks like a cost of 100 us and more.
 *
 * A volume may limit requests apart from bytes: 3,000 IOPS are 333 us a request.  There
 * gaps are wide while fewer bytes arrive than such a volume can deliver, about 110
 * MB/s, because then the bytes of gaps cost nothing.  They become narrow gradually,
 * from 7/8 of that rate to 9/8, so that they are narrow where 125 MB/s are the limit.
 * Volumes that were measured without a burst deliver at least LIMITED_BYTES for each
 * request. */
#define DEAR_NS 100000u
#define DEAR_AFTER_ALL_NS 200000u
#define WIDE_GAP (48u << 10)
#define NARROW_GAP (4u << 10)
#define LIMITED_BYTE_NS 9u
#define LIMITED_BYTES (40u << 10)

bool pf_elevator_is_sound(const struct pf_source *source,
			  const struct pf_ref *ref)
{
	return ref->cls < source->classes && ref->device < source->devices &&
	       ref->length && ref->offset < source->bytes[ref->device] &&
	       ref->length <= source->bytes[ref->device] - ref->offset;
}

/* Make room for one more reference.  A level has pages of its own, so that it grows
 * without a copy, and does not fragment the heap. */
static bool have_room(struct pf_level *l)
{
	size_t bytes = l->room * sizeof(*l->ref);
	void *mem;

	if (l->used < l->room)
		return true;
	if (bytes)
		mem = mremap(l->ref, bytes, bytes * 2, MREMAP_MAYMOVE);
	else
		mem = mmap(NULL, FIRST_ROOM * sizeof(*l->ref),
			   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (mem == MAP_FAILED)
		return false;
	l->ref = mem;
	l->room = bytes ? l->room * 2 : FIRST_ROOM;
	return true;
}

static void drop_level(struct pf_elevator *el, unsigned number)
{
	struct pf_level *l = &el->level[number];

	if (l->ref)
		munmap(l->ref, l->room * sizeof(*l->ref));
	el->in_memory -= l->in_memory;
	*l = (struct pf_level) { .ref = NULL };
}

/* The level of a new reference.  References that parsing finds belong below the level
 * that is being read. */
static unsigned level_of(const struct pf_elevator *el,
			 const struct pf_ref *ref)
{
	if (!el->depth)
		return 0;
	return ref->parse ? el->reading[el->depth - 1] + 1 : PF_UNPARSED_LEVEL;
}

void pf_elevator_add(struct pf_elevator *el, const struct pf_ref *ref)
{
	struct pf_level *l = &el->level[level_of(el, ref)];

	if (!have_room(l)) {
		el->out_of_memory = true;
		return;
	}
	l->ref[l->used++] = *ref;
	l->in_memory++;
	el->in_memory++;
}

/* Compare in device order.  The order of two references to the same offset does not
 * matter, but equal references must become neighbours. */
static int in_device_order(const void *a, const void *b)
{
	const struct pf_ref *x = a, *y = b;

	if (x->device != y->device)
		return E2PF_COMPARE(x->device, y->device);
	if (x->offset != y->offset)
		return E2PF_COMPARE(x->offset, y->offset);
	if (x->length != y->length)
		return E2PF_COMPARE(x->length, y->length);
	if (x->cls != y->cls)
		return E2PF_COMPARE(x->cls, y->cls);
	if (x->parse != y->parse)
		return E2PF_COMPARE(x->parse, y->parse);
	return E2PF_COMPARE(x->cookie, y->cookie);
}

/* Sort, and drop duplicates. */
static void sort_level(struct pf_level *l)
{
	size_t i, n = 0;

	if (!l->used)
		return;
	qsort(l->ref, l->used, sizeof(*l->ref), in_device_order);
	for (i = 1; i < l->used; i++)
		if (in_device_order(&l->ref[n], &l->ref[i]))
			l->ref[++n] = l->ref[i];
	l->used = n + 1;
}

static void begin_level(struct pf_elevator *el, unsigned depth,
			unsigned number)
{
	struct pf_level *l = &el->level[number];

	sort_level(l);
	l->requested = l->next = 0;
	l->at = l->ahead = 0;
	el->reading[depth] = number;
	el->depth = depth + 1;
}

void pf_elevator_begin(struct pf_elevator *el)
{
	begin_level(el, 0, 0);
}

/* Only two levels grow: the one below the level that is being read, and the last one.
 * They may take half of the room that the other levels leave, so that the levels below
 * have room, too.  Returns the larger one if they are full, otherwise PF_ALL_LEVELS. */
static unsigned full_level(const struct pf_elevator *el)
{
	unsigned below = el->reading[el->depth - 1] + 1;
	unsigned largest = PF_UNPARSED_LEVEL;
	size_t n = el->level[largest].used, left = el->max_refs;

	/* References of the level that is being read are not parsed. */
	if (below >= PF_UNPARSED_LEVEL)
		return PF_ALL_LEVELS;
	if (el->level[below].used >= n)
		largest = below;
	n += el->level[below].used;
	left -= el->in_memory - n < left ? el->in_memory - n : left;
	return n && n >= left / 2 ? largest : PF_ALL_LEVELS;
}

static bool may_bridge(struct pf_source *source, uint64_t from, uint64_t to)
{
	return to <= from || !source || !source->ops->may_read ||
	       source->ops->may_read(source, from, to - from);
}

/* Returns the index behind the run that begins with reference `i`.  The run has all
 * references that follow on the same device with gaps of at most `gap`, until it is
 * long enough. */
static size_t run_end(struct pf_source *source, const struct pf_level *l,
		      size_t i, uint64_t gap)
{
	const struct pf_ref *ref = &l->ref[i];
	uint64_t begin = ref->offset, end = begin;
	unsigned device = ref->device;

	for (; i < l->used && ref->device == device &&
	     ref->offset <= end + gap && end - begin < MAX_RUN &&
	     may_bridge(source, end, ref->offset); ref++, i++)
		if (ref->offset + ref->length > end)
			end = ref->offset + ref->length;
	return i;
}

static void next_run(struct pf_source *source, struct pf_level *l,
		     uint64_t gap, struct pf_elevator_step *step)
{
	size_t first = l->requested, end = run_end(source, l, first, gap);

	step->ref = &l->ref[first];
	step->n = end - first;
	for (; l->requested < end; l->requested++)
		l->ahead += l->ref[l->requested].length;
}

/* Returns true if the reference may be parsed further.  References of the last level
 * are not parsed, because there is no level for what they refer to.  Pieces of the
 * first level are not limited, because the source limits the units. */
static bool may_parse(struct pf_elevator *el, unsigned number,
		      const struct pf_ref *ref, uint64_t at)
{
	if (!ref->parse || at >= ref->length || number + 1 >= PF_MAX_LEVELS)
		return false;
	return !number || (el->parse_left && el->parse_left--);
}

/* End a level of which all references were requested and parsed. */
static void end_level(struct pf_elevator *el, unsigned number)
{
	drop_level(el, number);
	if (number + 1 < PF_MAX_LEVELS && el->level[number + 1].used)
		begin_level(el, el->depth - 1, number + 1);
	else
		el->depth--;
}

/* Choose the level to read now.  Returns false if there is none.  Called at each step,
 * because a level that becomes full is read before the rest of the level above. */
static bool choose_level(struct pf_elevator *el)
{
	unsigned full;

	if (!el->depth) {
		if (!el->level[PF_UNPARSED_LEVEL].used)
			return false;
		begin_level(el, 0, PF_UNPARSED_LEVEL);
	}
	full = full_level(el);
	if (full < PF_ALL_LEVELS)
		begin_level(el, el->depth, full);
	return true;
}

enum pf_step pf_elevator_next(struct pf_elevator *el, uint64_t gap,
			      struct pf_elevator_step *step)
{
	while (choose_level(el)) {
		unsigned number = el->reading[el->depth - 1];
		struct pf_level *l = &el->level[number];

		/* Request runs well before the worker waits for their bytes, so that the
		 * device always has a queue. */
		if (l->requested < l->used && l->ahead < el->max_ahead) {
			next_run(el->source, l, gap, step);
			return PF_STEP_RUN;
		}
		if (l->next == l->used) {
			end_level(el, number);
			continue;
		}
		step->ref = &l->ref[l->next];
		step->at = l->at;
		if (may_parse(el, number, step->ref, l->at))
			return PF_STEP_PARSE;
		l->ahead -= step->ref->length;
		l->next++;
		l->at = 0;
	}
	return PF_STEP_END;
}

void pf_elevator_advance(struct pf_elevator *el, uint32_t size)
{
	struct pf_level *l = &el->level[el->reading[el->depth - 1]];

	l->at = size ? l->at + size : UINT64_MAX;
}

void pf_elevator_end(struct pf_elevator *el)
{
	unsigned i;

	for (i = 0; i < PF_ALL_LEVELS; i++)
		drop_level(el, i);
	el->depth = 0;
}

/*
 * Gaps.
 */

/* The gap on a volume that limits requests.  Requests have `mean` bytes, and `bytes` can
 * arrive in the time of one request. */
static uint64_t sliding_gap(uint64_t bytes, uint64_t mean)
{
	uint64_t gap;

	if (mean * 8 >= bytes * 9)
		return NARROW_GAP;
	gap = NARROW_GAP + (WIDE_GAP - NARROW_GAP) * (bytes * 9 - mean * 8) /
	      (bytes * 2);
	return gap < WIDE_GAP ? gap : WIDE_GAP;
}

uint64_t pf_elevator_gap(const struct pf_speed *speed, uint64_t request_ns,
			 uint64_t mean)
{
	const bool dear = speed->request_ns > DEAR_NS;
	uint64_t latency = speed->latency_qd8_ns, bytes;

	if (speed->seek_bound)
		return latency && latency < SPINDLES_NS ? SPINDLES_GAP : SEEK_GAP;
	if (request_ns <= (dear ? DEAR_NS : DEAR_AFTER_ALL_NS))
		return speed->latency_ns || request_ns ? NARROW_GAP : 0;
	bytes = request_ns / LIMITED_BYTE_NS;
	if (dear && bytes < LIMITED_BYTES)
		bytes = LIMITED_BYTES;
	return sliding_gap(bytes, mean);
}
