/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A source of work: the blocks to read ahead, in the order in which the checker will
 * need them.  The engine knows nothing else about a filesystem.
 *
 * A source divides the work of a check into phases, and a phase into units.  Seeding a
 * unit yields references: ranges of a device, which the engine reads ahead.  If a
 * reference is to be parsed, the engine passes its bytes back to the source, which
 * finds further references.
 *
 * A source passes on a reference only when it knows the offset.  The offset may depend
 * on blocks that must be parsed first, such as the chunk tree of btrfs.  There are two
 * ways to handle that.  The source can put those blocks into an earlier phase, because
 * a phase begins only when the phase before it has been parsed completely.  Or it can
 * keep the reference as a unit that units() does not count until parse() has found the
 * offset; parse() then returns true.
 *
 * The work is bounded even on hostile bytes.  The engine drops references that are
 * empty, lie outside their device, or have a class or device that the source does not
 * have.  It follows references through PF_MAX_LEVELS (9) levels, of which a unit's
 * references are the first, and parses about `parse_limit` pieces in all.
 *
 * Equal references within one level of a stripe are requested once.  A source whose
 * references form a graph keeps a set of those that it has passed on.  The engine may
 * also read the gaps between references.
 */
#ifndef PREFETCH_SOURCE_H
#define PREFETCH_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits: classes and devices of a source, and bytes that it parses at once. */
#define PF_MAX_CLASSES 32u
#define PF_MAX_DEVICES 64u
#define PF_MAX_PIECE (64u << 10)

/* Something to read ahead. */
struct pf_ref {
	uint64_t offset;	/* bytes from the start of the device, a
				   multiple of the source's grain */
	uint64_t cookie;	/* the source's own, passed back to it */
	uint32_t length;	/* bytes, a multiple of the grain, not 0 */
	uint8_t device;		/* index of the device */
	uint8_t cls;		/* class, less than the source's `classes` */
	bool parse;		/* its bytes lead to further references */
	bool not_uptodate;	/* set by the engine: pages of it were in the cache,
				   and not up to date, when the engine came to
				   request it */
};

/* Receives a reference.  `ref` is valid only during the call. */
typedef void (*pf_sink)(void *ctx, const struct pf_ref *ref);

/* A phase, and how to read it. */
struct pf_phase {
	unsigned number;	/* the source's name for it, below 256 */
	/* The checker uses the units in order, and reports its position.  Otherwise
	 * its reads of blocks that were read ahead make room in the budget. */
	bool followed;
	/* If the device is seek-bound, a read of the checker may wait for the
	 * workers. */
	bool gated;
	/* Units that a worker claims at once; 0: determined by weight(). */
	uint32_t at_once;
	/* Classes (1u << class) that are found in this phase, and that the checker
	 * uses in a later phase.  They may take half of the budget. */
	uint32_t deferred;
	/* The source limits what is ahead, and the budget is no total. */
	bool paced;
};

/* The kernel's counters of the disks below the devices.  `busy_ns` is the sum of the
 * times that they were busy since some fixed time; `in_flight` is the number of their
 * requests now. */
struct pf_disk_counters {
	uint64_t busy_ns, in_flight;
};

/* The options of the engine, from a start to the next stop.  The source gets a copy with
 * the budget and `seek_bound` as they are known when it begins. */
struct pf_options {
	unsigned threads;	/* workers, if the device is not seek-bound */
	unsigned seek_threads;	/* workers, if it is seek-bound: the number of
				   sweeps that it can serve at once */
	bool seek_bound;	/* read in device order, and let the checker
				   wait at the gate */
	bool measure;		/* `seek_bound` is a guess: measure the device */
	bool has_checker;	/* a checker uses what is read ahead; otherwise
				   the budget is a total */
	bool sampled;		/* without a checker: read nothing if all samples
				   are cached */
	uint64_t budget;	/* the most bytes ahead of the checker */
	/* Each of these may be NULL. */
	void *ctx;
	/* The most bytes that may be ahead, given the memory that is left now.  The
	 * engine asks from time to time, and `budget` remains a limit. */
	uint64_t (*limit)(void *ctx);
	/* Returns false if the disks cannot be counted.  Called by any thread, with
	 * and without the lock. */
	bool (*count_disks)(void *ctx, struct pf_disk_counters *disks);
	/* Returns how many of so many workers may start.  Called by the thread that
	 * starts them, before the first. */
	unsigned (*before_threads)(void *ctx, unsigned workers);
	bool drain;		/* workers wait for their requests before they end,
				   because a page that is being read cannot be
				   dropped from the page cache */
};

