/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a device's times are interpreted: on a simulated device that takes as
 * long as the test says, and on windows of requests of known cost.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake-device.h"
#include "engine/measure.h"

#define BS 4096u
#define BLOCKS 1000u
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct rig {
	unsigned char *image;
	struct fake_device dev;
	uint64_t offset[E2PF_PROBES];
};

static void set_up(struct rig *r)
{
	unsigned i;

	memset(r, 0, sizeof(*r));
	r->image = calloc(BLOCKS, BS);
	assert_non_null(r->image);
	fake_new(&r->dev, r->image, BLOCKS * BS, BS);
	for (i = 0; i < E2PF_PROBES; i++)
		r->offset[i] = (uint64_t)BS * (i * 379 % BLOCKS);
}

static void tear_down(struct rig *r)
{
	fake_free(&r->dev);
	free(r->image);
}

static void kinds_of_device(void **state)
{
	static const struct {
		uint64_t lone, deep;	/* ns */
		bool head;
	} kinds[] = {
		{ 10 * MS, 4 * MS, true },	/* disk */
		{ 12 * MS, 10 * MS, true },	/* USB disk */
		{ 6 * MS, 1 * MS, false },	/* array of disks */
		{ 100 * US, 20 * US, false },	/* flash */
		{ 700 * US, 90 * US, false },	/* network volumes */
		{ 5 * MS, 600 * US, false },
		/* Slow only in the queue: no rotational disk is so fast
		 * alone. */
		{ 1900 * US, 1900 * US, false },
	};
	struct e2pf_latencies p;
	struct rig r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		set_up(&r);
		r.dev.miss_ns = kinds[i].lone;
		r.dev.ask_ns = kinds[i].deep;
		assert_true(e2pf_probe_device(&r.dev.dev, r.offset, &p));
		assert_int_equal(p.latency_ns, kinds[i].lone);
		assert_int_equal(p.deep_latency_ns, kinds[i].deep);
		assert_int_equal(e2pf_probe_has_head(&p), kinds[i].head);
		tear_down(&r);
	}
}

/* Three reads alone, then eight that are all requested before one is waited
 * for. */
static void order_of_a_probe(void **state)
{
	struct e2pf_latencies p;
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r);
	assert_true(e2pf_probe_device(&r.dev.dev, r.offset, &p));
	assert_int_equal(r.dev.events, E2PF_PROBE_LONE + 2 * E2PF_PROBE_DEEP);
	for (i = 0; i < r.dev.events; i++) {
		bool asks = i >= E2PF_PROBE_LONE && i < E2PF_PROBES;
		unsigned n = i < E2PF_PROBES ? i : i - E2PF_PROBE_DEEP;

		assert_int_equal(r.dev.event[i].op,
				 asks ? FAKE_WILLNEED : FAKE_READ);
		assert_int_equal(r.dev.event[i].block, r.offset[n] / BS);
		assert_int_equal(r.dev.event[i].count, 1);
	}
	tear_down(&r);
}

/* One of the three that was delayed by another request, or was cached, changes
 * nothing. */
static void median_of_three(void **state)
{
	struct e2pf_latencies p;
	struct rig r;
	unsigned i;

	(void)state;
	for (i = 0; i < E2PF_PROBE_LONE; i++) {
		set_up(&r);
		r.dev.miss_ns = 10 * MS;
		fake_set_resident(&r.dev, r.offset[i] / BS, 1, true);
		assert_true(e2pf_probe_device(&r.dev.dev, r.offset, &p));
		assert_int_equal(p.latency_ns, 10 * MS);
		/* With two of them it does: two out of three decide. */
		fake_set_resident(&r.dev, 0, BLOCKS, false);
		fake_set_resident(&r.dev, r.offset[i] / BS, 1, true);
		fake_set_resident(&r.dev,
				  r.offset[(i + 1) % E2PF_PROBE_LONE] / BS, 1,
				  true);
		assert_true(e2pf_probe_device(&r.dev.dev, r.offset, &p));
		assert_int_equal(p.latency_ns, 0);
		tear_down(&r);
	}
}

static void kinds_of_request(void **state)
{
	static const struct {
		uint64_t lone, deep;	/* ns */
		bool dear;
	} kinds[] = {
		{ 10 * MS, 4 * MS, false },	/* rotational */
		{ 100 * US, 20 * US, false },	/* flash */
		{ 700 * US, 90 * US, false },	/* a volume without an IOPS
						   limit */
		{ 700 * US, 380 * US, true },	/* 3000 IOPS */
		{ 1 * MS, 2 * MS, true },	/* 500 IOPS */
	};
	struct e2pf_latencies p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		p = (struct e2pf_latencies) { kinds[i].lone, kinds[i].deep };
		assert_int_equal(e2pf_probe_is_dear(&p), kinds[i].dear);
	}
	/* 0.7 ms for the first, and a third of one for each that follows. */
	p = (struct e2pf_latencies) { 700 * US, 379 * US };
	assert_int_equal(e2pf_probe_request_ns(&p), 333142);
	p = (struct e2pf_latencies) { 700 * US, 80 * US };
	assert_int_equal(e2pf_probe_request_ns(&p), 0);
}

