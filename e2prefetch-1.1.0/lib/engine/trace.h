/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace of events: requests, reads of the checker, phases and stages, one
 * line of JSON each (doc/statistics.md).  Usually there is no trace, and each
 * call only tests a pointer.
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

/* A worker asked for bytes; it has so many requests in flight. */
void e2pf_trace_request(struct e2pf_trace *trace, uint64_t ns, uint64_t offset,
			uint64_t length, unsigned worker, unsigned in_flight);

/* The checker has read; the read began at `ns`.  `hit`: from memory. */
void e2pf_trace_read(struct e2pf_trace *trace, uint64_t ns, uint64_t offset,
		     uint64_t length, uint64_t took_ns, bool hit);

/* A phase, or a stage of the checker, has begun. */
void e2pf_trace_phase(struct e2pf_trace *trace, uint64_t ns, int phase);
void e2pf_trace_stage(struct e2pf_trace *trace, uint64_t ns, unsigned stage);

/* In a forked child: drop buffered output, which the parent will write. */
void e2pf_trace_forked(struct e2pf_trace *trace);

/* Write what is left, and a line that tells a complete trace from one that was cut
 * off.  `keep`: somebody may still call, so do not free it. */
void e2pf_trace_close(struct e2pf_trace *trace, bool keep);

#endif
