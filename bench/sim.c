// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queue simulation: which request a modelled device serves next, and when
 * each one completes.
 *
 * Flash and network devices have no position, so a request's completion is
 * known when it arrives.  A disk decides at each completion what to do next:
 * the host's elevator fills the drive's queue, and the drive takes from that
 * queue the command it can reach first, rotation included.  Clocks, data and
 * faults are elsewhere.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define NSEC 1000000000ULL

/* Linux mq-deadline: fifo_batch. */
#define ELEVATOR_BATCH 16

/* The part of a request that one spindle serves. */
struct part {
	struct dm_req *req;
	uint64_t off;		/* on the spindle */
	uint64_t arrival;	/* at the host, then at the drive */
	uint64_t asked;		/* at the host */
	uint32_t len;
	bool write;
};

/* The state of a head between two accesses. */
struct place {
	uint64_t done;		/* when the host had the data */
	uint64_t head;		/* byte after the last one asked for */
	uint64_t since;		/* when the head passed it */
	uint64_t buf_lo;	/* the drive holds from here to the head */
};

struct spindle {
	struct place at;	/* after the last access */
	struct place to;	/* after the one being served */
	uint64_t phase;		/* disks do not turn in step */
	uint64_t stream;	/* end of the last request sent here */
	uint64_t sweep;		/* position of the elevator */
	unsigned int batch;	/* requests since it last checked the oldest */
	bool busy;
	uint64_t began;		/* start of the one being served */
	struct part cur;
	struct part queue[DM_MAX_DEPTH];	/* the drive's queue */
	unsigned int nr_queue;
	struct dm_head travel;
	struct part *host;	/* the host's queue, in order of arrival */
	unsigned int nr_host, max_host;
};

struct entry {
	uint64_t when, serial;
	struct dm_req *req;
};

struct dm_sim {
	struct dm_params p;
	uint64_t capacity;	/* bytes of one spindle */
	uint64_t track;		/* bytes per turn */
	uint64_t turn;		/* ns per turn */
	uint64_t link_free, serial, dirty;
	uint64_t next_op, next_byte;	/* when the rate limiters admit more */
	unsigned int nr_reqs;	/* outstanding, copies included */
	unsigned int nr_parts;	/* the most parts these can have */
	uint64_t *channel;	/* when each becomes free */
	struct entry *heap;
	unsigned int nr_heap, max_heap;
	struct dm_req *flushes[DM_MAX_DEPTH];
	unsigned int nr_flushes;
	struct spindle *spindle;
};

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t span(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t transfer(uint64_t len, uint64_t rate)
{
	return rate ? len * NSEC / rate : 0;
}

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

/* The disk. */

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
		   const struct part *part, uint64_t now, struct place *to)
{
	uint64_t end = part->off + part->len, ahead;
	uint64_t sent = now + sim->p.overhead +
		transfer(part->len, sim->p.bandwidth);
	bool stopped;

	if (part->write || part->off < s->at.buf_lo ||
	    part->off > s->at.head + sim->track)
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
		  const struct part *part, uint64_t now, struct place *to)
{
	uint64_t there = now + sim->p.overhead, distance;

	if (!stream(sim, s, part, now, to)) {
		distance = span(part->off, s->at.head);
		if (distance > sim->track)
			there += dm_seek_time(&sim->p, sim->capacity, distance);
		there += rotation_wait(sim, s, part->off, there);
		to->head = part->off + part->len;
		to->buf_lo = part->write ? to->head : part->off;
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
		    now - s->host[0].arrival > sim->p.expire)
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

static void count_move(const struct dm_sim *sim, struct spindle *s,
		       const struct part *part, uint64_t now)
{
	uint64_t distance = span(part->off, s->at.head);
	struct place to;

	s->travel.requests++;
	if (distance <= sim->track || stream(sim, s, part, now, &to))
		return;
	s->travel.seeks++;
	s->travel.back += part->off < s->at.head;
	s->travel.far += distance > s->travel.part / 10;
	s->travel.distance += distance;
}

static void start_next(struct dm_sim *sim, struct spindle *s, uint64_t now)
{
	uint64_t reached, best = DM_NEVER;
	unsigned int i, pick = 0;
	struct place to;

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
		if (now - s->queue[i].arrival > 2 * sim->p.expire &&
		    s->queue[i].arrival < s->queue[pick].arrival)
			pick = i;
	}
	s->cur = s->queue[pick];
	s->began = now;
	s->queue[pick] = s->queue[--s->nr_queue];
	s->busy = true;
	count_move(sim, s, &s->cur, now);
	visit(sim, s, &s->cur, now, &s->to);
}

