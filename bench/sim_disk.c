// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Disks: which of them serves a read, mirrors, chunks and parity considered, which
 * command a drive serves next, and when it ends.
 *
 * A disk decides at each completion what to do next: the host's elevator fills
 * the drive's queue, and the drive takes from that queue the command it can
 * reach first, rotation included.
 */
#include <string.h>

#include "sim.h"

/* Linux mq-deadline: fifo_batch. */
#define ELEVATOR_BATCH 16

/* How long until the platter has turned so that @off is under the head. */
static uint64_t rotation_wait(const struct dm_sim *sim,
			      const struct spindle *s, uint64_t off,
			      uint64_t when)
{
	uint64_t target = (off % sim->track) * sim->turn / sim->track;
	uint64_t angle = (when + s->phase) % sim->turn;

	/* A rounding error must not cost a full turn. */
	if (angle - target < 20000 && angle >= target)
		return 0;
	return target >= angle ? target - angle :
		target + sim->turn - angle;
}

/* Bytes after the head that the drive has read ahead by @now. */
static uint64_t read_ahead(const struct dm_sim *sim, const struct spindle *s,
			   uint64_t now, bool *stopped)
{
	uint64_t elapsed = now > s->at.since ? now - s->at.since : 0;

	*stopped = elapsed > transfer(sim->p.buffer, sim->p.media_rate);
	return *stopped ? sim->p.buffer :
		elapsed * sim->p.media_rate / NSEC;
}

/*
 * A read that continues on the track under the head, or that is within what the
 * drive has read ahead since.  Returns false if the head must move.
 */
static bool stream(const struct dm_sim *sim, const struct spindle *s,
		   const struct part *part, uint64_t now, struct head_state *to)
{
	uint64_t end = part->off + part->len, ahead;
	uint64_t sent = now + sim->p.overhead +
		transfer(part->len, sim->p.bandwidth);
	bool stopped;

	if (part->off < s->at.buf_lo || part->off > s->at.head + sim->track)
		return false;
	ahead = read_ahead(sim, s, now, &stopped);
	if (stopped && end > s->at.head + ahead)
		return false;
	*to = s->at;
	/* When the buffer is full the drive waits for the host to make room. */
	if (stopped)
		to->since = now - transfer(sim->p.buffer, sim->p.media_rate);
	to->done = sent;
	if (end > s->at.head) {
		to->since += transfer(end - s->at.head, sim->p.media_rate);
		to->head = end;
		to->done = max64(to->since, sent);
	}
	return true;
}

/* Where @part would leave the head if it were next, and when. */
static void visit(const struct dm_sim *sim, const struct spindle *s,
		  const struct part *part, uint64_t now, struct head_state *to)
{
	uint64_t there = now + sim->p.overhead, distance;

	if (!stream(sim, s, part, now, to)) {
		distance = span(part->off, s->at.head);
		if (distance > sim->track)
			there += dm_seek_time(&sim->p, sim->capacity,
					      distance);
		there += rotation_wait(sim, s, part->off, there);
		to->head = part->off + part->len;
		to->buf_lo = part->off;
		to->done = to->since = there +
			transfer(part->len, sim->p.media_rate);
	}
	if (to->head - to->buf_lo > sim->p.buffer)
		to->buf_lo = to->head - sim->p.buffer;
}

/*
 * The host's elevator, as in mq-deadline: ascending, in batches.  After a
 * batch, and when nothing is ahead, it checks the oldest request.  The next
 * batch begins with that request if it has waited too long or nothing is ahead;
 * otherwise the sweep goes on.
 */
static unsigned int elevator_pick(const struct dm_sim *sim,
				  struct spindle *s, uint64_t now)
{
	unsigned int i, next = 0, n = s->nr_host;
	uint64_t next_off = UINT64_MAX;

	if (n > sim->p.elevator)
		n = sim->p.elevator;
	for (i = 0; i < n; i++) {
		if (s->host[i].off >= s->sweep && s->host[i].off < next_off) {
			next = i;
			next_off = s->host[i].off;
		}
	}
	if (next_off == UINT64_MAX || s->batch >= ELEVATOR_BATCH) {
		s->batch = 0;
		if (next_off == UINT64_MAX ||
		    later(now, s->host[0].arrival) > sim->p.expire)
			next = 0;
	}
	s->batch++;
	return next;
}

static void feed_drive(const struct dm_sim *sim, struct spindle *s,
		       uint64_t now)
{
	struct part *part;
	unsigned int i;

	while (s->nr_host && s->nr_queue < sim->p.queue_depth) {
		i = elevator_pick(sim, s, now);
		s->sweep = s->host[i].off + s->host[i].len;
		part = &s->queue[s->nr_queue++];
		*part = s->host[i];
		part->arrival = now;
		s->nr_host--;
		memmove(&s->host[i], &s->host[i + 1],
			(s->nr_host - i) * sizeof(*s->host));
	}
}

/* Begin the next command of an idle disk. */
static void next_command(struct dm_sim *sim, struct spindle *s, uint64_t now)
{
	uint64_t reached, best = DM_NEVER;
	unsigned int i, pick = 0;
	struct head_state to;

	feed_drive(sim, s, now);
	if (!s->nr_queue)
		return;
	for (i = 0; i < s->nr_queue; i++) {
		visit(sim, s, &s->queue[i], now, &to);
		reached = to.done -
			min64(to.done, transfer(s->queue[i].len,
						sim->p.media_rate));
		if (reached < best) {
			best = reached;
			pick = i;
		}
	}
	for (i = 0; i < s->nr_queue; i++) {
		if (later(now, s->queue[i].arrival) > 2 * sim->p.expire &&
		    s->queue[i].arrival < s->queue[pick].arrival)
			pick = i;
	}
	s->cur = s->queue[pick];
	s->queue[pick] = s->queue[--s->nr_queue];
	s->busy = true;
	visit(sim, s, &s->cur, now, &s->to);
	/* The drive tries a bad sector again and again, and nothing else
	 * meanwhile. */
	s->to.done += s->cur.req->delay;
	s->cur.req->delay = 0;
}

struct dm_req *dm_disk_done(struct dm_sim *sim, struct spindle *s)
{
	uint64_t now = s->to.done;
	struct dm_req *req = s->cur.req;
	bool last = !--req->parts;

	s->at = s->to;
	s->busy = false;
	s->served++;
	next_command(sim, s, now);
	return last ? req : NULL;
}

struct spindle *dm_disk_event(const struct dm_sim *sim)
{
	struct spindle *s, *first = NULL;

	if (sim->p.kind != DM_DISK)
		return NULL;
	for (s = sim->spindle; s < sim->spindle + sim->p.spindles; s++)
		if (s->busy && (!first || s->to.done < first->to.done))
			first = s;
	return first;
}

void dm_disk_park(struct dm_sim *sim)
{
	uint64_t i, middle = sim->capacity / 2;

	for (i = 0; i < sim->p.spindles; i++) {
		struct spindle *s = &sim->spindle[i];

		s->served = 0;
		if (s->busy)
			continue;
		s->at = (struct head_state){ .head = middle, .buf_lo = middle };
		s->stream = s->sweep = middle;
	}
}

/* The parity of RAID6: P and Q. */
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
			next_command(sim, &sim->spindle[i], now);
}

unsigned int dm_max_parts(const struct dm_sim *sim, const struct dm_req *req)
{
	uint64_t step = sim->p.max_request;

	if (sim->p.chunk)
		step = min64(step, sim->p.chunk);
	return (unsigned int)(req->len / step) + 2;
}
