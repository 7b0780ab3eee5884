/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The module that the launcher preloads into a stock e2fsck.
 *
 * It interposes the libext2fs functions that show where the check is.  Each
 * interposed function calls the real one and passes e2fsck's arguments and
 * libext2fs's results through unchanged.  The only argument that is changed is
 * the I/O manager.
 *
 * A parallel e2fsck copies the filesystem's structure for each of its threads,
 * and each thread scans some of the groups.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#ifdef HAVE_EXECINFO_H
#include <execinfo.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accelerate.h"
#include "bitmaps.h"
#include "clones.h"
#include "environment.h"
#include "indirect.h"
#include "inherit.h"
#include "interpose.h"
#include "linkage.h"
#include "result.h"
#include "reporter.h"
#include "ext4/ext4_session.h"
#include "signals.h"
#include "stages.h"
#include "device/share.h"
#include "engine/trace.h"
#include "ext4/units.h"
#include "libext2fs/io_table.h"
#include "report/stats_file.h"
#include "trial.h"

/* How long the end of the check waits for a worker that waits for the device. A
 * disk that retries a bad sector may block a worker for minutes. */
#define END_PATIENCE_MS 1000

/* Number of directory list entries copied at a time, and number of entries that
 * the walk visits between two checks whether the engine has room for more. */
#define LIST_PART 4096u
#define LIST_LOOK 64u

/* A scan over a copy of the filesystem's structure. */
struct scan_part {
	_Atomic ext2_inode_scan scan;	/* NULL: this slot is free */
	uint32_t group;			/* the group it has reached */
	bool begun;			/* it has read an inode, or has said
					   where it begins */
};

static struct {
	struct environment env;
	bool on;
	bool parallel;			/* the checker may have threads */
	bool threads;			/* ours may have started */
	pid_t pid;
	struct timespec began;
	_Atomic ext2_filsys fs;		/* the filesystem being checked */
	uint32_t group_inodes;		/* of each of its groups */
	uint32_t block_size;
	struct e2pf_session *session;	/* of `fs`, or of the one before it */
	struct e2pf_observer observer;
	_Atomic enum e2pf_ext4_stage stage;
	ext2_inode_scan scan;		/* the scan that is followed, or NULL */
	dgrp_t scan_at;			/* group it has reached */
	atomic_bool in_list;		/* a walk over the directory list is
					   followed */
	/* Scans over copies of the filesystem's structure, in threads of the
	 * checker. */
	pthread_mutex_t parts_lock;
	struct scan_part part[E2PF_SCANS_MOST];
	atomic_uint parts;		/* number of open ones */
	struct acceleration_names accelerations;
	struct e2pf_decisions decisions;
	struct e2pf_trace *trace;	/* NULL: no trace wanted */
} self = { .parts_lock = PTHREAD_MUTEX_INITIALIZER };

static struct e2pf_engine *engine(void)
{
	return self.fs && self.session ? self.session->engine : NULL;
}

static struct e2pf_ext4 *source(void)
{
	return self.session ? e2pf_ext4_of(self.session)->ext4 : NULL;
}

/* A cancelled check closes the filesystem before it frees its counts: there is
 * no engine to notify then. */
static void notice(enum seen seen)
{
	enum e2pf_ext4_stage now = atomic_load(&self.stage);
	enum e2pf_ext4_stage next = stage_after(now, seen);

	if (!engine() || (next == now && seen != SEEN_OPEN))
		return;
	atomic_store(&self.stage, next);
	e2pf_engine_stage(engine(), next);
}

/*
 * Opening and closing.
 */

/* A checker with threads opens an I/O channel for each of them with the manager
 * that it has chosen itself, and all of them must be the same. */
static io_manager choose_manager(io_manager manager)
{
	if (manager == unix_io_manager && self.env.io == IO_MMAP &&
	    !self.parallel && e2pf_io_table_is_ours())
		manager = e2pf_mmap_io_manager;
	return manager;
}

/* The value of "offset=BYTES" in the options; 0 if it is not there. */
static uint64_t option_offset(const char *options)
{
	const char *p = options ? strstr(options, "offset=") : NULL;

	return p ? strtoull(p + 7, NULL, 0) : 0;
}