/*
 * As in md: a stream stays with its head; otherwise the nearest idle head, or
 * else the one with the least work.
 */
static unsigned int raid1_choose(const struct dm_sim *sim, uint64_t off)
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

static void add_part(struct dm_sim *sim, unsigned int nr, struct dm_req *req,
		     uint64_t off, uint32_t len, bool write, uint64_t now)
{
	struct spindle *s = &sim->spindle[nr];

	s->stream = off + len;
	s->host[s->nr_host++] = (struct part){
		.req = req, .off = off, .len = len, .write = write,
		.arrival = now, .asked = now,
	};
	req->parts++;
}

/* Left-symmetric, md's default: parity moves one disk per stripe. */
static void raid6_parts(struct dm_sim *sim, struct dm_req *req, uint64_t off,
			uint32_t len, bool write, uint64_t now)
{
	unsigned int n = (unsigned int)sim->p.spindles, p, q;
	uint64_t chunk = off / sim->p.chunk, stripe = chunk / (n - 2);
	uint64_t at = stripe * sim->p.chunk + off % sim->p.chunk;

	p = n - 1 - (unsigned int)(stripe % n);
	q = (p + 1) % n;
	add_part(sim, (q + 1 + (unsigned int)(chunk % (n - 2))) % n, req, at,
		 len, write, now);
	if (req->op == DM_WRITE) {
		add_part(sim, p, req, at, len, write, now);
		add_part(sim, q, req, at, len, write, now);
	}
}

/* Split a request into single commands for each spindle. */
static void issue(struct dm_sim *sim, struct dm_req *req, bool write,
		  uint64_t now)
{
	uint64_t off = req->off, left = req->len, len;
	unsigned int i;

	for (; left; off += len, left -= len) {
		len = min64(left, sim->p.max_request);
		if (sim->p.layout == DM_RAID6) {
			len = min64(len, sim->p.chunk - off % sim->p.chunk);
			raid6_parts(sim, req, off, (uint32_t)len, write, now);
		} else if (!write) {
			add_part(sim, raid1_choose(sim, off), req, off,
				 (uint32_t)len, write, now);
		} else {
			for (i = 0; i < sim->p.spindles; i++)
				add_part(sim, i, req, off, (uint32_t)len,
					 write, now);
		}
	}
	for (i = 0; i < sim->p.spindles; i++)
		if (!sim->spindle[i].busy)
			start_next(sim, &sim->spindle[i], now);
}

static void release_flushes(struct dm_sim *sim, uint64_t now)
{
	while (!sim->dirty && sim->nr_flushes)
		heap_push(sim, sim->flushes[--sim->nr_flushes], now);
}

/* An upper bound for the parts of @req on one spindle at a time. */
static unsigned int most_parts(const struct dm_sim *sim,
			       const struct dm_req *req)
{
	uint64_t step = sim->p.max_request;

	if (sim->p.layout == DM_RAID6)
		step = min64(step, sim->p.chunk);
	return 3 * (unsigned int)(req->len / step + 2);
}

static void forget(struct dm_sim *sim, const struct dm_req *req)
{
	sim->nr_reqs--;
	sim->nr_parts -= most_parts(sim, req);
}

static void all_parts_done(struct dm_sim *sim, struct dm_req *req,
			   uint64_t now)
{
	/* A partial stripe first reads what parity needs, then is written. */
	if (sim->p.layout == DM_RAID6 && req->op == DM_WRITE && !req->phase) {
		req->phase = 1;
		issue(sim, req, true, now);
		return;
	}
	if (!req->early) {
		heap_push(sim, req, now);
		return;
	}
	sim->dirty -= req->len;
	forget(sim, req);
	free(req);
	release_flushes(sim, now);
}

