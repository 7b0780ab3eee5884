// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A modelled device in operation: takes requests, and returns each when it
 * completes.  The simulation has no clock, no data and no faults; sim.h lists
 * its other parts.
 */
#include <stdlib.h>

#include "sim.h"

/* Add to the list of known completions, which is in their order. */
static void add_completion(struct dm_sim *sim, struct dm_req *req, uint64_t when)
{
	struct dm_req **link = &sim->ending;

	req->done = when + req->delay;
	while (*link && (*link)->done <= req->done)
		link = &(*link)->next;
	req->next = *link;
	*link = req;
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

static int start_spindles(struct dm_sim *sim)
{
	const struct dm_params *p = &sim->p;
	uint64_t i;

	sim->capacity = p->capacity ? p->capacity :
		dm_disk_part(p, sim->size);
	sim->turn = 60 * NSEC / p->rpm;
	sim->track = p->media_rate * 60 / p->rpm;
	for (i = 0; i < p->spindles; i++) {
		sim->spindle[i].phase = i * sim->turn / p->spindles;
		sim->spindle[i].host = calloc(MAX_PARTS, sizeof(struct part));
		if (!sim->spindle[i].host)
			return -1;
	}
	return 0;
}

struct dm_sim *dm_sim_new(const struct dm_params *p, uint64_t image_size)
{
	struct dm_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->p = *p;
	sim->size = image_size;
	sim->quick = p->quick;
	sim->channel = calloc(p->channels ? p->channels : 1,
			      sizeof(*sim->channel));
	sim->spindle = calloc(p->spindles, sizeof(*sim->spindle));
	if (!sim->channel || !sim->spindle || forget_restored(sim) ||
	    (p->kind == DM_DISK && start_spindles(sim))) {
		dm_sim_free(sim);
		return NULL;
	}
	return sim;
}

int dm_sim_reset(struct dm_sim *sim)
{
	struct limiter rested = { 0 };

	if (sim->p.kind == DM_DISK)
		dm_disk_park(sim);
	sim->ops = sim->bytes = rested;
	sim->quick = sim->p.quick;
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
	free(sim);
}

static void begin(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	req->arrival = now;
	req->parts = 0;
	if (req->op == DM_READ && sim->quick) {
		sim->quick--;
		add_completion(sim, req, now);
		return;
	}
	if (sim->p.kind != DM_DISK && req->op != DM_FLUSH)
		add_completion(sim, req, dm_positionless(sim, req, now));
	else if (req->op == DM_READ && req->len)
		dm_issue(sim, req, now);
	else	/* A disk's cache takes all writes. */
		add_completion(sim, req, now + sim->p.overhead +
			     transfer(req->len, sim->p.bandwidth));
}

/* Run the disks until @now, in order. */
static void run(struct dm_sim *sim, uint64_t now)
{
	struct spindle *s;

	while ((s = dm_disk_event(sim)) && s->to.done <= now) {
		uint64_t when = s->to.done;
		struct dm_req *req = dm_disk_done(sim, s);

		if (req)
			add_completion(sim, req, when);
	}
}

int dm_sim_submit(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	run(sim, now);
	if (sim->nr_parts + dm_max_parts(sim, req) > MAX_PARTS)
		return -1;
	sim->nr_parts += dm_max_parts(sim, req);
	begin(sim, req, now);
	return 0;
}

struct dm_req *dm_sim_pop(struct dm_sim *sim, uint64_t now)
{
	struct dm_req *req;

	run(sim, now);
	req = sim->ending;
	if (!req || req->done > now)
		return NULL;
	sim->ending = req->next;
	sim->nr_parts -= dm_max_parts(sim, req);
	return req;
}

uint64_t dm_sim_next(const struct dm_sim *sim)
{
	const struct spindle *s = dm_disk_event(sim);
	uint64_t when = s ? s->to.done : DM_NEVER;

	return sim->ending ? min64(when, sim->ending->done) : when;
}
