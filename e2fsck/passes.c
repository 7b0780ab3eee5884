/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Where the check is: interposes the libext2fs functions that show it, and
 * tells the engine.
 */
#include <stdatomic.h>

#include "check.h"
#include "preload/interpose.h"
#include "lib/keep_errno.h"
#include "preload/preload.h"
#include "ext4/session.h"

/* The number of directory list entries copied at a time, and the number of
 * entries that the walk visits before the engine is asked again whether it has
 * room for more. */
#define LIST_PART 4096u
#define LIST_CHECK_EVERY 64u

static struct {
	uint32_t group_inodes;		/* of each of check.fs's groups */
	_Atomic enum ext4_stage stage;
	ext2_inode_scan scan;		/* the scan that is followed, or NULL */
	atomic_bool in_list;		/* a walk over the directory list is
					   followed */
} self;

static struct pf_engine *engine(void)
{
	return e2fsck_check.fs && e2fsck_check.session ?
	       e2fsck_check.session->engine : NULL;
}

static struct ext4_source *source(void)
{
	return e2fsck_check.session ?
	       ext4_session_of(e2fsck_check.session)->ext4 : NULL;
}

/* A cancelled check closes the filesystem before it frees its counts: there is
 * no engine to notify then. */
static void advance_stage(enum seen seen)
{
	enum ext4_stage stage = atomic_load(&self.stage);
	enum ext4_stage next = e2fsck_stage_after(stage, seen);
	E2PF_KEEP_ERRNO;

	if (!engine() || (next == stage && seen != SEEN_OPEN))
		return;
	atomic_store(&self.stage, next);
	pf_engine_begin_stage(engine(), next);
}

void e2fsck_passes_begin(void)
{
	self.group_inodes = e2fsck_check.fs->super->s_inodes_per_group;
	self.scan = NULL;
	advance_stage(SEEN_OPEN);
}

/*
 * Walks over the blocks of the journal, which e2fsck looks up even if there is nothing
 * to replay, and of files with blocks that several files claim.
 */

struct block_walk {
	block_fn *func;
	void *data;
	uint64_t block;			/* that it has reached */
};

/* Called for each block of each file: with more to decide, a check of claimed blocks
 * takes 1.19 times stock's instructions. */
static int claims_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
			blk64_t ref_block, int ref_offset, void *data)
{
	struct block_walk *w = data;

	w->block = *block;
	return w->func(fs, block, count, ref_block, ref_offset, w->data);
}

static bool is_journal(ext2_filsys fs, ext2_ino_t ino)
{
	return preload.on && fs && fs == e2fsck_check.fs &&
	       self.stage == EXT4_OPEN && ino &&
	       ino == fs->super->s_journal_inum;
}

/* The inode was read a moment ago and is in libext2fs's cache. */
static void read_map_ahead(ext2_filsys fs, ext2_ino_t ino)
{
	struct ext2_inode inode;
	E2PF_KEEP_ERRNO;

	if (!ext2fs_read_inode(fs, ino, &inode) &&
	    !(inode.i_flags & (EXT4_EXTENTS_FL | EXT4_INLINE_DATA_FL)))
		ext4_session_request_journal(e2fsck_check.session,
					     &inode.i_block[EXT2_IND_BLOCK]);
}

/* e2fsck looks up each block in its bitmap of blocks that several files claim, which
 * knows only its cluster.  Readahead waits for the first clone: the user may choose to
 * delete the files. */
static void handle_claimed_block(void *ctx)
{
	const struct block_walk *w = ctx;

	if (self.stage == EXT4_PASS1B)
		e2fsck_clones_add(w->block);
	else if (engine())
		e2fsck_clones_report_block(source(), engine(), w->block);
}

/* A check that may not write clones nothing.  A clone changes the file's blocks,
 * and has no flags. */
static bool may_be_claimed(ext2_filsys fs, int flags)
{
	if (!preload.on || !fs || fs != e2fsck_check.fs ||
	    e2fsck_check.session->why_off ||
	    !e2fsck_check_accel() || !e2fsck_accel.have_claims() ||
	    !(fs->flags & EXT2_FLAG_RW))
		return false;
	if (self.stage == EXT4_PASS1B)
		return self.scan;
	return self.stage == EXT4_PASS1D && !flags;
}

errcode_t ext2fs_block_iterate3(ext2_filsys fs, ext2_ino_t ino, int flags,
				char *block_buf, block_fn *func, void *data)
{
	struct block_walk w = { .func = func, .data = data };
	errcode_t err;
	REAL(ext2fs_block_iterate3);

	if (is_journal(fs, ino))
		read_map_ahead(fs, ino);
	if (!may_be_claimed(fs, flags))
		return real(fs, ino, flags, block_buf, func, data);
	e2fsck_accel.watch_claims(handle_claimed_block, &w);
	err = real(fs, ino, flags, block_buf, claims_block, &w);
	e2fsck_accel.watch_claims(NULL, NULL);
	return err;
}

/*
 * Scans of all inodes.
 */

