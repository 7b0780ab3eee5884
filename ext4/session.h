/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A session on ext2, ext3 or ext4, for a program that is about to walk it, or for
 * the preload library in e2fsck.
 *
 * When it is opened it takes an immutable snapshot of the superblock.  Group
 * descriptors are copied one at a time from the filesystem that libext2fs has opened,
 * until the session ends.  It reads through a descriptor of its own, and starts no
 * thread before pf_session_start().  Every function that can fail returns an
 * errcode_t (0 for success), as in libext2fs.  Prefetching is advisory: an error while
 * reading ahead never reaches the caller; it is counted in the statistics.
 */
#ifndef EXT4_SESSION_H
#define EXT4_SESSION_H

#include "directories.h"
#include "prefetch/survey.h"
#include "prefetch/session.h"

struct ext4_session {
	struct pf_session base;
	struct ext4_geometry geo;
	ext2_filsys fs;			/* that groups are taken from, by any
					   thread; NULL: there are none */
	pthread_mutex_t lock;		/* of that */
	struct ext4_source *ext4;
	uint64_t journal_bytes;		/* of its map, requested */
	const char *io_manager;		/* that the checker reads through */
	const char *unmapped;		/* ... and does not map; NULL: it does */
};

static inline struct ext4_session *ext4_session_of(struct pf_session *s)
{
	return (struct ext4_session *)s;
}

/*
 * Open a session on `fs`, which libext2fs has opened from `device`; the
 * filesystem begins `offset` bytes into the device.  `fs` is only read, and must
 * outlive the session, or its end.  `settings`, and `options` as pf_session_init() has
 * them, may be NULL; without `what` all is read.  With options->has_checker the caller
 * tells the engine
 * of the program's reads, and the engine keeps ahead of them.
 */
errcode_t ext4_session_open(ext2_filsys fs, const char *device, uint64_t offset,
			    const struct pf_settings *settings,
			    const struct pf_options *options,
			    const struct ext4_source_options *what,
			    struct pf_session **session);

/* The checker is about to walk the block map of the filesystem's journal, which
 * does not use extents.  `block` are the indirect, double indirect and triple
 * indirect block of the journal's inode; 0 means none. */
void ext4_session_request_journal(struct pf_session *session,
				  const uint32_t block[3]);

/*
 * A scan of all inodes begins.  Stop reading ahead for an earlier scan, choose
 * threads, order and budget from the device's topology, and start.  May be
 * called any number of times.  `fs` is the one of ext4_session_open().  Does
 * nothing if a thread of the earlier scan still waits for the device.
 */
errcode_t ext4_session_start_scan(struct pf_session *session, ext2_filsys fs);

/* The program has opened its filesystem again: continue the statistics of the
 * ended session `old`, and free that. */
void ext4_session_inherit(struct pf_session *session, struct pf_session *old);

/* Request the indirect, double indirect and triple indirect block that the journal's
 * inode names (0: none), and all blocks that the double indirect block refers to, at
 * most 4 MiB.  The blocks below the triple indirect one are not requested: they begin at
 * 4 GiB.  Returns the bytes that were requested, because they were not cached. */
uint64_t ext4_journal_request(struct pf_device *dev,
			      const struct ext4_geometry *geo,
			      const uint32_t block[3]);

/* The report of `e2prefetch probe`: a device, the metadata that a check would read from
 * it, and the time that is likely to take. */
struct ext4_probe {
	struct pf_class_count plan[EXT4_CLASSES];
	struct pf_topology topo;
	uint32_t block_size, groups;
	uint32_t groups_sampled;	/* if fewer than `groups`, scaled up */
	uint64_t inodes;	/* in use */
	struct pf_speed speed;		/* seek_bound: a check would take it to seek,
					   measured or not */
	const char *unmeasured;	/* why nothing could be measured: the other
				   figures of `speed` are 0.  NULL if it was */
	double seconds;		/* of a check that prefetches; 0: not known */
};

/*
 * Fill in *probe.  Call it before the engine starts.  Reads samples and, on a large
 * filesystem, the inode tables of some groups; writes nothing.  Takes seconds on
 * a disk.
 */
errcode_t ext4_probe(struct pf_session *session, struct ext4_probe *probe);

/* How long a check that prefetches takes (doc/performance.md, "Estimates"): three
 * times less or more is possible.  0 if that is not known. */
double ext4_probe_seconds(const struct ext4_probe *p);

#endif
