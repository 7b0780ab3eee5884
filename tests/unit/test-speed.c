/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * At which places a device is measured, what it is taken for, and what is said
 * where it cannot be: on simulated devices of several sizes.
 */
#include "unit.h"
#include "device/speed.h"
#include "fake-device.h"

#define BS 4096u
#define MIB (UINT64_C(1) << 20)
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SLOW_NS MS
#define GIB (UINT64_C(1) << 30)
#define SAMPLES_MOST 64u

struct rig {
	struct e2pf_speed_places places;
	uint64_t start[SAMPLES_MOST], length[SAMPLES_MOST];
	struct fake_device dev;
	struct e2pf_device_ops ops;
	struct e2pf_speed m;		/* what was measured */
};

/* Of the device that is tested now. */
static struct rig rig;
static uint64_t data_from;	/* it is a hole up to here */
static uint64_t forgotten;
static bool slow[E2PF_SPEED_LONE];	/* the first reads */
static unsigned reads;
static const struct e2pf_device_ops *fake_ops;

static uint64_t place_at(void *ctx, uint64_t index, uint64_t *offset)
{
	(void)ctx;
	*offset = rig.start[index];
	return rig.length[index];
}

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

static int slow_read(struct e2pf_device *dev, void *buf, uint64_t offset,
		     uint32_t len)
{
	struct fake_device *fake = (struct fake_device *)dev;
	uint64_t miss_ns = fake->miss_ns;
	int err;

	if (reads < E2PF_SPEED_LONE && slow[reads])
		fake->miss_ns += SLOW_NS;
	reads++;
	err = fake_ops->read(dev, buf, offset, len);
	fake->miss_ns = miss_ns;
	return err;
}

FIXTURE(end_rig)
{
	if (rig.dev.resident)
		fake_free(&rig.dev);
	return 0;
}

static void set_up(uint64_t bytes)
{
	end_rig(NULL);
	memset(&rig, 0, sizeof(rig));
	data_from = forgotten = 0;
	reads = 0;
	memset(slow, 0, sizeof(slow));
	fake_new(&rig.dev, NULL, bytes, BS);
	rig.dev.strict = true;
	rig.dev.ask_ns = 50000;
	fake_ops = rig.dev.dev.ops;
	rig.ops = *fake_ops;
	rig.ops.read = slow_read;
	rig.ops.data = next_data;
	rig.ops.forget = forget;
	rig.dev.dev.ops = &rig.ops;
	rig.places = (struct e2pf_speed_places) {
		.bytes = bytes, .at = place_at
	};
}

/* A place of metadata, of `length` bytes. */
static void add(uint64_t offset, uint64_t length)
{
	rig.start[rig.places.count] = offset;
	rig.length[rig.places.count++] = length;
}

static const char *measure(bool any)
{
	memset(&rig.m, 0, sizeof(rig.m));
	return e2pf_measure_device(&rig.dev.dev, &rig.places, any, &rig.m);
}

/* The first reads, one at a time or eight together, are as far from each other
 * as places in different parts are. */
static void far_apart(uint64_t least)
{
	uint64_t at[E2PF_SPEED_READS];
	unsigned n = 0, i;
	size_t k;

	for (k = 0; n < E2PF_SPEED_READS; k++) {
		bool first = n < E2PF_SPEED_LONE;

		assert_true(k < rig.dev.events);
		if ((rig.dev.event[k].op == FAKE_READ) != first)
			continue;
		at[n] = rig.dev.event[k].block * BS;
		for (i = 0; i < n; i++)
			assert_true(at[i] > at[n] ? at[i] - at[n] >= least :
						    at[n] - at[i] >= least);
		n++;
	}
}

/* A filesystem with nothing in it is measured on free space, whatever its size,
 * and nothing stays in the cache. */
TEST(any_size)
{
	static const uint64_t sizes[] = {
		24 * GIB, 22 * GIB, GIB, 200 * MIB, 2 * MIB
	};
	unsigned i;

	for (i = 0; i < COUNT(sizes); i++) {
		set_up(sizes[i]);
		/* 8 ns per byte, as a volume of 125 MB/s. */
		rig.dev.ask_ns = 0;
		rig.dev.ask_block_ns = 8 * BS;
		assert_null(measure(true));
		assert_true(rig.m.latency_ns && rig.m.deep_latency_ns);
		assert_int_equal(rig.m.byte_ps, 8000);
		assert_int_equal(rig.m.metadata_places, 0);
		far_apart(sizes[i] / 12);
		assert_null(memchr(rig.dev.resident, 1, rig.dev.blocks));
	}
}

/* Metadata is preferred, first for the reads made one at a time, and stays in
 * the cache. */
