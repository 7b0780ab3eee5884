/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records the last readahead requests on a device, and waits for them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdlib.h>

#include "drain.h"

/* More than a device's queue holds (1,023 in NVMe, 256 in most others): with a
 * full queue, a new request waits for an earlier one to complete. */
#define REQUESTS 2048u

/* A request older than ten seconds is no longer in any queue. */
#define IN_FLIGHT_NS 10000000000u

struct request {
	uint64_t last;			/* its last byte */
	uint64_t asked;			/* in ns; 0: unused entry */
};

struct inflight {
	struct e2pf_device dev;
	struct e2pf_device *real;
	pthread_mutex_t lock;
	struct request request[REQUESTS];
	unsigned next;			/* index of the oldest */
};

static struct inflight *inflight_of(struct e2pf_device *dev)
{
	return (struct inflight *)dev;
}

static uint64_t inflight_span(struct e2pf_device *dev, uint64_t offset,
			      uint64_t len, bool *resident)
{
	struct e2pf_device *real = inflight_of(dev)->real;

	return real->ops->span(real, offset, len, resident);
}

static unsigned inflight_willneed(struct e2pf_device *dev, uint64_t offset,
				  uint64_t len)
{
	struct inflight *f = inflight_of(dev);
	struct e2pf_device *real = f->real;
	uint64_t end = offset + len, part = dev->max_readahead;

	pthread_mutex_lock(&f->lock);
	while (offset < end) {
		uint64_t n = part && end - offset > part ? part : end - offset;

		offset += n;
		f->request[f->next].last = offset - 1;
		f->request[f->next].asked = real->ops->now(real);
		f->next = (f->next + 1) % REQUESTS;
	}
	pthread_mutex_unlock(&f->lock);
	return real->ops->willneed(real, end - len, len);
}

static int inflight_read(struct e2pf_device *dev, void *buf, uint64_t offset,
			 uint32_t len)
{
	struct e2pf_device *real = inflight_of(dev)->real;

	return real->ops->read(real, buf, offset, len);
}

static uint64_t inflight_now(struct e2pf_device *dev)
{
	struct e2pf_device *real = inflight_of(dev)->real;

	return real->ops->now(real);
}

static bool inflight_is_gone(struct e2pf_device *dev, uint64_t offset)
{
	struct e2pf_device *real = inflight_of(dev)->real;

	return real->ops->is_gone && real->ops->is_gone(real, offset);
}

static void inflight_close(struct e2pf_device *dev)
{
	struct inflight *f = inflight_of(dev);

	f->real->ops->close(f->real);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static const struct e2pf_device_ops inflight_ops = {
	.span = inflight_span,
	.willneed = inflight_willneed,
	.read = inflight_read,
	.now = inflight_now,
	.close = inflight_close,
	.is_gone = inflight_is_gone,
};

struct e2pf_device *e2pf_drain_new(struct e2pf_device *real)
{
	struct inflight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dev = *real;
	f->dev.ops = &inflight_ops;
	f->real = real;
	pthread_mutex_init(&f->lock, NULL);
	return &f->dev;
}

void e2pf_drain(struct e2pf_device *dev, int milliseconds)
{
	struct inflight *f = inflight_of(dev);
	uint64_t began = inflight_now(dev), now = began;
	uint64_t patience = (uint64_t)milliseconds * 1000000u;
	unsigned i;

	for (i = 1; i <= REQUESTS && now - began < patience; i++) {
		const struct request *r = &f->request[(f->next + REQUESTS - i) %
						      REQUESTS];
		bool resident;
		char byte;

		if (!r->asked || now - r->asked > IN_FLIGHT_NS)
			return;
		/* A page that is being read is not resident yet, and a read of
		 * it waits until it is.  A page that was dropped again is left
		 * alone. */
		inflight_span(dev, r->last, 1, &resident);
		if (!resident && !inflight_is_gone(dev, r->last))
			inflight_read(dev, &byte, r->last, 1);
		now = inflight_now(dev);
	}
}
