// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A modelled device in operation: takes requests, and returns each when it
 * completes.  The simulation has no clock, no data and no faults; sim.h lists
 * its other parts.
 */
#include <stdlib.h>

#include "sim.h"

/* The heap of known completions. */

static bool before(const struct entry *a, const struct entry *b)
{
	return a->when != b->when ? a->when < b->when :
		a->serial < b->serial;
}

/* reserve() has made room for everything outstanding at submission. */
static void heap_push(struct dm_sim *sim, struct dm_req *req, uint64_t when)
{
	unsigned int i = sim->nr_heap++, up;
	struct entry e = { when, sim->serial++, req };

	req->done = when;
	for (; i; i = up) {
		up = (i - 1) / 2;
		if (!before(&e, &sim->heap[up]))
			break;
		sim->heap[i] = sim->heap[up];
	}
	sim->heap[i] = e;
}

static struct dm_req *heap_pop(struct dm_sim *sim)
{
	struct dm_req *req = sim->heap[0].req;
	struct entry e = sim->heap[--sim->nr_heap];
	unsigned int i = 0, down;

	while ((down = 2 * i + 1) < sim->nr_heap) {
		if (down + 1 < sim->nr_heap &&
		    before(&sim->heap[down + 1], &sim->heap[down]))
			down++;
		if (!before(&sim->heap[down], &e))
			break;
		sim->heap[i] = sim->heap[down];
		i = down;
	}
	sim->heap[i] = e;
	return req;
}

static void *grow(void *array, unsigned int *max, unsigned int need,
		  size_t size)
{
	unsigned int n = *max ? *max : 64;

	if (array && need <= *max)
		return array;
	while (n < need)
		n *= 2;
	array = realloc(array, n * size);
	if (array)
		*max = n;
	return array;
}

static void forget(struct dm_sim *sim, const struct dm_req *req)
{
	sim->nr_reqs--;
	sim->nr_parts -= dm_most_parts(sim, req);
}

void dm_parts_done(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	heap_push(sim, req, now);
}

/* The interface of model.h. */

/* The chunks of a snapshot, all of which are still elsewhere. */
static int forget_restored(struct dm_sim *sim)
{
	if (!sim->p.restore_max)
		return 0;
	free(sim->restored);
	sim->nr_restored = sim->size / sim->p.restore_chunk + 1;
	sim->restored = calloc(sim->nr_restored, sizeof(*sim->restored));
	return sim->restored ? 0 : -1;
}

static void start_spindles(struct dm_sim *sim)
{
	const struct dm_params *p = &sim->p;
	uint64_t i;

	sim->capacity = p->capacity ? p->capacity :
		dm_disk_part(p, sim->size);
	sim->turn = 60 * NSEC / p->rpm;
	sim->track = p->media_rate * 60 / p->rpm;
	for (i = 0; i < p->spindles; i++)
		sim->spindle[i].phase = i * sim->turn / p->spindles;
}

struct dm_sim *dm_sim_new(const struct dm_params *p, uint64_t image_size)
{
	struct dm_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->p = *p;
	sim->size = image_size;
	sim->zero = DM_NEVER;
	sim->channel = calloc(p->channels ? p->channels : 1,
			      sizeof(*sim->channel));
	sim->spindle = calloc(p->spindles, sizeof(*sim->spindle));
	if (!sim->channel || !sim->spindle || forget_restored(sim)) {
		dm_sim_free(sim);
		return NULL;
	}
	if (p->kind == DM_DISK)
		start_spindles(sim);
	return sim;
}

int dm_sim_reset(struct dm_sim *sim)
{
	struct limiter rested = { 0 };

	if (sim->p.kind == DM_DISK)
		dm_disk_park(sim);
	sim->ops = sim->bytes = rested;
	sim->zero = DM_NEVER;
	sim->draws = 0;
	return forget_restored(sim);
}

uint64_t dm_sim_served(const struct dm_sim *sim, unsigned int nr)
{
	return nr < sim->p.spindles ? sim->spindle[nr].served : 0;
}

void dm_sim_free(struct dm_sim *sim)
{
	unsigned int i;

	if (!sim)
		return;
	for (i = 0; sim->spindle && i < sim->p.spindles; i++)
		free(sim->spindle[i].host);
	free(sim->spindle);
	free(sim->channel);
	free(sim->restored);
	free(sim->heap);
	free(sim);
}

/* Make room now: nothing allocates once a request is accepted. */
static int reserve(struct dm_sim *sim, const struct dm_req *req)
{
	unsigned int i, parts = sim->nr_parts + dm_most_parts(sim, req);
	void *new;

	new = grow(sim->heap, &sim->max_heap, sim->nr_reqs + 2,
		   sizeof(*sim->heap));
	if (!new)
		return -1;
	sim->heap = new;
	for (i = 0; sim->p.kind == DM_DISK && i < sim->p.spindles; i++) {
		struct spindle *s = &sim->spindle[i];

		new = grow(s->host, &s->max_host, parts, sizeof(*s->host));
		if (!new)
			return -1;
		s->host = new;
	}
	return 0;
}

static void begin(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	req->arrival = now;
	req->parts = 0;
	sim->nr_reqs++;
	sim->nr_parts += dm_most_parts(sim, req);
	if (sim->p.kind != DM_DISK && req->op != DM_FLUSH)
		heap_push(sim, req, dm_positionless(sim, req, now));
	else if (req->op == DM_READ && req->len)
		dm_issue(sim, req, now);
	else	/* A disk's cache takes all writes. */
		heap_push(sim, req, now + sim->p.overhead +
			  transfer(req->len, sim->p.bandwidth));
}

/* What the disks do until @now, in order. */
static void run(struct dm_sim *sim, uint64_t now)
{
	struct spindle *s;

	while ((s = dm_disk_event(sim)) && s->to.done <= now)
		dm_disk_done(sim, s);
}

int dm_sim_submit(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	if (sim->zero == DM_NEVER)
		sim->zero = now;
	run(sim, now);
	if (reserve(sim, req))
		return -1;
	begin(sim, req, now);
	return 0;
}

struct dm_req *dm_sim_pop(struct dm_sim *sim, uint64_t now)
{
	struct dm_req *req;

	run(sim, now);
	if (!sim->nr_heap || sim->heap[0].when > now)
		return NULL;
	req = heap_pop(sim);
	forget(sim, req);
	return req;
}

uint64_t dm_sim_next(const struct dm_sim *sim)
{
	const struct spindle *s = dm_disk_event(sim);
	uint64_t when = s ? s->to.done : DM_NEVER;

	return sim->nr_heap ? min64(when, sim->heap[0].when) : when;
}
