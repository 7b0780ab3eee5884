/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libe2prefetch: read an ext2/3/4 filesystem's metadata ahead of the
 * program that is about to walk it, and an mmap I/O manager for libext2fs.
 *
 * Every function that can fail returns an errcode_t (0 for success), as
 * libext2fs does.  Prefetching is advisory: no error of a read ahead ever
 * reaches the caller, they are counted in the statistics.
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

/* What a session may use.  A zero means "decide by what is measured", and
 * below sysroot, "as it is". */
struct e2pf_settings {
	unsigned threads;	/* prefetch threads, 1 to E2PF_MAX_THREADS */
	uint64_t memory;	/* bytes read ahead and not yet used */
	unsigned classes;	/* mask of 1 << enum e2pf_class; 0 means all */
	bool figures;		/* statistics will be written: time every read,
				   also where nothing is to be gained */
	const char *sysroot;	/* prefix of /sys and /proc; NULL is "" */
	/* What is read ahead by threads, on a machine that has other work too.
	 * Sessions of several processes share the first two. */
	uint64_t bandwidth;	/* bytes in a second, at most */
	unsigned requests;	/* in a second, at most */
	unsigned io_priority;	/* of the threads, as ioprio_set(2) takes it */
	unsigned nice;		/* of the threads, 1 to 19 */
};

#define E2PF_MAX_THREADS 256

/*
 * Parse a count of threads ("1" to "256") or a size in bytes with an optional
 * K, M, G or T suffix (powers of 1024, at least 1 MiB), or a comma-separated
 * list of class names; a number of requests ("1" to "1000000"), an I/O
 * priority ("idle", "best-effort" or "best-effort:0" to "best-effort:7"), or a
 * nice value ("1" to "19").  Nothing around them: no spaces, signs, leading
 * zeros or empty elements.  Return 0, or EINVAL with *out untouched.  Pure.
 */
int e2pf_parse_threads(const char *text, unsigned *out);
int e2pf_parse_size(const char *text, uint64_t *out);
int e2pf_parse_classes(const char *text, unsigned *out);
int e2pf_parse_requests(const char *text, unsigned *out);
int e2pf_parse_io_priority(const char *text, unsigned *out);
int e2pf_parse_nice(const char *text, unsigned *out);

/*
 * A session prefetches one filesystem.  It takes an immutable snapshot of
 * the superblock and group descriptors when it is opened, reads on a
 * descriptor of its own, and starts no thread before e2pf_start().
 */
struct e2pf_session;

/*
 * Open a session on `fs`, opened by libext2fs from `device` with `offset`
 * bytes before the filesystem.  `fs` is only read during the call.
 * `settings` may be NULL.
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

/* Blocks and runs (of adjacent blocks) a class has, as far as planned. */
struct e2pf_class_plan {
	uint64_t blocks;
	uint64_t runs;
};

/*
 * Walk the whole filesystem and count what a session would read ahead.
 * Reads what it must parse (inode tables, upper levels of trees) and
 * nothing else.  In the calling thread.
 */
errcode_t e2pf_plan(struct e2pf_session *session,
		    struct e2pf_class_plan plan[E2PF_CLASSES]);

/* What has been done so far. */
struct e2pf_totals {
	uint64_t planned_bytes;		/* looked at */
	uint64_t prefetched_bytes;	/* of them, not in memory before */
	uint64_t requests;		/* made for that */
	uint64_t errors;		/* reads that failed */
	bool complete;			/* nothing was left out for want of
					   memory or because of errors */
};

void e2pf_get_totals(struct e2pf_session *session,
		     struct e2pf_totals *totals);

/* End the threads.  Returns when they are gone; a thread that waits for the
 * device is waited for.  The session can be started again. */
void e2pf_stop(struct e2pf_session *session);

/* Write the statistics as one JSON object, doc/statistics.md. */
errcode_t e2pf_write_stats(struct e2pf_session *session, FILE *out);

/*
 * Before e2pf_start(): write one JSON object about the device, what of the
 * filesystem a check would read, and how long that is likely to take,
 * doc/statistics.md.  Reads samples and, of a large filesystem, the inode
 * tables of some groups; writes nothing to the device.  Seconds on a disk.
 */
errcode_t e2pf_write_probe(struct e2pf_session *session, FILE *out);

/* Stop, and free everything.  NULL is allowed. */
void e2pf_close(struct e2pf_session *session);

const char *e2pf_version(void);

#ifdef __cplusplus
}
#endif

#endif
