/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides whether and when a session begins, which filesystem it reads, and
 * when it ends.
 */
#ifdef HAVE_EXECINFO_H
#include <execinfo.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "observe.h"
#include "preload/interpose.h"
#include "lib/keep_errno.h"
#include "preload/preload.h"
#include "prefetch/share.h"
#include "ext4/session.h"
#include "lib/io_table.h"

/*
 * Accelerations are left out, unless somebody has asked for them, if the self-test takes
 * longer than they save: 0.36 us for each inode in use and 1.4 ns for each block of the
 * filesystem.  1 GiB with 2,000 files is checked in 0.5 ms more with them, 4 GiB with
 * 1,000 files in 0.6 ms less (60 runs each).
 */
#define INODE_BLOCKS 256u
#define SMALL_BLOCKS (1u << 20)

struct e2fsck_check e2fsck_check;

static struct {
	bool decided;
	ext2_filsys opened;		/* no session has begun for it */
	uint64_t offset;
} self;

const struct accel *e2fsck_check_accel(void)
{
	return &e2fsck_accel && !strcmp(e2fsck_accel.version, PACKAGE_VERSION) ?
	       &e2fsck_accel : NULL;
}

static bool is_small(struct ext2_super_block *s)
{
	uint64_t inodes = s->s_inodes_count - s->s_free_inodes_count;

	return ext2fs_blocks_count(s) + inodes * INODE_BLOCKS < SMALL_BLOCKS;
}

/* Why each acceleration is not to begin, in *found; by the self-test, unless none is
 * asked for. */
static enum selftest test_accelerations(struct ext2_super_block *super,
					struct findings *found)
{
	const struct accel *accel = e2fsck_check_accel();
	enum selftest outcome = SELFTEST_NONE;
	unsigned asked = preload.settings.accel, i;
	const char *none = NULL;

	if (!accel)
		none = "e2fsck-accel.so was not loaded";
	else if (!preload.settings.accel_is_set && is_small(super))
		none = "the filesystem is small";
	else if (asked)
		outcome = preload_selftest_run(accel->try, found,
					       sizeof(*found));
	if (!none && outcome != SELFTEST_DONE)
		none = outcome == SELFTEST_FAILED ? "the self-test crashed or hung" :
		       "the self-test did not run";
	for (i = 0; i < PF_ACCELERATIONS; i++)
		if (!(asked & 1u << i))
			found->why_not[i] = "disabled by the setting accel";
		else if (none)
			found->why_not[i] = none;
	return outcome;
}

static void accelerate(const struct findings *found)
{
	unsigned i;

	for (i = 0; i < PF_ACCELERATIONS; i++) {
		const char *why_not = found->why_not[i];

		if (!why_not)
			e2fsck_accel.begin(i);
		pf_report_note(&preload.report.notes, "%s: %saccelerated (%s)",
			       pf_acceleration_names[i], why_not ? "not " : "",
			       why_not ? why_not :
				       "self-test matched libext2fs");
	}
}

static void turn_off(const char *why)
{
	preload.on = false;
	pf_report_note_off(&preload.report.notes, "off", why);
}

static unsigned give_back(void)
{
	unsigned reporters;
	E2PF_KEEP_ERRNO;

	if (!e2fsck_check.session)
		return 0;
	reporters = preload_reporter_end();
	return reporters + pf_session_give_back(e2fsck_check.session);
}

/* Decide, before the first session, whether this process may read ahead and
 * which accelerations it gets. */
static void choose_features(ext2_filsys fs)
{
	struct findings found;
	enum selftest outcome;

	self.decided = true;
	/* This is another program, or one that cannot be followed. */
	if (!e2fsck_stages_can_be_followed()) {
		preload.settings.prefetch = 0;
		preload.on = false;
		return;
	}
	if (!e2pf_io_table_is_ours()) {
		turn_off("this libext2fs has an unknown table of I/O operations");
		return;
	}
	outcome = test_accelerations(fs->super, &found);
	if (!preload_selftest_may_read(&outcome)) {
		turn_off("a required system call is blocked");
		return;
	}
	/* Register before the memory is divided, so that checks started at the
	 * same time see each other. */
	pf_share_join();
	accelerate(&found);
	preload.give_back = give_back;
	preload_reporter_begin(preload.name, preload.settings.progress);
}

