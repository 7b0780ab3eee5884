/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A simulated device and clock.  Does not know about filesystems; of the
 * calling threads it knows only which ones are workers; there are none without
 * fake-threads.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake-device.h"
#include "fake-threads.h"

#pragma weak fake_worker

static int worker(void)
{
	return fake_worker ? fake_worker() : -1;
}

/* Time a read takes on a fast SSD, and a request of a burst, ns. */
#define MISS_NS 100000u
#define BURST_NS 5000u

static struct fake_device *fake(struct pf_device *dev)
{
	return (struct fake_device *)dev;
}

static uint64_t last_block(const struct fake_device *f, uint64_t offset,
			   uint64_t len)
{
	return (offset + len - 1) / f->block_size;
}

/* The kernel keeps the page of a block that it could not read. */
static enum pf_residency state_of(const struct fake_device *f, uint64_t block)
{
	if (block >= f->blocks)
		return PF_MISSING;
	if (f->resident[block])
		return PF_CACHED;
	return f->in_flight[block] || f->in_part[block] ||
	       (f->bad[block] && f->asked[block]) ? PF_NOT_UPTODATE :
		       PF_MISSING;
}

static uint64_t fake_span(struct pf_device *dev, uint64_t offset,
			  uint64_t len, enum pf_residency *state)
{
	struct fake_device *f = fake(dev);
	uint64_t b = offset / f->block_size, end;
	LOCKED(&f->lock);

	/* As preadv2(2) with RWF_NOWAIT. */
	errno = EAGAIN;
	*state = PF_MISSING;
	if (!len)
		return 0;
	end = last_block(f, offset, len) + 1;
	*state = state_of(f, b);
	while (b < end && b < f->blocks && state_of(f, b) == *state)
		b++;
	if (b >= end || b >= f->blocks)
		return len;
	return b * f->block_size - offset;
}

static void note(struct fake_device *f, enum fake_op op, uint64_t block,
		 uint64_t count)
{
	if (!f->event)
		return;
	if (f->events == FAKE_EVENTS)
		abort();
	f->event[f->events++] = (struct fake_event) {
		.op = op, .block = block, .count = count, .worker = worker()
	};
}

static void reach(struct fake_device *f, uint64_t block, uint64_t count)
{
	f->sweeps += !f->reached || block + f->blocks / 16 < f->last;
	f->last = block;
	f->reached++;
	f->reached_blocks += count;
}

static bool is_not_uptodate(const struct fake_device *f, enum fake_op op)
{
	return worker() >= 0 && f->held[op] &&
	       (f->held_worker < 0 || f->held_worker == worker());
}

/* Block a worker until the test releases it. */
static void hold(struct fake_device *f, enum fake_op op)
{
	if (!is_not_uptodate(f, op))
		return;
	f->blocked[op]++;
	while (is_not_uptodate(f, op))
		pthread_cond_wait(&f->cond, &f->lock);
	f->blocked[op]--;
}

static bool is_inside(const struct fake_device *f, uint64_t offset,
		      uint64_t len)
{
	bool inside = offset <= f->dev.size && len <= f->dev.size - offset;

	if (f->strict && (!inside || !len))
		abort();
	return inside;
}

static void fake_willneed(struct pf_device *dev, uint64_t offset,
			  uint64_t len)
{
	struct fake_device *f = fake(dev);
	uint64_t b = offset / f->block_size, end = last_block(f, offset, len);
	uint64_t asked;
	LOCKED(&f->lock);

	is_inside(f, offset, len);
	note(f, FAKE_WILLNEED, b, end - b + 1);
	hold(f, FAKE_WILLNEED);
	f->requests++;
	asked = f->missing_asked;
	/* The kernel passes over a page that is there. */
	for (; b <= end && b < f->blocks; b++) {
		if (f->resident[b] || f->in_part[b])
			continue;
		f->asked[b]++;
		f->missing_asked++;
		if (f->late)
			f->in_flight[b] = 1;
		else if (!f->bad[b])
			f->resident[b] = 1;
	}
	asked = f->missing_asked - asked;
	if (asked) {
		f->clock += (f->reached < f->burst ? BURST_NS : f->ask_ns) +
			    asked * f->ask_block_ns;
		reach(f, offset / f->block_size, asked);
	}
}

static int bring(struct fake_device *f, uint64_t b, uint64_t end)
{
	uint64_t first = b, missed = 0;

	for (; b <= end; b++) {
		if (f->bad[b]) {
			f->bad_read += worker() >= 0;
			return EIO;
		}
		/* A worker waits for blocks in flight, as a reader waits for a
		 * page lock. */
		while (f->in_flight[b] && worker() >= 0)
			pthread_cond_wait(&f->cond, &f->lock);
		if (!f->resident[b] && worker() >= 0)
			f->missing_read++;
		missed += !f->resident[b];
		f->resident[b] = 1;
		f->in_part[b] = 0;
	}
	if (missed) {
		f->clock += f->miss_ns;
		reach(f, first, missed);
	}
	return 0;
}

