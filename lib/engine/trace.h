/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A record of what happens when: requests, reads of the checker, phases and
 * stages, a line of JSON each (doc/statistics.md).  Where there is none, which
 * is the rule, each call is a look at a pointer.
 *
 * All may be called from any thread, but for e2pf_trace_close().
 */
#ifndef E2PF_TRACE_H
#define E2PF_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a trace holds at most; then it says that it ended early. */
#define E2PF_TRACE_EVENTS (8u << 20)

struct e2pf_trace;

/* Write to `out`, which is the trace's from now on; NULL without memory, and
 * `out` is then closed. */
struct e2pf_trace *e2pf_trace_open(FILE *out);

/* The first line: a JSON object with these keys and no newline. */
void e2pf_trace_begin(struct e2pf_trace *trace, const char *object);

/* A worker asked for bytes; so many requests of its are in flight. */
void e2pf_trace_request(struct e2pf_trace *trace, uint64_t ns, uint64_t offset,
			uint64_t length, unsigned worker, unsigned in_flight);

/* The checker has read; that began at `ns`.  `hit`: from memory. */
void e2pf_trace_read(struct e2pf_trace *trace, uint64_t ns, uint64_t offset,
		     uint64_t length, uint64_t took_ns, bool hit);

/* A phase, or a stage of the checker, has begun. */
void e2pf_trace_phase(struct e2pf_trace *trace, uint64_t ns, int phase);
void e2pf_trace_stage(struct e2pf_trace *trace, uint64_t ns, unsigned stage);

/* In a child that was forked: drop what the parent is going to write. */
void e2pf_trace_forked(struct e2pf_trace *trace);

/* Write what is left; `keep`: somebody may still call, so it stays. */
void e2pf_trace_close(struct e2pf_trace *trace, bool keep);

#endif
