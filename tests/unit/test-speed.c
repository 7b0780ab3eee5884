/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * At which offsets a device is measured, what it is taken for, and what is said
 * where it cannot be: on simulated devices of several sizes.
 */
#include "unit.h"
#include "prefetch/speed.h"
#include "fake-device.h"

#define BS 4096u
#define MIB (UINT64_C(1) << 20)
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SLOW_NS MS
#define MAX_SAMPLES 1024u

struct rig {
	struct pf_speed_samples samples;
	uint64_t start[MAX_SAMPLES], length[MAX_SAMPLES];
	struct fake_device dev;
	struct pf_device_ops ops;
	struct pf_speed m;		/* what was measured */
};

/* The device that is tested now. */
static struct rig rig;
static uint64_t data_from;	/* it is a hole up to here */
static bool slow[PF_SPEED_READS_QD1];	/* the first reads */
static unsigned reads;
static const struct pf_device_ops *fake_ops;

static uint64_t sample_at(void *ctx, uint64_t index, uint64_t *offset)
{
	(void)ctx;
	*offset = rig.start[index];
	return rig.length[index];
}

static uint64_t next_data(struct pf_device *dev, uint64_t offset)
{
	if (data_from > dev->size)
		return UINT64_MAX;
	return offset < data_from ? data_from : offset;
}

static int slow_read(struct pf_device *dev, void *buf, uint64_t offset,
		     uint32_t len)
{
	struct fake_device *fake = (struct fake_device *)dev;
	uint64_t miss_ns = fake->miss_ns;
	int err;

	if (reads < PF_SPEED_READS_QD1 && slow[reads])
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
	data_from = 0;
	reads = 0;
	memset(slow, 0, sizeof(slow));
	fake_new(&rig.dev, NULL, bytes, BS);
	rig.dev.strict = true;
	rig.dev.ask_ns = 50000;
	fake_ops = rig.dev.dev.ops;
	rig.ops = *fake_ops;
	rig.ops.read = slow_read;
	rig.ops.next_data = next_data;
	rig.dev.dev.ops = &rig.ops;
	rig.samples = (struct pf_speed_samples) {
		.bytes = bytes, .at = sample_at
	};
}

/* A sample of metadata, of `length` bytes. */
static void add(uint64_t offset, uint64_t length)
{
	rig.start[rig.samples.count] = offset;
	rig.length[rig.samples.count++] = length;
}

static const char *measure(bool bytes)
{
	memset(&rig.m, 0, sizeof(rig.m));
	return pf_speed_measure(&rig.dev.dev, &rig.samples, bytes, &rig.m);
}

/* A device with 44 samples of 64 KiB, which are all there is to measure. */
static void set_up_samples(uint64_t qd1_ns, uint64_t qd8_ns)
{
	unsigned i;

	set_up(44 * MIB);
	rig.dev.strict = false;
	rig.dev.miss_ns = qd1_ns;
	rig.dev.ask_ns = qd8_ns;
	for (i = 0; i < 44; i++)
		add(i * MIB, 1 << 16);
}

/* Samples that are too short, or not on the device, are none; nor is any but those. */
TEST(samples_of_metadata)
{
	size_t i;

	set_up_samples(MS, MS);
	add(MIB / 2, BS);
	add(44 * MIB, MIB);
	add(UINT64_MAX - MIB, MIB);
	rig.dev.strict = true;
	assert_null(measure(true));
	for (i = 0; i < rig.dev.events; i++)
		assert_true(rig.dev.event[i].block * BS % MIB < 1 << 16);
}

static bool in_odd_pieces(void *ctx, uint64_t offset, uint64_t length)
{
	(void)ctx;
	assert_true(offset % BS == 0 && length % BS == 0);
	return offset / (8 * MIB) % 2 && (offset + length - 1) / (8 * MIB) % 2;
}

/* Only where it may be read. */
TEST(where_it_may_be_read)
{
	size_t k;

	set_up_samples(MS, MS);
	rig.samples.may_read = in_odd_pieces;
	/* In the first of these pieces, and not in whole blocks. */
	add(8 * MIB + 1024 + (1 << 17), 1 << 19);
	assert_null(measure(true));
	assert_true(rig.dev.events > PF_SPEED_READS);
	for (k = 0; k < rig.dev.events; k++)
		assert_int_equal(rig.dev.event[k].block * BS / (8 * MIB) % 2, 1);
}

/* What is cached is not used, and neither are holes of a file, which are read without the
 * device. */
