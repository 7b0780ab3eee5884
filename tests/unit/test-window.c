/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The parts of the engine that have no thread: what the window counts of a run that
 * is requested part by part, and the requests in flight.
 */
#include "unit.h"
#include "engine-rig.h"
#include "engine/core.h"

#define REFS 4096u

/* A run of references of one block, of which the checker's device has every other
 * page in memory: each part looks at its own references only. */
struct run {
	struct rig r;
	struct e2pf_ref ref[REFS];
	struct e2pf_run_parts parts;
	struct e2pf_taken taken;
	struct e2pf_phase phase;
};

static struct run *new_run(size_t n)
{
	struct run *run = calloc(1, sizeof(*run));
	size_t i;

	rig_set_up_sized(&run->r, 1, 2 * REFS, 1);
	rig_new(&run->r);
	for (i = 0; i < n; i++)
		run->ref[i] = (struct e2pf_ref) {
			.offset = i * BS, .length = BS, .cls = E2PF_DIRS
		};
	run->parts = (struct e2pf_run_parts) { .ref = run->ref, .n = n };
	run->taken.phase = &run->phase;
	e2pf_lock(&run->r.e->lock);
	e2pf_window_start(run->r.e);
	return run;
}

static void count(struct run *run, uint64_t block, uint64_t blocks, bool missing)
{
	e2pf_window_count_part(run->r.e, &run->parts, &run->taken, 0,
			       block * BS, blocks * BS, missing);
}

static struct e2pf_engine_stats end_run(struct run *run)
{
	struct e2pf_engine_stats stats;

	e2pf_unlock(&run->r.e->lock);
	stats = rig_stats(&run->r);
	rig_tear_down(&run->r);
	free(run);
	return stats;
}

TEST(parts_follow_each_other)
{
	struct run *run = new_run(REFS);
	struct e2pf_engine_stats stats;
	size_t i;

	for (i = 0; i < REFS / 4; i++) {
		count(run, 4 * i, 4, i % 2);
		/* Nothing before the part is looked at again. */
		assert_int_equal(run->parts.next, 4 * (i + 1));
	}
	stats = end_run(run);
	assert_int_equal(stats.planned_bytes, REFS * BS);
	assert_int_equal(stats.prefetched_bytes, REFS / 2 * BS);
	assert_int_equal(stats.by_class[E2PF_DIRS].bytes, REFS / 2 * BS);
}

/* References of any length that overlap, with gaps, cut anywhere. */
TEST(overlapping_references)
{
	struct run *run = new_run(0);
	struct e2pf_engine_stats stats;

	/* Blocks 0 to 9, 2 to 3, 4 to 11, and 14 to 15. */
	run->ref[0] = (struct e2pf_ref) { .length = 10 * BS };
	run->ref[1] = (struct e2pf_ref) { .offset = 2 * BS, .length = 2 * BS };
	run->ref[2] = (struct e2pf_ref) {
		.offset = 4 * BS, .length = 8 * BS, .cls = 1
	};
	run->ref[3] = (struct e2pf_ref) { .offset = 14 * BS, .length = 2 * BS };
	run->parts.n = 4;
	count(run, 0, 3, true);
	count(run, 3, 4, false);
	count(run, 7, 9, true);
	assert_int_equal(run->parts.next, 4);
	stats = end_run(run);
	/* Of class 0: 0 to 2, 7 to 9, 14 and 15; of class 1: 10 and 11. */
	assert_int_equal(stats.by_class[0].bytes, 8 * BS);
	assert_int_equal(stats.by_class[1].bytes, 2 * BS);
	/* The gap of two blocks was read, too. */
	assert_int_equal(stats.prefetched_bytes, 12 * BS);
	assert_int_equal(stats.planned_bytes, 16 * BS);
}

/* The depth of a request counts itself, so that its cost is a number. */
TEST(depth_of_requests)
{
	struct e2pf_requests *q = calloc(1, sizeof(*q));
	struct e2pf_cost cost = { .request_ns = 0 };
	unsigned i;

	e2pf_requests_init(q, 0);
	for (i = 1; i <= 100; i++) {
		const struct e2pf_request r = { .bytes = BS };

		e2pf_requests_add(q, &r);
		assert_int_equal(q->ring[i - 1].depth, i);
		assert_int_equal(q->ring[i - 1].queued, i * BS);
	}
	e2pf_cost_learn(&cost, 1, e2pf_requests_step(q, true), 1000000000);
	assert_true(cost.request_ns > 0 && cost.request_ns < 1e9);
	/* One late request halves the limit, one in time adds to it. */
	q->most = 100;
	e2pf_requests_completed(q, true, true);
	assert_int_equal(q->most, 50);
	e2pf_requests_completed(q, true, false);
	assert_int_equal(q->most, 51);
	assert_int_equal(q->in_flight, 98);
	assert_int_equal(q->bytes, 98 * BS);
	free(q);
}

UNIT_MAIN(NULL, NULL)