struct pf_source;

/*
 * The engine holds its lock while it calls begin(), units(), weight(), and next() for
 * the first phase.  These must not call the engine, and must not wait for a lock that a
 * caller of the engine may hold.  The engine calls the others without its lock: seed(),
 * piece() and parse() from several threads at once, and next() from one.  While there
 * are no workers, one thread calls sample(), and piece() and parse() for the references
 * that it passes.
 */
struct pf_source_ops {
	/* Each operation must exist, unless its comment allows NULL. */

	/* Begin the work.  Called while there are no workers: first with `asleep`,
	 * and again if there is something to read.  After a begin() with `asleep` the
	 * engine seeds nothing: it calls only sample(), piece() and parse() for the
	 * samples, and units() and weight() of the first phase.  A source may use the
	 * options' budget, has_checker and seek_bound. */
	void (*begin)(struct pf_source *source,
		      const struct pf_options *options, bool asleep);
	/*
	 * Return the phase that follows `after`, which has been read and parsed
	 * completely.  If `after` is NULL, return the first phase, which must exist.
	 * Return `after` itself to have it read again from its first unit.  Return
	 * NULL if no phase follows before the checker begins one with
	 * pf_engine_begin_phase().  The phase must stay valid and unchanged until the
	 * next begin().  This call may take long: meanwhile the engine calls only
	 * sample(), and units() and weight() of other phases.
	 */
	const struct pf_phase *(*next)(struct pf_source *source,
				       const struct pf_phase *after);
	/*
	 * Return the number of units that are known in a phase.  It may grow while
	 * workers run, and never shrinks.  Set *more if the checker's reports may
	 * still add units: the phase does not end before that.  Units that parse()
	 * adds need no *more.
	 */
	uint64_t (*units)(struct pf_source *source, unsigned phase,
			  bool *more);
	/* Return the bytes that are read for a unit, without what parsing finds.  May
	 * be NULL if no phase has 0 as its `at_once`. */
	uint64_t (*weight)(struct pf_source *source, unsigned phase,
			   uint64_t unit);
	/* Pass the references of a unit to the sink. */
	void (*seed)(struct pf_source *source, unsigned phase,
		     uint64_t unit, pf_sink sink, void *ctx);
	/* Return how many bytes parse() takes next of a reference, starting `at`
	 * bytes into it (less than its length): at most the rest of the reference, and
	 * at most PF_MAX_PIECE.  0: the rest is not parsed. */
	uint32_t (*piece)(struct pf_source *source,
			  const struct pf_ref *ref, uint64_t at);
	/*
	 * Pass the references in `size` bytes (the result of piece()) to the sink.
	 * The bytes may be anything.  The bytes of a sample are passed again when
	 * their unit is read.  Return true if units() of the current phase now
	 * counts more units.
	 */
	bool (*parse)(struct pf_source *source, const struct pf_ref *ref,
		      uint64_t at, const void *bytes, uint32_t size,
		      pf_sink sink, void *ctx);
	/*
	 * Pass references to the sink that show, for sample `index`, whether the
	 * filesystem is already cached: a large reference as it will be seeded, and
	 * a piece of it to be parsed.  Pass nothing if there is nothing to check.
	 * Lengths need not be multiples of the grain.  NULL: the source has no
	 * samples, and nothing counts as cached.
	 */
	void (*sample)(struct pf_source *source, uint64_t index,
		       pf_sink sink, void *ctx);
	/* Return whether these bytes of the first device may be read although no
	 * reference includes them: a gap between references, or a range by which the
	 * device is measured.  Called by any thread.  NULL: any bytes may. */
	bool (*may_read)(struct pf_source *source, uint64_t offset,
			 uint64_t length);
};

/* The first member of a source's private struct.  Set before an engine is created with
 * it, and not changed while that engine exists. */
struct pf_source {
	const struct pf_source_ops *ops;
	uint32_t grain;			/* bytes: the smallest reference, a
					   power of two */
	unsigned devices;		/* 1 to PF_MAX_DEVICES */
	const uint64_t *bytes;		/* size of each device; references
					   beyond it are dropped */
	unsigned classes;		/* 1 to PF_MAX_CLASSES */
	uint64_t samples;		/* sample() has indices below this,
					   from the first device's start on to
					   the last one's end */
	uint64_t parse_limit;		/* the most pieces to parse of references
					   that were found by parsing; more than
					   any sound filesystem has */
};

#endif