TEST(metadata_first)
{
	static const unsigned part[] = { 2, 3, 10 };
	unsigned i;

	set_up(22 * GIB);
	for (i = 0; i < 3; i++)
		add((2 * part[i] + 1) * GIB, 1 << 20);
	/* Too short, and beyond the end. */
	add(GIB, BS);
	add(22 * GIB, 1 << 20);
	add(UINT64_MAX - MIB, 1 << 20);
	assert_null(measure(true));
	assert_int_equal(rig.m.metadata_places, 3);
	for (i = 0; i < E2PF_SPEED_LONE; i++)
		assert_int_equal((rig.dev.event[i].block * BS) % (2 * GIB),
				 GIB + MIB / 2);
	for (i = 0; i < 3; i++)
		assert_true(rig.dev.resident[((2 * part[i] + 1) * GIB + MIB / 2)
					   / BS]);
}

static bool in_odd_pieces(void *ctx, uint64_t offset, uint64_t length)
{
	(void)ctx;
	assert_true(offset % BS == 0 && length % BS == 0);
	return offset / (8 * MIB) % 2 && (offset + length - 1) / (8 * MIB) % 2;
}

/* Only where it may be read, metadata or not. */
TEST(where_it_may_be_read)
{
	size_t k;

	set_up(GIB);
	rig.places.may_read = in_odd_pieces;
	/* In the first of these pieces, and not in whole blocks. */
	add(1024, 1 << 20);
	add(8 * MIB + 1024, 1 << 20);
	assert_null(measure(true));
	assert_int_equal(rig.m.metadata_places, 1);
	assert_true(rig.dev.events > E2PF_SPEED_READS);
	for (k = 0; k < rig.dev.events; k++)
		assert_int_equal(rig.dev.event[k].block * BS / (8 * MIB) % 2, 1);
}

/* What is cached is not used: a part of it, or all but a little. */
TEST(partly_cached)
{
	set_up(GIB);
	add(100 * MIB, 1 << 20);
	fake_set_resident(&rig.dev, 0, rig.dev.blocks / 2, true);
	assert_null(measure(true));
	assert_int_equal(rig.m.metadata_places, 0);
	far_apart(64 << 10);
	assert_null(memchr(rig.dev.resident + rig.dev.blocks / 2, 1,
			   rig.dev.blocks / 2));
	set_up(GIB);
	fake_set_resident(&rig.dev, 0, rig.dev.blocks, true);
	fake_set_resident(&rig.dev, rig.dev.blocks / 2, 2, false);
	assert_non_null(measure(true));
	assert_int_equal(rig.dev.events, 0);
}

static void says(const char *what)
{
	const char *why = measure(true);

	assert_non_null(why);
	assert_non_null(strstr(why, what));
	assert_int_equal(rig.m.byte_ps, 0);
}

TEST(not_measured)
{
	set_up(GIB);
	fake_set_resident(&rig.dev, 0, rig.dev.blocks, true);
	says("cached");
	set_up(MIB);
	says("too small");
	set_up(GIB);
	rig.dev.dev.blind = true;
	says("may not see");
	set_up(GIB);
	fake_set_bad(&rig.dev, 0, rig.dev.blocks);
	says("failed");
	/* Only what the sequential speed is measured on. */
	set_up(GIB);
	add(GIB / 2, 1 << 20);
	add(GIB / 2 + 4 * MIB, 1 << 20);
	fake_set_bad(&rig.dev, (GIB / 2 + 4 * MIB) / BS, 256);
	says("failed");
	/* A stuck device. */
	set_up(GIB);
	rig.dev.miss_ns = 600000000;
	says("half a second");
}

/* Holes of a file are no places: they are read without the device. */
TEST(holes)
{
	size_t i;

	set_up(GIB);
	data_from = GIB / 4;
	add(MIB, 1 << 20);
	assert_null(measure(true));
	assert_int_equal(rig.m.metadata_places, 0);
	for (i = 0; i < rig.dev.events; i++)
		assert_true(rig.dev.event[i].block * BS >= data_from);
	set_up(GIB);
	data_from = UINT64_MAX;
	says("holes");
}

/* A device with 44 places of 64 KiB, which are all there is to measure. */
static void set_up_places(uint64_t lone_ns, uint64_t deep_ns)
{
	unsigned i;

	set_up(44 * MIB);
	rig.dev.strict = false;
	rig.dev.miss_ns = lone_ns;
	rig.dev.ask_ns = deep_ns;
	for (i = 0; i < 44; i++)
		add(i * MIB, 1 << 16);
}

