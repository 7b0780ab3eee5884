/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source of work: what there is to read ahead, and in which order a checker
 * is going to need it.
 *
 * This is all the engine knows of a filesystem.  A source divides the work of a
 * check into phases, and a phase into units.  Seeding a unit yields references:
 * places on a device.  The engine reads ahead what they refer to.  If a
 * reference is to be parsed, the engine also hands the bytes back to the
 * source, which finds further references in them.
 *
 * A source hands out a reference only when it knows the place.  If the place
 * follows from something that has to be parsed first (the chunk tree of btrfs),
 * the source has two ways: it puts that into an earlier phase, because a phase
 * begins only when the one before it has been parsed to the end; or it keeps
 * the reference as a unit that units() does not count until parse() has learnt
 * the place, and parse() returns true then.
 *
 * On hostile bytes the work stays bounded: the engine drops references outside
 * their device, and parses at most E2PF_LEVELS levels below a unit and
 * `parse_limit` pieces in all.
 *
 * CONTRIBUTING.md says how to add a source; tests/rigs/toy-fs.c is the
 * smallest.
 */
#ifndef E2PF_SOURCE_H
#define E2PF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most phases, classes and devices of a source. */
#define E2PF_PHASES 16u
#define E2PF_CLASS_BITS 32u
#define E2PF_DEVICES 64u

/* In place of a phase or stage: none, or any. */
#define E2PF_NONE (-1)

/* Something to read ahead. */
struct e2pf_ref {
	uint64_t offset;	/* bytes from the start of the device, a
				   multiple of the source's grain */
	uint64_t cookie;	/* private to the source, passed back to it */
	uint32_t length;	/* bytes, a multiple of the grain, not 0 */
	uint8_t device;		/* index of the device */
	uint8_t cls;		/* class, less than the source's `classes` */
	bool parse;		/* its bytes lead to further references */
};

/* What a reference is likely to lead to: so many bytes, within so many of a
 * device. */
struct e2pf_expected {
	uint64_t bytes, span;
};

/* Receives what was found.  The reference is valid during the call only. */
typedef void (*e2pf_sink)(void *ctx, const struct e2pf_ref *ref);

/* In which order the checker uses the units of a phase, and therefore how
 * workers share them out. */
enum e2pf_order {
	/* In order, and the checker reports its position.  Each unit has a
	 * weight; worker T of N takes units T, T + N, T + 2N, ... */
	E2PF_ORDER_WEIGHED,
	/* In order, and the checker reports its position.  All units are small
	 * and alike; the workers take parts of the sequence in turn. */
	E2PF_ORDER_EVEN,
	/* The checker reports no position.  Each worker takes the next part
	 * when it is free. */
	E2PF_ORDER_NONE,
	/* The phase has no units: it reads what earlier phases deferred, in
	 * device order. */
	E2PF_ORDER_DEFERRED
};

struct e2pf_phase {
	enum e2pf_order order;
	/* For E2PF_ORDER_EVEN: units that the source holds at a time in front
	 * of the checker, at least 2.  Ignored otherwise. */
	uint32_t window;
	/* Classes (1u << class) found in this phase that the checker does not
	 * use before a later one.  While a checker reports its position, those
	 * that are not deferred do not count against the budget: name such a
	 * class only if it is small. */
	uint32_t later;
	/* The classes among `later` that are not read ahead in this phase but
	 * in the next with E2PF_ORDER_DEFERRED, where they may take half of the
	 * budget.  References that are parsed are not deferred. */
	uint32_t deferred;
	/* The phase begins when e2pf_engine_begin_phase() says that the checker
	 * has reached it, whatever is left of earlier phases; deferred
	 * references not read by then are dropped.  Without a checker the phase
	 * is skipped.  If false, the phase begins when the one before it has
	 * ended. */
	bool by_checker;
	/* A phase that reads everything this one would: if that phase has
	 * ended, this one is skipped.  Or E2PF_NONE. */
	int covered_by;
	/* The stage (e2pf_engine_stage()) in which the checker uses what this
	 * phase reads; only in that stage does it wait at the gate.  Or
	 * E2PF_NONE: in every stage. */
	int stage;
};

/* How the engine is going to work. */
struct e2pf_start {
	uint64_t budget;	/* bytes that may be ahead of the checker */
	bool paced;		/* a checker reports its position */
	bool has_head;		/* rotational: one elevator pass costs less
				   than two */
};

