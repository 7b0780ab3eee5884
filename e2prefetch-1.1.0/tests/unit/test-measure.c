/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a device's times are interpreted: on a simulated device that takes as
 * long as the test says.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_device),
		cmocka_unit_test(order_of_a_probe),
		cmocka_unit_test(median_of_three),
		cmocka_unit_test(kinds_of_request),
		cmocka_unit_test(cost_of_bytes),
		cmocka_unit_test(read_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
