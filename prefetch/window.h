/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The window: how many bytes are ahead of the checker, which blocks they are, and how
 * many bytes may be ahead.
 *
 * In a phase in which the checker reports its position, the bytes read for units that
 * it has not passed are ahead.  In other phases, the blocks that it has not read are
 * ahead.  Both are counted in every phase, because the blocks show whether the checker
 * has used what was read ahead.  A block has the size of the source's grain.  Blocks
 * are numbered as if all devices lay end to end.
 */
#ifndef PREFETCH_WINDOW_H
#define PREFETCH_WINDOW_H

#include <stdatomic.h>

#include "blockset.h"
#include "engine.h"
#include "schedule.h"

/* A stripe that the checker has not passed, with the bytes read ahead for it. */
struct pf_stripe_ahead {
	uint64_t first, last, bytes;
};

/* The window distinguishes this many stripes.  If there are more, it counts the newest
 * ones as one. */
#define PF_MAX_STRIPES 256u

struct pf_window {
	const struct pf_schedule *schedule;
	const struct pf_source *source;
	const struct pf_options *options;
	struct pf_device *dev;			/* for its clock */
	/* Any thread reads and writes these without the lock. */
	atomic_uint_fast64_t budget;		/* bytes, at present */
	atomic_uint_fast64_t memory_queried;	/* time of the last query, ns; 0: never */
	atomic_uint_fast64_t deferred_bytes;	/* found for a later phase */

	/* These need pf_engine.lock. */
	struct pf_stripe_ahead stripe[PF_MAX_STRIPES];	/* a ring */
	uint64_t oldest_stripe, next_stripe;	/* numbers, which index the ring;
						   equal: no stripes */
	uint64_t claimed_bytes;		/* weight of the units claimed in this
					   phase */
	uint64_t read_bytes;		/* bytes requested for these units */
	struct pf_blockset ahead;	/* blocks read ahead, and not used */
	uint64_t unused;		/* bytes that will not be used: gaps, and what
					   was ahead when reading began again */
	uint64_t planned_bytes, prefetched_bytes;	/* since the creation */
	uint64_t total_from;		/* prefetched_bytes at the start */

	/* The first block of each device.  Const from the creation on. */
	uint64_t base[PF_MAX_DEVICES];
};

/* A run of references.  A worker requests it span by span, from its start. */
struct pf_run {
	struct pf_ref *ref;
	size_t n;
	size_t next;		/* the first reference that ends behind the start
				   of the last span */
};

/* Number the blocks of all devices of the schedule's source. */
void pf_window_init(struct pf_window *w,
		    const struct pf_schedule *schedule,
		    const struct pf_options *options,
		    struct pf_device *dev);
void pf_window_free(struct pf_window *w);

/* Query how much memory is available, unless that was done recently.  Reads files in
 * /proc and /sys.  Needs no lock. */
void pf_window_query_memory(struct pf_window *w);

/* Returns true, and counts the bytes, if these bytes for a later phase may be read
 * now.  Needs no lock. */
bool pf_window_admit_deferred(struct pf_window *w, uint64_t bytes);

/* Advance the run to the span that begins at `pos`.  Needs no lock. */
void pf_window_advance_run(struct pf_run *run, uint64_t pos);

/* The others need pf_engine.lock. */

/* Reading begins.  Blocks read after an earlier start count as unused, because they may
 * have been evicted. */
void pf_window_start(struct pf_window *w);

/* A phase begins, in which nothing is claimed yet. */
void pf_window_begin_phase(struct pf_window *w);

/* Stop counting the blocks that were found for a later phase: the checker is about to
 * read them itself, in its own order. */
void pf_window_drop_deferred(struct pf_window *w);

/* The weight of units that may be claimed at once.  A quarter of the budget should
 * suffice for them, estimated from the bytes read for the units claimed before. */
uint64_t pf_window_max_claim(const struct pf_window *w);

/* Count a claimed stripe, and set its number. */
void pf_window_add_stripe(struct pf_window *w, struct pf_stripe *stripe);

/* Returns true if there is no room for more of a worker's stripe.  `nearest`: the checker
 * reaches this stripe before those of all other workers. */
bool pf_window_is_full(struct pf_window *w, bool nearest);

/* Returns true if there is no checker, and all bytes of the budget were read. */
bool pf_window_is_used_up(const struct pf_window *w);

/* Count a span to which the run was advanced: `len` bytes from `pos` on, which are
 * requested next if `missing`.  Must be called before the request, so that the checker
 * cannot read a block before it is recorded. */
void pf_window_count_span(struct pf_window *w, const struct pf_run *run,
			  const struct pf_stripe *stripe, uint64_t pos,
			  uint64_t len, bool missing);

/* The checker has read these blocks, so they are no longer ahead.  Sets *were if any of
 * them was ahead. */
unsigned pf_window_mark_read(struct pf_window *w,
			     const struct pf_read *read, bool *were);

/* The bytes of all blocks that are ahead of the checker. */
uint64_t pf_window_unread_bytes(const struct pf_window *w);

#endif