/* The value of "offset=BYTES" in the options; 0 if it is not there. */
static uint64_t option_offset(const char *options)
{
	const char *p = options ? strstr(options, "offset=") : NULL;

	return p ? strtoull(p + 7, NULL, 0) : 0;
}

/* The first call of backtrace() loads a library, which allocates memory.  With
 * threads, that must not happen in a crash: see is_crashing(). */
static unsigned before_threads(void *session, unsigned workers)
{
	e2fsck_check.threads = true;
#ifdef HAVE_EXECINFO_H
	void *frame;

	backtrace(&frame, 1);
#endif
	return pf_session_may_start(session, workers);
}

/* The engine is told of all reads from now on. */
static errcode_t open_observed(ext2_filsys fs, struct pf_session **session)
{
	const struct pf_options options = {
		.has_checker = true, .before_threads = before_threads
	};
	errcode_t err = ext4_session_open(fs, e2fsck_check.path, self.offset,
					  &preload.settings, &options, NULL,
					  session);

	if (!err && !e2fsck_observe(fs->io, (*session)->engine)) {
		pf_session_free(*session);
		err = EXT2_ET_OP_NOT_SUPPORTED;
	}
	return err;
}

static bool open_session(ext2_filsys fs)
{
	struct pf_session *session;

	if (open_observed(fs, &session)) {
		if (!e2fsck_check.session)
			pf_report_note_off(&preload.report.notes, "off",
					   "cannot open the device or allocate memory");
		return false;
	}
	if (e2fsck_check.session)
		ext4_session_inherit(session, e2fsck_check.session);
	e2fsck_check.session = session;
	return true;
}

static bool begin_session(ext2_filsys fs)
{
	self.opened = NULL;
	if (!self.decided)
		choose_features(fs);
	if (!preload.on || !open_session(fs))
		return false;
	e2fsck_check.fs = fs;
	return true;
}

bool e2fsck_check_scans(ext2_filsys fs)
{
	E2PF_KEEP_ERRNO;

	return fs && fs == self.opened && begin_session(fs);
}

/* A clean filesystem is left alone, unless it is scanned after all: then its first
 * bitmaps were made before anything is accelerated. */
bool e2fsck_check_opens(ext2_filsys fs, const char *name, const char *options)
{
	E2PF_KEEP_ERRNO;

	/* tune2fs also opens journal devices, which have no inodes. */
	if (e2fsck_check.fs || ext2fs_has_feature_journal_dev(fs->super) ||
	    (fs->flags & (EXT2_FLAG_IMAGE_FILE | EXT2_FLAG_DIRECT_IO)))
		return false;
	free(e2fsck_check.path);
	/* If no options are passed, they may follow the name after a '?'. */
	e2fsck_check.path = strndup(name, options ? strlen(name) : strcspn(name,
									   "?"));
	self.offset = option_offset(options ? options : strchr(name, '?'));
	self.opened = e2fsck_check.path ? fs : NULL;
	return self.opened && (e2fsck_check.arguments.force ||
			       preload.settings.stats ||
			       !e2fsck_arguments_find_clean(fs->super,
							    time(NULL))) &&
	       begin_session(fs);
}

void e2fsck_check_ends(void)
{
	bool watched;

	if (!e2fsck_check.session)
		return;
	e2fsck_check.fs = NULL;
	watched = !preload_reporter_watch(NULL);
	e2fsck_unobserve(e2fsck_check.session->engine);
	/* A worker or a reporter that was left behind still uses the session,
	 * which is then never freed. */
	e2fsck_unobserve(e2fsck_check.session->engine);
	if (!pf_session_stop(e2fsck_check.session, END_PATIENCE_MS) || watched)
		preload.on = false;
}

void e2fsck_check_closes(ext2_filsys fs)
{
	E2PF_KEEP_ERRNO;

	if (!preload.on || !fs)
		return;
	if (fs == e2fsck_check.fs)
		e2fsck_check_ends();
	if (fs == self.opened)
		self.opened = NULL;
}
