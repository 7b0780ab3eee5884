/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads an ext2/3/4 filesystem's metadata ahead of a program that is about to
 * walk it; and an mmap I/O manager for libext2fs.
 *
 * Every function that can fail returns an errcode_t (0 for success), as in
 * libext2fs.  Prefetching is advisory: an error while reading ahead never
 * reaches the caller; it is counted in the statistics.
 */
#ifndef E2PREFETCH_H
#define E2PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ext2fs/ext2fs.h>

/*
 * An I/O manager for ext2fs_open2() and everything else that takes one: a
 * filter over unix_io_manager.  Reads copy from a shared mapping of the device
 * until the first write or failed read of the channel; from then on, if the
 * device cannot be mapped, and while another channel is mapped, unix_io_manager
 * serves the channel.  A channel opened with IO_FLAG_THREADS may be used by
 * several threads at once, any other channel by one thread at a time.
 */
extern io_manager e2pf_mmap_io_manager;

/* True if this manager has mapped the device of this channel.  False if it
 * could not, or if it is a channel of another manager. */
bool e2pf_mmap_io_is_mapped(io_channel channel);

/*
 * True if the library in this process calls the operations of an I/O manager's
 * table at the places where the header has them that this was compiled with.  In
 * Lustre's e2fsprogs there is one more in the middle.  Only if it is true may we
 * provide a table, or replace an operation in one.
 */
bool e2pf_io_table_is_ours(void);

/* The classes of metadata. */
enum e2pf_class {
	E2PF_DESCRIPTORS,	/* group descriptors; not read ahead */
	E2PF_BITMAPS,		/* block and inode bitmaps */
	E2PF_INODES,		/* inode tables, the part in use */
	E2PF_EXTENTS,		/* blocks of extent trees */
	E2PF_INDIRECT,		/* indirect, double and triple indirect
				   blocks */
	E2PF_DIRS,		/* directory blocks, including htree nodes */
	E2PF_XATTRS,		/* extended attribute blocks and values */
	E2PF_SYMLINKS,		/* symbolic links too long for the inode */
	E2PF_FILES,		/* journal, orphan file, quota files, bad
				   blocks */
	E2PF_CLASSES
};

#define E2PF_ALL_CLASSES ((1u << E2PF_CLASSES) - 1)

extern const char *const e2pf_class_names[E2PF_CLASSES];

/* The maximum number of worker threads in a session. */
#define E2PF_MAX_THREADS 256

/*
 * Settings of a session.  Zero means the default: the library chooses `memory`
 * and `threads` from what it finds, sets no limits per second, and leaves the
 * priorities as they are.
 */
struct e2pf_settings {
	uint64_t memory;	/* bytes read ahead in total, at most */
	/* For the worker threads, on a machine that also has other work.  All
	 * sessions of all processes together keep within `bandwidth` and
	 * `requests`. */
	uint64_t bandwidth;	/* bytes per second, at most */
	unsigned requests;	/* requests per second, at most */
	unsigned io_priority;	/* as for ioprio_set(2) */
	unsigned nice;		/* 1 to 19; never raises the priority */
	unsigned threads;	/* 1 to E2PF_MAX_THREADS */
};

/*
 * A session prefetches one filesystem.  When it is opened it takes an immutable
 * snapshot of the superblock and the group descriptors.  It reads through a
 * descriptor of its own, and starts no thread before e2pf_engine_start().
 */
struct e2pf_session;

/*
 * Open a session on `fs`, which libext2fs has opened from `device`; the
 * filesystem begins `offset` bytes into the device.  `fs` is only read, and
 * only during the call.  `settings` may be NULL.
 */
errcode_t e2pf_open(ext2_filsys fs, const char *device, uint64_t offset,
		    const struct e2pf_settings *settings,
		    struct e2pf_session **session);

struct e2pf_class_count;	/* engine/engine.h */

/*
 * Walk the whole filesystem and count, for each of the classes, what a session
 * would read ahead.  Reads only what it must parse: inode tables and upper levels
 * of trees.  Runs in the calling thread.
 */
errcode_t e2pf_plan(struct e2pf_session *session,
		    struct e2pf_class_count *plan);

struct e2pf_probe;	/* report/estimate.h */

/*
 * Fill in *probe.  Call it before the engine starts.  Reads samples and, on a large
 * filesystem, the inode tables of some groups; writes nothing.  Takes seconds on
 * a disk.
 */
errcode_t e2pf_probe(struct e2pf_session *session, struct e2pf_probe *probe);

/* Stop the session and free everything.  `session` may be NULL. */
void e2pf_close(struct e2pf_session *session);

#endif
