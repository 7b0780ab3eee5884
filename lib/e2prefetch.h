/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libe2prefetch: read an ext2/3/4 filesystem's metadata ahead of the
 * program that is about to walk it, and an mmap I/O manager for libext2fs.
 *
 * Every function that can fail returns an errcode_t (0 for success), as
 * libext2fs does.  Prefetching is advisory: no error of a read ahead ever
 * reaches the caller, they are counted in the statistics.
 *
 * A struct that the caller makes begins with its size, which the caller sets:
 * members that one side knows and the other does not are left alone.  An array
 * of the caller's is passed with its count.
 *
 * libe2prefetch(3) goes through all of it.
 */
#ifndef E2PREFETCH_H
#define E2PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <ext2fs/ext2fs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An I/O manager for ext2fs_open2() and everything else that takes one.
 * Reads copy from a shared mapping of the device, writes are pwrite(2) on the
 * same descriptor, and a block whose contents would not change is not
 * written.  Where a mapping cannot be had the channel is served by
 * unix_io_manager.  A channel opened with IO_FLAG_THREADS may be used from
 * several threads at once; otherwise from one at a time.
 */
extern io_manager e2pf_mmap_io_manager;

/* Does this channel read from a mapping (true), or does the unix manager
 * serve it (false)?  False for a channel of another manager. */
bool e2pf_mmap_io_is_mapped(io_channel channel);

/* What a block of metadata is.  The names are those of --only and of the
 * statistics: e2pf_class_name(). */
enum e2pf_class {
	E2PF_DESCRIPTORS,	/* superblock, group descriptors, MMP block */
	E2PF_BITMAPS,		/* block and inode bitmaps */
	E2PF_INODES,		/* inode tables, the part in use */
	E2PF_EXTENTS,		/* extent tree blocks */
	E2PF_INDIRECT,		/* indirect, double and triple indirect */
	E2PF_DIRS,		/* directory blocks, htree nodes included */
	E2PF_XATTRS,		/* extended attribute blocks and values */
	E2PF_SYMLINKS,		/* symbolic links too long for the inode */
	E2PF_FILES,		/* journal, orphan file, quota, bad blocks */
	E2PF_CLASSES
};

#define E2PF_ALL_CLASSES ((1u << E2PF_CLASSES) - 1)

/* The name of a class, NULL for what is none.  Pure. */
const char *e2pf_class_name(enum e2pf_class cls);

/* Prefetch threads a session has at most. */
#define E2PF_MAX_THREADS 256

/*
 * What a session may use.  A zero leaves it to the library, which decides by
 * what it measures.
 */
struct e2pf_settings {
	size_t size;		/* sizeof(struct e2pf_settings) */
	uint64_t memory;	/* bytes read ahead and not yet used */
	/* For threads of a session, on a machine that has other work too.
	 * Sessions of all processes together keep within the first two. */
	uint64_t bandwidth;	/* bytes in a second, at most */
	unsigned requests;	/* in a second, at most */
	unsigned io_priority;	/* as ioprio_set(2) takes it */
	unsigned nice;		/* 1 to 19 */
	unsigned threads;	/* 1 to E2PF_MAX_THREADS */
	unsigned classes;	/* mask of 1u << enum e2pf_class; 0 means all */
	unsigned reserved;	/* 0 */
};

/*
 * A session prefetches one filesystem.  It takes an immutable snapshot of
 * the superblock and group descriptors when it is opened, reads on a
 * descriptor of its own, and starts no thread before e2pf_start().
 */
struct e2pf_session;

/*
 * Open a session on `fs`, opened by libext2fs from `device` with `offset`
 * bytes before the filesystem.  `fs` is only read during the call.
 * `settings` may be NULL.  EINVAL where settings->size is not set, E2BIG where
 * a setting is made that this library does not know.
 */
errcode_t e2pf_open(ext2_filsys fs, const char *device, uint64_t offset,
		    const struct e2pf_settings *settings,
		    struct e2pf_session **session);

/* Start reading everything the settings' classes name, in the background.
 * Nothing paces it but the memory budget. */
errcode_t e2pf_start(struct e2pf_session *session);

/* Wait until all is read, at most `milliseconds` (-1: without limit).
 * Returns true when there is nothing left to do. */
bool e2pf_wait(struct e2pf_session *session, int milliseconds);

