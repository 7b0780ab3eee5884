/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * At which places e2prefetch probe measures a device, on simulated devices of
 * several sizes, and what it says where it cannot.
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

#include "engine/engine.h"
#include "engine/measure.h"
#include "fake-device.h"

#define BS 4096u
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define SAMPLES_MOST 64u

/* A filesystem that has nothing but samples. */
struct samples {
	struct e2pf_source source;
	uint64_t bytes;
	struct e2pf_ref ref[SAMPLES_MOST];
};

struct rig {
	struct samples fs;
	struct fake_device dev;
	struct e2pf_device_ops ops;
	struct e2pf_device *device;
	struct e2pf_engine *e;
};

/* Of the device that is tested now. */
static uint64_t data_from;	/* it is a hole up to here */
static uint64_t forgotten;

static const struct e2pf_phase *begin(struct e2pf_source *source,
				      const struct e2pf_start *start,
				      unsigned *count)
{
	static const struct e2pf_phase phase = { .covered_by = E2PF_NONE };

	(void)source, (void)start;
	*count = 1;
	return &phase;
}

static void sample(struct e2pf_source *source, uint64_t index, e2pf_sink sink,
		   void *ctx)
{
	sink(ctx, &((struct samples *)source)->ref[index]);
}

static const struct e2pf_source_ops source_ops = {
	.begin = begin, .sample = sample
};

static uint64_t next_data(struct e2pf_device *dev, uint64_t offset)
{
	if (data_from > dev->size)
		return UINT64_MAX;
	return offset < data_from ? data_from : offset;
}

static void forget(struct e2pf_device *dev, uint64_t offset, uint64_t len)
{
	fake_set_resident((struct fake_device *)dev, offset / BS, len / BS,
			  false);
	forgotten += len;
}

static void set_up(struct rig *r, uint64_t bytes)
{
	struct e2pf_engine_config cfg = {
		.devices = &r->device, .threads = 2, .head_threads = 1,
		.probe = true, .budget = GIB
	};

	memset(r, 0, sizeof(*r));
	data_from = forgotten = 0;
	fake_new(&r->dev, NULL, bytes, BS);
	r->dev.strict = true;
	r->dev.ask_ns = 50000;
	r->ops = *r->dev.dev.ops;
	r->ops.data = next_data;
	r->ops.forget = forget;
	r->dev.dev.ops = &r->ops;
	r->device = &r->dev.dev;
	r->fs.bytes = bytes;
	r->fs.source = (struct e2pf_source) {
		.ops = &source_ops, .grain = BS, .devices = 1,
		.bytes = &r->fs.bytes, .classes = 1, .parse_limit = 1
	};
	cfg.source = &r->fs.source;
	r->e = e2pf_engine_new(&cfg);
	assert_non_null(r->e);
}

static void tear_down(struct rig *r)
{
	e2pf_engine_free(r->e);
	fake_free(&r->dev);
}

/* A sample of so many bytes. */
static void add(struct rig *r, uint64_t offset, uint32_t length)
{
	r->fs.ref[r->fs.source.samples++] = (struct e2pf_ref) {
		.offset = offset, .length = length
	};
}

/* The first reads, one at a time or eight together, are as far from each other
 * as places in different parts are. */
static void far_apart(const struct rig *r, uint64_t least)
{
	uint64_t at[E2PF_PROBES];
	unsigned n = 0, i;
	size_t k;

	for (k = 0; n < E2PF_PROBES; k++) {
		bool first = n < E2PF_PROBE_LONE;

		assert_true(k < r->dev.events);
		if ((r->dev.event[k].op == FAKE_READ) != first)
			continue;
		at[n] = r->dev.event[k].block * BS;
		for (i = 0; i < n; i++)
			assert_true(at[i] > at[n] ? at[i] - at[n] >= least :
						    at[n] - at[i] >= least);
		n++;
	}
}

/* A filesystem with nothing in it is measured on free space, whatever its size,
 * and nothing stays in the cache. */
static void any_size(void **state)
{
	static const uint64_t sizes[] = {
		24 * GIB, 22 * GIB, GIB, 200 * MIB, 2 * MIB
	};
	struct e2pf_measured m;
	struct rig r;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_up(&r, sizes[i]);
		assert_null(e2pf_engine_measure(r.e, &m));
		assert_true(m.latency_ns && m.deep_latency_ns &&
			    m.bytes_per_second);
		assert_int_equal(m.metadata_places, 0);
		far_apart(&r, sizes[i] / 12);
		assert_null(memchr(r.dev.resident, 1, r.dev.blocks));
		tear_down(&r);
	}
}

