/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A source of work: the blocks to read ahead, in the order in which a checker is going to
 * need them.  This is all the engine knows of a filesystem.
 *
 * A source divides the work of a check into phases, and a phase into units.  Seeding a unit
 * yields references: places on a device, which the engine reads ahead.  If one is to be
 * parsed, the engine hands its bytes back to the source, which finds further references.
 *
 * A source hands out a reference only when it knows the place.  If that follows from
 * something that has to be parsed first (the chunk tree of btrfs), the source puts that into
 * an earlier phase, because a phase begins only when the one before it has been parsed to
 * the end; or it keeps the reference as a unit that units() does not count until parse() has
 * learnt the place, and parse() returns true then.
 *
 * On hostile bytes the work stays bounded: references that are empty, outside their device,
 * or of a class or device that the source has not are dropped, and so are those beyond
 * PF_MAX_LEVELS (9) levels, of which a unit's references are the first.  About `parse_limit`
 * pieces are parsed in all.
 *
 * Equal references are requested once if they are in one level of a stripe; a source whose
 * references form a graph keeps a set of those that it has passed on.  Gaps between
 * references may be read, too.
 */
#ifndef PREFETCH_SOURCE_H
#define PREFETCH_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most classes and devices of a source, and bytes that it parses at once. */
#define PF_MAX_CLASSES 32u
#define PF_MAX_DEVICES 64u
#define PF_MAX_PIECE (64u << 10)

/* Something to read ahead. */
struct pf_ref {
	uint64_t offset;	/* bytes from the start of the device, a
				   multiple of the source's grain */
	uint64_t cookie;	/* private to the source, passed back to it */
	uint32_t length;	/* bytes, a multiple of the grain, not 0 */
	uint8_t device;		/* index of the device */
	uint8_t cls;		/* class, less than the source's `classes` */
	bool parse;		/* its bytes lead to further references */
	bool not_uptodate;		/* the engine's own, the source leaves it false:
				   pages of it were in the cache and could not be
				   had when it was requested */
};

/* Receives a reference that was found, which is valid during the call only. */
typedef void (*pf_sink)(void *ctx, const struct pf_ref *ref);

/* A phase and the way it is read. */
struct pf_phase {
	unsigned number;	/* the source's name for it, below 256 */
	/* The checker uses the units in order and reports its position.  If
	 * not, its reads of blocks ahead make room in the budget. */
	bool followed;
	/* Where the device is seek-bound, a read of the checker may wait for the workers
	 * in this phase. */
	bool gated;
	/* Units that a worker claims at once; 0: as weight() says. */
	uint32_t at_once;
	/* Classes (1u << class) found in this phase that the checker does not
	 * use before a later one.  They may take half of the budget. */
	uint32_t deferred;
};

/* The kernel's counters of the disks below the devices: since some time,
 * nanoseconds in which one was busy, added up; and requests they have now. */
struct pf_disk_counters {
	uint64_t busy_ns, in_flight;
};

/* The options of the engine: how it reads, from a start to the next stop.  The source gets
 * them with the budget and `seeks` as they are known by then. */
struct pf_options {
	unsigned threads;	/* workers, if the device is not seek-bound */
	unsigned seek_threads;	/* if it is seek-bound: sweeps it can serve at once */
	bool seek_bound;	/* read in device order, and let the checker
				   wait at the gate */
	bool measure;		/* it is a guess: measure it */
	bool has_checker;	/* it uses what is read ahead; if there is none,
				   the budget is a total */
	bool sampled;		/* without a checker: nothing is read if all
				   samples are cached */
	uint64_t budget;	/* bytes ahead of the checker, at most */
	/* Each may be NULL. */
	void *ctx;
	/* Asked from time to time: bytes that may be ahead by the memory that is
	 * left now.  If `budget` is less, that counts. */
	uint64_t (*limit)(void *ctx);
	/* False if they cannot be counted.  Called by any thread, with and without
	 * the lock. */
	bool (*count_disks)(void *ctx, struct pf_disk_counters *disks);
	/* Called before the first of the workers starts, by the thread that
	 * starts them.  Returns how many of so many may start. */
	unsigned (*before_threads)(void *ctx, unsigned workers);
	bool drain;		/* workers wait for their requests before they
				   end: a page that is being read cannot be
				   dropped from the page cache */
};

struct pf_source;