static void end_session(void)
{
	if (!self.session)
		return;
	/* A thread that ends the process leaves others scanning. */
	pthread_mutex_lock(&self.parts_lock);
	self.fs = NULL;
	pthread_mutex_unlock(&self.parts_lock);
	self.scan = NULL;
	reporter_watch(NULL);
	/* A worker left behind still uses the session, so it is not freed. */
	if (!e2pf_session_end(self.session, END_PATIENCE_MS))
		self.on = false;
}

/* The first call of backtrace() loads a library, which allocates memory.  With
 * threads, that must not happen in a crash: see is_crashing(). */
static void before_threads(void)
{
	self.threads = true;
#ifdef HAVE_EXECINFO_H
	void *frame;

	backtrace(&frame, 1);
#endif
}

static void begin_session(ext2_filsys fs, const char *name,
			  const char *options)
{
	struct e2pf_session *session;
	char *path;

	/* tune2fs also opens journal devices, which have no inodes. */
	if (self.fs || ext2fs_has_feature_journal_dev(fs->super) ||
	    (fs->flags & (EXT2_FLAG_IMAGE_FILE | EXT2_FLAG_DIRECT_IO)))
		return;
	/* If no options are passed, they may follow the name after a '?'. */
	path = strndup(name, options ? strlen(name) : strcspn(name, "?"));
	if (!options)
		options = strchr(name, '?');
	if (path && !e2pf_open_paced(fs, path, option_offset(options),
				     &self.env.settings,
				     self.env.stats || self.env.trace,
				     &self.observer, &session)) {
		if (self.session)
			e2pf_inherit(session, self.session);
		session->cfg.before_threads = before_threads;
		self.session = session;
		self.group_inodes = fs->super->s_inodes_per_group;
		self.block_size = fs->blocksize;
		self.fs = fs;
		e2pf_engine_trace(engine(), self.trace);
		notice(SEEN_OPEN);
	}
	free(path);
}

errcode_t ext2fs_open2(const char *name, const char *io_options, int flags,
		       int superblock, unsigned int block_size,
		       io_manager manager, ext2_filsys *ret_fs)
{
	errcode_t err;
	REAL(ext2fs_open2);

	if (!self.on)
		return real(name, io_options, flags, superblock, block_size,
			    manager, ret_fs);
	err = real(name, io_options, flags, superblock, block_size,
		   choose_manager(manager), ret_fs);
	if (!err)
		begin_session(*ret_fs, name, io_options);
	return err;
}

errcode_t set_undo_io_backing_manager(io_manager manager)
{
	REAL(set_undo_io_backing_manager);

	return real(self.on ? choose_manager(manager) : manager);
}

void ext2fs_free(ext2_filsys fs)
{
	REAL(ext2fs_free);

	if (self.on && fs && fs == self.fs)
		end_session();
	real(fs);
}

errcode_t ext2fs_close_free(ext2_filsys *fs)
{
	REAL(ext2fs_close_free);

	if (self.on && fs && *fs && *fs == self.fs)
		end_session();
	return real(fs);
}

/*
 * The journal: e2fsck looks up the location of each of its blocks, even if
 * there is nothing to replay.
 */

struct iterate {
	block_fn *func;
	void *data;
};

static int journal_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
			 blk64_t ref_block, int ref_offset, void *data)
{
	struct iterate *i = data;

	if (count >= 0 && *block)
		e2pf_journal_block(self.session, *block);
	return i->func(fs, block, count, ref_block, ref_offset, i->data);
}

static bool is_journal(ext2_filsys fs, ext2_ino_t ino)
{
	return self.on && fs && fs == self.fs &&
	       self.stage == E2PF_EXT4_OPEN && ino &&
	       ino == fs->super->s_journal_inum;
}

static bool is_replayed(ext2_filsys fs)
{
	return (fs->flags & EXT2_FLAG_RW) &&
	       ext2fs_has_feature_journal_needs_recovery(fs->super);
}

/* The inode was read a moment ago and is in libext2fs's cache. */
static void read_map_ahead(ext2_filsys fs, ext2_ino_t ino)
{
	struct ext2_inode inode;

	if (!ext2fs_read_inode(fs, ino, &inode) &&
	    !(inode.i_flags & (EXT4_EXTENTS_FL | EXT4_INLINE_DATA_FL)))
		e2pf_journal_map(self.session,
				 &inode.i_block[EXT2_IND_BLOCK]);
}

