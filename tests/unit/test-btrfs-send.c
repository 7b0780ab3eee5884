/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is searched for and read ahead of a send, counted, when the kernel has
 * nothing cached, everything, or the leaves without the data. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sched.h>

#include "btrfs-fs.h"
#include "fake-mounted.h"
#include "send/send_state.h"

#define SAMPLES 16

static const uint64_t clones[] = {
	FAKE_CLONES, FAKE_CLONES + 1, FAKE_CLONES + 2, FAKE_CLONES + 3
};

/* Reads ahead until nothing is left.  Returns the most that was ahead. */
static uint64_t read_all(struct fake_mounted is, uint64_t memory,
			 const struct e2pf_send_request *request)
{
	struct e2pf_settings settings = {
		.memory = memory, .threads = 2
	};
	struct e2pf_session *session;
	uint64_t peak = 0;
	struct send *s;

	fake = is;
	session = e2pf_send_new("fake", &settings);
	assert_non_null(session);
	s = (struct send *)session;
	assert_null(e2pf_send_start(session, request));
	pthread_mutex_lock(&s->lock);
	while (!s->gone) {
		/* The send reaches the end of each part when it is waited
		 * for. */
		if (s->waiting) {
			s->came_out = s->stream;
			pthread_cond_broadcast(&s->changed);
		}
		pthread_mutex_unlock(&s->lock);
		sched_yield();
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	assert_true(e2pf_send_stop(session, 10000));
	assert_int_equal(s->errors, 0);
	assert_int_equal(s->sum.changed, FAKE_LEAVES);
	peak = s->sum.peak;
	e2pf_close(session);
	return peak;
}

static uint64_t send_all(struct fake_mounted is, uint64_t memory,
			 size_t clone_count)
{
	struct e2pf_send_request request = {
		.parent = FAKE_OLDER, .clones = clones,
		.clone_count = clone_count
	};

	return read_all(is, memory, &request);
}

#define MUCH (UINT64_C(1) << 30)

/* Each leaf and each piece of data once. */
static void test_cold(void **state)
{
	(void)state;
	send_all((struct fake_mounted){ .counts = true }, MUCH, 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.older, FAKE_LEAVES);
	assert_uint_in_range(fake.records, FAKE_LEAVES, 2 * FAKE_LEAVES);
	assert_int_equal(fake.data, FAKE_LEAVES);
}

static void test_cached(void **state)
{
	(void)state;
	send_all((struct fake_mounted){ .counts = true, .leaves_cached = true,
		 .data_cached = true }, MUCH, 0);
	assert_int_equal(fake.newer, SAMPLES);
	assert_int_equal(fake.older, SAMPLES);
	assert_int_equal(fake.records, SAMPLES);
	assert_int_equal(fake.data, SAMPLES);
}

/* The leaves lead to the data: those are searched though they are cached. */
static void test_data_not_cached(void **state)
{
	(void)state;
	send_all((struct fake_mounted){ .counts = true,
		 .leaves_cached = true }, MUCH, 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_true(fake.older <= 1 + SAMPLES);
	assert_int_equal(fake.data, FAKE_LEAVES);
}

/* It cannot be known whether anything is cached. */
static void test_not_counted(void **state)
{
	(void)state;
	send_all((struct fake_mounted){ .leaves_cached = true,
		 .data_cached = true }, MUCH, 0);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.older, FAKE_LEAVES);
	assert_int_equal(fake.data, FAKE_LEAVES);
}

/* However many trees are compared, no more than the limit is ahead. */
static void test_budget(void **state)
{
	uint64_t peak;

	(void)state;
	peak = send_all((struct fake_mounted){ .counts = true }, 1 << 20, 4);
	assert_uint_in_range(peak, 1 << 19, 1 << 20);
	assert_int_equal(fake.newer, FAKE_LEAVES);
	assert_int_equal(fake.data, FAKE_LEAVES);
	assert_true(fake.clones > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_cached),
		cmocka_unit_test(test_data_not_cached),
		cmocka_unit_test(test_not_counted),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