/*
 * The engine holds its lock during begin(), next() for the first phase, units() and
 * weight(); these must neither call the engine nor wait for a lock that may be held by a
 * caller of the engine.  seed(), piece() and parse() are called without that lock, by
 * several threads at once, and next() by one; sample(), and piece() and parse() of what
 * it passes, by one, while there are no workers.
 */
struct pf_source_ops {
	/* All of them must exist, unless said otherwise. */

	/* Called before the work begins, while there are no workers: `asleep` at
	 * first, and again when there is something to read.  Asleep: everything may
	 * be cached; until the next begin() nothing is seeded, there are only
	 * samples, which may be parsed, and units() and weight() of the first
	 * phase.  Uses the options' budget, has_checker and seek_bound. */
	void (*begin)(struct pf_source *source,
		      const struct pf_options *options, bool asleep);
	/*
	 * The phase that follows `after`, which has ended: everything in it was
	 * read and parsed.  NULL as `after`: the first one, which must exist.
	 * May return `after` itself, to have it read again from its first unit.
	 * Returns NULL when nothing follows, or not before the checker begins it
	 * with pf_engine_begin_phase().  The phase stays valid and unchanged
	 * until the next begin().  May compute: no other function is called
	 * meanwhile, but sample(), units() and weight() of other phases.
	 */
	const struct pf_phase *(*next)(struct pf_source *source,
				       const struct pf_phase *after);
	/*
	 * Number of units that are known in a phase.  It may grow while workers
	 * run, and never shrinks.  Sets *more: true if the checker's reports may
	 * still add units, for the phase does not end before.  Units added by
	 * parse() need no *more.
	 */
	uint64_t (*units)(struct pf_source *source, unsigned phase,
			  bool *more);
	/* Bytes read for a unit, not counting what parsing finds.  NULL if
	 * no phase has 0 as its `at_once`. */
	uint64_t (*weight)(struct pf_source *source, unsigned phase,
			   uint64_t unit);
	/* Pass the references of a unit to the sink. */
	void (*seed)(struct pf_source *source, unsigned phase,
		     uint64_t unit, pf_sink sink, void *ctx);
	/* How many bytes parse() takes at once of a reference, starting `at`
	 * bytes into it (less than its length).  At most the rest of the
	 * reference, and PF_MAX_PIECE.  0: the rest is not parsed. */
	uint32_t (*piece)(struct pf_source *source,
			  const struct pf_ref *ref, uint64_t at);
	/*
	 * Pass to the sink the references in `size` bytes (as piece() said).
	 * The bytes may be anything at all.  Those of a sample are passed
	 * again when their unit is read.  Returns true if units() of the
	 * current phase now counts more units.
	 */
	bool (*parse)(struct pf_source *source, const struct pf_ref *ref,
		      uint64_t at, const void *bytes, uint32_t size,
		      pf_sink sink, void *ctx);
	/*
	 * Pass to the sink what shows, for sample `index`, whether the
	 * filesystem is cached already: a large reference as it will be seeded,
	 * and a piece of it to be parsed.  Pass nothing if there is nothing to
	 * check.  Lengths need not be multiples of the grain.  NULL if the
	 * source has no samples; then nothing counts as cached.
	 */
	void (*sample)(struct pf_source *source, uint64_t index,
		       pf_sink sink, void *ctx);
	/* May these bytes of the first device be read although no reference
	 * names them: a gap between two, a place where the device is measured?
	 * Called by any thread.  NULL: any may. */
	bool (*may_read)(struct pf_source *source, uint64_t offset,
			 uint64_t length);
};

/* The first member of a source's private struct.  Set before an engine is
 * created with it, and not changed while that exists. */
struct pf_source {
	const struct pf_source_ops *ops;
	uint32_t grain;			/* bytes: the smallest reference, a
					   power of two */
	unsigned devices;		/* 1 to PF_MAX_DEVICES */
	const uint64_t *bytes;		/* size of each device: references
					   that go beyond are dropped */
	unsigned classes;		/* 1 to PF_MAX_CLASSES */
	uint64_t samples;		/* sample() has indices below this,
					   from the first device's start on to
					   the last one's end */
	uint64_t parse_limit;		/* pieces, of references that were
					   found by parsing, that are parsed at
					   most: beyond what any sound filesystem
					   has */
};

#endif
