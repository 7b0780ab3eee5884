/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The parts of the engine, each alone: no engine, no lock, no thread.  What a part cannot
 * know is given to it, and what it asks for is an event.
 */
#include "unit.h"
#include "prefetch/elevator.h"
#include "prefetch/state.h"
#include "fake-device.h"
#include "fake-threads.h"

#define BS 1024u
#define MIB (1u << 20)
#define SECOND UINT64_C(1000000000)

/* A source of units that weigh as much as the test says, and a device. */
static struct fake_device dev;
static struct pf_options options;
static struct pf_schedule s;
static uint64_t units, weight;
static const struct pf_phase followed = { .number = 1, .followed = true };
static const struct pf_phase unfollowed = { .number = 2, .at_once = 10 };

static void begin(struct pf_source *source, const struct pf_options *chosen,
		  bool asleep)
{
	(void)asleep;
	(void)source;
	(void)chosen;
}

static const struct pf_phase *next(struct pf_source *source,
				   const struct pf_phase *after)
{
	(void)source;
	return after ? NULL : &followed;
}

static uint64_t units_of(struct pf_source *source, unsigned phase, bool *grows)
{
	(void)source;
	(void)phase;
	*grows = false;
	return units;
}

static uint64_t weight_of(struct pf_source *source, unsigned phase,
			  uint64_t unit)
{
	(void)source;
	(void)phase;
	(void)unit;
	return weight;
}

static const uint64_t bytes = 4096 * BS;
static const struct pf_source_ops ops = {
	.begin = begin, .next = next, .units = units_of, .weight = weight_of
};
static struct pf_source source = {
	.ops = &ops, .grain = BS, .devices = 1, .bytes = &bytes, .classes = 4
};

FIXTURE(set_up)
{
	fake_new(&dev, NULL, bytes, BS);
	dev.tick = 0;
	options = (struct pf_options) { .has_checker = true, .budget = MIB };
	s = (struct pf_schedule) { .has_checker = true };
	pf_schedule_init(&s, &source);
	return 0;
}

FIXTURE(tear_down)
{
	fake_free(&dev);
	return 0;
}

#define PART_TEST(name) TEST_WITH(name, set_up, tear_down)

PART_TEST(schedule_of_positions)
{
	uint64_t at;
	int phase;

	assert_false(pf_schedule_last_report(&s, &phase, &at));
	pf_schedule_begin_phase(&s, &followed);
	assert_false(pf_schedule_position(&s, &at));
	assert_true(pf_schedule_report(&s, 1, 7));
	assert_false(pf_schedule_report(&s, 1, 7));
	assert_true(pf_schedule_position(&s, &at));
	/* Of another phase it says nothing. */
	pf_schedule_begin_phase(&s, &unfollowed);
	assert_false(pf_schedule_position(&s, &at));
	pf_schedule_report(&s, 2, 9);
	pf_schedule_forget_report(&s);
	assert_false(pf_schedule_position(&s, &at));
	/* Without a checker none is followed. */
	s.has_checker = false;
	pf_schedule_begin_phase(&s, &followed);
	assert_false(pf_schedule_is_followed(&s));
}

/* Nothing is claimed while the source is asked; a head takes the share of its worker at
 * once. */
PART_TEST(schedule_of_units)
{
	const struct pf_options seeking = { .has_checker = true, .seek_bound = true };
	struct pf_stripe stripe;

	assert_false(pf_schedule_may_end(&s));
	assert_false(pf_schedule_claim(&s, MIB, 1, &stripe));
	units = 1 << 20;
	weight = 1024;
	pf_schedule_begin_source(&s, &seeking, false);
	pf_schedule_begin_phase(&s, s.phase);
	pf_schedule_set_next(&s, PF_NEXT_CHOOSING);
	assert_false(pf_schedule_claim(&s, UINT64_MAX, 2, &stripe));
	assert_false(pf_schedule_may_end(&s));
	pf_schedule_set_next(&s, PF_NEXT_UNKNOWN);
	assert_true(pf_schedule_may_end(&s));
	assert_true(pf_schedule_claim(&s, UINT64_MAX, 2, &stripe));
	assert_int_equal(stripe.last + 1, 8192 / 2);
	pf_schedule_set_next(&s, PF_NEXT_NONE);
	assert_false(pf_schedule_may_end(&s));
	/* Units that are taken so many at once have no weight. */
	pf_schedule_begin_phase(&s, &unfollowed);
	assert_true(pf_schedule_claim(&s, 1, 2, &stripe));
	assert_int_equal(stripe.last + 1, 10);
}

