/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a check will take: bytes and requests that are left, over the rate at
 * which they were read in the last seconds, and what the checker has yet to
 * compute, by what it has computed for the part that it has passed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void e2pf_progress_estimate(struct e2pf_progress_past *past,
			    const struct e2pf_progress_facts *f,
			    struct e2pf_progress_left *left)
{
	struct e2pf_estimate range;
	double seconds;

	memset(left, 0, sizeof(*left));
	/* The walk may have ended at any time since the last look. */
	if (!past->walk_cpu && f->measurable && f->passed >= ALL)
		past->walk_cpu = past->passed > LEAST_PART &&
				 past->cpu < f->cpu * past->passed ?
				 past->cpu / past->passed : f->cpu;
	remember(past, f);
	past->passed = f->passed;
	left->planned_bytes = f->read.bytes + f->left.bytes;
	if (!f->measurable || f->seconds <= 0)
		return;
	seconds = rest_left(past, f) + (f->walks ? walk_left(past, f) : 0);
	range = e2pf_estimate_range(seconds, DOUBT_LAST +
				    (DOUBT_FIRST - DOUBT_LAST) * seconds /
				    (seconds + f->seconds));
	left->known = true;
	left->seconds = seconds;
	left->low = range.low;
	left->high = range.high + SLACK;
}

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

/* What the check waits for, in words. */
static void append_wait(const struct e2pf_progress *p, char *line, size_t size)
{
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

/* What matters most comes first: a terminal's line is cut at its end. */
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
	append_wait(p, line, size);
	if (p->places)
		append(line, size, ", %llu of %llu %s",
		       (unsigned long long)p->place,
		       (unsigned long long)p->places, p->unit);
	append(line, size, ", %.0f of %.0f MiB read, %.0f MiB/s",
	       (double)p->read_bytes / mib, p->left.planned_bytes / mib,
	       p->bytes_per_second / mib);
}