/* Eight reads of 64 KiB, all requested before one is waited for. */
static void cost_of_bytes(void **state)
{
	const uint32_t length = 64 << 10;
	uint64_t offset[E2PF_PROBE_DEEP];
	struct rig r;
	unsigned i;
	double ns;

	(void)state;
	set_up(&r);
	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		offset[i] = i * 100 * BS;
	r.dev.ask_block_ns = 8 * BS;
	/* The transfer of the first one is part of its latency. */
	ns = e2pf_probe_byte_ns(&r.dev.dev, offset, length,
				8 * (uint64_t)length);
	assert_true(ns > 7.999 && ns < 8.001);
	assert_int_equal(r.dev.events, 2 * E2PF_PROBE_DEEP);
	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		assert_int_equal(r.dev.event[i].op, FAKE_WILLNEED);
	/* Everything cached; and a failing read. */
	assert_true(e2pf_probe_byte_ns(&r.dev.dev, offset, length, 1) == 0);
	fake_set_resident(&r.dev, 0, BLOCKS, false);
	fake_set_bad(&r.dev, (offset[3] + length) / BS - 1, 1);
	assert_true(e2pf_probe_byte_ns(&r.dev.dev, offset, length, 1) == 0);
	tear_down(&r);
}

/* The gap is as large as a request is worth where requests are the limit, and
 * small where bytes are, so that both limits are used fully. */
static void balance_of_limits(void **state)
{
	struct e2pf_balance b = { .request_ns = 333000, .byte_ns = 8 };
	const uint64_t worth = 33300;
	uint64_t gap;
	unsigned i, wide = 0;

	(void)state;
	assert_int_equal(e2pf_balance_worth(&b), worth);
	for (i = 0; i < 500; i++)
		e2pf_balance_add(&b, 1, 4096);
	assert_int_equal(e2pf_balance_gap(&b), worth);
	for (i = 0; i < 500; i++)
		e2pf_balance_add(&b, 1, 262144);
	assert_int_equal(e2pf_balance_gap(&b), worth / 8);
	/* Blocks with gaps of 32 KiB: so many are read through that the bytes
	 * of a request take as long as the request. */
	b.requests = b.bytes = 0;
	for (i = 0; i < 10000; i++) {
		gap = e2pf_balance_gap(&b);
		wide += gap >= 32768;
		e2pf_balance_add(&b, 1, gap >= 32768 ? 16 * 36864 : 4096);
	}
	assert_true(b.bytes * b.byte_ns > b.requests * b.request_ns * 0.9);
	assert_true(b.bytes * b.byte_ns < b.requests * b.request_ns * 1.1);
	assert_uint_in_range(wide, 500, 900);
	/* Nothing is known. */
	b.byte_ns = 0;
	assert_int_equal(e2pf_balance_gap(&b), 0);
}

static void read_that_fails(void **state)
{
	struct rig r;
	unsigned i;

	(void)state;
	for (i = 0; i < E2PF_PROBES; i++) {
		struct e2pf_latencies p = { 4711, 4712 };

		set_up(&r);
		fake_set_bad(&r.dev, r.offset[i] / BS, 1);
		assert_false(e2pf_probe_device(&r.dev.dev, r.offset, &p));
		assert_int_equal(p.latency_ns, 4711);
		assert_int_equal(p.deep_latency_ns, 4712);
		tear_down(&r);
	}
}

/* A clock, and windows of requests of `bytes` each that cost `c` ns a request
 * and `b` ns a byte, all of it waited for. */
struct windows {
	struct e2pf_cost cost;
	uint64_t now;
	double c, b;
	double waited;		/* fraction of the time spent waiting */
	unsigned threads;
};

static void begin(struct windows *w, double c, double b)
{
	*w = (struct windows) {
		.now = 1, .c = c, .b = b, .waited = 1, .threads = 1
	};
	e2pf_cost_add(&w->cost, w->now, 0, 1, 0, 0);
}

static void window(struct windows *w, uint64_t bytes)
{
	unsigned i;

	for (i = 0; i < 256; i++) {
		double ns = w->c + w->b * (double)bytes;

		w->now += (uint64_t)ns;
		e2pf_cost_add(&w->cost, w->now,
			      (uint64_t)(ns * w->waited * w->threads),
			      w->threads, 1, bytes);
	}
}

