/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The searches and reads ahead of a send, counted, when the kernel has cached
 * nothing, everything, or the leaves without the data. */
#include <sched.h>

#include "unit.h"
#include "btrfs-fs.h"
#include "fake-mounted.h"
#include "send/send_state.h"

#define SAMPLES 16

static unsigned waits;			/* for the send, seen */
static bool stops;			/* at the first of them */
static uint64_t requests, bytes;

/* Reads ahead until nothing is left.  Returns the most that was ahead. */
static uint64_t send_all(struct fake_mounted is, uint64_t parent,
			 uint64_t memory)
{
	const struct btrfs_ioctl_send_args args = {
		.parent_root = parent
	};
	const struct e2pf_settings settings = {
		.memory = memory, .threads = 2
	};
	struct e2pf_session *session;
	unsigned others = fake_threads();
	uint64_t peak = 0, before = 0;
	const char *why;
	struct send *s;

	fake = is;
	waits = 0;
	session = e2pf_send_open(-1, "fake", &settings, &why);
	assert_non_null(session);
	s = (struct send *)session;
	pthread_mutex_lock(&s->lock);
	assert_null(e2pf_send_start(session, -1, &args));
	while (s->running && !(stops && s->waiting)) {
		uint64_t more = 0;

		/* The send reaches the end of each part when it is waited
		 * for. */
		if (s->waiting) {
			more = s->stream - s->came_out;
			waits++;
			if (more && s->bytes - before > peak)
				peak = s->bytes - before;
			if (more)
				before = s->part_bytes;
		}
		pthread_mutex_unlock(&s->lock);
		if (more)
			e2pf_send_came_out(session, more);
		else
			sched_yield();
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	assert_true(e2pf_send_stop(session, 10000));
	assert_int_equal(session->last.errors, 0);
	assert_true(stops || s->leaves_changed == FAKE_LEAVES);
#ifdef __SANITIZE_THREAD__
	others++;		/* that of the sanitizer may have begun since */
#endif
	assert_true(fake.threads <= others + settings.threads);
	requests = session->last.prefetched_requests;
	bytes = session->last.prefetched_bytes;
	e2pf_session_free(session);
	return peak;
}

#define MUCH (UINT64_C(1) << 30)

/* The cached part, whether the kernel counts reads, and the number of searches and
 * reads: everything once, or samples with the blocks that belong to them.
 * Cached leaves are searched if data is not: they lead to it. */
TEST(test_cached)
{
	static const struct {
		uint64_t parent;
		bool leaves_cached, data_cached, counts;
		unsigned expected;
	} cases[] = {
		{ FAKE_OLDER, false, false, true, FAKE_LEAVES },
		{ FAKE_OLDER, true, true, true, SAMPLES },
		{ FAKE_OLDER, true, false, true, FAKE_LEAVES },
		{ FAKE_OLDER, true, true, false, FAKE_LEAVES },
		{ 0, false, false, true, FAKE_LEAVES },
		{ 0, true, true, true, SAMPLES },
		{ 0, true, false, true, FAKE_LEAVES },
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		unsigned n = cases[i].expected;

		send_all((struct fake_mounted) {
			.leaves_cached = cases[i].leaves_cached,
			.data_cached = cases[i].data_cached,
			.counts = cases[i].counts
		}, cases[i].parent, MUCH);
		assert_int_equal(fake.newer, n);
		/* There is nothing to compare a full send with. */
		if (cases[i].parent)
			assert_uint_in_range(fake.older, n, n + 1);
		else
			assert_int_equal(fake.older, 0);
		assert_uint_in_range(fake.records, n == SAMPLES ? 0 : n, n + 1);
		assert_uint_in_range(fake.data, n, n + 1);
		assert_int_equal(bytes, FS_NODE * (fake.newer + fake.older +
						   fake.records + fake.data));
	}
}

/* At most the limit is ahead. */
TEST(test_budget)
{
	uint64_t peak;

	peak = send_all((struct fake_mounted){ .counts = true }, FAKE_OLDER,
			1 << 20);
	assert_uint_in_range(peak, 1 << 19, 1 << 20);
	assert_true(waits > 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.data, FAKE_LEAVES);
	/* 50 MiB of data; two windows are ahead. */
	peak = send_all((struct fake_mounted){
		.counts = true, .length = 1 << 19
	}, 0, 8 << 20);
	assert_uint_in_range(peak, 1 << 20, 8 << 20);
	assert_int_equal(fake.data, FAKE_LEAVES);
	stops = true;
	send_all((struct fake_mounted){ .counts = true }, 0, 1 << 20);
	stops = false;
	/* Leaves whose contents are sent are waited for, too. */
	send_all((struct fake_mounted){ .counts = true, .in_leaves = true }, 0,
		 1 << 20);
	assert_true(waits > 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.data, 0);
}

/* Data that is adjacent, of 100 files, is read by 64 extents at a time. */
TEST(test_adjacent)
{
	unsigned searches;

	send_all((struct fake_mounted){ .counts = true }, 0, MUCH);
	searches = fake.newer + fake.records;
	assert_int_equal(requests, searches + FAKE_LEAVES);
	send_all((struct fake_mounted){ .counts = true, .adjacent = true }, 0,
		 MUCH);
	assert_int_equal(fake.data, FAKE_LEAVES);
	searches = fake.newer + fake.records;
	assert_int_equal(requests, searches + 2);
}

/* Leaves that records name by their address are found in another tree. */
TEST(test_shared)
{
	send_all((struct fake_mounted){ .counts = true }, 0, MUCH);
	assert_int_equal(fake.clones, 0);
	send_all((struct fake_mounted){ .counts = true, .shared = true }, 0,
		 MUCH);
	assert_int_equal(fake.clones, FAKE_LEAVES);
}

UNIT_MAIN(NULL, NULL)