/* Pass 3 itself walks over a directory's blocks read-only or to append to it,
 * both with flags; only the rewrite in pass 3A uses no flags. */
static bool is_directory_of_pass3(ext2_filsys fs, ext2_ino_t ino)
{
	struct ext2_inode inode;

	return self.on && fs == self.fs && self.stage == E2PF_EXT4_PASS3 &&
	       !ext2fs_read_inode(fs, ino, &inode) &&
	       LINUX_S_ISDIR(inode.i_mode);
}

static int claimed_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
			 blk64_t ref_block, int ref_offset, void *data)
{
	struct iterate *i = data;

	clones_add(*block);
	return i->func(fs, block, count, ref_block, ref_offset, i->data);
}

static int cloned_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
			blk64_t ref_block, int ref_offset, void *data)
{
	struct iterate *i = data;

	if (engine())
		clones_at(source(), engine(), *block);
	return i->func(fs, block, count, ref_block, ref_offset, i->data);
}

/* A clone changes the file's blocks, and has no flags.  Nothing is read ahead
 * before the first: the user may choose to delete the files. */
static block_fn *claims_walk(ext2_filsys fs, int flags)
{
	if (!self.on || !fs || fs != self.fs || !bitmaps_have_claims())
		return NULL;
	if (self.stage == E2PF_EXT4_PASS1B && self.scan)
		return claimed_block;
	return self.stage == E2PF_EXT4_PASS1D && !flags &&
	       !self.env.observe ? cloned_block : NULL;
}

errcode_t ext2fs_block_iterate3(ext2_filsys fs, ext2_ino_t ino, int flags,
				char *block_buf, block_fn *func, void *data)
{
	struct iterate i = { .func = func, .data = data };
	block_fn *claims = claims_walk(fs, flags);

	if (claims)
		return indirect_iterate(fs, ino, flags, block_buf, claims, &i);
	if (!flags && is_directory_of_pass3(fs, ino))
		notice(SEEN_DIRECTORY);
	if (is_journal(fs, ino))
		read_map_ahead(fs, ino);
	if (is_journal(fs, ino) && is_replayed(fs))
		return indirect_iterate(fs, ino, flags, block_buf,
					journal_block, &i);
	return indirect_iterate(fs, ino, flags, block_buf, func, data);
}

/*
 * If a damaged image makes e2fsck free memory twice, e2fsck crashes; its signal
 * handler prints a backtrace and exits.  If the allocator raised the signal in
 * a process with several threads, the crashing thread holds a lock of the
 * allocator.  From there on nothing may be allocated or freed, or a crash would
 * become a hang.
 */

/* Whether this thread is in the handler of a fatal signal: a signal is blocked
 * while its handler runs. */
