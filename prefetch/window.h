/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The window: how many bytes are ahead of the checker, which blocks they are, and
 * how many there may be.
 *
 * Where the checker reports its position, the bytes read for units that it has
 * not passed are ahead; in other phases, every block that it has not read.  Both are
 * counted in every phase: the blocks tell whether the checker has used what was read ahead.
 * A block is of the source's grain, and is numbered over all devices, which lie end to end.
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

/* The stripes that are told apart; if there are more, the newest ones are one. */
#define PF_MAX_STRIPES 256u

struct pf_window {
	const struct pf_schedule *schedule;
	const struct pf_source *source;
	const struct pf_options *options;
	struct pf_device *dev;			/* whose clock is used */
	/* Any thread reads and writes these without the lock. */
	atomic_uint_fast64_t budget;		/* now, bytes */
	atomic_uint_fast64_t memory_queried;	/* when, ns; 0: never */
	atomic_uint_fast64_t deferred_bytes;	/* found for a later phase */

	/* These need the lock. */
	struct pf_stripe_ahead stripe[PF_MAX_STRIPES];	/* a ring */
	uint64_t oldest_stripe, next_stripe;	/* numbers, which index the ring;
						   equal: there are none */
	uint64_t claimed_bytes;		/* weight of the units that were claimed in
					   this phase, and */
	uint64_t read_bytes;		/* what was requested for them */
	struct pf_blockset ahead;	/* blocks read ahead and not used */
	uint64_t unused;		/* bytes that nobody will use: of gaps, and
					   those ahead when reading began again */
	uint64_t planned_bytes, prefetched_bytes;	/* since the creation */
	uint64_t total_from;		/* prefetched_bytes at the start */

	/* Const from the creation on: the first block of each device. */
	uint64_t base[PF_MAX_DEVICES];
};

/* A run of references.  It is requested span by span, from its start. */
struct pf_run {
	struct pf_ref *ref;
	size_t n;
	size_t next;		/* the first one that reaches into the last span,
				   or beyond it */
};

/* Number the blocks of all devices of the schedule's source. */
void pf_window_init(struct pf_window *w,
		    const struct pf_schedule *schedule,
		    const struct pf_options *options,
		    struct pf_device *dev);
void pf_window_free(struct pf_window *w);

/* Query how much memory is available, unless that was queried recently.  It
 * reads files in /proc and /sys.  Needs no lock. */
void pf_window_query_memory(struct pf_window *w);

/* May these bytes, which were found for a later phase, be read now?  If so, they count.
 * Needs no lock. */
bool pf_window_admit_deferred(struct pf_window *w, uint64_t bytes);

/* Go on to a span of the run that begins at `pos`.  Needs no lock. */
void pf_window_advance_run(struct pf_run *run, uint64_t pos);

/* The others need the lock. */

/* Reading begins; what an earlier start has read may have been evicted. */
void pf_window_start(struct pf_window *w);

/* The new phase requests whatever is not cached again. */
void pf_window_begin_phase(struct pf_window *w);

/* The checker reads the blocks that were found for a later phase itself, in its
 * own order. */
void pf_window_drop_deferred(struct pf_window *w);

/* What may be claimed at once, as a weight of units: that to which a quarter of the
 * budget belongs, judging by the bytes read for those claimed before. */
uint64_t pf_window_max_claim(const struct pf_window *w);

/* Count a stripe that was claimed, and set its number. */
void pf_window_add_stripe(struct pf_window *w, struct pf_stripe *stripe);

/* Is there no room for more of a worker's stripe?  `nearest`: the checker
 * reaches these units before those of all other workers. */
bool pf_window_is_full(struct pf_window *w, bool nearest);

/* If there is no checker: were all bytes of the budget read? */
bool pf_window_is_used_up(const struct pf_window *w);

/* Count a span that the run has gone on to: `len` bytes from `pos` on, which are requested next
 * if `missing`.  This is done just before the request, so that the checker cannot read and
 * forget a block before it is recorded. */
void pf_window_count_span(struct pf_window *w, const struct pf_run *run,
			  const struct pf_stripe *stripe, uint64_t pos,
			  uint64_t len, bool missing);

/* The checker has read these blocks: they are no longer ahead of it.  Sets *were: any
 * of them was ahead. */
unsigned pf_window_mark_read(struct pf_window *w,
			     const struct pf_read *read, bool *were);

/* Bytes of the blocks that are ahead of the checker. */
uint64_t pf_window_unread_bytes(const struct pf_window *w);

#endif
