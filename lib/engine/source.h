/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source of work: what there is to read ahead, and in which order a checker
 * is going to want it.
 *
 * This is all the engine knows of a filesystem.  A source divides the work of
 * a check into phases, and a phase into units.  Seeding a unit gives
 * references: places on a device.  The engine reads ahead what they refer to;
 * where a reference is to be parsed, it also hands the bytes back to the
 * source, which finds further references in them.
 *
 * A source hands out a reference only when it knows the place.  Where a place
 * follows from something that has to be parsed first (the chunk tree of
 * btrfs), the source gives that a phase of its own in front, because a phase
 * begins when the one before it has been parsed to the end; or it keeps the
 * reference as a unit that it does not count in units() until parse() has
 * learnt the place, and says so by its return value.
 *
 * The source takes care that what it hands out is bounded on hostile bytes:
 * the engine drops a reference that is not inside its device, and parses no
 * more than E2PF_LEVELS levels below a unit and `parse_limit` pieces in all.
 *
 * CONTRIBUTING.md says how to add one; tests/rigs/toy-fs.c is the smallest.
 */
#ifndef E2PF_SOURCE_H
#define E2PF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Phases, classes and devices a source has at most. */
#define E2PF_PHASES 16u
#define E2PF_CLASS_BITS 32u
#define E2PF_DEVICES 64u

/* In place of a phase or stage: there is none, or any will do. */
#define E2PF_NONE (-1)

/* Something to read ahead. */
struct e2pf_ref {
	uint64_t offset;	/* bytes from the start of the device, a
				   multiple of the source's grain */
	uint64_t cookie;	/* the source's own, passed back to it */
	uint32_t length;	/* bytes, a multiple of the grain, not 0 */
	uint8_t device;		/* index of the device */
	uint8_t cls;		/* class, below the source's `classes` */
	bool parse;		/* its bytes lead to further references */
};

/* Takes what is found.  Every reference is valid during the call only. */
typedef void (*e2pf_sink)(void *ctx, const struct e2pf_ref *ref);

/* In which order the checker uses the units of a phase, and so how worker
 * threads share them out. */
enum e2pf_order {
	/* In order, and the checker reports where it is.  Each unit has a
	 * weight; worker T of N takes units T, T + N, T + 2N, ... */
	E2PF_ORDER_WEIGHED,
	/* In order, and the checker reports where it is.  All units are alike
	 * and small; the workers take parts of the sequence in turn. */
	E2PF_ORDER_EVEN,
	/* Nobody reports.  The workers take parts as they come to them. */
	E2PF_ORDER_NONE,
	/* The phase has no units: it reads what earlier phases have deferred,
	 * in the order of the devices. */
	E2PF_ORDER_DEFERRED
};

struct e2pf_phase {
	enum e2pf_order order;
	/* E2PF_ORDER_EVEN: units the source holds at a time in front of the
	 * checker, 2 at least.  Otherwise not looked at. */
	uint32_t window;
	/* Classes (1u << class) found in this phase that the checker does not
	 * use before a later one.  They may take half of the budget. */
	uint32_t later;
	/* Of these, classes that are not read ahead in this phase but in the
	 * next with E2PF_ORDER_DEFERRED.  Only for references that are not
	 * parsed. */
	uint32_t deferred;
	/* The phase begins when e2pf_engine_begin_phase() says that the
	 * checker has come to it, whatever is left of the ones before; what
	 * was deferred and not read is forgotten.  Without a checker it is
	 * left out.  Otherwise it begins when the phase before it has ended. */
	bool by_checker;
	/* A phase that, when it has ended, has brought all that this one
	 * would: then this one is left out.  Or E2PF_NONE. */
	int covered_by;
	/* The stage (e2pf_engine_stage()) in which the checker uses what this
	 * phase reads; only then does it wait at the gate for it.  Or
	 * E2PF_NONE: in all of them. */
	int stage;
};

/* How the engine is going to work. */
struct e2pf_start {
	uint64_t budget;	/* bytes that may be ahead of the checker */
	bool paced;		/* there is a checker that is followed */
	bool has_head;		/* a disk with a head: one elevator pass costs
				   less than two */
};

struct e2pf_source;

/*
 * The operations of a source.  Indices of phases are those of the array that
 * begin() returns.  The engine holds its lock during begin(), units(),
 * weight() and sample(); these must not call the engine, nor wait for a lock
 * that is held while somebody calls it.  seed(), piece() and parse() are
 * called without the engine's lock, by several threads at once.
 */
struct e2pf_source_ops {
	/*
	 * Work is about to begin, no thread is at it.  Returns the phases in
	 * order and sets *count (1 to E2PF_PHASES).  The array stays as it is
	 * until the next call, and has the same number of phases each time:
	 * begin() may be called again before there are threads, when more is
	 * known of the device.
	 */
	const struct e2pf_phase *(*begin)(struct e2pf_source *source,
					  const struct e2pf_start *start,
					  unsigned *count);
	/*
	 * The number of units a phase has, as far as known; it may grow while
	 * there are threads at work, and never shrinks.  *more says whether
	 * units may still be added from outside, by the checker's report: the
	 * phase does not end before.  What is added by parse() needs no *more.
	 */
	uint64_t (*units)(struct e2pf_source *source, unsigned phase,
			  bool *more);
	/* Bytes read for a unit of a phase with E2PF_ORDER_WEIGHED, without
	 * what is found by parsing.  NULL where there is no such phase. */
	uint64_t (*weight)(struct e2pf_source *source, unsigned phase,
			   uint64_t unit);
	/* Pass the references of a unit to the sink. */
	void (*seed)(struct e2pf_source *source, unsigned phase,
		     uint64_t unit, e2pf_sink sink, void *ctx);
	/* How many bytes parse() takes at once of a reference that is parsed,
	 * beginning `at` bytes into it (below its length).  At most what is
	 * left of it.  0: nothing from here on is parsed. */
	uint32_t (*piece)(struct e2pf_source *source,
			  const struct e2pf_ref *ref, uint64_t at);
	/*
	 * Pass to the sink what `size` bytes (as piece() said) lead to.  The
	 * bytes may be anything at all.  Returns whether the source counts
	 * more units in some phase than before.
	 */
	bool (*parse)(struct e2pf_source *source, const struct e2pf_ref *ref,
		      uint64_t at, const void *bytes, uint32_t size,
		      e2pf_sink sink, void *ctx);
	/*
	 * Pass to the sink what tells, for sample `index`, whether the
	 * filesystem is in memory already: a large reference as it will be
	 * seeded, and a piece of it to be parsed.  Nothing, where there is
	 * nothing to be seen.  Lengths need not be multiples of the grain.
	 * NULL where the source has no samples; then all counts as missing.
	 */
	void (*sample)(struct e2pf_source *source, uint64_t index,
		       e2pf_sink sink, void *ctx);
};

/* The first member of what a source keeps for itself.  Set before an engine
 * is made with it, and not changed while there is one. */
struct e2pf_source {
	const struct e2pf_source_ops *ops;
	uint32_t grain;			/* bytes: the smallest reference, a
					   power of two */
	unsigned devices;		/* 1 to E2PF_DEVICES */
	const uint64_t *bytes;		/* of each device: references end
					   there */
	unsigned classes;		/* 1 to E2PF_CLASS_BITS */
	uint64_t samples;		/* sample() has indices below this,
					   from the first device's start on to
					   the last one's end */
	uint64_t parse_limit;		/* pieces, of references that were
					   found by parsing, that are parsed
					   at most: beyond what any sound
					   filesystem has */
};

#endif