static void start_window(struct pf_window *w)
{
	memset(w, 0, sizeof(*w));
	pf_window_init(w, &s, &options, &dev.dev);
	pf_window_start(w);
}

/* Count a run of these blocks as requested. */
static void request(struct pf_window *w, const struct pf_stripe *stripe,
		    uint64_t block, uint32_t blocks)
{
	struct pf_ref ref = { .offset = block * BS, .length = blocks * BS };
	struct pf_run run = { .ref = &ref, .n = 1 };

	pf_window_count_span(w, &run, stripe, ref.offset, ref.length, true);
}

PART_TEST(window_of_a_followed_phase)
{
	struct pf_stripe stripe = {
		.phase = &followed, .last = 9, .bytes = 1000 * BS
	};
	struct pf_window w;

	start_window(&w);
	pf_schedule_begin_phase(&s, &followed);
	pf_window_add_stripe(&w, &stripe);
	request(&w, &stripe, 0, 1024);
	assert_true(pf_window_is_full(&w, true));
	/* Units have led to more than they weigh. */
	assert_int_equal(pf_window_max_claim(&w), MIB / 4 * 1000 / 1024);
	/* A tenth of it is behind the checker, and then all. */
	pf_schedule_report(&s, 1, 1);
	assert_false(pf_window_is_full(&w, true));
	assert_true(pf_window_is_full(&w, false));
	pf_schedule_report(&s, 1, 10);
	assert_false(pf_window_is_full(&w, false));
	/* What is for a later phase counts, at most half. */
	assert_true(pf_window_admit_deferred(&w, MIB / 2));
	assert_false(pf_window_admit_deferred(&w, 1));
	assert_true(pf_window_is_full(&w, false));
	pf_window_drop_deferred(&w);
	assert_false(pf_window_is_full(&w, false));
	pf_window_free(&w);
}

static atomic_bool counted;

/* The checker is at the first unit, and far ahead, by turns. */
static void *jump(void *arg)
{
	(void)arg;
	while (!counted) {
		pf_schedule_report(&s, 1, 0);
		pf_schedule_report(&s, 1, 1000000);
	}
	return NULL;
}

/* The checker may pass a stripe while what is ahead of it is counted. */
PART_TEST(reports_while_bytes_are_counted)
{
	struct pf_stripe stripe = { .phase = &followed, .last = 9 };
	struct pf_read read = { .length = BS };
	struct pf_window w;
	unsigned i, full = 0;
	pthread_t checker;
	bool were;

	start_window(&w);
	pf_schedule_begin_phase(&s, &followed);
	counted = false;
	assert_int_equal(fake_checker_create(&checker, jump, NULL), 0);
	for (i = 0; i < 300000; i++) {
		if (w.oldest_stripe == w.next_stripe) {
			pf_window_add_stripe(&w, &stripe);
			request(&w, &stripe, 0, 1);
			pf_window_mark_read(&w, &read, &were);
		}
		full += pf_window_is_full(&w, true);
	}
	counted = true;
	pthread_join(checker, NULL);
	assert_int_equal(full, 0);
	pf_window_free(&w);
}

/* References of any length that overlap, with gaps, of a run that is requested part
 * by part, cut anywhere. */