/* Metadata is preferred, first for the reads made one at a time, and stays in
 * the cache. */
static void metadata_first(void **state)
{
	static const unsigned part[] = { 2, 3, 10 };
	struct e2pf_measured m;
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 22 * GIB);
	for (i = 0; i < 3; i++)
		add(&r, (2 * part[i] + 1) * GIB, 1 << 20);
	/* Too short, and beyond the end. */
	add(&r, GIB, BS);
	add(&r, 22 * GIB, 1 << 20);
	add(&r, UINT64_MAX - MIB, 1 << 20);
	assert_null(e2pf_engine_measure(r.e, &m));
	assert_int_equal(m.metadata_places, 3);
	for (i = 0; i < E2PF_PROBE_LONE; i++)
		assert_int_equal((r.dev.event[i].block * BS) % (2 * GIB),
				 GIB + MIB / 2);
	for (i = 0; i < 3; i++)
		assert_true(r.dev.resident[((2 * part[i] + 1) * GIB + MIB / 2)
					   / BS]);
	tear_down(&r);
}

/* What is cached is not used: a part of it, or all but a little. */
static void partly_cached(void **state)
{
	struct e2pf_measured m;
	struct rig r;

	(void)state;
	set_up(&r, GIB);
	add(&r, 100 * MIB, 1 << 20);
	fake_set_resident(&r.dev, 0, r.dev.blocks / 2, true);
	assert_null(e2pf_engine_measure(r.e, &m));
	assert_int_equal(m.metadata_places, 0);
	far_apart(&r, 64 << 10);
	assert_null(memchr(r.dev.resident + r.dev.blocks / 2, 1,
			   r.dev.blocks / 2));
	tear_down(&r);
	set_up(&r, GIB);
	fake_set_resident(&r.dev, 0, r.dev.blocks, true);
	fake_set_resident(&r.dev, r.dev.blocks / 2, 2, false);
	assert_non_null(e2pf_engine_measure(r.e, &m));
	assert_int_equal(r.dev.events, 0);
	tear_down(&r);
}

static void says(struct rig *r, const char *what)
{
	struct e2pf_measured m;
	const char *why = e2pf_engine_measure(r->e, &m);

	assert_non_null(why);
	assert_non_null(strstr(why, what));
	assert_int_equal(m.bytes_per_second, 0);
	tear_down(r);
}

static void not_measured(void **state)
{
	struct rig r;

	(void)state;
	set_up(&r, GIB);
	fake_set_resident(&r.dev, 0, r.dev.blocks, true);
	says(&r, "cached");
	set_up(&r, MIB);
	says(&r, "too small");
	set_up(&r, GIB);
	r.dev.dev.blind = true;
	says(&r, "may not see");
	set_up(&r, GIB);
	fake_set_bad(&r.dev, 0, r.dev.blocks);
	says(&r, "failed");
	/* Only what the sequential speed is measured on. */
	set_up(&r, GIB);
	add(&r, GIB / 2, 1 << 20);
	add(&r, GIB / 2 + 4 * MIB, 1 << 20);
	fake_set_bad(&r.dev, (GIB / 2 + 4 * MIB) / BS, 256);
	says(&r, "failed");
	/* A stuck device. */
	set_up(&r, GIB);
	r.dev.miss_ns = 600000000;
	says(&r, "half a second");
}

/* Holes of a file are no places: they are read without the device. */
static void holes(void **state)
{
	struct e2pf_measured m;
	struct rig r;
	size_t i;

	(void)state;
	set_up(&r, GIB);
	data_from = GIB / 4;
	add(&r, MIB, 1 << 20);
	assert_null(e2pf_engine_measure(r.e, &m));
	assert_int_equal(m.metadata_places, 0);
	for (i = 0; i < r.dev.events; i++)
		assert_true(r.dev.event[i].block * BS >= data_from);
	tear_down(&r);
	set_up(&r, GIB);
	data_from = UINT64_MAX;
	says(&r, "holes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_size),
		cmocka_unit_test(metadata_first),
		cmocka_unit_test(partly_cached),
		cmocka_unit_test(not_measured),
		cmocka_unit_test(holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