static bool is_crashing(void)
{
	static const int fatal[] = { SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	sigset_t blocked;
	size_t i;

	if (pthread_sigmask(SIG_BLOCK, NULL, &blocked))
		return false;
	for (i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		if (sigismember(&blocked, fatal[i]))
			return true;
	return false;
}

/*
 * Where the check is.
 */

/* Start prefetching at the first group, whatever has been prefetched before. */
static void begin_reading(ext2_filsys fs)
{
	self.scan_at = 0;
	if (self.env.observe)
		return;
	reporter_watch(NULL);
	e2pf_start_paced(self.session, fs);
	/* The reporter is a thread, too, and not worth being the only one. */
	if (self.threads)
		reporter_watch(self.session);
}

static dgrp_t group_of(ext2_ino_t ino)
{
	return (ino - 1) / self.group_inodes;
}

/*
 * A parallel checker makes a copy of the filesystem's structure for each
 * thread, and each thread scans some of the groups with its copy.
 */

/* A copy shares the objects that the structure points to. */
static bool is_copy(ext2_filsys fs)
{
	ext2_filsys checked = self.fs;

	return self.parallel && checked && fs && fs != checked &&
	       fs->super == checked->super;
}

static struct scan_part *part_of(ext2_inode_scan scan)
{
	unsigned i;

	for (i = 0; self.parts && scan && i < E2PF_SCANS_MOST; i++)
		if (atomic_load_explicit(&self.part[i].scan,
					 memory_order_relaxed) == scan)
			return &self.part[i];
	return NULL;
}

/* Nothing is prefetched for this scan before it says where it begins. */
static void open_part(ext2_inode_scan scan)
{
	unsigned i;

	pthread_mutex_lock(&self.parts_lock);
	for (i = 0; i < E2PF_SCANS_MOST && self.part[i].scan; i++)
		;
	if (i < E2PF_SCANS_MOST) {
		self.part[i].begun = false;
		self.part[i].scan = scan;
		self.parts++;
	}
	pthread_mutex_unlock(&self.parts_lock);
}

/* A thread's scan begins: the first of a pass, or a further one.  The engine
 * prefetches in the order of all scans that have begun.  Called with the lock
 * held. */
static void begin_part(dgrp_t group)
{
	if (self.stage != E2PF_EXT4_PASS1 ||
	    !e2pf_ext4_add_scan(source(), group)) {
		notice(SEEN_SCAN);
		e2pf_ext4_forget_scans(source());
		e2pf_ext4_add_scan(source(), group);
	}
	begin_reading(self.fs);
}

/* The scan has reached this group.  Called only by the scan's own thread. */
static void part_at(struct scan_part *part, dgrp_t group)
{
	if (!part || (part->begun && part->group == group))
		return;
	pthread_mutex_lock(&self.parts_lock);
	if (engine() && !part->begun)
		begin_part(group);
	else if (engine())
		e2pf_ext4_scan_at(source(), engine(), group);
	part->begun = true;
	part->group = group;
	pthread_mutex_unlock(&self.parts_lock);
}

static void close_part(struct scan_part *part)
{
	if (!part)
		return;
	pthread_mutex_lock(&self.parts_lock);
	if (part->begun && engine())
		e2pf_ext4_scan_ended(source(), engine(), part->group);
	part->scan = NULL;
	self.parts--;
	pthread_mutex_unlock(&self.parts_lock);
}

errcode_t ext2fs_open_inode_scan(ext2_filsys fs, int buffer_blocks,
				 ext2_inode_scan *scan)
{
	errcode_t err;
	REAL(ext2fs_open_inode_scan);

	if (self.on && is_copy(fs)) {
		err = real(fs, buffer_blocks, scan);
		if (!err)
			open_part(*scan);
		return err;
	}
	/* A scan inside another walk is not a pass. */
	if (!self.on || fs != self.fs || self.scan || self.in_list)
		return real(fs, buffer_blocks, scan);
	notice(SEEN_SCAN);
	e2pf_ext4_forget_scans(source());
	clones_forget();
	begin_reading(fs);
	err = real(fs, buffer_blocks, scan);
	if (!err)
		self.scan = *scan;
	return err;
}

void ext2fs_close_inode_scan(ext2_inode_scan scan)
{
	REAL(ext2fs_close_inode_scan);

	if (scan == self.scan)
		self.scan = NULL;
	else
		close_part(part_of(scan));
	real(scan);
}

errcode_t ext2fs_inode_scan_goto_blockgroup(ext2_inode_scan scan, int group)
{
	REAL(ext2fs_inode_scan_goto_blockgroup);

	/* The engine itself follows a scan that moves forward. */
	if (scan && scan == self.scan && (dgrp_t)group < self.scan_at)
		begin_reading(self.fs);
	part_at(part_of(scan), (dgrp_t)group);
	return real(scan, group);
}

errcode_t ext2fs_get_next_inode_full(ext2_inode_scan scan, ext2_ino_t *ino,
				     struct ext2_inode *inode, int bufsize)
{
	errcode_t err;
	REAL(ext2fs_get_next_inode_full);

	err = real(scan, ino, inode, bufsize);
	if (scan && scan == self.scan && *ino) {
		self.scan_at = group_of(*ino);
		e2pf_ext4_at_group(source(), engine(), self.scan_at);
	} else if (scan && *ino && self.parts) {
		part_at(part_of(scan), group_of(*ino));
	}
	return err;
}

/* A walk over the directory list that is followed. */
struct walk {
	int (*func)(ext2_filsys fs, struct ext2_db_entry2 *entry, void *data);
	void *data;
	ext2_dblist list;
	uint64_t index;
};

struct part {
	uint64_t block[LIST_PART];
	size_t used;
};

static int copy_entry(ext2_filsys fs, struct ext2_db_entry2 *entry, void *data)
{
	struct part *part = data;

	(void)fs;
	part->block[part->used++] = entry->blk;
	return 0;
}

/* Pass the engine as many entries as it has room for.  This is done in the
 * checker's own thread, because e2fsck may change the list between two
 * entries. */
static void hand_over(struct walk *w)
{
	static struct part part;
	struct e2pf_engine *e = engine();
	struct e2pf_ext4 *ext4 = e ? source() : NULL;
	uint64_t first, n;
	REAL(ext2fs_dblist_iterate3);

	if (!ext4)
		return;
	n = e2pf_ext4_list_wants(ext4, e, &first);
	while (n) {
		uint64_t count = n < LIST_PART ? n : LIST_PART;

		part.used = 0;
		if (real(w->list, copy_entry, first, count, &part) ||
		    !part.used)
			return;
		e2pf_ext4_list_put(ext4, e, part.block, part.used);
		first += part.used;
		n -= part.used;
	}
}

static int watched_entry(ext2_filsys fs, struct ext2_db_entry2 *entry,
			 void *data)
{
	struct walk *w = data;

	if (engine()) {
		e2pf_ext4_list_at(source(), engine(), w->index);
		if (w->index++ % LIST_LOOK == 0)
			hand_over(w);
	}
	return w->func(fs, entry, w->data);
}

/* A walk from the beginning of the list is a pass, unless it happens inside
 * another walk: then it is e2fsck's own readahead.  Returns true if this walk
 * is followed. */
static bool watch_walk(struct walk *w)
{
	if (!self.on || !engine() || self.scan || self.parts ||
	    self.stage == E2PF_EXT4_OPEN || atomic_exchange(&self.in_list, true))
		return false;
	/* In pass 1C the walk over the list is part of a walk over names, not a
	 * pass of its own. */
	if (self.stage != E2PF_EXT4_PASS1C)
		notice(SEEN_LIST);
	e2pf_ext4_list_begin(source(), engine(),
			     (uint64_t)ext2fs_dblist_count2(w->list));
	return true;
}

/* A followed walk has ended with this result. */
static errcode_t leave_walk(errcode_t err)
{
	if (engine()) {
		e2pf_ext4_list_end(source(), engine());
		notice(SEEN_LIST_END);
	}
	self.in_list = false;
	return err;
}

errcode_t ext2fs_dblist_iterate3(ext2_dblist dblist,
		int (*func)(ext2_filsys fs, struct ext2_db_entry2 *entry,
			    void *data),
		unsigned long long start, unsigned long long count, void *data)
{
	struct walk w = { .func = func, .data = data, .list = dblist };
	REAL(ext2fs_dblist_iterate3);

	if (start || !watch_walk(&w))
		return real(dblist, func, start, count, data);
	return leave_walk(real(dblist, watched_entry, start, count, &w));
}

/* The library itself calls ext2fs_dblist_iterate3(), but not always through the
 * dynamic linker. */
errcode_t ext2fs_dblist_iterate2(ext2_dblist dblist,
		int (*func)(ext2_filsys fs, struct ext2_db_entry2 *entry,
			    void *data),
		void *data)
{
	struct walk w = { .func = func, .data = data, .list = dblist };
	REAL(ext2fs_dblist_iterate2);

	if (!watch_walk(&w))
		return real(dblist, func, data);
	return leave_walk(real(dblist, watched_entry, &w));
}

/* For this function the library walks over the list with
 * ext2fs_dblist_iterate2().  If the library's own calls can be interposed, that
 * walk is followed. */
errcode_t ext2fs_dblist_dir_iterate(ext2_dblist dblist, int flags,
		char *block_buf,
		int (*func)(ext2_ino_t dir, int entry,
			    struct ext2_dir_entry *dirent, int offset,
			    int blocksize, char *buf, void *private),
		void *data)
{
	bool seen = self.on && engine() && !self.in_list;
	errcode_t err;
	REAL(ext2fs_dblist_dir_iterate);

	if (seen)
		notice(SEEN_NAMES);
	err = real(dblist, flags, block_buf, func, data);
	if (seen)
		notice(SEEN_NAMES_END);
	return err;
}

errcode_t ext2fs_icount_fetch(ext2_icount_t icount, ext2_ino_t ino, __u16 *ret)
{
	REAL(ext2fs_icount_fetch);

	if (self.stage == E2PF_EXT4_PASS3 || self.stage == E2PF_EXT4_PASS3A)
		notice(SEEN_LINKS);
	return real(icount, ino, ret);
}

void ext2fs_free_icount(ext2_icount_t icount)
{
	REAL(ext2fs_free_icount);

	if (self.stage == E2PF_EXT4_PASS4)
		notice(SEEN_LINKS_END);
	real(icount);
}

errcode_t ext2fs_read_bitmaps(ext2_filsys fs)
{
	if (self.on && fs == self.fs)
		notice(SEEN_BITMAPS);
	return bitmaps_read(fs);
}

/*
 * Start and end of the process.
 */

/* This process exists only for the self-test.  If that crashes, no check is
 * affected, because none has begun. */
static void answer_trial(void)
{
	char text[FINDINGS_SIZE], objects[ANSWER_SIZE - FINDINGS_SIZE];
	struct findings found;

	trial_run(&found);
	findings_print(&found, text, sizeof(text));
	linkage_list_objects(objects, sizeof(objects));
	dprintf(STDOUT_FILENO, "%s%s\n", text, objects);
	_exit(0);
}

/* A forked child of e2fsck that exits flushes its stdio buffers, which are
 * copies of ours. */
static void forked(void)
{
	e2pf_trace_forked(self.trace);
}

/* The launcher has already checked that the file can be written. */
static void begin_trace(void)
{
	const char *why;
	FILE *out = e2pf_stats_open(self.env.trace, &why);
	size_t i;
	char text[256];
	int used;

	self.trace = out ? e2pf_trace_open(out) : NULL;
	used = snprintf(text, sizeof(text), "{\"e2prefetch_trace\":1,"
			"\"prefetch\":%s,\"stages\":[",
			self.env.observe ? "false" : "true");
	for (i = 0; i < E2PF_EXT4_STAGES; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "%s\"%s\"", i ? "," : "",
				 e2pf_ext4_stage_names[i]);
	snprintf(text + used, sizeof(text) - (size_t)used, "]}");
	e2pf_trace_begin(self.trace, text);
	pthread_atfork(NULL, NULL, forked);
}

__attribute__((constructor))
static void begin(void)
{
	struct findings found;

	if (getenv(TRIAL_VARIABLE))
		answer_trial();
	read_environment(&self.env, NULL, NULL);
	self.on = self.env.prefetch;
	self.pid = getpid();
	clock_gettime(CLOCK_MONOTONIC, &self.began);
	findings_import(&found);
	inherit_environment(&self);
	if (!self.on)
		return;
	self.parallel = linkage_program_has_threads();
	/* Before the memory is divided, so that checks started at the same time
	 * see each other. */
	e2pf_share_join();
	reporter_begin("e2fsck-prefetch", &self.env);
	if (self.env.trace)
		begin_trace();
	accelerate(self.env.observe ? 0 : self.env.accel, &found, &self.accelerations,
		   &self.decisions);
}

static void write_stats(void)
{
	const char *why;

	if (!self.env.stats || !self.session)
		return;
	self.session->accelerations = self.accelerations.name;
	self.session->acceleration_count = self.accelerations.count;
	self.session->decisions = &self.decisions;
	/* The launcher has checked the file, but the disk may be full. */
	why = e2pf_stats_save(self.session, self.env.stats);
	if (why)
		fprintf(stderr, "e2fsck-prefetch: cannot write statistics to "
			"\"%s\": %s\n", self.env.stats, why);
}

static void tell(void)
{
	struct e2pf_decisions all = { .count = 0 };
	bool scanned = self.session && self.session->cfg.budget;

	if (scanned)
		all = self.decisions;
	if (!self.session)
		e2pf_decide(&all, "prefetch", "off",
			    "no filesystem was opened for a check");
	result_tell(&(struct result) {
		.env = &self.env, .said_by = "e2fsck-prefetch",
		.done = "checked", .began = self.began,
		.session = self.session, .finished = scanned,
		.recorded = scanned && !self.env.observe,
		.block_size = self.block_size
	}, &all);
}

__attribute__((destructor))
static void end(void)
{
	struct signals_held held;

	/* A forked child of e2fsck has no workers and must not print our
	 * report. */
	if (getpid() != self.pid || is_crashing())
		return;
	end_session();
	reporter_end();
	/* A worker that was left behind may still write to the trace. */
	signals_hold(&held);
	e2pf_trace_close(self.trace, !self.on);
	write_stats();
	if (self.env.prefetch)
		tell();
	signals_release(&held);
}
