/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a check will take: bytes and requests that are left, over the rate at
 * which they were read in the last seconds, and what the checker has yet to
 * compute, by what it has computed for the part that it has passed.
 */
#include "progress.h"

/* A part this small says nothing about the whole. */
#define LEAST_PART 0.03

/* The usual pace of computing counts as much as that of such a part: the first
 * items may be the largest. */
#define USUAL_WEIGHT 0.1

/* What remains may be blocks that are never read. */
#define ALL 0.999

/* What follows the walk is never nearer to its end than this until a stage says
 * so. */
#define REST_MOST 0.95

/* How fast the rate of reading follows: its memory, as a part of the time that
 * has passed, and at least so many seconds. */
#define MEMORY_PART 0.25
#define MEMORY_LEAST 1.0

/* Seconds that nothing foresees, such as a pause of the machine. */
#define SLACK 1.0

/* The range: what may be wrong at the start and at the end. */
#define DOUBT_FIRST 0.75
#define DOUBT_LAST 0.2

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void remember(struct e2pf_progress_past *past,
		     const struct e2pf_progress_facts *f)
{
	double read = e2pf_pace_seconds(&f->pace, &f->read);
	double elapsed = f->seconds - past->read_at, memory;

	if (f->seconds <= past->seconds)
		return;
	memory = larger(MEMORY_LEAST, f->seconds * MEMORY_PART);
	if (memory > past->read_at)
		memory = past->read_at;
	if (read > past->read) {
		past->rate += ((read - past->read) / elapsed - past->rate) *
			      elapsed / (elapsed + memory);
		past->read = read;
		past->read_at = f->seconds;
	}
	past->seconds = f->seconds;
	past->stalled = f->stalled;
	past->cpu = f->cpu;
}

/* Seconds of computing in the walk. */
static double walk_cpu(const struct e2pf_progress_past *past,
		       const struct e2pf_progress_facts *f)
{
	if (past->walk_cpu > 0)
		return past->walk_cpu;
	return (f->usual_seconds * USUAL_WEIGHT + f->cpu) /
	       (USUAL_WEIGHT + f->passed);
}

static double rest_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double rest = walk_cpu(past, f) * f->rest_part, done = f->rest_done;

	/* Where no stage tells, the time does. */
	if (past->walk_cpu > 0 && f->cpu - past->walk_cpu > rest * done)
		done = (f->cpu - past->walk_cpu) / rest;
	return rest * (1 - (done < REST_MOST ? done : REST_MOST));
}

/* Without a head, reading and computing go on at the same time. */
static double walk_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double computing = walk_cpu(past, f) * (1 - f->passed);
	double reading = e2pf_pace_seconds(&f->pace, &f->left);

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

	/* The walk may have ended at any time since the last look. */
	if (!past->walk_cpu && f->measurable && f->passed >= ALL)
		past->walk_cpu = past->passed > LEAST_PART &&
				 past->cpu < f->cpu * past->passed ?
				 past->cpu / past->passed : f->cpu;
	remember(past, f);
	past->passed = f->passed;
	if (!f->measurable || f->seconds <= 0)
		return left;
	seconds = rest_left(past, f) + (f->walks ? walk_left(past, f) : 0);
	left = e2pf_estimate_range(seconds, DOUBT_LAST +
				   (DOUBT_FIRST - DOUBT_LAST) * seconds /
				   (seconds + f->seconds));
	left.high += SLACK;
	return left;
}
