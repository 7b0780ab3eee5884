/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A page cache over a modelled device. */
#include <stdlib.h>
#include <string.h>

#include "sim-device.h"

/* Linux: nr_requests of a device without a scheduler.  Who asks for more
 * waits. */
#define QUEUE 256u

/* The larger of the kernel's usual readahead and a request is read by one
 * POSIX_FADV_WILLNEED. */
#define READAHEAD (128u << 10)

enum { MISSING, IN_FLIGHT, CACHED };

static struct sim_device *device(struct e2pf_device *dev)
{
	return (struct sim_device *)dev;
}

static uint64_t pages_to(uint64_t bytes)
{
	return (bytes + SIM_PAGE - 1) / SIM_PAGE;
}

/*
 * Requests.
 */

static uint64_t next_event(void *ctx)
{
	return dm_sim_next(((struct sim_device *)ctx)->sim);
}

/* It takes the place of the page that has been cached for longest. */
static void arrive(struct sim_device *d, uint64_t page)
{
	uint64_t *place = &d->arrived[d->arrivals % d->room];

	if (d->arrivals++ >= d->room)
		d->page[*place] = MISSING;
	*place = page;
	d->page[page] = CACHED;
}

static void complete(void *ctx, uint64_t now)
{
	struct sim_device *d = ctx;
	struct dm_req *req;
	char *first, *end, *page;

	while ((req = dm_sim_pop(d->sim, now))) {
		first = d->page + req->off / SIM_PAGE;
		end = first + req->len / SIM_PAGE;
		for (page = first; page < end; page++)
			arrive(d, (uint64_t)(page - d->page));
		d->in_flight--;
		free(req);
		sim_wake(first, end);
		sim_wake(&d->in_flight, &d->in_flight + 1);
	}
}

static void request(struct sim_device *d, uint64_t page, uint64_t pages)
{
	struct dm_req *req = calloc(1, sizeof(*req));

	if (!req)
		abort();
	req->off = page * SIM_PAGE;
	req->len = (uint32_t)pages * SIM_PAGE;
	memset(d->page + page, IN_FLIGHT, pages);
	d->in_flight++;
	d->sweeps += !d->requests ||
		     req->off + d->dev.size / 16 < d->last;
	d->last = req->off;
	d->requests++;
	d->bytes += req->len;
	if (dm_sim_submit(d->sim, req, sim_now()))
		abort();
}

/* Request whatever is missing. */
static void fetch(struct sim_device *d, uint64_t page, uint64_t end)
{
	uint64_t most = d->params.max_request / SIM_PAGE, n;

	while (page < end) {
		if (d->page[page] != MISSING) {
			page++;
			continue;
		}
		if (d->in_flight >= QUEUE) {
			sim_wait(&d->in_flight);
			continue;
		}
		for (n = 1; page + n < end && n < most &&
			    d->page[page + n] == MISSING; n++)
			;
		request(d, page, n);
		page += n;
	}
}

/*
 * The operations.
 */

static uint64_t sim_span(struct e2pf_device *dev, uint64_t offset,
			 uint64_t len, bool *resident)
{
	const struct sim_device *d = device(dev);
	uint64_t page = offset / SIM_PAGE, end = pages_to(offset + len), n;

	*resident = d->page[page] == CACHED;
	for (n = page + 1; n < end &&
			   (d->page[n] == CACHED) == *resident; n++)
		;
	return n == end ? len : n * SIM_PAGE - offset;
}

static unsigned sim_willneed(struct e2pf_device *dev, uint64_t offset,
			     uint64_t len)
{
	fetch(device(dev), offset / SIM_PAGE, pages_to(offset + len));
	return (unsigned)((len + dev->max_readahead - 1) / dev->max_readahead);
}

static int sim_read(struct e2pf_device *dev, void *buf, uint64_t offset,
		    uint32_t len)
{
	struct sim_device *d = device(dev);
	uint64_t page = offset / SIM_PAGE, end = pages_to(offset + len);

	if (offset > dev->size || len > dev->size - offset)
		abort();
	while (page < end)
		if (d->page[page] == MISSING)
			fetch(d, page, end);
		else if (d->page[page] == IN_FLIGHT)
			sim_wait(d->page + page);
		else
			page++;
	memcpy(buf, d->image + offset, len);
	return 0;
}

static uint64_t device_now(struct e2pf_device *dev)
{
	(void)dev;
	return sim_now();
}

static int holds(struct e2pf_device *dev, uint64_t offset)
{
	return device(dev)->page[offset / SIM_PAGE] != MISSING;
}

static const struct e2pf_device_ops sim_ops = {
	.span = sim_span, .willneed = sim_willneed, .read = sim_read,
	.now = device_now, .holds = holds
};

void sim_device_new(struct sim_device *d, const struct dm_params *params,
		    const void *image, uint64_t size, uint64_t cache)
{
	*d = (struct sim_device) {
		.dev = {
			.ops = &sim_ops, .size = size, .fd = -1,
			.page_size = SIM_PAGE,
			.max_readahead = params->max_request > READAHEAD ?
				(uint32_t)params->max_request : READAHEAD
		},
		.events = { .next = next_event, .run = complete, .ctx = d },
		.image = image, .params = *params,
		.sim = dm_sim_new(params, size),
		.page = calloc(1, size / SIM_PAGE),
		.room = cache / SIM_PAGE,
		.arrived = calloc(cache / SIM_PAGE, sizeof(*d->arrived))
	};
	if (!d->sim || !d->page || !d->arrived)
		abort();
}

/* What was in flight when the last thread ended is served first. */
void sim_device_free(struct sim_device *d)
{
	while (d->in_flight)
		complete(d, dm_sim_next(d->sim));
	dm_sim_free(d->sim);
	free(d->page);
	free(d->arrived);
}