static void part_done(struct dm_sim *sim, struct spindle *s)
{
	uint64_t now = s->to.done;
	struct dm_req *req = s->cur.req;

	s->at = s->to;
	s->busy = false;
	s->travel.busy += now - s->began;
	s->travel.waiting += now - s->cur.asked;
	if (!--req->parts)
		all_parts_done(sim, req, now);
	if (!s->busy)
		start_next(sim, s, now);
}

static struct spindle *next_event(const struct dm_sim *sim)
{
	struct spindle *s, *first = NULL;

	if (sim->p.kind != DM_DISK)
		return NULL;
	for (s = sim->spindle; s < sim->spindle + sim->p.spindles; s++)
		if (s->busy && (!first || s->to.done < first->to.done))
			first = s;
	return first;
}

static void run(struct dm_sim *sim, uint64_t now)
{
	struct spindle *s;

	while ((s = next_event(sim)) && s->to.done <= now)
		part_done(sim, s);
}

/* Devices without a position. */

/*
 * Wait for a rate limiter: @next is the time at which it lets the next command
 * begin, @cost the time that this command takes from it.
 */
static uint64_t admit(uint64_t *next, uint64_t now, uint64_t cost)
{
	uint64_t start = max64(now, *next);

	*next = start + cost;
	return start;
}

static uint64_t flash_time(struct dm_sim *sim, uint64_t len, bool write,
			   uint64_t now)
{
	const struct dm_params *p = &sim->p;
	uint64_t *c = sim->channel, *free_first = c;

	now = admit(&sim->next_op, now, p->iops ? NSEC / p->iops : 0);
	for (c = sim->channel; c < sim->channel + p->channels; c++)
		if (*c < *free_first)
			free_first = c;
	*free_first = max64(*free_first, now) +
		(write ? p->write_latency : p->latency);
	sim->link_free = max64(*free_first, sim->link_free) + p->overhead +
		transfer(len, p->bandwidth);
	return sim->link_free;
}

/*
 * Two limiters that run at the same time, as in such a volume: commands per
 * second whatever their size, and bytes per second whatever their number.  A
 * command waits for both, but what it takes from one it does not take from the
 * other, so many small commands and a few large ones can run side by side.
 */
static uint64_t network_time(struct dm_sim *sim, uint64_t len, bool write,
			     uint64_t now)
{
	const struct dm_params *p = &sim->p;
	uint64_t op, byte;

	op = admit(&sim->next_op, now, p->iops ? NSEC / p->iops : 0);
	byte = admit(&sim->next_byte, now, transfer(len, p->bandwidth));
	return max64(op, byte) + (write ? p->write_latency : p->latency);
}

static uint64_t positionless(struct dm_sim *sim, const struct dm_req *req,
			     uint64_t now)
{
	uint64_t left = req->len, len, done = now;
	bool write = req->op == DM_WRITE;

	for (; left; left -= len) {
		len = min64(left, sim->p.max_request);
		done = max64(done, sim->p.kind == DM_FLASH ?
			     flash_time(sim, len, write, now) :
			     network_time(sim, len, write, now));
	}
	return done;
}

/* The interface of model.h. */

struct dm_sim *dm_sim_new(const struct dm_params *p, uint64_t image_size)
{
	struct dm_sim *sim = calloc(1, sizeof(*sim));
	uint64_t i;

	if (!sim)
		return NULL;
	sim->p = *p;
	sim->channel = calloc(p->channels ? p->channels : 1,
			      sizeof(*sim->channel));
	sim->spindle = calloc(p->spindles, sizeof(*sim->spindle));
	if (!sim->channel || !sim->spindle) {
		dm_sim_free(sim);
		return NULL;
	}
	sim->capacity = p->capacity ? p->capacity :
		p->layout == DM_RAID6 ? image_size / (p->spindles - 2) :
		image_size;
	if (p->kind == DM_DISK) {
		sim->turn = 60 * NSEC / p->rpm;
		sim->track = p->media_rate * 60 / p->rpm;
		for (i = 0; i < p->spindles; i++) {
			sim->spindle[i].phase = i * sim->turn / p->spindles;
			sim->spindle[i].travel.part =
				p->layout == DM_RAID6 ?
				image_size / (p->spindles - 2) : image_size;
		}
	}
	return sim;
}

