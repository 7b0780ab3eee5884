/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The model of the time that a check takes, before it, while it runs and when it
 * has ended.  doc/estimates.md compares it with real checks on modelled disks, and
 * gives the command that repeats the comparison.
 */
#include <string.h>

#include "progress.h"

/* The accelerations halve the CPU time. */
#define ACCELERATED 0.5

/* A request that is read ahead takes this part of the latency with eight in flight:
 * less, because requests are sorted and many are in flight. */
#define AHEAD_HEAD 0.15
#define AHEAD_FLASH 0.5

/* Without prefetching, this part of that of a lone one: some are near. */
#define ALONE_FLASH 0.75

/* Seconds, where nothing was measured. */
#define USUAL_BYTE 8e-9
#define USUAL_HEAD_LATENCY 0.004
#define USUAL_LATENCY 0.0001

/* Seconds.  Of reads that are faster, the processor's part is a good part, and on
 * a busy machine most: a check of SATA flash that takes 2.1 s without prefetching
 * was forecast to take 11. */
#define LEAST_DEEP_LATENCY 0.0002

/* Where there is a head, the time depends on how near requests are to each
 * other. */
#define DOUBT_HEAD 0.65
#define DOUBT_FLASH 0.5

/* Without prefetching, most reads go on where the last one ended: doc/estimates.md
 * has what real checks took of what was expected. */
#define LOW_ALONE_HEAD 0.3
#define HIGH_ALONE_HEAD 2

/* If lone reads of flash differ by more, the machine or the device is too busy to say
 * how long a check takes. */
#define BUSY 4

/* Nor if it has read ahead faster than was measured by this factor; arrays that look like
 * a single disk, 3.4 times. */
#define FASTER 4

/* While a check runs: the usual pace of computing counts as much as that of such
 * a part of the walk, whose first items may be the largest. */
#define USUAL_WEIGHT 0.1

/* What remains may be blocks that are never read. */
#define ALL 0.999

/* What follows the walk is never nearer to its end than this until a stage says
 * so. */
#define REST_MOST 0.95

/* How fast the rate of reading follows: its memory, as a part of the time that
 * has passed, and at least MEMORY_LEAST seconds. */
#define MEMORY_PART 0.25
#define MEMORY_LEAST 1.0

/* Seconds that nothing foresees, such as a pause of the machine. */
#define SLACK 1.0

/* The range: what may be wrong at the start and at the end. */
#define DOUBT_FIRST 0.75
#define DOUBT_LAST 0.2

