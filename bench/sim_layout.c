// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which disks serve a request: mirrors, chunks, parity.  When a disk serves its
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

bool dm_has_parity(const struct dm_params *p)
{
	return p->layout == DM_RAID6;
}

uint64_t dm_disk_part(const struct dm_params *p, uint64_t size)
{
	return dm_has_parity(p) ? size / (p->spindles - PARITIES) : size;
}

/*
 * As in md: a stream stays with its head; otherwise the nearest idle head, or
 * else the one with the least work.
 */
static const struct copy *choose(const struct dm_sim *sim,
				 const struct copy *copies, unsigned int n)
{
	const struct copy *c, *best = copies;
	unsigned int load, best_load = 0;
	uint64_t best_span = 0;

	for (c = copies; c < copies + n; c++) {
		const struct spindle *s = &sim->spindle[c->nr];

		if (s->stream == c->off && c->off)
			return c;
		load = s->nr_queue + s->nr_host + s->busy;
		if (c > copies && (load > best_load || (load == best_load &&
			  span(s->at.head, c->off) >= best_span)))
			continue;
		best = c;
		best_load = load;
		best_span = span(s->at.head, c->off);
	}
	return best;
}

static void add_part(struct dm_sim *sim, const struct copy *c,
		     struct dm_req *req, uint32_t len, bool write,
		     uint64_t now)
{
	struct spindle *s = &sim->spindle[c->nr];

	s->stream = c->off + len;
	s->host[s->nr_host++] = (struct part){
		.req = req, .off = c->off, .len = len, .write = write,
		.arrival = now,
	};
	req->parts++;
}

/* Left-symmetric, md's default: parity moves one disk per stripe, and the data
 * begins behind it. */
static void parity_parts(struct dm_sim *sim, struct dm_req *req, uint64_t off,
			 uint32_t len, bool write, uint64_t now)
{
	unsigned int n = (unsigned int)sim->p.spindles, m = PARITIES;
	uint64_t chunk, stripe;
	unsigned int first, i;
	struct copy c;

	/* dm_params_problem() has refused such a device. */
	if (n <= m || !sim->p.chunk)
		return;
	chunk = off / sim->p.chunk;
	stripe = chunk / (n - m);
	first = n - 1 - (unsigned int)(stripe % n);
	c.off = stripe * sim->p.chunk + off % sim->p.chunk;
	c.nr = (first + m + (unsigned int)(chunk % (n - m))) % n;
	add_part(sim, &c, req, len, write, now);
	for (i = 0; req->op == DM_WRITE && i < m; i++) {
		c.nr = (first + i) % n;
		add_part(sim, &c, req, len, write, now);
	}
}

static void mirrored_parts(struct dm_sim *sim, struct dm_req *req,
			   uint64_t off, uint32_t len, bool write,
			   uint64_t now)
{
	struct copy copies[DM_MAX_SPINDLES];
	unsigned int i, n = (unsigned int)sim->p.spindles;

	for (i = 0; i < n; i++)
		copies[i] = (struct copy){ i, off };
	if (!write) {
		add_part(sim, choose(sim, copies, n), req, len, write, now);
		return;
	}
	for (i = 0; i < n; i++)
		add_part(sim, &copies[i], req, len, write, now);
}

void dm_issue(struct dm_sim *sim, struct dm_req *req, bool write,
	      uint64_t now)
{
	uint64_t off = req->off, left = req->len, len;
	const struct dm_params *p = &sim->p;
	unsigned int i;

	for (; left; off += len, left -= len) {
		len = min64(left, p->max_request);
		if (p->chunk)
			len = min64(len, p->chunk - off % p->chunk);
		if (dm_has_parity(p))
			parity_parts(sim, req, off, (uint32_t)len, write, now);
		else
			mirrored_parts(sim, req, off, (uint32_t)len, write,
				       now);
	}
	if (!req->parts)
		dm_parts_done(sim, req, now);
	for (i = 0; i < p->spindles; i++)
		if (!sim->spindle[i].busy)
			dm_disk_next(sim, &sim->spindle[i], now);
}

unsigned int dm_most_parts(const struct dm_sim *sim, const struct dm_req *req)
{
	uint64_t step = sim->p.max_request;

	if (sim->p.chunk)
		step = min64(step, sim->p.chunk);
	return 3 * (unsigned int)(req->len / step + 2);
}
