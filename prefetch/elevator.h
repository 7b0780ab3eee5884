/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The order in which one worker reads the references that it has found.
 *
 * A worker reads a stripe level by level.  The elevator sorts the references of a level
 * in device order and merges them into runs.  The worker requests, reads and parses
 * them, which fills the next level.  The elevator does no I/O and takes no lock.  Its
 * owner adds references, asks for the next step, executes it, and adds what parsing has
 * found:
 *
 *	pf_elevator_add(...);			the units' references
 *	pf_elevator_begin(el);
 *	while ((do = pf_elevator_next(el, gap, &step)) != PF_STEP_END)
 *		request the run, or read and parse the piece
 *	pf_elevator_end(el);
 *
 * Memory is bounded.  The levels that are being filled may take half of the room that
 * the others leave, and exceed that at most by the references of one piece.  Then the
 * largest of them is read, with everything below it, before the level above continues.
 *
 * Time is bounded even on hostile trees.  Equal references within a level are read
 * once, the number of levels is fixed, and so is the number of pieces, at a limit that
 * no sound filesystem comes near.
 */
#ifndef PREFETCH_ELEVATOR_H
#define PREFETCH_ELEVATOR_H

#include "speed.h"
#include "source.h"

/* Levels of references: that of the units, and eight below it, the depth of a btrfs
 * tree.  References that were found by parsing, and are not to be parsed, have a level
 * of their own, which is read last. */
#define PF_MAX_LEVELS 9u
#define PF_UNPARSED_LEVEL PF_MAX_LEVELS
#define PF_ALL_LEVELS (PF_MAX_LEVELS + 1u)

struct pf_level {
	struct pf_ref *ref;
	size_t used, room;
	size_t in_memory;		/* duplicates included */
	/* While the level is read: */
	size_t requested;		/* references that are in runs already */
	size_t next;			/* the reference to parse next */
	uint64_t at;			/* bytes of it that were parsed */
	uint64_t ahead;			/* bytes requested and not parsed */
};

/* The elevator is empty if all but the first four members are zero. */
struct pf_elevator {
	struct pf_source *source;	/* tells which gaps may be read; NULL: all
					   may */
	size_t max_refs;	/* references in memory; those that parsing finds
				   take half of what the others leave */
	uint64_t parse_left;	/* pieces below the first level that may still be
				   parsed */
	uint64_t max_ahead;	/* bytes to request before the first of them is
				   parsed */
	bool out_of_memory;	/* a reference was dropped for lack of memory */
	size_t in_memory;	/* references, of all levels */
	struct pf_level level[PF_ALL_LEVELS];
	/* A stack of levels.  The last one is being read; the others wait for it. */
	unsigned reading[PF_ALL_LEVELS], depth;
};

enum pf_step {
	PF_STEP_END,		/* everything was read */
	PF_STEP_RUN,		/* request `n` references from `ref` on, which are
				   on one device, adjacent except for gaps */
	PF_STEP_PARSE,		/* read and parse the piece that begins `at` bytes
				   into `ref` */
};

struct pf_elevator_step {
	struct pf_ref *ref;		/* valid until the next call */
	size_t n;
	uint64_t at;
};

/* Returns true if the reference has a class and a device of the source, is not empty,
 * and lies within that device. */
bool pf_elevator_is_sound(const struct pf_source *source,
			  const struct pf_ref *ref);

/* Add a sound reference.  References added before pf_elevator_begin() are those of the
 * units.  The first level takes all of them, so the caller must limit the units that it
 * claims. */
void pf_elevator_add(struct pf_elevator *el, const struct pf_ref *ref);

/* Begin with the references that were added. */
void pf_elevator_begin(struct pf_elevator *el);

/* Return the next step.  A run may have gaps of at most `gap` bytes. */
enum pf_step pf_elevator_next(struct pf_elevator *el, uint64_t gap,
			      struct pf_elevator_step *step);

/* The piece of the last step had `size` bytes; 0: the rest of the reference is not
 * parsed. */
void pf_elevator_advance(struct pf_elevator *el, uint32_t size);

/* Return the largest gap in bytes to read through on a device of this speed.  Requests
 * have `mean` bytes at present, and one costs `request_ns`; 0: not known. */
uint64_t pf_elevator_gap(const struct pf_speed *speed, uint64_t request_ns,
			 uint64_t mean);

/* Drop the references that were not read, and free all memory. */
void pf_elevator_end(struct pf_elevator *el);

#endif
