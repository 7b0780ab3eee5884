// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Counters and the trace: the requests to the modelled device, and the times of its
 * answers.  They only observe the device.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "diskmodel.h"

uint64_t dm_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double cpu_seconds(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		(double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

void dm_stats_reset(struct dm_stats *st, uint64_t now)
{
	struct dm_stats fresh = {
		.depth = st->depth, .max_depth = st->depth,
		.trace = st->trace, .changed = now,
		.cpu = cpu_seconds(),
	};

	*st = fresh;
}

static void depth_changes(struct dm_stats *st, uint64_t now)
{
	if (st->depth) {
		st->busy += now - st->changed;
		st->depth_time += (now - st->changed) * st->depth;
	}
	st->changed = now;
}

void dm_stats_begin(struct dm_stats *st, uint64_t now)
{
	depth_changes(st, now);
	if (++st->depth > st->max_depth)
		st->max_depth = st->depth;
}

void dm_stats_end(struct dm_stats *st, const struct dm_req *req, uint64_t now,
		  bool failed)
{
	depth_changes(st, now);
	st->depth--;
	st->requests[req->op]++;
	st->bytes[req->op] += req->len;
	st->errors += failed;
	if (st->trace)
		fprintf(st->trace, "%" PRIu64 " %" PRIu64 " %" PRIu32
			" %c %" PRIu64 "\n", req->arrival, req->off, req->len,
			"rwf"[req->op], now - req->arrival);
}

int dm_stats_json(struct dm_stats *st, uint64_t now, char *buf, size_t size)
{
	int used;

	depth_changes(st, now);
	if (st->trace)
		fflush(st->trace);
	used = snprintf(buf, size, "{\"reads\": %" PRIu64
		   ", \"read_bytes\": %" PRIu64 ", \"writes\": %" PRIu64
		   ", \"errors\": %" PRIu64
		   ", \"bad_touches\": %" PRIu64 ", \"bad_touched\": %" PRIu64
		   ", \"busy_s\": %.6f"
		   ", \"mean_depth\": %.2f, \"max_depth\": %u"
		   ", \"cpu_s\": %.3f}\n", st->requests[DM_READ],
		   st->bytes[DM_READ], st->requests[DM_WRITE], st->errors,
		   st->bad_touches, st->bad_touched,
		   (double)st->busy / 1e9, st->busy ?
		   (double)st->depth_time / (double)st->busy : 0,
		   st->max_depth, cpu_seconds() - st->cpu);
	return used < 0 ? 0 : (size_t)used < size ? used : (int)size - 1;
}

int dm_trace_open(struct dm_stats *st, const char *path)
{
	FILE *f = NULL;

	if (path && *path) {
		f = fopen(path, "we");
		if (!f)
			return -1;
		setvbuf(f, NULL, _IOFBF, 1 << 20);
	}
	if (st->trace)
		fclose(st->trace);
	st->trace = f;
	return 0;
}
