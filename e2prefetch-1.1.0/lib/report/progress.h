/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far a check is and how long it will take, from what is known of it at a
 * few moments.  Pure: time is among the facts.
 */
#ifndef E2PF_PROGRESS_H
#define E2PF_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known at a moment.  Sums are since the reading began. */
struct e2pf_progress_facts {
	double seconds;		/* since the check began to read */
	double cpu;		/* seconds that the checker has computed */
	double stalled;		/* seconds that it has waited for the disk */
	/* The walk is the long part of a check, which reads nearly all of the
	 * metadata.  The rest follows it. */
	bool walks;		/* the check is in it, or before it */
	bool measurable;	/* false: nobody knows how much there is */
	/* Parts, 0 to 1: of the tables and of the items in them, of which the
	 * checker has passed so much; and of the items that were parsed. */
	double passed, passed_items, parsed_items;
	double rest_done;	/* part of what follows, at least */
	double rest_part;	/* what follows is so much computing, of that
				   in the walk */
	double usual_seconds;	/* that a processor computes in the walk */
	/* What workers read ahead.  How large the tables are is known from the
	 * start; what they refer to is found when they are parsed. */
	double table_bytes;
	double seeds_bytes;	/* of tables, taken by a worker */
	double found_bytes;	/* tables included */
	double expected_bytes;	/* that found ones are likely to lead to, */
	double expected_runs;	/* and the runs that these make */
	double read_bytes;	/* those of them that were asked for */
	double span_bytes;	/* the same with gaps that are read through */
	double read_span_bytes;
	double runs, read_runs;	/* the runs that they make, estimated, and
				   those of them that were asked for */
	double requests;		/* by which */
	double in_flight;		/* those not known to be complete */
	double deferred_bytes;		/* found, left for later */
	double deferred_runs;
	bool has_head;
	double request_bytes;	/* a request costs as much as reading this */
};

struct e2pf_progress_reads {
	double bytes, runs;
};

/* What was read in some of the time. */
struct e2pf_progress_regime {
	double seconds;
	struct e2pf_progress_reads reads;
};

/* What the estimate remembers; zeroed at the start. */
struct e2pf_progress_past {
	double seconds, cpu, stalled;		/* when last asked */
	double requests;
	struct e2pf_progress_reads asked;
	struct e2pf_progress_reads rate;	/* per second */
	/* Times in which requests cost less than the bytes that they read, and
	 * in which they cost more. */
	struct e2pf_progress_regime by_bytes, by_runs;
	double request_bytes;	/* a request costs as much as reading this */
	double queued;		/* requests that have not arrived, */
	struct e2pf_progress_reads queue;	/* and what they read */
	double passed;		/* part of the walk */
	double walk_busy;	/* seconds of computing in the walk, if it has
				   ended */
	double end_busy;	/* at its end, with half of the waits for a
				   processor, */
	double end_seconds;	/* and without waits for the disk */
};

struct e2pf_progress_left {
	bool known;
	double planned_bytes;	/* to be read ahead in all, estimated */
	double seconds, low, high;	/* left; only if known */
};

/* Estimate what is left.  Facts must come in the order of time. */
void e2pf_progress_estimate(struct e2pf_progress_past *past,
			    const struct e2pf_progress_facts *facts,
			    struct e2pf_progress_left *left);

/* What the checker waits for. */
enum e2pf_progress_wait {
	E2PF_WAITS_NOT,		/* it neither computes nor reads: it may have
				   asked a question */
	E2PF_WAITS_PROCESSOR,
	E2PF_WAITS_DISK,
	E2PF_WAITS_SECTOR	/* one read has taken more than a second */
};

/* All that is shown of a check. */
struct e2pf_progress {
	const char *program;
	const char *device;
	const char *stage;
	/* Its place in the stage: so many of so many; 0 of 0 if unknown. */
	uint64_t place, places;
	const char *unit;	/* "groups" */
	double seconds;
	uint64_t read_bytes;
	double bytes_per_second;
	struct e2pf_progress_left left;
	enum e2pf_progress_wait wait;
	double wait_seconds;	/* for E2PF_WAITS_SECTOR */
	uint64_t wait_at;	/* bytes from the start of the disk */
	char disk[64];		/* that is waited for, "" if unknown */
};

extern const char *const e2pf_progress_wait_names[];

/* One line of text, without a newline. */
void e2pf_progress_line(const struct e2pf_progress *p, char *line,
			size_t size);

#endif
