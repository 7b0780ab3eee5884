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
	ext2_filsys fs;			/* any thread copies groups of it; all else is
					   for one thread.  NULL: nothing can be copied */
	pthread_mutex_t lock;		/* of `fs` */
	struct ext4_source *ext4;
	uint64_t journal_bytes;		/* requested of the journal's block map */
	const char *io_manager;		/* by which the checker reads */
	const char *unmapped;		/* why it does not map the device; or NULL */
};

static inline struct ext4_session *ext4_session_of(struct pf_session *s)
{
	return (struct ext4_session *)s;
}

/*
 * Open a session on `fs`, which libext2fs has opened from `device`.  The filesystem
 * begins `offset` bytes into the device.  `fs` is only read, and must stay open until
 * the session has ended.  `settings` and `options` are as for pf_session_init(), and
 * may be NULL.  If `what` is NULL, everything is read.  With options->has_checker the
 * caller reports the program's reads to the engine, which keeps ahead of them.
 */
errcode_t ext4_session_open(ext2_filsys fs, const char *device, uint64_t offset,
			    const struct pf_settings *settings,
			    const struct pf_options *options,
			    const struct ext4_source_options *what,
			    struct pf_session **session);

/* The checker is about to walk the block map of a journal without extents.  `block` has
 * the indirect, double indirect and triple indirect block of the journal's inode; 0:
 * none. */
void ext4_session_request_journal(struct pf_session *session,
				  const uint32_t block[3]);

/*
 * A scan of all inodes of `fs`, the filesystem of ext4_session_open(), begins.  Stop
 * reading ahead for an earlier scan, choose threads, order and budget from the device's
 * topology, and start.  Does nothing if a thread of the earlier scan still waits for
 * the device.  May be called any number of times.
 */
errcode_t ext4_session_start_scan(struct pf_session *session, ext2_filsys fs);

/* The program has opened its filesystem again.  Continue the statistics of the ended
 * session `old`, and free `old`. */
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
	uint32_t groups_sampled;	/* if fewer than `groups`, `plan` is scaled up */
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