static double seconds_of(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double byte_seconds(const struct e2pf_speed *speed)
{
	return speed->byte_ps ? (double)speed->byte_ps / 1e12 : USUAL_BYTE;
}

struct e2pf_pace e2pf_pace_ahead(const struct e2pf_speed *speed, unsigned heads)
{
	double deep = speed->latency_ns ? seconds_of(speed->deep_latency_ns) :
		      speed->has_head ? USUAL_HEAD_LATENCY : USUAL_LATENCY;

	return (struct e2pf_pace) {
		.byte = byte_seconds(speed),
		.request = speed->has_head ?
			   deep * AHEAD_HEAD / (heads ? heads : 1) :
				      deep * AHEAD_FLASH
	};
}

/* One after the other, as the check asks for them.  On a head most lie not far
 * from the one before, and cost what one of a queue does. */
static struct e2pf_pace pace_alone(const struct e2pf_speed *speed, uint64_t lone_ns)
{
	return (struct e2pf_pace) {
		.byte = byte_seconds(speed),
		.request = speed->has_head ?
			   seconds_of(speed->deep_latency_ns) :
			   seconds_of(lone_ns) * ALONE_FLASH
	};
}

static double time_at(const struct e2pf_pace *pace,
		      const struct e2pf_work *work)
{
	return work->bytes * pace->byte + work->requests * pace->request;
}

/* It may be shorter by the part `doubt` of it, and longer by the same factor. */
static struct e2pf_estimate range(double seconds, double doubt)
{
	return (struct e2pf_estimate) {
		seconds, seconds * (1 - doubt), seconds / (1 - doubt)
	};
}

static bool is_busy(const struct e2pf_speed *speed)
{
	return !speed->has_head && speed->latency_ns > BUSY * speed->least_ns;
}

/* The time of reading alone.  On a busy machine some reads wait for the processor: the
 * fastest is right, if one is. */
static struct e2pf_estimate range_alone(const struct e2pf_speed *speed,
					const struct e2pf_work *alone)
{
	struct e2pf_pace pace = pace_alone(speed, speed->least_ns);
	struct e2pf_pace slow = pace_alone(speed, speed->latency_ns);
	double expected = time_at(&pace, alone);

	if (speed->has_head)
		return (struct e2pf_estimate) {
			expected, expected * LOW_ALONE_HEAD,
			expected * HIGH_ALONE_HEAD
		};
	return (struct e2pf_estimate) {
		expected, expected * (1 - DOUBT_FLASH),
		time_at(&slow, alone) / (1 - DOUBT_FLASH)
	};
}

/* What is read ahead, and the requests in which the kernel's readahead lets the
 * check make it without us. */
static void count(const struct e2pf_reading *reading, bool has_head,
		  struct e2pf_work *ahead, struct e2pf_work *alone)
{
	unsigned i;

	memset(ahead, 0, sizeof(*ahead));
	memset(alone, 0, sizeof(*alone));
	for (i = 0; i < reading->classes; i++) {
		double bytes = (double)reading->count[i].bytes;
		double runs = (double)reading->count[i].runs;

		if (!reading->windows[i])
			continue;
		ahead->bytes += bytes;
		ahead->requests += runs;
		if (!has_head)
			alone->requests +=
				larger(bytes - runs * reading->block_size, 0) /
				reading->windows[i];
	}
	alone->bytes = ahead->bytes;
	alone->requests += ahead->requests;
}

void e2pf_estimate_check(const struct e2pf_reading *reading,
			 const struct e2pf_speed *speed, unsigned heads,
			 double cpu, struct e2pf_estimate *stock,
			 struct e2pf_estimate *prefetch)
{
	double doubt = speed->has_head ? DOUBT_HEAD : DOUBT_FLASH, seconds;
	struct e2pf_pace pace = e2pf_pace_ahead(speed, heads);
	struct e2pf_estimate own = range(cpu, DOUBT_FLASH);
	struct e2pf_work ahead, alone;

	count(reading, speed->has_head, &ahead, &alone);
	*prefetch = *stock = (struct e2pf_estimate) { 0, 0, 0 };
	if (is_busy(speed))
		return;
	*stock = range_alone(speed, &alone);
	stock->expected += own.expected;
	stock->low += own.low;
	stock->high += own.high;
	/* Computing and reading overlap, but for their beginnings and ends. */
	seconds = time_at(&pace, &ahead);
	cpu *= ACCELERATED;
	*prefetch = range(speed->has_head ? seconds + cpu :
					    larger(seconds, cpu), doubt);
}

struct e2pf_estimate e2pf_estimate_without(const struct e2pf_report *r, double took)
{
	const struct e2pf_engine_stats *stats = &r->engine;
	struct e2pf_speed speed = {
		.has_head = stats->has_head, .latency_ns = stats->latency_ns,
		.least_ns = stats->least_latency_ns,
		.deep_latency_ns = stats->deep_latency_ns
	};
	const struct e2pf_reading reading = {
		.count = stats->by_class, .windows = r->windows,
		.classes = r->classes, .block_size = r->block_size
	};
	uint64_t waited_ns = e2pf_stats_stages(stats).stall_ns;
	uint64_t own_ns = stats->own_stall_ns;
	const struct e2pf_pace pace = e2pf_pace_ahead(&speed, r->topo.spindles);
	const struct e2pf_estimate unknown = { 0, 0, 0 };
	struct e2pf_estimate without;
	struct e2pf_work ahead, alone;
	double rest = took;

	if (!r->windows || !stats->latency_ns || is_busy(&speed) ||
	    seconds_of(stats->deep_latency_ns) < LEAST_DEEP_LATENCY)
		return unknown;
	count(&reading, stats->has_head, &ahead, &alone);
	if (time_at(&pace, &ahead) > FASTER * took)
		return unknown;
	without = range_alone(&speed, &alone);
	/* It would have waited for the rest just the same. */
	if (waited_ns > own_ns)
		rest -= seconds_of(waited_ns - own_ns);
	without.expected += rest;
	without.low = larger(without.low + rest, took);
	without.high += rest;
	return without.expected > took ? without : unknown;
}

/* The rate of reading, in seconds at the usual pace per second. */
static void remember(struct e2pf_progress_past *past,
		     const struct e2pf_progress_facts *f)
{
	double read = time_at(&f->pace, &f->read);
	double elapsed = f->seconds - past->read_at;
	double memory = larger(MEMORY_LEAST, f->seconds * MEMORY_PART);
	double usual = USUAL_WEIGHT * (1 - f->passed);

	if (read > past->read && elapsed > 0) {
		if (memory > past->read_at)
			memory = past->read_at;
		past->rate += ((read - past->read) / elapsed - past->rate) *
			      elapsed / (elapsed + memory);
		past->read = read;
		past->read_at = f->seconds;
	}
	past->seconds = f->seconds;
	past->stalled = f->stalled;
	past->cpu = f->cpu;
	/* The walk may have ended at any time since the last estimate. */
	if (f->passed < ALL || !past->walk_cpu)
		past->walk_cpu = (f->usual_seconds * usual + f->cpu) /
				 (usual + f->passed);
}

static double rest_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double rest = past->walk_cpu * f->rest_part, done = f->rest_done;

	/* Where no stage tells, the time does. */
	if (f->cpu - past->walk_cpu > rest * done)
		done = (f->cpu - past->walk_cpu) / rest;
	return rest * (1 - (done < REST_MOST ? done : REST_MOST));
}

/* Without a head, reading and computing go on at the same time. */
static double walk_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double computing = past->walk_cpu * (1 - f->passed);
	double reading = time_at(&f->pace, &f->left);

	/* That a request is complete is known late: meanwhile the device goes
	 * on. */
	if (past->rate > 0)
		reading = larger(reading / past->rate -
				 (f->seconds - past->read_at), 0);
	return f->has_head ? reading + computing : larger(reading, computing);
}

struct e2pf_estimate
e2pf_progress_estimate(struct e2pf_progress_past *past,
		       const struct e2pf_progress_facts *f)
{
	struct e2pf_estimate left = { .expected = 0 };
	double seconds;

	remember(past, f);
	if (!f->measurable || f->seconds <= 0)
		return left;
	seconds = rest_left(past, f) + (f->walks ? walk_left(past, f) : 0);
	left = range(seconds, DOUBT_LAST + (DOUBT_FIRST - DOUBT_LAST) *
		     seconds / (seconds + f->seconds));
	left.high += SLACK;
	return left;
}
