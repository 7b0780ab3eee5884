/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a check will take.
 *
 * Reading is measured by its cost: bytes, and for each run what a request costs,
 * in bytes that could have been read instead.  What is left to read,
 * divided by the cost read per second in this run, is the time that reading
 * takes; what the checker has computed for the part it has passed tells what it
 * has yet to compute.  On flash both go on at the same time and evenly, and the
 * checker's place is the best measure.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "progress.h"

/* Computing per item of the walk; with accelerations (doc/timing.md), to begin
 * with. */
#define WALK_SECONDS 0.9e-6

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

/* The engine learns late that a request is complete.  No more than these are in
 * flight: the kernel's queue for a device holds 64 to 256 (nr_requests), and who
 * asks for more waits. */
#define QUEUE 128.0

/* Blocks below others may lie one by one or in one piece; what is usual counts
 * as much as that many places. */
#define EXPECTED_RUN 65536.0
#define EXPECTED_WEIGHT 16.0

/* Seconds that nothing foresees, such as a pause of the machine. */
#define SLACK 1.0

/* The range: what may be wrong at the start and at the end. */
#define SPREAD_FIRST 0.6
#define SPREAD_LAST 0.15

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Bytes that are not found yet: what is known to be there, and what tables not
 * parsed yet lead to if they are like others. */
static double not_found_bytes(const struct e2pf_progress_facts *f)
{
	double tables = larger(f->table_bytes, f->seeds_bytes);
	double children = larger(f->found_bytes + f->expected_bytes +
				 f->deferred_bytes - f->seeds_bytes, 0);
	double more = f->expected_bytes + tables - f->seeds_bytes;

	if (f->parsed_bytes > tables * LEAST_PART)
		more += children * larger(tables / f->parsed_bytes - 1, 0);
	return more;
}

/* The cost of runs: a request costs as much as reading so many bytes. */
static double cost_of(const struct e2pf_progress_facts *f, double bytes,
		      double runs)
{
	return bytes + runs * f->request_bytes;
}

static double rate(const struct e2pf_progress_past *past,
		   const struct e2pf_progress_facts *f)
{
	return cost_of(f, past->byte_rate, past->run_rate);
}

/* While nothing more is asked for, the device works off what is in flight. */
static void remember(struct e2pf_progress_past *past,
		     const struct e2pf_progress_facts *f)
{
	double flying = f->in_flight > QUEUE ? QUEUE / f->in_flight : 1;
	double flying_bytes = flying * f->in_flight_bytes;
	double flying_runs = f->requests > 0 ? flying * f->read_runs *
			     f->in_flight / f->requests : 0;
	double bytes = larger(f->read_span_bytes - flying_bytes, 0);
	double runs = larger(f->read_runs - flying_runs, 0);
	double passed = f->seconds - past->seconds, memory, part;

	if (passed <= 0)
		return;
	memory = larger(MEMORY_LEAST, f->seconds * MEMORY_PART);
	part = past->byte_rate > 0 ? passed / (passed + memory) : 1;
	if (f->read_bytes > past->asked) {
		past->byte_rate += part * (larger(bytes - past->bytes, 0) /
					   passed - past->byte_rate);
		past->run_rate += part * (larger(runs - past->runs, 0) /
					  passed - past->run_rate);
		past->queue = cost_of(f, flying_bytes, flying_runs);
	} else {
		past->queue = larger(past->queue - rate(past, f) * passed, 0);
	}
	past->seconds = f->seconds;
	past->stalled = f->stalled;
	past->cpu = f->cpu;
	past->asked = f->read_bytes;
	past->bytes = bytes;
	past->runs = runs;
}

/* Runs of blocks that are expected to be found: as those found like them; to
 * begin with, runs of EXPECTED_RUN. */
static double expected_runs(const struct e2pf_progress_facts *f)
{
	return f->expected_bytes * (f->deep_areas + EXPECTED_WEIGHT) /
	       (f->deep_bytes + EXPECTED_WEIGHT * EXPECTED_RUN);
}

static double reading_left(const struct e2pf_progress_past *past,
			   const struct e2pf_progress_facts *f)
{
	double more = not_found_bytes(f) + f->deferred_bytes;
	double runs = f->runs - f->read_runs + expected_runs(f), cost;

	if (f->found_bytes > 0)
		runs += (more - f->expected_bytes) * f->runs / f->found_bytes;
	cost = cost_of(f, f->span_bytes - f->read_span_bytes + more, runs);
	return rate(past, f) > 0 ? (cost + past->queue) / rate(past, f) : 0;
}

