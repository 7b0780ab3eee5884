/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the trace.  Decides only the format. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <time.h>

#include "trace.h"

/* Buffer of the file. */
#define BUFFER_BYTES (1u << 20)

struct e2pf_trace {
	FILE *out;
	atomic_uint events;
};

struct e2pf_trace *e2pf_trace_open(FILE *out)
{
	struct e2pf_trace *t = calloc(1, sizeof(*t));

	if (!t) {
		fclose(out);
		return NULL;
	}
	t->out = out;
	setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
	return t;
}

void e2pf_trace_begin(struct e2pf_trace *t, const char *object)
{
	if (t)
		fprintf(t->out, "%s\n", object);
}

/* Is there room for another event? */
static bool has_room(struct e2pf_trace *t)
{
	unsigned n;

	if (!t)
		return false;
	n = atomic_fetch_add(&t->events, 1);
	if (n == E2PF_TRACE_EVENTS)
		fputs("[\"full\"]\n", t->out);
	if (n < E2PF_TRACE_EVENTS)
		return true;
	atomic_store(&t->events, E2PF_TRACE_EVENTS + 1);
	return false;
}

void e2pf_trace_request(struct e2pf_trace *t, uint64_t ns, uint64_t offset,
			uint64_t length, unsigned worker, unsigned in_flight)
{
	if (has_room(t))
		fprintf(t->out, "[\"request\",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%u,%u]\n", ns, offset, length, worker, in_flight);
}

void e2pf_trace_read(struct e2pf_trace *t, uint64_t ns, uint64_t offset,
		     uint64_t length, uint64_t took_ns, bool hit)
{
	if (has_room(t))
		fprintf(t->out, "[\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%"
			PRIu64 "]\n", hit ? "hit" : "wait", ns, offset, length,
			took_ns);
}

void e2pf_trace_phase(struct e2pf_trace *t, uint64_t ns, int phase)
{
	if (has_room(t))
		fprintf(t->out, "[\"phase\",%" PRIu64 ",%d]\n", ns, phase);
}

void e2pf_trace_stage(struct e2pf_trace *t, uint64_t ns, unsigned stage)
{
	if (has_room(t))
		fprintf(t->out, "[\"stage\",%" PRIu64 ",%u]\n", ns, stage);
}

void e2pf_trace_forked(struct e2pf_trace *t)
{
	if (t)
		__fpurge(t->out);
}

void e2pf_trace_close(struct e2pf_trace *t, bool keep)
{
	struct timespec ts;

	if (!t)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	fprintf(t->out, "[\"end\",%" PRIu64 "]\n", (uint64_t)ts.tv_sec *
		1000000000u + (uint64_t)ts.tv_nsec);
	if (keep) {
		fflush(t->out);
		return;
	}
	fclose(t->out);
	free(t);
}