/* How far e2pf_start() has come, in groups of the filesystem. */
void e2pf_progress(struct e2pf_session *session, uint64_t *done,
		   uint64_t *total);

/* Blocks and runs (of adjacent blocks) a class has, as far as planned.  This
 * one stays as it is. */
struct e2pf_class_plan {
	uint64_t blocks;
	uint64_t runs;
};

/*
 * Walk the whole filesystem and count what a session would read ahead, for the
 * first `count` classes.  Elements of `plan` behind the last class that the
 * library knows are zeroed.  Reads what it must parse (inode tables, upper
 * levels of trees) and nothing else.  In the calling thread.
 */
errcode_t e2pf_plan(struct e2pf_session *session,
		    struct e2pf_class_plan *plan, unsigned count);

/* What has been done so far. */
struct e2pf_totals {
	size_t size;			/* sizeof(struct e2pf_totals) */
	uint64_t planned_bytes;		/* looked at */
	uint64_t prefetched_bytes;	/* of them, not in memory before */
	uint64_t requests;		/* made for that */
	uint64_t errors;		/* reads that failed */
	bool complete;			/* nothing was left out for want of
					   memory or because of errors */
};

/* Fill in as much of *totals as its size says. */
void e2pf_get_totals(struct e2pf_session *session,
		     struct e2pf_totals *totals);

/* End the threads.  Returns when they are gone; a thread that waits for the
 * device is waited for.  The session can be started again. */
void e2pf_stop(struct e2pf_session *session);

/* Write the statistics as one JSON object, doc/statistics.md. */
errcode_t e2pf_write_stats(struct e2pf_session *session, FILE *out);

/* A block device below the filesystem, the upper ones first. */
struct e2pf_probe_device {
	const char *name;	/* the kernel's */
	const char *kind;	/* "partition", "md raid1", ..., or the disk's
				   model; may be empty */
	uint64_t bytes;
	unsigned level;		/* 0: the device itself */
	unsigned queue_depth;	/* requests; 0: not known */
	bool rotational;	/* as the kernel declares it */
};

/* One of the disks at the bottom. */
struct e2pf_probe_disk {
	const char *name;
	bool rotational;
	bool one_request;	/* takes one at a time */
};

/* What a check would do, and why, in words that may change. */
struct e2pf_probe_decision {
	const char *about, *decision, *reason;
};

/* Seconds that something is likely to take. */
struct e2pf_estimate {
	double expected, low, high;
};

/* A device, what of the filesystem a check would read, and how long that is
 * likely to take.  Pointers are valid until the next probe of the session, or
 * its end. */
struct e2pf_probe {
	size_t size;		/* sizeof(struct e2pf_probe) */
	const struct e2pf_probe_device *stack;
	const struct e2pf_probe_disk *disks;
	const struct e2pf_class_plan *plan;	/* by enum e2pf_class */
	const struct e2pf_probe_decision *decisions;
	unsigned stack_count, disk_count, plan_count, decision_count;
	uint32_t block_size;	/* bytes */
	uint32_t groups;
	uint32_t groups_sampled;	/* if fewer, they stand for the rest */
	unsigned threads;	/* a check would have, */
	unsigned requests_in_flight;	/* each of them to begin with, */
	uint64_t memory_budget;	/* and this much ahead, bytes */
	uint64_t gap_least, gap_most;	/* bytes read through: where requests
					   cost nothing, and where they do */
	uint64_t inodes;	/* in use */
	uint64_t bytes_per_second;	/* of reads in a row */
	double latency;		/* seconds, of one small read */
	double deep_latency;	/* seconds, for each of eight at once */
	struct e2pf_estimate stock, prefetch;	/* a check */
	bool measured;		/* false: all that was looked at is cached, and
				   the three figures above are 0 */
	bool block_order;	/* a check would read in block order */
	bool virtual_disk;	/* what a disk declares may not be true */
};

/*
 * Before e2pf_start(): fill in as much of *probe as its size says.  Reads
 * samples and, of a large filesystem, the inode tables of some groups; writes
 * nothing.  Takes seconds on a disk.
 */
errcode_t e2pf_probe(struct e2pf_session *session, struct e2pf_probe *probe);

/* Stop, and free everything.  NULL is allowed. */
void e2pf_close(struct e2pf_session *session);

const char *e2pf_version(void);

#ifdef __cplusplus
}
#endif

#endif
