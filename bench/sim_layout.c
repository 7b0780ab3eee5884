// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which disks serve a read: mirrors, chunks, parity.  When a disk serves its
 * part is decided elsewhere.
 */
#include "sim.h"

/* A place at which the same data is. */
struct copy {
	unsigned int nr;	/* of the spindle */
	uint64_t off;
};

/* Of RAID6: P and Q. */
#define PARITIES 2

uint64_t dm_disk_part(const struct dm_params *p, uint64_t size)
{
	return p->layout == DM_RAID6 ? size / (p->spindles - PARITIES) : size;
}

/*
 * As in md: a stream stays with its head; otherwise the nearest idle head, or
 * else the one with the least work.
 */
static unsigned int mirror_disk(const struct dm_sim *sim, uint64_t off)
{
	unsigned int i, load, best = 0, best_load = 0;
	uint64_t best_span = 0;

	for (i = 0; i < sim->p.spindles; i++) {
		const struct spindle *s = &sim->spindle[i];

		if (s->stream == off && off)
			return i;
		load = s->nr_queue + s->nr_host + s->busy;
		if (i && (load > best_load || (load == best_load &&
			  span(s->at.head, off) >= best_span)))
			continue;
		best = i;
		best_load = load;
		best_span = span(s->at.head, off);
	}
	return best;
}

/* Left-symmetric, md's default: parity moves one disk per stripe, and the data
 * begins behind it.  @off becomes that on the disk. */
static unsigned int raid6_disk(const struct dm_sim *sim, uint64_t *off)
{
	uint64_t chunk = *off / sim->p.chunk, n = sim->p.spindles;
	uint64_t data = n - PARITIES, stripe = chunk / data;
	uint64_t first = n - 1 - stripe % n;

	*off = stripe * sim->p.chunk + *off % sim->p.chunk;
	return (unsigned int)((first + PARITIES + chunk % data) % n);
}

void dm_issue(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	uint64_t off = req->off, left = req->len, len, at;
	const struct dm_params *p = &sim->p;
	struct spindle *s;
	unsigned int i;

	for (; left; off += len, left -= len) {
		len = min64(left, p->max_request);
		at = off;
		if (p->layout == DM_RAID6) {
			len = min64(len, p->chunk - off % p->chunk);
			s = &sim->spindle[raid6_disk(sim, &at)];
		} else {
			s = &sim->spindle[mirror_disk(sim, off)];
		}
		s->stream = at + len;
		s->host[s->nr_host++] = (struct part){
			.req = req, .off = at, .len = (uint32_t)len,
			.arrival = now,
		};
		req->parts++;
	}
	for (i = 0; i < p->spindles; i++)
		if (!sim->spindle[i].busy)
			dm_disk_next(sim, &sim->spindle[i], now);
}

unsigned int dm_most_parts(const struct dm_sim *sim, const struct dm_req *req)
{
	uint64_t step = sim->p.max_request;

	if (sim->p.chunk)
		step = min64(step, sim->p.chunk);
	return (unsigned int)(req->len / step) + 2;
}
