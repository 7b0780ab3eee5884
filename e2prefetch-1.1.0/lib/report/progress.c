/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a check will take.
 *
 * Reading is measured by its cost: bytes, and for each run what a request costs,
 * in bytes that could have been read instead.  What is left to read,
 * divided by the cost read per second in this run, is the time that reading
 * takes; what the checker has computed for the part it has passed tells what it
 * has yet to compute.  On flash both go on at the same time and evenly, and the
 * checker's place is the best measure: by the bytes that it reads, of which the
 * tables are a part, and what allocated inodes lead to the rest.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

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

/* The engine learns late that a request is complete.  No more than these are in
 * flight: the kernel's queue for a device holds 64 to 256 (nr_requests), and who
 * asks for more waits. */
#define QUEUE 128.0

/* What a request costs may be so many times more or less than is usual, and is
 * believed after so many seconds. */
#define REQUEST_WRONG 4.0
#define REQUEST_SECONDS 1.0

/* Seconds that nothing foresees, such as a pause of the machine. */
#define SLACK 1.0

/* The range: what may be wrong at the start and at the end. */
#define SPREAD_FIRST 0.6
#define SPREAD_LAST 0.15

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Bytes that tables led to, found already or known to be there. */
static double children(const struct e2pf_progress_facts *f)
{
	return larger(f->found_bytes + f->expected_bytes + f->deferred_bytes -
		      f->seeds_bytes, 0);
}

/* How many bytes tables lead to in all: allocated inodes that were not parsed
 * yet lead to as much as others. */
static double all_children(const struct e2pf_progress_facts *f)
{
	return children(f) / larger(f->parsed_items, LEAST_PART);
}

/* Bytes that are not found yet: what is known to be there, and what tables not
 * parsed yet lead to. */
static double not_found_bytes(const struct e2pf_progress_facts *f)
{
	return f->expected_bytes + larger(f->table_bytes - f->seeds_bytes, 0) +
	       all_children(f) - children(f);
}

static double planned_bytes(const struct e2pf_progress_facts *f)
{
	return f->found_bytes + f->deferred_bytes +
	       (f->walks ? not_found_bytes(f) : 0);
}

/* The part of the walk that the checker has passed: of what it reads in it. */
static double passed(const struct e2pf_progress_facts *f)
{
	double more = all_children(f), all = f->table_bytes + more;

	return all > 0 ? (f->table_bytes * f->passed + more * f->passed_items) /
			 all : f->passed;
}

/* A request costs as much as reading so many bytes. */
static double cost_of(const struct e2pf_progress_past *past,
		      const struct e2pf_progress_reads *reads)
{
	return reads->bytes + reads->runs * past->request_bytes;
}

static double rate(const struct e2pf_progress_past *past)
{
	return cost_of(past, &past->rate);
}

static void add(struct e2pf_progress_reads *to, double times,
		const struct e2pf_progress_reads *more)
{
	to->bytes += times * more->bytes;
	to->runs += times * more->runs;
}

/* Find what a request costs here: compare the times in which mostly bytes were
 * waited for with those in which mostly requests were. */
static void weigh_requests(struct e2pf_progress_past *past,
			   const struct e2pf_progress_facts *f, double elapsed,
			   const struct e2pf_progress_reads *arrived)
{
	struct e2pf_progress_regime *a = &past->by_bytes, *b = &past->by_runs;
	struct e2pf_progress_regime *now =
		arrived->runs * f->request_bytes > arrived->bytes ? b : a;
	double usual = f->request_bytes, least, cost;

	now->seconds += elapsed;
	add(&now->reads, 1, arrived);
	past->request_bytes = usual;
	least = a->seconds < b->seconds ? a->seconds : b->seconds;
	if (!(least > 0))
		return;
	cost = (a->reads.bytes * b->seconds - b->reads.bytes * a->seconds) /
	       (b->reads.runs * a->seconds - a->reads.runs * b->seconds);
	if (!(cost > usual / REQUEST_WRONG))
		cost = usual / REQUEST_WRONG;
	if (cost > usual * REQUEST_WRONG)
		cost = usual * REQUEST_WRONG;
	past->request_bytes += (cost - usual) * least /
			       (least + REQUEST_SECONDS);
}

/* Put what was asked for into the queue.  The oldest requests have arrived: all
 * but those in flight. */
static struct e2pf_progress_reads
take_arrived(struct e2pf_progress_past *past,
	     const struct e2pf_progress_facts *f,
	     const struct e2pf_progress_reads *asked)
{
	double requests = larger(f->requests - past->requests, 0);
	double most = f->in_flight < QUEUE ? f->in_flight : QUEUE;
	double leave = larger(past->queued + requests - most, 0);
	double old = leave < past->queued ? leave / past->queued : 1;
	double new = leave - old * past->queued < requests ?
		     (leave - old * past->queued) / requests : 1;
	struct e2pf_progress_reads arrived = { 0, 0 };

	add(&arrived, old, &past->queue);
	add(&arrived, new, asked);
	add(&past->queue, -old, &past->queue);
	add(&past->queue, 1 - new, asked);
	past->queued += requests - leave;
	return arrived;
}

