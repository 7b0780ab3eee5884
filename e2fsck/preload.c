/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The module that the launcher preloads into a stock e2fsck.
 *
 * It interposes libext2fs functions.  Each interposed function calls the real
 * one and passes e2fsck's arguments and libext2fs's results through unchanged.
 *
 * This file decides whether and when a session begins, when it ends, and what is
 * told at the end of the process; passes.c decides where the check is meanwhile.
 */
#include "libext2fs/weak.h"

#ifdef HAVE_EXECINFO_H
#include <execinfo.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accelerate.h"
#include "arguments.h"
#include "chunk.h"
#include "interpose.h"
#include "linkage.h"
#include "module.h"
#include "passes.h"
#include "reporter.h"
#include "device/share.h"
#include "ext4/ext4_session.h"
#include "libext2fs/io_table.h"
#include "libext2fs/mmap_io.h"
#include "selftest.h"

/* How long the end of the check waits for a worker that waits for the device. A
 * disk that retries a bad sector may block a worker for minutes. */
#define END_PATIENCE_MS 1000

/*
 * If nobody has asked for accelerations, a filesystem gets none that is so small
 * that the self-test takes longer (doc/architecture.md has how long) than they
 * save.  These save, with all blocks cached, 0.36 us for each inode in use and
 * 1.4 ns for each block of the filesystem, in or not in use: 1 GiB with 200, 1,000 and 2,000 files is checked in 0.9, 0.9 and
 * 0.5 ms more with them, 4 GiB with 1,000 files in 0.6 ms less, 0.4 GiB with
 * 6,000 in 1.0 less (PREFETCH_ACCEL all and none, 60 runs each).
 */
#define INODE_BLOCKS 256u
#define SMALL_BLOCKS (1u << 20)

struct check check;

static struct {
	struct arguments arguments;
	bool decided;
	ext2_filsys opened;		/* no session has begun for it */
	char *path;			/* of that one */
	uint64_t offset;
	ext2_filsys alongside;		/* read ahead of without following */
	struct e2pf_observer observer;
} self;

/* Nothing is read ahead. */
static void turn_off(const char *why)
{
	module.on = false;
	e2pf_note_off(&module.report.notes, "off", why);
}

static bool is_small(struct ext2_super_block *s)
{
	uint64_t inodes = s->s_inodes_count - s->s_free_inodes_count;

	return ext2fs_blocks_count(s) + inodes * INODE_BLOCKS < SMALL_BLOCKS;
}

/* Before the first session: whether this process may read ahead, and which
 * accelerations it gets. */
static void decide(ext2_filsys fs)
{
	unsigned accel = module.setup.observe ? 0 : module.setup.accel, i;
	bool small = !module.setup.accel_is_set && is_small(fs->super), whole;
	enum selftest outcome = SELFTEST_NONE;
	enum finding instead = small ? FINDING_SMALL : FINDING_UNTRIED;
	struct findings found;

	self.decided = true;
	/* Another program, or one that the module cannot follow. */
	if (!accelerate_sees_progress()) {
		module.on = module.setup.prefetch = false;
		return;
	}
	/* Before the memory is divided, so that checks started at the same time
	 * see each other. */
	e2pf_share_join();
	if (accel && !small)
		outcome = selftest_run(accelerate_try, &found, sizeof(found));
	whole = outcome == SELFTEST_DONE;
	if (!selftest_may_read(&outcome)) {
		turn_off("a system call that it needs is not allowed");
		return;
	}
	if (outcome == SELFTEST_FAILED)
		instead = FINDING_CRASHED;
	for (i = 0; i < E2PF_ACCELERATIONS && !whole; i++)
		found.of[i] = instead;
	accelerate(accel, &found, &module.report.notes);
	reporter_begin(module.name, module.setup.progress);
}

/*
 * Opening and closing.
 */

/* The value of "offset=BYTES" in the options; 0 if it is not there. */
static uint64_t option_offset(const char *options)
{
	const char *p = options ? strstr(options, "offset=") : NULL;

	return p ? strtoull(p + 7, NULL, 0) : 0;
}

static void end_session(void)
{
	bool watched;

	if (!check.session)
		return;
	passes_end();
	self.alongside = NULL;
	watched = !reporter_watch(NULL);
	/* A worker or a reporter left behind still uses the session.  Without
	 * another one it is not freed. */
	if (!e2pf_session_end(check.session, END_PATIENCE_MS) || watched)
		module.on = false;
}

/* The first call of backtrace() loads a library, which allocates memory.  With
 * threads, that must not happen in a crash: see is_crashing(). */
static void before_threads(void)
{
	check.threads = true;
#ifdef HAVE_EXECINFO_H
	void *frame;

	backtrace(&frame, 1);
#endif
}

/* A parallel e2fsck copies the filesystem's structure for each of its threads.
 * They are not followed, nor is one with another table of I/O operations: all is
 * read ahead as for a program that is not ours. */