/* Start prefetching at the first group, whatever has been prefetched before. */
static void begin_reading(ext2_filsys fs)
{
	E2PF_KEEP_ERRNO;

	/* The reporter may still look at the groups, which a start replaces. */
	if (!preload_reporter_watch(NULL))
		return;
	ext4_session_start_scan(e2fsck_check.session, fs);
	/* If the engine has no thread, the reporter, which is a thread, too,
	 * does not start. */
	if (e2fsck_check.threads)
		preload_reporter_watch(e2fsck_check.session);
}

errcode_t ext2fs_open_inode_scan(ext2_filsys fs, int buffer_blocks,
				 ext2_inode_scan *scan)
{
	errcode_t err;
	REAL(ext2fs_open_inode_scan);

	if (preload.on && e2fsck_check_scans(fs))
		e2fsck_passes_begin();
	/* A scan inside another walk is not a pass. */
	if (!preload.on || fs != e2fsck_check.fs || self.scan || self.in_list)
		return real(fs, buffer_blocks, scan);
	advance_stage(SEEN_SCAN);
	e2fsck_clones_forget();
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
	real(scan);
}

errcode_t ext2fs_get_next_inode_full(ext2_inode_scan scan, ext2_ino_t *ino,
				     struct ext2_inode *inode, int bufsize)
{
	struct pf_engine *e;
	errcode_t err;
	REAL(ext2fs_get_next_inode_full);

	err = real(scan, ino, inode, bufsize);
	/* NULL once the check has ended, whatever its threads still do. */
	e = *ino && scan == self.scan ? engine() : NULL;
	if (e)
		pf_engine_report_position(e, EXT4_PHASE_TABLES,
					  (*ino - 1) / self.group_inodes);
	return err;
}

typedef int list_fn(ext2_filsys fs, struct ext2_db_entry2 *entry, void *data);

/* A walk over the directory list that is followed. */
struct walk {
	list_fn *func;
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
	struct pf_engine *e = engine();
	struct ext4_source *ext4 = e ? source() : NULL;
	uint64_t first, n;
	REAL(ext2fs_dblist_iterate3);

	if (!ext4)
		return;
	n = ext4_source_list_count_wanted(ext4, e, w->index, &first);
	while (n) {
		uint64_t count = n < LIST_PART ? n : LIST_PART;

		part.used = 0;
		if (real(w->list, copy_entry, first, count, &part) ||
		    !part.used)
			return;
		ext4_source_list_add(ext4, e, part.block, part.used);
		first += part.used;
		n -= part.used;
	}
}

static int watched_entry(ext2_filsys fs, struct ext2_db_entry2 *entry,
			 void *data)
{
	struct walk *w = data;

	if (engine()) {
		E2PF_KEEP_ERRNO;

		pf_engine_report_position(engine(), EXT4_PHASE_LIST, w->index);
		if (w->index % LIST_CHECK_EVERY == 0)
			hand_over(w);
		w->index++;
	}
	return w->func(fs, entry, w->data);
}

/* A walk over the list is a pass, unless it happens inside another one.  Returns
 * true if this walk is followed. */
static bool watch_walk(struct walk *w)
{
	E2PF_KEEP_ERRNO;

	if (!preload.on || !engine() || self.scan ||
	    self.stage == EXT4_OPEN || atomic_exchange(&self.in_list, true))
		return false;
	/* In pass 1C the walk over the list is part of a walk over names, not a
	 * pass of its own. */
	if (self.stage != EXT4_PASS1C)
		advance_stage(SEEN_LIST);
	ext4_source_list_begin(source(), engine(),
			       (uint64_t)ext2fs_dblist_count2(w->list), EXT4_DIRS);
	return true;
}

/* A followed walk has ended with this result. */
static errcode_t leave_walk(errcode_t err)
{
	E2PF_KEEP_ERRNO;

	if (engine()) {
		ext4_source_list_end(source(), engine());
		advance_stage(SEEN_LIST_END);
	}
	self.in_list = false;
	return err;
}

errcode_t ext2fs_dblist_iterate2(ext2_dblist dblist, list_fn *func, void *data)
{
	struct walk w = { .func = func, .data = data, .list = dblist };
	REAL(ext2fs_dblist_iterate2);

	if (!watch_walk(&w))
		return real(dblist, func, data);
	return leave_walk(real(dblist, watched_entry, &w));
}

/* The library implements this function with a walk by
 * ext2fs_dblist_iterate2().  If the library's own calls can be interposed, that
 * walk is followed. */
errcode_t ext2fs_dblist_dir_iterate(ext2_dblist dblist, int flags,
		char *block_buf,
		int (*func)(ext2_ino_t dir, int entry,
			    struct ext2_dir_entry *dirent, int offset,
			    int blocksize, char *buf, void *private),
		void *data)
{
	bool seen = preload.on && engine() && !self.in_list;
	errcode_t err;
	REAL(ext2fs_dblist_dir_iterate);

	if (seen)
		advance_stage(SEEN_NAMES);
	err = real(dblist, flags, block_buf, func, data);
	if (seen)
		advance_stage(SEEN_NAMES_END);
	return err;
}

void ext2fs_free_icount(ext2_icount_t icount)
{
	REAL(ext2fs_free_icount);

	advance_stage(SEEN_LINKS_END);
	real(icount);
}