PART_TEST(overlapping_references)
{
	/* Blocks 0 to 9, 2 to 3, 4 to 11, and 14 to 15. */
	struct pf_ref ref[] = {
		{ .length = 10 * BS }, { .offset = 2 * BS, .length = 2 * BS },
		{ .offset = 4 * BS, .length = 8 * BS, .cls = 1 },
		{ .offset = 14 * BS, .length = 2 * BS }
	};
	static const struct {
		uint64_t block, blocks;
		bool missing;
		size_t next;
	} part[] = {
		{ 0, 3, true, 0 }, { 3, 4, false, 0 }, { 7, 3, true, 0 },
		{ 10, 6, true, 2 }
	};
	struct pf_run run = { .ref = ref, .n = COUNT(ref) };
	const struct pf_stripe stripe = { .phase = &followed };
	struct pf_window w;
	size_t i;

	start_window(&w);
	for (i = 0; i < COUNT(part); i++) {
		pf_window_advance_run(&run, part[i].block * BS);
		pf_window_count_span(&w, &run, &stripe, part[i].block * BS,
				     part[i].blocks * BS, part[i].missing);
		/* Nothing before the part is looked at again. */
		assert_int_equal(run.next, part[i].next);
	}
	/* 0 to 2, 7 to 11, 14 and 15; the gap of two blocks was read, too. */
	assert_int_equal(w.prefetched_bytes, 12 * BS);
	assert_int_equal(w.planned_bytes, 16 * BS);
	pf_window_free(&w);
}

static void start_health(struct pf_health *p, unsigned us, unsigned us_deep)
{
	memset(p, 0, sizeof(*p));
	pf_health_init(p, &options, &dev.dev);
	pf_health_start(p);
	p->speed.latency_ns = us * 1000;
	p->speed.latency_qd8_ns = us_deep * 1000;
}

/* Which gaps are read through, by what was measured, us of a request with others in
 * flight and of one more, by what one more is observed to cost, and by the size of
 * requests. */
PART_TEST(gap_by_the_cost)
{
	static const struct {
		bool seek_bound;
		unsigned us_deep, us_more, us, mean, gap;	/* KiB */
	} rows[] = {
		/* Nothing was measured. */
		{ true, 0, 0, 0, 1, 32 }, { false, 0, 0, 0, 1, 0 },
		{ false, 0, 0, 20, 1, 4 }, { false, 0, 0, 333, 1, 48 },
		{ false, 20, 90, 90, 1, 4 }, { false, 20, 100, 100, 1, 4 },
		/* A volume with 3,000 IOPS, an SD card, and what is slower. */
		{ false, 333, 333, 333, 35, 48 }, { false, 333, 333, 333, 40, 26 },
		{ false, 333, 333, 333, 45, 4 }, { false, 660, 660, 660, 62, 48 },
		{ false, 660, 660, 660, 81, 4 },
		{ false, 8000, 8000, 8000, 1000, 4 },
		{ true, 8100, 8100, 8100, 60, 32 },
		/* The first requests passed at once, or were delayed by chance. */
		{ false, 87, 0, 0, 1, 4 }, { false, 87, 0, 200, 1, 4 },
		{ false, 87, 0, 333, 31, 48 }, { false, 87, 0, 333, 41, 4 },
		{ false, 333, 333, 100, 1, 4 },
		/* Several heads, and one. */
		{ true, 2999, 0, 0, 1, 64 }, { true, 3000, 0, 0, 1, 32 },
	};
	unsigned i;

	for (i = 0; i < COUNT(rows); i++) {
		const struct pf_speed speed = {
			.seek_bound = rows[i].seek_bound,
			.latency_ns = rows[i].us_deep * 1000,
			.latency_qd8_ns = rows[i].us_deep * 1000,
			.request_ns = rows[i].us_more * 1000
		};

		assert_int_equal(pf_elevator_gap(&speed, rows[i].us * 1000,
						 rows[i].mean << 10) >> 10,
				 rows[i].gap);
	}
}

