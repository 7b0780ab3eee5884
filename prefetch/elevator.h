/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The order in which one worker reads what it has found.
 *
 * A worker reads a stripe level by level: the references of a level are sorted in device order
 * and merged into runs, then read and parsed, which fills the next level.  The elevator does
 * no I/O and takes no lock: its owner adds references, asks what to do next, does it, and
 * adds what parsing has found:
 *
 *	pf_elevator_add(...);			the units' references
 *	pf_elevator_begin(el);
 *	while ((do = pf_elevator_next(el, gap, &step)) != PF_STEP_END)
 *		request the run, or read and parse the piece
 *	pf_elevator_end(el);
 *
 * Memory is bounded: when the levels that are being filled have half of the room that the
 * others leave, the largest of them is read, with everything below it, before the level
 * above continues; they hold more by what one piece refers to.  Time is bounded on hostile
 * trees: equal references within a level are read once, the number of levels is fixed, and
 * that of pieces has a limit that no sound filesystem comes near.
 */
#ifndef PREFETCH_ELEVATOR_H
#define PREFETCH_ELEVATOR_H

#include "speed.h"
#include "source.h"

/* Levels of references: those of the units, and eight below, the depth of a
 * btrfs tree.  Unparsed references that were found by parsing have a level of their
 * own, which is read last. */
#define PF_MAX_LEVELS 9u
#define PF_UNPARSED_LEVEL PF_MAX_LEVELS
#define PF_ALL_LEVELS (PF_MAX_LEVELS + 1u)

struct pf_level {
	struct pf_ref *ref;
	size_t used, room;
	size_t in_memory;		/* duplicates included */
	/* While the level is read: */
	size_t requested;		/* references that are in runs already */
	size_t next;			/* the reference to parse next, and */
	uint64_t at;			/* bytes of it that were parsed */
	uint64_t ahead;			/* bytes requested and not parsed */
};

/* Empty, if all but the first four members are zero. */
struct pf_elevator {
	struct pf_source *source;	/* that says which gaps may be read; NULL:
					   all */
	size_t max_refs;	/* references in memory: those that parsing finds
				   take half of what the others leave */
	uint64_t parse_left;	/* pieces below the first level that may still
				   be parsed */
	uint64_t max_ahead;	/* bytes requested before the first of them is
				   parsed */
	bool out_of_memory;	/* for a reference, which was dropped */
	size_t in_memory;	/* references, of all levels */
	struct pf_level level[PF_ALL_LEVELS];
	/* A stack: the last one is being read, those before it wait until that
	 * has been read. */
	unsigned reading[PF_ALL_LEVELS], depth;
};

enum pf_step {
	PF_STEP_END,		/* everything was read */
	PF_STEP_RUN,		/* request `n` references from `ref` on: they
				   are on one device, adjacent but for gaps */
	PF_STEP_PARSE,	/* read and parse the piece that begins `at`
				   bytes into `ref` */
};

struct pf_elevator_step {
	struct pf_ref *ref;		/* valid until the next call */
	size_t n;
	uint64_t at;
};

/* Is the reference of a class and a device of the source, not empty, and within that
 * device? */
bool pf_elevator_is_sound(const struct pf_source *source,
			  const struct pf_ref *ref);

/* Add a sound reference.  Before the begin it is one of the units': the first level
 * holds them all, so the caller limits how many units it claims. */
void pf_elevator_add(struct pf_elevator *el, const struct pf_ref *ref);

/* Begin to read the references that were added. */
void pf_elevator_begin(struct pf_elevator *el);

/* The next step.  Gaps of at most `gap` bytes may be in a run. */
enum pf_step pf_elevator_next(struct pf_elevator *el, uint64_t gap,
			      struct pf_elevator_step *step);

/* The step's piece has `size` bytes, 0: the rest of the reference is not
 * parsed. */
void pf_elevator_advance(struct pf_elevator *el, uint32_t size);

/* The largest gap to read through on a device of this speed, bytes, while requests have
 * `mean` bytes and one costs `request_ns`, 0 if that is not known. */
uint64_t pf_elevator_gap(const struct pf_speed *speed, uint64_t request_ns,
			 uint64_t mean);

/* Drop the references that were not read.  It holds no memory from then on. */
void pf_elevator_end(struct pf_elevator *el);

#endif