struct e2pf_source;

/*
 * The operations of a source.  A phase is an index into the array that begin()
 * returns.  The engine holds its lock during begin(), units(), weight() and
 * sample(), and during piece() and parse() of what sample() passes; these must
 * neither call the engine nor wait for a lock that may be held by a caller of
 * the engine.  Otherwise seed(), piece() and parse() are called without the
 * engine's lock, by several threads at once.
 */
struct e2pf_source_ops {
	/*
	 * Called before the work begins, while there are no workers.  Returns
	 * the phases in order and sets *count (1 to E2PF_PHASES).  The array
	 * stays valid and unchanged until the next call, and has the same
	 * number of phases each time.  begin() may be called again before
	 * workers start, when more is known about the device.
	 */
	const struct e2pf_phase *(*begin)(struct e2pf_source *source,
					  const struct e2pf_start *start,
					  unsigned *count);
	/*
	 * Number of units that are known in a phase.  It may grow while workers
	 * run, and never shrinks.  Set *more if the checker's reports may still
	 * add units: the phase does not end before.  Units added by parse()
	 * need no *more.  Not called for a phase with E2PF_ORDER_DEFERRED.
	 */
	uint64_t (*units)(struct e2pf_source *source, unsigned phase,
			  bool *more);
	/* Bytes read for a unit of a phase with E2PF_ORDER_WEIGHED, not
	 * counting what parsing finds.  NULL if there is no such phase. */
	uint64_t (*weight)(struct e2pf_source *source, unsigned phase,
			   uint64_t unit);
	/* Pass the references of a unit to the sink. */
	void (*seed)(struct e2pf_source *source, unsigned phase,
		     uint64_t unit, e2pf_sink sink, void *ctx);
	/* How many bytes parse() takes at once of a reference, starting `at`
	 * bytes into it (less than its length).  At most the rest of the
	 * reference.  0: the rest is not parsed. */
	uint32_t (*piece)(struct e2pf_source *source,
			  const struct e2pf_ref *ref, uint64_t at);
	/*
	 * Pass to the sink the references in `size` bytes (as piece() said).
	 * The bytes may be anything at all.  Those of a sample are passed
	 * again when their unit is read.  Returns true if units() of some phase
	 * now counts more units.
	 */
	bool (*parse)(struct e2pf_source *source, const struct e2pf_ref *ref,
		      uint64_t at, const void *bytes, uint32_t size,
		      e2pf_sink sink, void *ctx);
	/* What a reference that is parsed is likely to lead to, if that is
	 * known before; for progress reports.  *expected is zeroed.  May be
	 * NULL. */
	void (*expects)(struct e2pf_source *source, const struct e2pf_ref *ref,
			struct e2pf_expected *expected);
	/*
	 * Pass to the sink what shows, for sample `index`, whether the
	 * filesystem is cached already: a large reference as it will be seeded,
	 * and a piece of it to be parsed.  Pass nothing if there is nothing to
	 * check.  Lengths need not be multiples of the grain.  NULL if the
	 * source has no samples; then nothing counts as cached.
	 */
	void (*sample)(struct e2pf_source *source, uint64_t index,
		       e2pf_sink sink, void *ctx);
};

/* The first member of a source's private struct.  Set before an engine is
 * created with it, and not changed while that exists. */
struct e2pf_source {
	const struct e2pf_source_ops *ops;
	uint32_t grain;			/* bytes: the smallest reference, a
					   power of two */
	unsigned devices;		/* 1 to E2PF_DEVICES */
	const uint64_t *bytes;		/* size of each device: no reference
					   goes beyond */
	unsigned classes;		/* 1 to E2PF_CLASS_BITS */
	uint64_t samples;		/* sample() has indices below this,
					   from the first device's start on to
					   the last one's end */
	uint64_t parse_limit;		/* pieces, of references that were
					   found by parsing, that are parsed
					   at most: beyond what any sound
					   filesystem has */
	uint32_t run_most;		/* a run that is at least so long ends,
					   and there must be room for the next;
					   0: no limit */
	unsigned gap_part;		/* gaps that are read through may be
					   1/gap_part of what is read ahead; 0:
					   no limit */
};

#endif