void dm_sim_park(struct dm_sim *sim)
{
	uint64_t i, middle = sim->capacity / 2;

	if (sim->p.kind != DM_DISK)
		return;
	for (i = 0; i < sim->p.spindles; i++) {
		struct spindle *s = &sim->spindle[i];

		if (s->busy)
			continue;
		s->at = (struct place){ .head = middle, .buf_lo = middle };
		s->stream = s->sweep = middle;
	}
}

bool dm_sim_head(const struct dm_sim *sim, unsigned int nr,
		 struct dm_head *head)
{
	if (sim->p.kind != DM_DISK || nr >= sim->p.spindles)
		return false;
	*head = sim->spindle[nr].travel;
	return true;
}

void dm_sim_reset_heads(struct dm_sim *sim)
{
	uint64_t i;

	for (i = 0; i < sim->p.spindles; i++)
		sim->spindle[i].travel = (struct dm_head){
			.part = sim->spindle[i].travel.part,
		};
}

/* An unfinished cached write belongs to the simulation. */
static void drop(const struct part *part)
{
	if (part->req->early && !--part->req->parts)
		free(part->req);
}

static void free_spindle(struct spindle *s)
{
	unsigned int i;

	if (s->busy)
		drop(&s->cur);
	for (i = 0; i < s->nr_queue; i++)
		drop(&s->queue[i]);
	for (i = 0; i < s->nr_host; i++)
		drop(&s->host[i]);
	free(s->host);
}

void dm_sim_free(struct dm_sim *sim)
{
	unsigned int i;

	if (!sim)
		return;
	for (i = 0; sim->spindle && i < sim->p.spindles; i++)
		free_spindle(&sim->spindle[i]);
	free(sim->spindle);
	free(sim->channel);
	free(sim->heap);
	free(sim);
}

/* Make room now: nothing allocates once a request is accepted. */
static int reserve(struct dm_sim *sim, const struct dm_req *req)
{
	unsigned int i, parts = sim->nr_parts + most_parts(sim, req);
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

static void account(struct dm_sim *sim, const struct dm_req *req)
{
	sim->nr_reqs++;
	sim->nr_parts += most_parts(sim, req);
}

/* Acknowledge a write from the cache; a copy of it does the work. */
static struct dm_req *cached_write(struct dm_sim *sim, struct dm_req *req,
				   uint64_t now)
{
	struct dm_req *copy;

	if (req->op != DM_WRITE ||
	    sim->dirty + req->len > sim->p.write_cache)
		return req;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return req;
	*copy = *req;
	copy->early = true;
	sim->dirty += req->len;
	account(sim, copy);
	heap_push(sim, req, now + sim->p.overhead +
		  transfer(req->len, sim->p.bandwidth));
	return copy;
}

int dm_sim_submit(struct dm_sim *sim, struct dm_req *req, uint64_t now)
{
	run(sim, now);
	if (reserve(sim, req))
		return -1;
	req->arrival = now;
	req->parts = req->phase = 0;
	req->early = false;
	account(sim, req);
	if (req->op == DM_FLUSH) {
		if (sim->dirty && sim->nr_flushes < DM_MAX_DEPTH)
			sim->flushes[sim->nr_flushes++] = req;
		else
			heap_push(sim, req, now + sim->p.overhead);
	} else if (!req->len || sim->p.kind != DM_DISK) {
		heap_push(sim, req, positionless(sim, req, now));
	} else {
		req = cached_write(sim, req, now);
		issue(sim, req, req->op == DM_WRITE &&
		      sim->p.layout != DM_RAID6, now);
	}
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
	const struct spindle *s = next_event(sim);
	uint64_t when = s ? s->to.done : DM_NEVER;

	return sim->nr_heap ? min64(when, sim->heap[0].when) : when;
}