static void remember(struct e2pf_progress_past *past,
		     const struct e2pf_progress_facts *f)
{
	struct e2pf_progress_reads asked = {
		larger(f->read_span_bytes - past->asked.bytes, 0),
		larger(f->read_runs - past->asked.runs, 0)
	}, arrived;
	double elapsed = f->seconds - past->seconds, memory, part;

	if (elapsed <= 0)
		return;
	memory = larger(MEMORY_LEAST, f->seconds * MEMORY_PART);
	if (memory > past->seconds)
		memory = past->seconds;
	part = elapsed / (elapsed + memory);
	if (asked.bytes > 0) {
		arrived = take_arrived(past, f, &asked);
		weigh_requests(past, f, elapsed, &arrived);
		add(&past->rate, -part, &past->rate);
		add(&past->rate, part / elapsed, &arrived);
	} else {
		/* The device works off what is in flight. */
		part = rate(past) * elapsed;
		part = part < cost_of(past, &past->queue) ?
		       part / cost_of(past, &past->queue) : 1;
		add(&past->queue, -part, &past->queue);
		past->queued -= part * past->queued;
	}
	past->seconds = f->seconds;
	past->stalled = f->stalled;
	past->cpu = f->cpu;
	past->requests = f->requests;
	past->asked.bytes = f->read_span_bytes;
	past->asked.runs = f->read_runs;
}

static double reading_left(const struct e2pf_progress_past *past,
			   const struct e2pf_progress_facts *f)
{
	double more = not_found_bytes(f);
	struct e2pf_progress_reads left = {
		f->span_bytes - f->read_span_bytes + f->deferred_bytes + more,
		f->runs - f->read_runs + f->deferred_runs + f->expected_runs
	};

	if (f->found_bytes > 0)
		left.runs += (more - f->expected_bytes) * f->runs /
			     f->found_bytes;
	add(&left, 1, &past->queue);
	return rate(past) > 0 ? cost_of(past, &left) / rate(past) : 0;
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
	return (f->usual_seconds * USUAL_WEIGHT + busy(f)) /
	       (USUAL_WEIGHT + passed(f));
}

/* The walk may have ended at any time since the last look. */
static void end_walk(struct e2pf_progress_past *past,
		     const struct e2pf_progress_facts *f)
{
	past->walk_busy = f->cpu;
	if (past->passed > LEAST_PART && past->cpu < f->cpu * past->passed)
		past->walk_busy = past->cpu / past->passed;
	past->end_busy = busy(f);
	past->end_seconds = f->seconds - f->stalled;
}

/* Seconds that a second of computing takes when the walk has ended: of the waits
 * for a processor since then, all count. */
static double slowness(const struct e2pf_progress_past *past,
		       const struct e2pf_progress_facts *f)
{
	double since = f->seconds - f->stalled - past->end_seconds;

	return past->walk_busy > 0 && f->cpu > 0 ?
	       larger((past->end_busy + since) / f->cpu, 1) : 1;
}

static double rest_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double rest = walk_busy(past, f) * f->rest_part, done = f->rest_done;

	/* Where no stage tells, the time does. */
	if (past->walk_busy > 0 && f->cpu - past->walk_busy > rest * done)
		done = (f->cpu - past->walk_busy) / rest;
	return rest * (1 - (done < REST_MOST ? done : REST_MOST)) *
	       slowness(past, f);
}

/* On flash, what has been read ahead of the checker takes only computing, and
 * what has not as long as what it has passed. */
static double walk_left(const struct e2pf_progress_past *past,
			const struct e2pf_progress_facts *f)
{
	double read = larger(f->read_bytes / planned_bytes(f), passed(f));
	double part = passed(f), computing = walk_busy(past, f) * (1 - part);
	double reading = reading_left(past, f);

	if (f->has_head)
		return reading + computing;
	if (read > 1)
		read = 1;
	if (part >= LEAST_PART)
		computing = (busy(f) * (read - part) + f->seconds *
			     (1 - read)) / part;
	return larger(reading, computing);
}

void e2pf_progress_estimate(struct e2pf_progress_past *past,
			    const struct e2pf_progress_facts *f,
			    struct e2pf_progress_left *left)
{
	double spread, now;

	memset(left, 0, sizeof(*left));
	now = passed(f);
	if (!past->walk_busy && f->measurable && now >= ALL)
		end_walk(past, f);
	remember(past, f);
	past->passed = now;
	left->planned_bytes = planned_bytes(f);
	if (!f->measurable || f->seconds <= 0)
		return;
	left->known = true;
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