TEST(kinds_of_device)
{
	static const struct {
		uint64_t lone, deep;	/* ns */
		bool seeks;
		uint64_t request;
	} kinds[] = {
		{ 10 * MS, 4 * MS, true, 22 * MS / 7 },	/* disk */
		{ 12 * MS, 10 * MS, true, 68 * MS / 7 },	/* USB disk */
		{ 6 * MS, 1 * MS, false, 2 * MS / 7 },	/* array of disks */
		{ 100 * US, 20 * US, false, 60 * US / 7 },	/* flash */
		{ 700 * US, 80 * US, false, 0 },	/* network volumes */
		{ 700 * US, 379 * US, false, 333142 },	/* 3000 IOPS */
		{ 5 * MS, 600 * US, false, 0 },
		/* Slow only in the queue: no disk is so fast
		 * alone. */
		{ 1900 * US, 1900 * US, false, 1900 * US },
	};
	size_t i;

	for (i = 0; i < COUNT(kinds); i++) {
		set_up_places(kinds[i].lone, kinds[i].deep);
		assert_null(measure(false));
		assert_int_equal(rig.m.latency_ns, kinds[i].lone);
		assert_int_equal(rig.m.deep_latency_ns, kinds[i].deep);
		assert_int_equal(rig.m.seeks, kinds[i].seeks);
		assert_int_equal(rig.m.request_ns, kinds[i].request);
		assert_int_equal(rig.m.byte_ps, 0);
		assert_int_equal(rig.m.metadata_places, E2PF_SPEED_READS);
	}
}

/* 64 KiB are enough for what a byte costs, where they are all there is. */
TEST(short_stretch)
{
	unsigned i;

	set_up_places(0, 0);
	rig.dev.ask_block_ns = 8 * BS;
	fake_set_resident(&rig.dev, 0, rig.dev.blocks, true);
	for (i = 0; i < rig.places.count; i++)
		fake_set_resident(&rig.dev, rig.start[i] / BS, rig.length[i] / BS,
				  false);
	assert_null(measure(true));
	assert_int_equal(rig.m.byte_ps, 8000);
}

/* One of the three that was delayed changes nothing; two of them do. */
TEST(median_of_three)
{
	unsigned i;

	for (i = 0; i < E2PF_SPEED_LONE; i++) {
		set_up_places(MS, MS);
		slow[i] = true;
		assert_null(measure(false));
		assert_int_equal(rig.m.latency_ns, MS);
		slow[(i + 1) % E2PF_SPEED_LONE] = true;
		fake_set_resident(&rig.dev, 0, rig.dev.blocks, false);
		reads = 0;
		assert_null(measure(false));
		assert_int_equal(rig.m.latency_ns, MS + SLOW_NS);
		assert_int_equal(rig.m.least_ns, MS);
	}
}

/* In a filesystem that is partly filled the tables of a few groups are enough. */
TEST(partly_filled)
{
	unsigned i, k;

	set_up(44 * MIB);
	rig.dev.miss_ns = 10 * MS;
	rig.dev.ask_ns = 4 * MS;
	add(0, 1 << 20);
	add(1 << 20, 1 << 19);
	assert_null(measure(false));
	assert_int_equal(rig.m.metadata_places, E2PF_SPEED_READS);
	assert_true(rig.m.seeks);
	/* All within the tables, and none near another one. */
	for (i = 0; i < rig.dev.events; i++) {
		uint64_t at = rig.dev.event[i].block * BS;

		assert_true(at < 3 << 19);
		for (k = 0; k < i; k++)
			assert_true(rig.dev.event[k].op != rig.dev.event[i].op ||
				    rig.dev.event[k].block * BS >= at + (64 << 10) ||
				    rig.dev.event[k].block * BS + (64 << 10) <= at);
	}
}

/* Without places enough a check is not held up, and reads nothing else: they do not
 * exist, are cached, or somebody has requested them already. */
TEST(too_few_places)
{
	unsigned why;

	for (why = 0; why < 3; why++) {
		set_up_places(MS, MS);
		if (why == 0)
			rig.places.count = E2PF_SPEED_READS - 1;
		else if (why == 1)
			fake_set_resident(&rig.dev, 0, rig.dev.blocks / 5 * 4, true);
		else
			memset(rig.dev.in_flight, 1, rig.dev.blocks / 5 * 4);
		assert_non_null(measure(false));
		assert_int_equal(rig.dev.events, 0);
	}
}

/* Whichever read fails, nothing is said to be known. */
TEST(read_that_fails)
{
	uint64_t at[E2PF_SPEED_READS];
	unsigned i;

	set_up_places(MS, MS);
	assert_null(measure(false));
	for (i = 0; i < E2PF_SPEED_READS; i++)
		at[i] = rig.dev.event[i].block;
	for (i = 0; i < E2PF_SPEED_READS; i++) {
		set_up_places(MS, MS);
		fake_set_bad(&rig.dev, at[i], 1);
		assert_non_null(measure(false));
		assert_int_equal(rig.m.latency_ns, 0);
	}
}

UNIT_MAIN(NULL, end_rig)
