// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What changes a modelled device with time: jitter that a seed decides, a
 * period in which it is slow, and another reader.  All of it is counted from
 * the first request after a reset, so that each run has the same.
 */
#include <string.h>

#include "sim.h"

/* The finalizer of splitmix64 (Steele, Lea and Flood, 2014). */
uint64_t dm_hash(uint64_t seed, uint64_t number)
{
	uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15ULL + number;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Whether @now is at least @from and less than @until ns after the first
 * request. */
static bool within(const struct dm_sim *sim, uint64_t now, uint64_t from,
		   uint64_t until)
{
	uint64_t since = later(now, sim->zero);

	return sim->zero != DM_NEVER && since >= from && since < until;
}

uint64_t dm_slowness(const struct dm_sim *sim, uint64_t now)
{
	const struct dm_params *p = &sim->p;

	return within(sim, now, p->slow_at, p->slow_at + p->slow_for) ?
		p->slow_by : 1;
}

uint64_t dm_draw(struct dm_sim *sim)
{
	const struct dm_params *p = &sim->p;
	uint64_t r;

	if (!p->seed)
		return 1000;
	r = dm_hash(p->seed, sim->draws++);
	if (p->rare && r % p->rare == 0)
		return 1000 * p->rare_by;
	return 1000 - 10 * p->jitter + (r >> 32) % (20 * p->jitter + 1);
}

uint64_t dm_service(struct dm_sim *sim, uint64_t ns, uint64_t now)
{
	return ns * dm_draw(sim) / 1000 * dm_slowness(sim, now);
}

/* The other reader. */

static unsigned int bucket_of(uint64_t us)
{
	unsigned int shift = 0;

	while (us >> shift >= 2 * TENANT_STEPS)
		shift++;
	return shift * TENANT_STEPS + (unsigned int)(us >> shift);
}

/* The largest latency of a bucket, in us. */
static uint64_t bucket_end(unsigned int bucket)
{
	unsigned int shift = 0;

	if (bucket >= 2 * TENANT_STEPS)
		shift = bucket / TENANT_STEPS - 1;
	return ((uint64_t)(bucket - shift * TENANT_STEPS + 1) << shift) - 1;
}

uint64_t dm_sim_tenant(const struct dm_sim *sim, unsigned int percent,
		       uint64_t *us)
{
	const struct tenant *t = &sim->tenant;
	uint64_t seen = 0;
	unsigned int i;

	*us = 0;
	for (i = 0; t->done && i < TENANT_BUCKETS; i++) {
		seen += t->count[i];
		if (seen * 100 >= t->done * percent) {
			*us = bucket_end(i);
			break;
		}
	}
	return t->done;
}

uint64_t dm_tenant_next(const struct dm_sim *sim)
{
	const struct tenant *t = &sim->tenant;

	if (!sim->p.tenant_rate || sim->zero == DM_NEVER ||
	    t->next >= sim->p.tenant_end || t->outstanding == TENANT_DEPTH)
		return DM_NEVER;
	return max64(sim->zero + t->next, t->freed);
}

/* Requests come at random, but never two in less than half of the mean time:
 * as many readers at once would make them. */
void dm_tenant_issue(struct dm_sim *sim)
{
	const struct dm_params *p = &sim->p;
	struct tenant *t = &sim->tenant;
	uint64_t gap = NSEC / p->tenant_rate, now = dm_tenant_next(sim);
	uint64_t asked = sim->zero + t->next;
	uint64_t r = dm_hash(p->seed + 1, t->issued);
	struct dm_req *req;
	unsigned int i;

	for (i = 0; t->used[i]; i++)
		;
	req = &t->req[i];
	*req = (struct dm_req){
		.off = (r >> 16) % (sim->size / p->tenant_size) *
			p->tenant_size,
		.len = (uint32_t)p->tenant_size, .op = DM_READ,
	};
	t->issued++;
	t->next += gap / 2 + r % (gap + 1);
	/* Out of memory, this request is left out. */
	if (dm_reserve(sim, req))
		return;
	t->used[i] = true;
	t->asked[i] = asked;
	t->outstanding++;
	dm_begin(sim, req, now);
}

bool dm_tenant_done(struct dm_sim *sim, const struct dm_req *req)
{
	struct tenant *t = &sim->tenant;
	size_t i;

	if (req < t->req || req >= t->req + TENANT_DEPTH)
		return false;
	i = (size_t)(req - t->req);
	t->used[i] = false;
	if (t->outstanding-- == TENANT_DEPTH)
		t->freed = req->done;
	if (t->asked[i] != DM_NEVER) {
		t->done++;
		t->count[bucket_of(later(req->done, t->asked[i]) / 1000)]++;
	}
	return true;
}

void dm_tenant_reset(struct dm_sim *sim)
{
	struct tenant *t = &sim->tenant;
	unsigned int i;

	for (i = 0; i < TENANT_DEPTH; i++)
		t->asked[i] = DM_NEVER;
	memset(t->count, 0, sizeof(t->count));
	t->done = t->issued = 0;
	t->next = sim->p.tenant_start;
	t->freed = 0;
}