static int fake_read(struct pf_device *dev, void *buf, uint64_t offset,
		     uint32_t len)
{
	struct fake_device *f = fake(dev);
	uint64_t b = offset / f->block_size, end;
	bool inside = is_inside(f, offset, len);
	int err;
	LOCKED(&f->lock);

	if (!len)
		return 0;
	if (!inside)
		return EIO;
	end = last_block(f, offset, len);
	f->reads++;
	note(f, FAKE_READ, b, end - b + 1);
	hold(f, FAKE_READ);
	err = bring(f, b, end);
	if (!err && f->image)
		memcpy(buf, f->image + offset, len);
	f->clock += f->tick;
	return err;
}

static uint64_t fake_now(struct pf_device *dev)
{
	struct fake_device *f = fake(dev);
	uint64_t t;

	pthread_mutex_lock(&f->lock);
	t = f->clock;
	pthread_mutex_unlock(&f->lock);
	if (f->on_now)
		f->on_now(f);
	return t;
}

static void fake_close(struct pf_device *dev)
{
	(void)dev;
}

static bool fake_arrives(struct pf_device *dev, uint64_t offset, uint64_t len,
			 uint64_t ns, bool drop)
{
	struct fake_device *f = fake(dev);
	enum pf_residency state;
	uint64_t part;

	for (; len; offset += part, len -= part) {
		part = fake_span(dev, offset, len, &state);
		if (state != PF_NOT_UPTODATE)
			continue;
		fake_advance(f, ns);
		return drop && f->fails_at_once &&
		       f->bad[offset / f->block_size];
	}
	return true;
}

static const struct pf_device_ops fake_ops = {
	.span = fake_span,
	.willneed = fake_willneed,
	.read = fake_read,
	.now = fake_now,
	.close = fake_close,
};

void fake_tell(struct fake_device *f)
{
	static struct pf_device_ops telling;

	telling = fake_ops;
	telling.arrives = fake_arrives;
	f->dev.ops = &telling;
}

void fake_new_unrecorded(struct fake_device *f, const void *image,
			 uint64_t size, uint32_t block_size)
{
	memset(f, 0, sizeof(*f));
	f->dev.ops = &fake_ops;
	f->dev.size = size;
	f->dev.max_readahead = 128 << 10;
	f->dev.page_size = block_size;
	f->dev.sees_not_uptodate = true;
	f->image = image;
	f->block_size = block_size;
	f->blocks = size / block_size;
	f->clock = 1;
	f->held_worker = -1;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->cond, NULL);
	f->miss_ns = MISS_NS;
	f->resident = calloc(f->blocks, 1);
	f->in_flight = calloc(f->blocks, 1);
	f->in_part = calloc(f->blocks, 1);
	f->bad = calloc(f->blocks, 1);
	f->asked = calloc(f->blocks, sizeof(*f->asked));
	if (!f->resident || !f->in_flight || !f->in_part || !f->bad || !f->asked)
		abort();
}

void fake_new(struct fake_device *f, const void *image, uint64_t size,
	      uint32_t block_size)
{
	fake_new_unrecorded(f, image, size, block_size);
	f->event = calloc(FAKE_EVENTS, sizeof(*f->event));
	if (!f->event)
		abort();
}

void fake_free(struct fake_device *f)
{
	pthread_cond_destroy(&f->cond);
	pthread_mutex_destroy(&f->lock);
	free(f->resident);
	free(f->in_flight);
	free(f->in_part);
	free(f->bad);
	free(f->asked);
	free(f->event);
}

void fake_set_resident(struct fake_device *f, uint64_t block, uint64_t count,
		       bool resident)
{
	LOCKED(&f->lock);

	memset(f->resident + block, resident, count);
}

void fake_set_bad(struct fake_device *f, uint64_t block, uint64_t count)
{
	LOCKED(&f->lock);

	memset(f->bad + block, 1, count);
}

void fake_set_in_part(struct fake_device *f, uint64_t block, uint64_t count)
{
	LOCKED(&f->lock);

	memset(f->in_part + block, 1, count);
}

void fake_complete(struct fake_device *f)
{
	uint64_t b;

	pthread_mutex_lock(&f->lock);
	for (b = 0; b < f->blocks; b++) {
		if (f->in_flight[b] && !f->bad[b])
			f->resident[b] = 1;
		f->in_flight[b] = 0;
	}
	pthread_cond_broadcast(&f->cond);
	pthread_mutex_unlock(&f->lock);
}

void fake_set_late(struct fake_device *f, bool late)
{
	LOCKED(&f->lock);

	f->late = late;
}

void fake_hold(struct fake_device *f, enum fake_op op, bool held)
{
	LOCKED(&f->lock);

	f->held[op] = held;
	if (!held)
		pthread_cond_broadcast(&f->cond);
}

void fake_hold_only(struct fake_device *f, int worker)
{
	LOCKED(&f->lock);

	f->held_worker = worker;
	pthread_cond_broadcast(&f->cond);
}

void fake_advance(struct fake_device *f, uint64_t ns)
{
	LOCKED(&f->lock);

	f->clock += ns;
}

uint64_t fake_missing_asked(struct fake_device *f)
{
	LOCKED(&f->lock);

	return f->missing_asked;
}

unsigned fake_asked(struct fake_device *f, uint64_t block)
{
	LOCKED(&f->lock);

	return f->asked[block];
}

unsigned fake_blocked(struct fake_device *f, enum fake_op op)
{
	LOCKED(&f->lock);

	return f->blocked[op];
}
