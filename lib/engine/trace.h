/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace of events: requests, reads of the checker, phases and stages, one
 * line of JSON each (doc/statistics.md).
 *
 * All functions may be called from any thread, except e2pf_trace_close().
 */
#ifndef E2PF_TRACE_H
#define E2PF_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The most events in a trace; the last line then says that it is full. */
#define E2PF_TRACE_EVENTS (8u << 20)

struct e2pf_trace;

/* Write to `out`, which the trace now owns.  Returns NULL when out of memory,
 * with `out` closed. */
struct e2pf_trace *e2pf_trace_open(FILE *out);

/* Write the first line: a JSON object, without a newline. */
void e2pf_trace_begin(struct e2pf_trace *trace, const char *object);

/* Write an event, as printf() would, if there is a trace: a JSON array and a
 * newline. */
#define e2pf_trace_event(trace, ...) \
	do { \
		if (trace) \
			e2pf_trace_print(trace, __VA_ARGS__); \
	} while (0)
void e2pf_trace_print(struct e2pf_trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* In a forked child: drop buffered output, which the parent will write. */
void e2pf_trace_forked(struct e2pf_trace *trace);

/* Write what is left, and a line that tells a complete trace from one that was cut
 * off.  `keep`: somebody may still call, so do not free it. */
void e2pf_trace_close(struct e2pf_trace *trace, bool keep);

#endif