/* A device that holds up others is left to the checker until four of its reads were
 * quick; one that does not is, when a read has failed. */
PART_TEST(stalled_device)
{
	const struct pf_read quick = { .missed = true }, cached = { .length = 1 };
	struct pf_health p;
	unsigned i, way;

	for (way = 0; way < 2; way++) {
		start_health(&p, 1000, way ? 100 : 600);
		assert_int_equal(pf_health_judge_own_read(&p, BS, 0, SECOND), 0);
		assert_int_equal(!p.stalled, way);
		assert_int_equal(pf_health_limits_requests(&p), !way);
		pf_health_judge_failed_read(&p, 2 * BS);
		assert_true(p.stalled);
		assert_true(pf_health_limits_requests(&p));
		for (i = 0; i < 3; i++) {
			assert_int_equal(pf_health_judge_checker_read(&p, &quick, 1), 0);
			assert_int_equal(pf_health_judge_checker_read(&p, &cached, 1), 0);
			assert_int_equal(pf_health_judge_checker_read(&p, &quick,
								      SECOND / 4), 0);
		}
		assert_int_equal(pf_health_judge_checker_read(&p, &quick, 1),
				 PF_EVENT_WORK);
		assert_false(p.stalled);
		/* It stays degraded. */
		assert_true(pf_health_limits_requests(&p));
	}
	/* Nobody follows: there is nobody to leave it to. */
	options.has_checker = false;
	start_health(&p, 1000, 600);
	pf_health_judge_own_read(&p, BS, 0, SECOND);
	assert_false(p.stalled);
}

/* A measurement that was not made says why; one that took a second leaves the device to
 * the checker. */
PART_TEST(measured_or_not)
{
	const struct pf_speed speed = { .latency_ns = 7, .seek_bound = true };
	struct pf_health p;

	start_health(&p, 0, 0);
	assert_false(pf_health_needs_speed(&p));
	options.measure = true;
	assert_true(pf_health_needs_speed(&p));
	pf_health_set_speed(&p, "it is a test", &speed, SECOND);
	assert_true(p.stalled);
	assert_int_equal(p.speed.latency_ns, 0);
	start_health(&p, 0, 0);
	pf_health_set_speed(&p, NULL, &speed, 0);
	pf_health_start(&p);
	assert_true(p.speed.seek_bound);
	assert_false(pf_health_needs_speed(&p));
	/* A fixed setting overrides it. */
	options.measure = false;
	pf_health_start(&p);
	assert_false(p.speed.seek_bound);
}

/* A checker at the gate does not wait for a worker that sleeps; one that begins to read
 * is progress. */
PART_TEST(states_of_a_worker)
{
	static struct pf_worker worker = { .stripe = { .epoch = 3 } };
	static struct pf_pool pool;

	pool.worker[0] = &worker;
	pf_pool_set_workers(&pool, 1);
	assert_int_equal(pf_pool_set_state(&pool, &worker, PF_WORKER_READING, 7),
			 0);
	assert_true(pf_pool_is_reading(&pool, 3, NULL));
	assert_false(pf_pool_is_reading(&pool, 4, NULL));
	assert_int_equal(pf_pool_set_state(&pool, &worker, PF_WORKER_THROTTLED, 9),
			 PF_EVENT_GATE);
	assert_int_equal(pool.last_progress, 7);
	assert_int_equal(pf_pool_set_state(&pool, &worker, PF_WORKER_IDLE, 9),
			 PF_EVENT_GATE | PF_EVENT_ENDED);
}

/* Stalls wake an engine that is asleep if they are one in sixteen. */
PART_TEST(reads_that_stall)
{
	static struct pf_stats stats;
	struct pf_read r = { .length = BS };
	unsigned i;

	pf_stats_start(&stats);
	for (i = 0; i < 17 * 200; i++) {
		pf_stats_begin_read(&stats, &r, 0);
		assert_int_equal(pf_stats_count_read(&stats, &r, i % 17 == 0,
						     50000), 0);
	}
}