static void assert_gap(const struct windows *w)
{
	uint64_t gap = e2pf_cost_gap(&w->cost);
	double half = w->c / w->b / 2;

	assert_uint_in_range(gap, (uint64_t)(half * 0.9), (uint64_t)(half * 1.1));
}

static void cost_of_requests(void **state)
{
	static const struct {
		double c, b;
	} devices[] = {
		{ 333000, 8 },		/* 3000 IOPS, 125 MB/s */
		{ 4000000, 6.7 },	/* a rotational disk with a queue, 150
					   MB/s */
		{ 10000000, 30 },	/* a USB disk, 33 MB/s */
	};
	static const unsigned threads[] = { 1, 4 };
	struct windows w;
	size_t i, j;
	unsigned k;

	(void)state;
	for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		for (j = 0; j < 2; j++) {
			begin(&w, devices[i].c, devices[i].b);
			w.threads = threads[j];
			assert_int_equal(e2pf_cost_gap(&w.cost), 0);
			for (k = 0; k < 20; k++)
				window(&w, k % 2 ? 4096 : 262144);
			assert_gap(&w);
		}
}

/* The device has changed: earlier windows are forgotten. */
static void cost_that_changes(void **state)
{
	struct windows w;
	unsigned k;

	(void)state;
	begin(&w, 4000000, 6.7);
	for (k = 0; k < 100; k++)
		window(&w, k % 2 ? 4096 : 262144);
	assert_gap(&w);
	w.c = 400000;
	for (k = 0; k < 100; k++)
		window(&w, k % 2 ? 4096 : 262144);
	assert_gap(&w);
}

/* If the processor was the limit, times tell nothing about the device. */
static void unsaturated_windows(void **state)
{
	struct windows w;
	uint64_t gap;
	unsigned k;

	(void)state;
	begin(&w, 4000000, 6.7);
	w.waited = 0.5;
	for (k = 0; k < 20; k++)
		window(&w, k % 2 ? 4096 : 262144);
	assert_int_equal(e2pf_cost_gap(&w.cost), 0);
	w.waited = 1;
	for (k = 0; k < 20; k++)
		window(&w, k % 2 ? 4096 : 262144);
	gap = e2pf_cost_gap(&w.cost);
	assert_gap(&w);
	w.waited = 0.5;
	w.c = 40000000;
	for (k = 0; k < 20; k++)
		window(&w, k % 2 ? 4096 : 262144);
	assert_int_equal(e2pf_cost_gap(&w.cost), gap);
	/* One of two threads waits all the time: that is half of their time,
	 * and again not enough. */
	w.waited = 1;
	w.threads = 2;
	for (k = 0; k < 256 * 20; k++) {
		w.now += 4000000;
		e2pf_cost_add(&w.cost, w.now, 4000000, 2, 1, 4096);
	}
	assert_int_equal(e2pf_cost_gap(&w.cost), gap);
}

static void windows_all_alike(void **state)
{
	struct windows w;
	unsigned k;

	(void)state;
	begin(&w, 4000000, 6.7);
	for (k = 0; k < 100; k++)
		window(&w, 4096);
	assert_int_equal(e2pf_cost_gap(&w.cost), 0);
	/* Or almost equal, by chance. */
	for (k = 0; k < 100; k++)
		window(&w, k % 2 ? 4096 : 4608);
	assert_int_equal(e2pf_cost_gap(&w.cost), 0);
}

static void cheap_requests(void **state)
{
	static const double cheap[] = { 0, 5000, 20000, 100000 };
	struct windows w;
	unsigned i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		begin(&w, cheap[i], 2);
		for (k = 0; k < 20; k++)
			window(&w, k % 2 ? 4096 : 262144);
		assert_int_equal(e2pf_cost_gap(&w.cost), 0);
	}
}

/* Bytes that cost nothing, or less, are no reason to read everything. */
static void bytes_for_nothing(void **state)
{
	struct windows w;
	unsigned k;

	(void)state;
	begin(&w, 4000000, 0);
	for (k = 0; k < 20; k++) {
		w.c = k % 2 ? 4000000 : 3000000;
		window(&w, k % 2 ? 4096 : 262144);
	}
	assert_int_equal(e2pf_cost_gap(&w.cost), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_device),
		cmocka_unit_test(order_of_a_probe),
		cmocka_unit_test(median_of_three),
		cmocka_unit_test(kinds_of_request),
		cmocka_unit_test(cost_of_bytes),
		cmocka_unit_test(balance_of_limits),
		cmocka_unit_test(read_that_fails),
		cmocka_unit_test(cost_of_requests),
		cmocka_unit_test(cost_that_changes),
		cmocka_unit_test(unsaturated_windows),
		cmocka_unit_test(windows_all_alike),
		cmocka_unit_test(cheap_requests),
		cmocka_unit_test(bytes_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