/* Seconds of computing.  Of the time that the checker waited for a processor,
 * half counts: some of it is due to threads that read ahead, which end. */
static double busy(const struct e2pf_progress_facts *f)
{
	return (f->cpu + larger(f->cpu, f->seconds - f->stalled)) / 2;
}

/* Seconds of computing in the walk. */
static double walk_busy(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	if (past->walk_busy > 0)
		return past->walk_busy;
	return (f->items * WALK_SECONDS * USUAL_WEIGHT + busy(f)) /
	       (USUAL_WEIGHT + f->passed);
}

static double rest_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double rest = walk_busy(past, f) * f->rest_part, done = f->rest_done;

	/* Where no stage tells, the time does. */
	if (past->walk_busy > 0 && busy(f) - past->walk_busy > rest * done)
		done = (busy(f) - past->walk_busy) / rest;
	return rest * (1 - (done < REST_MOST ? done : REST_MOST));
}

static double walk_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double computing = walk_busy(past, f) * (1 - f->passed);
	double reading = reading_left(past, f);

	if (f->has_head)
		return reading + computing;
	if (f->passed >= LEAST_PART)
		computing = f->seconds * (1 - f->passed) / f->passed;
	return larger(reading, computing);
}

void e2pf_progress_estimate(struct e2pf_progress_past *past,
			    const struct e2pf_progress_facts *f,
			    struct e2pf_progress_left *left)
{
	double spread;

	memset(left, 0, sizeof(*left));
	remember(past, f);
	left->planned_bytes = f->found_bytes + f->deferred_bytes +
			      (f->walks ? not_found_bytes(f) : 0);
	if (!f->measurable || f->seconds <= 0)
		return;
	left->known = true;
	if (!past->walk_busy && f->passed >= ALL)
		past->walk_busy = busy(f);
	left->seconds = rest_left(past, f);
	if (f->walks)
		left->seconds += walk_left(past, f);
	spread = SPREAD_LAST + (SPREAD_FIRST - SPREAD_LAST) *
		 left->seconds / (left->seconds + f->seconds);
	left->low = left->seconds * (1 - spread);
	left->high = left->seconds / (1 - spread) + SLACK;
}

const char *const e2pf_progress_wait_names[] = {
	[E2PF_WAITS_NOT] = "nothing",
	[E2PF_WAITS_PROCESSOR] = "processor",
	[E2PF_WAITS_DISK] = "disk",
	[E2PF_WAITS_SECTOR] = "slow read",
};

/* Append to a line of text; what does not fit is cut off. */
__attribute__((format(printf, 3, 4)))
static void append(char *line, size_t size, const char *format, ...)
{
	size_t used = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + used, size - used, format, args);
	va_end(args);
}

/* "47 s", "12 min", "3.4 h" */
static void append_time(char *line, size_t size, double seconds)
{
	if (seconds < 100)
		append(line, size, "%.0f s", seconds);
	else if (seconds < 6000)
		append(line, size, "%.0f min", seconds / 60);
	else
		append(line, size, "%.1f h", seconds / 3600);
}

void e2pf_progress_line(const struct e2pf_progress *p, char *line, size_t size)
{
	const double mib = 1u << 20;

	snprintf(line, size, "%s: %s", p->device, p->stage);
	if (p->left.known) {
		append(line, size, ", ");
		append_time(line, size, p->left.seconds);
		append(line, size, " left (");
		append_time(line, size, p->left.low);
		append(line, size, " to ");
		append_time(line, size, p->left.high);
		append(line, size, ")");
	} else {
		append(line, size, ", time left unknown");
	}
	if (p->places)
		append(line, size, ", %llu of %llu %s",
		       (unsigned long long)p->place,
		       (unsigned long long)p->places, p->unit);
	append(line, size, ", %.0f of %.0f MiB read, %.0f MiB/s",
	       (double)p->read_bytes / mib, p->left.planned_bytes / mib,
	       p->bytes_per_second / mib);
	if (p->wait == E2PF_WAITS_NOT)
		return;
	append(line, size, ", waits for %s%s%s",
	       p->wait == E2PF_WAITS_SECTOR ? "a slow read" :
	       p->wait == E2PF_WAITS_DISK ? "the disk" : "the processor",
	       !*p->disk ? "" : p->wait == E2PF_WAITS_SECTOR ? " of " : " ",
	       p->disk);
	if (p->wait == E2PF_WAITS_SECTOR)
		append(line, size, " at byte %llu, for %.0f s",
		       (unsigned long long)p->wait_at, p->wait_seconds);
}