/* The gate opens when more was lost at it than reads of the checker's own take. */
PART_TEST(gate_that_loses)
{
	static struct pf_gate gate;
	unsigned i;

	pf_gate_set_closed(&gate, true);
	for (i = 0; i < 20; i++)
		pf_gate_count_wait(&gate, 1000, 50, true);
	pf_gate_count_wait(&gate, 1000, 5000, false);
	assert_true(gate.closed);
	pf_gate_count_wait(&gate, 1000, 1, false);
	assert_false(gate.closed);
	/* In the next phase it is used again. */
	pf_gate_set_closed(&gate, true);
	assert_true(gate.closed);
}

/* The ring has the last requests, also those that have completed, and each limits how
 * many there may be. */
PART_TEST(requests_in_flight)
{
	static struct pf_inflight f;
	unsigned i;

	/* Half a second is enough for five. */
	pf_inflight_reset(&f, 50000000);
	for (i = 0; i < 5; i++) {
		assert_false(pf_inflight_is_full(&f, false));
		assert_int_equal(pf_inflight_is_full(&f, true), i >= 2);
		pf_inflight_add(&f, &dev.dev, 0, i * 2 * BS, BS);
	}
	assert_true(pf_inflight_is_full(&f, false));
	pf_inflight_remove_oldest(&f, false);
	assert_int_equal(f.limit, 6);
	pf_inflight_remove_oldest(&f, true);
	assert_int_equal(f.limit, 3);
	assert_int_equal(f.bytes, 3 * BS);
	assert_int_equal(f.oldest->offset, 4 * BS);
	assert_true(pf_inflight_includes(&f, 0, 0));
	assert_false(pf_inflight_includes(&f, 0, BS));
	assert_false(pf_inflight_includes(&f, 1, 0));
	for (i = 0; i < PF_MAX_INFLIGHT; i++) {
		if (f.count)
			pf_inflight_remove_oldest(&f, false);
		pf_inflight_add(&f, &dev.dev, 0, 100 * BS, BS);
	}
	assert_false(pf_inflight_includes(&f, 0, 0));
}

/* A read may have failed with a page beside it. */
PART_TEST(read_that_fails)
{
	struct pf_read r = { .offset = 100 * BS, .length = BS };
	struct pf_device *device = &dev.dev;
	static struct pf_worker worker;
	struct pf_engine *e = pf_engine_new(&source, &device);

	assert_non_null(e);
	e->stats.requests = 1;
	assert_false(pf_engine_read_failed(e, &r));
	fake_set_in_part(&dev, 101, 1);
	assert_true(pf_engine_read_failed(e, &r));
	/* Several blocks, at once or one by one, if that page was requested. */
	r.of_several = true;
	assert_false(pf_engine_read_failed(e, &r));
	r.of_several = false;
	/* The page before it, and not one further on. */
	r.offset += 2 * BS;
	assert_true(pf_engine_read_failed(e, &r));
	r.offset += BS;
	assert_false(pf_engine_read_failed(e, &r));
	dev.dev.sees_not_uptodate = false;
	assert_true(pf_engine_read_failed(e, &r));
	dev.dev.sees_not_uptodate = true;
	r.offset -= 4 * BS;
	r.length = 2 * BS;
	assert_false(pf_engine_read_failed(e, &r));
	fake_set_late(&dev, true);
	e->pool.worker[0] = &worker;
	pf_inflight_reset(&worker.inflight, 0);
	pf_inflight_add(&worker.inflight, &dev.dev, 0, 100 * BS, 2 * BS);
	assert_true(pf_engine_read_failed(e, &r));
	e->pool.worker[0] = NULL;
	pf_engine_free(e);
}

UNIT_MAIN(NULL, NULL)
