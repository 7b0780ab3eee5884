// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Devices without a position, flash and network volumes: when a request
 * completes is known when it arrives.
 */
#include "sim.h"

/* The finalizer of splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t hash(uint64_t number)
{
	uint64_t z = 0x9e3779b97f4a7c15ULL + number;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * Wait for a rate limiter.  Each command takes @cost ns from it; time in which
 * none came is saved up to @burst ns.
 */
static uint64_t admit(struct limiter *l, uint64_t now, uint64_t cost,
		      uint64_t burst)
{
	uint64_t start = max64(now, later(l->next, burst));

	l->next = max64(start, l->next) + cost;
	return start;
}

static uint64_t per_op(uint64_t rate)
{
	return rate ? NSEC / rate : 0;
}

static uint64_t flash_time(struct dm_sim *sim, uint64_t len, bool write,
			   uint64_t now)
{
	const struct dm_params *p = &sim->p;
	uint64_t *c = sim->channel, *free_first = c;

	now = admit(&sim->ops, now, per_op(p->iops), 0);
	for (c = sim->channel; c < sim->channel + p->channels; c++)
		if (*c < *free_first)
			free_first = c;
	now = max64(*free_first, now);
	*free_first = now + (write ? p->write_latency : p->latency);
	sim->link_free = max64(*free_first, sim->link_free) + p->overhead +
		transfer(len, p->bandwidth);
	return sim->link_free;
}

/*
 * When all of @len bytes at @off have come from the snapshot.  A chunk is
 * fetched when it is first asked for, and any number of chunks at a time.
 */
static uint64_t restored(struct dm_sim *sim, uint64_t off, uint64_t len,
			 uint64_t now)
{
	const struct dm_params *p = &sim->p;
	uint64_t chunk, *ready, done = now;

	if (!sim->restored || !len)
		return now;
	for (chunk = off / p->restore_chunk;
	     chunk <= (off + len - 1) / p->restore_chunk &&
	     chunk < sim->nr_restored; chunk++) {
		ready = &sim->restored[chunk];
		if (!*ready)
			*ready = now + p->restore_min +
				hash(chunk) %
				(p->restore_max - p->restore_min + 1);
		done = max64(done, *ready);
	}
	return done;
}

/*
 * Two limiters that run at the same time, as in such a volume: commands per
 * second whatever their size, and bytes per second whatever their number.  A
 * command waits for both, but what it takes from one it does not take from the
 * other, and therefore small commands and a few large ones can run side by side.
 *
 * A burst of either lets commands pass at once until it is used up.
 */
static uint64_t network_time(struct dm_sim *sim, uint64_t off, uint64_t len,
			     bool write, uint64_t now)
{
	const struct dm_params *p = &sim->p;
	uint64_t op, byte;

	op = admit(&sim->ops, now, per_op(p->iops), p->burst);
	byte = admit(&sim->bytes, now, transfer(len, p->bandwidth),
		     p->byte_burst);
	now = restored(sim, off, len, max64(op, byte));
	return now + (write ? p->write_latency : p->latency);
}

uint64_t dm_positionless(struct dm_sim *sim, const struct dm_req *req,
			 uint64_t now)
{
	uint64_t off = req->off, left = req->len, len, done = now;
	bool write = req->op == DM_WRITE;

	for (; left; off += len, left -= len) {
		len = min64(left, sim->p.max_request);
		done = max64(done, sim->p.kind == DM_FLASH ?
			     flash_time(sim, len, write, now) :
			     network_time(sim, off, len, write, now));
	}
	return done;
}