TEST(partly_cached)
{
	unsigned way;
	size_t i;

	for (way = 0; way < 2; way++) {
		set_up_samples(MS, MS);
		fake_set_resident(&rig.dev, 0, rig.dev.blocks / 2, !way);
		data_from = way * 22 * MIB;
		assert_null(measure(true));
		assert_true(rig.dev.events >= PF_SPEED_READS);
		for (i = 0; i < rig.dev.events; i++)
			assert_true(rig.dev.event[i].block * BS >= 22 * MIB);
	}
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
	set_up_samples(MS, MS);
	data_from = UINT64_MAX;
	says("little uncached metadata");
	/* Only what the sequential speed is measured on. */
	set_up_samples(MS, MS);
	add(MIB / 2, 1 << 19);
	fake_set_bad(&rig.dev, 3 * MIB / 4 / BS - 1, 1);
	says("failed");
	/* A stalled device. */
	set_up_samples(600 * MS, MS);
	says("over 0.5 s");
}

TEST(kinds_of_device)
{
	static const struct {
		uint64_t qd1, qd8;	/* ns */
		bool seek_bound;
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
		set_up_samples(kinds[i].qd1, kinds[i].qd8);
		assert_null(measure(false));
		assert_int_equal(rig.m.latency_ns, kinds[i].qd1);
		assert_int_equal(rig.m.latency_qd8_ns, kinds[i].qd8);
		assert_int_equal(rig.m.seek_bound, kinds[i].seek_bound);
		assert_int_equal(rig.m.request_ns, kinds[i].request);
		assert_int_equal(rig.m.byte_ps, 0);
	}
}

/* What a byte costs is measured on the longest sample, without the latency of a request;
 * and not on one that is a single request. */
TEST(cost_of_a_byte)
{
	set_up_samples(40 * MS, 40 * MS);
	rig.dev.tick = 8 * BS;
	assert_null(measure(true));
	assert_int_equal(rig.m.byte_ps, 0);
	set_up_samples(40 * MS, 40 * MS);
	add(MIB / 2, 1 << 18);
	rig.dev.tick = 8 << 17;
	assert_null(measure(true));
	assert_int_equal(rig.m.byte_ps, 8000);
	assert_int_equal(rig.dev.asked[3 * MIB / 4 / BS - 1], 1);
}

/* One of the three that was delayed changes nothing; two of them do. */
TEST(median_of_three)
{
	unsigned i;

	for (i = 0; i < PF_SPEED_READS_QD1; i++) {
		set_up_samples(MS, MS);
		slow[i] = true;
		assert_null(measure(false));
		assert_int_equal(rig.m.latency_ns, MS);
		slow[(i + 1) % PF_SPEED_READS_QD1] = true;
		fake_set_resident(&rig.dev, 0, rig.dev.blocks, false);
		reads = 0;
		assert_null(measure(false));
		assert_int_equal(rig.m.latency_ns, MS + SLOW_NS);
		assert_int_equal(rig.m.min_latency_ns, MS);
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
	assert_true(rig.m.seek_bound);
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

/* Of a thousand samples one is a table, wherever it is.  A disk would read on from one
 * sample to the next: the reads that are measured must not be in order. */
TEST(one_table)
{
	unsigned at[PF_SPEED_READS_QD1] = { 0 }, where, i, n;

	for (where = 0; where < 100; where += 33) {
		set_up(44 * MIB);
		for (i = 0; i < 1000; i++)
			add(4 * MIB, i == where ? 4 * MIB : 0);
		assert_null(measure(false));
		for (i = n = 0; i < rig.dev.events &&
		     n < PF_SPEED_READS_QD1; i++)
			if (rig.dev.event[i].op == FAKE_READ)
				at[n++] = rig.dev.event[i].block;
		assert_int_equal(n, PF_SPEED_READS_QD1);
		assert_true(at[1] < at[0] || at[2] < at[1]);
	}
}

/* If there are too few samples the check is not held up, and no others are read: they do
 * not exist, are cached, or have been requested already. */
TEST(too_few_samples)
{
	unsigned why;

	for (why = 0; why < 3; why++) {
		set_up_samples(MS, MS);
		if (why == 0)
			rig.samples.count = PF_SPEED_READS - 1;
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
	uint64_t at[PF_SPEED_READS];
	unsigned i;

	set_up_samples(MS, MS);
	assert_null(measure(false));
	for (i = 0; i < PF_SPEED_READS; i++)
		at[i] = rig.dev.event[i].block;
	for (i = 0; i < PF_SPEED_READS; i++) {
		set_up_samples(MS, MS);
		fake_set_bad(&rig.dev, at[i], 1);
		assert_non_null(measure(false));
		assert_int_equal(rig.m.latency_ns, 0);
	}
}

UNIT_MAIN(NULL, end_rig)
