/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the trace.  Decides only the format. */
#include <inttypes.h>
#include <stdarg.h>
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

void e2pf_trace_print(struct e2pf_trace *t, const char *format, ...)
{
	unsigned n = atomic_fetch_add(&t->events, 1);
	va_list args;

	if (n == E2PF_TRACE_EVENTS)
		fputs("[\"full\"]\n", t->out);
	if (n >= E2PF_TRACE_EVENTS) {
		atomic_store(&t->events, E2PF_TRACE_EVENTS + 1);
		return;
	}
	va_start(args, format);
	vfprintf(t->out, format, args);
	va_end(args);
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