static void begin_alongside(ext2_filsys fs)
{
	struct e2pf_session *session;

	if (check.session ||
	    e2pf_open(fs, self.path, self.offset, &module.setup.reading,
		      &session))
		return;
	check.session = session;
	session->cfg.before_threads = before_threads;
	self.alongside = fs;
	if (!e2pf_session_start(session))
		reporter_watch(session);
}

static void begin_session(ext2_filsys fs)
{
	struct e2pf_session *session;

	self.opened = NULL;
	if (!self.decided)
		decide(fs);
	if (!module.on)
		return;
	if ((self.arguments.parallel && linkage_program_has_threads()) ||
	    !e2pf_io_table_is_ours()) {
		begin_alongside(fs);
		return;
	}
	if (e2pf_open_paced(fs, self.path, self.offset, &module.setup.reading,
			    &self.observer, &session))
		return;
	if (check.session)
		e2pf_inherit(session, check.session);
	session->cfg.before_threads = before_threads;
	check.session = session;
	passes_begin(fs);
}

void check_is_scanned(ext2_filsys fs)
{
	if (fs && fs == self.opened)
		begin_session(fs);
}

/* A clean filesystem is left alone, unless it is scanned after all. */
static void take_opened(ext2_filsys fs, const char *name, const char *options)
{
	/* tune2fs also opens journal devices, which have no inodes. */
	if (check.fs || self.alongside ||
	    ext2fs_has_feature_journal_dev(fs->super) ||
	    (fs->flags & (EXT2_FLAG_IMAGE_FILE | EXT2_FLAG_DIRECT_IO)))
		return;
	free(self.path);
	/* If no options are passed, they may follow the name after a '?'. */
	self.path = strndup(name, options ? strlen(name) : strcspn(name, "?"));
	self.offset = option_offset(options ? options : strchr(name, '?'));
	self.opened = self.path ? fs : NULL;
	if (self.opened && (self.arguments.force || module.setup.stats ||
			    !arguments_find_clean(fs->super, time(NULL))))
		begin_session(fs);
}

/* The mmap manager also makes system calls that e2fsck does not make. */
static io_manager choose_manager(io_manager asked)
{
	enum selftest outcome = SELFTEST_NONE;
	bool maps = module.setup.mmap_io && !module.setup.observe &&
		    asked == unix_io_manager &&
		    accelerate_sees_progress() && !linkage_program_has_threads();

	return maps && selftest_may_read(&outcome) ? e2pf_mmap_io_manager :
						     asked;
}

errcode_t ext2fs_open2(const char *name, const char *io_options, int flags,
		       int superblock, unsigned int block_size,
		       io_manager manager, ext2_filsys *ret_fs)
{
	errcode_t err;
	REAL(ext2fs_open2);

	if (!module.on)
		return real(name, io_options, flags, superblock, block_size,
			    manager, ret_fs);
	err = real(name, io_options, flags, superblock, block_size,
		   choose_manager(manager), ret_fs);
	if (!err)
		take_opened(*ret_fs, name, io_options);
	return err;
}

static void forget(ext2_filsys fs)
{
	if (!module.on || !fs)
		return;
	if (fs == check.fs || fs == self.alongside)
		end_session();
	if (fs == self.opened)
		self.opened = NULL;
}

void ext2fs_free(ext2_filsys fs)
{
	REAL(ext2fs_free);

	forget(fs);
	real(fs);
}

errcode_t ext2fs_close_free(ext2_filsys *fs)
{
	REAL(ext2fs_close_free);

	forget(fs ? *fs : NULL);
	return real(fs);
}

/*
 * Start and end of the process.
 */

__attribute__((constructor))
static void begin(void)
{
	if (!(true E2PF_FOLLOWS_WITH(E2PF_IS_THERE)))
		return;
	module_begin("e2fsck-prefetch");
	module_read_arguments();
	module_answer(accelerate_sees_progress());
	if (!module.on)
		return;
	self.arguments = arguments_read(module.argc, module.argv);
	if (self.arguments.version && accelerate_sees_progress())
		module_say_version("e2fsck");
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

__attribute__((destructor))
static void end(void)
{
	bool scanned;

	/* A forked child of e2fsck has no workers and must not print our
	 * report. */
	if (!module.setup.prefetch || getpid() != module.pid || is_crashing())
		return;
	end_session();
	reporter_end();
	if (!check.session &&
	    (!module.setup.verbose || !accelerate_sees_progress()))
		return;
	scanned = check.session && check.session->cfg.budget;
	module.report.maps_bytes = node_memory();
	if (!check.session && !module.report.notes.count)
		e2pf_note_off(&module.report.notes, "off",
			      self.opened || self.path ?
			      "the filesystem is marked as clean" :
			      "no filesystem was opened for a check");
	module_tell(&(struct module_result) {
		.session = check.session, .done = "checked",
		.finished = scanned, .logged = scanned && !module.setup.observe,
		.counted = check.session
	});
}
