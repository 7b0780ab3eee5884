/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The library that the wrapper preloads into a stock e2fsck.
 *
 * It interposes libext2fs functions.  Each calls the real one, and passes e2fsck's
 * arguments and libext2fs's results through unchanged.  This file decides what is
 * reported at the end; check.c decides when a session begins and ends, and passes.c
 * where the check is.
 */
#include "lib/weak.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "preload/interpose.h"
#include "lib/mmap_io.h"
#include "preload/preload.h"

/*
 * Opening and closing.
 */

/* The mmap manager also makes system calls that e2fsck does not make. */
static io_manager choose_manager(io_manager asked)
{
	enum selftest outcome = SELFTEST_NONE;
	bool maps = preload.settings.mmap_io && asked == unix_io_manager &&
		    e2fsck_stages_can_be_followed();

	return maps && preload_selftest_may_read(&outcome) ? e2mmap_io_manager :
						     asked;
}

errcode_t ext2fs_open2(const char *name, const char *io_options, int flags,
		       int superblock, unsigned int block_size,
		       io_manager manager, ext2_filsys *ret_fs)
{
	errcode_t err;
	REAL(ext2fs_open2);

	if (!preload.on)
		return real(name, io_options, flags, superblock, block_size,
			    manager, ret_fs);
	err = real(name, io_options, flags, superblock, block_size,
		   choose_manager(manager), ret_fs);
	if (!err && e2fsck_check_opens(*ret_fs, name, io_options))
		e2fsck_passes_begin();
	return err;
}

void ext2fs_free(ext2_filsys fs)
{
	REAL(ext2fs_free);

	e2fsck_check_closes(fs);
	real(fs);
}

errcode_t ext2fs_close_free(ext2_filsys *fs)
{
	REAL(ext2fs_close_free);

	e2fsck_check_closes(fs ? *fs : NULL);
	return real(fs);
}

/*
 * Start and end of the process.
 */

/* The wrapper calls this in its own process, to learn which libraries to preload.
 * */
bool prefetch_wants_accel(void)
{
	struct pf_settings settings;
	char error[1024];

	return pf_settings_read(&settings, error, sizeof(error)) &&
	       settings.prefetch && settings.accel;
}

__attribute__((constructor))
static void begin(void)
{
	if (!(true E2PF_FOLLOWS_WITH(E2PF_IS_THERE)))
		return;
	preload_begin("e2fsck-prefetch");
	preload_read_arguments();
	preload_answer(e2fsck_stages_can_be_followed());
	if (!preload.on)
		return;
	e2fsck_check.arguments = e2fsck_arguments_read(preload.argc,
						       preload.argv);
	e2fsck_check.arguments.force |= preload.more_arguments;
}

/*
 * If a damaged image makes e2fsck free memory twice, e2fsck crashes; its signal
 * handler prints a backtrace and exits.  If the allocator raised the signal in
 * a process with several threads, the crashing thread holds a lock of the
 * allocator.  From then on this thread must not allocate or free memory, or a
 * crash would become a hang.
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
	if (!preload.settings.prefetch || getpid() != preload.pid || is_crashing())
		return;
	e2fsck_check_ends();
	preload_reporter_end();
	if (!e2fsck_check.session &&
	    (preload.settings.verbose <= 0 || !e2fsck_stages_can_be_followed()))
		return;
	scanned = e2fsck_check.session && e2fsck_check.session->options.budget;
	if (!e2fsck_check.session && !preload.report.notes.count)
		pf_report_note_off(&preload.report.notes, "off",
				   e2fsck_check.path ?
				   "the filesystem is marked clean" :
				   "no check began");
	preload_report_result(&(struct preload_result) {
		.session = e2fsck_check.session, .done = "checked",
		.finished = scanned, .logged = scanned,
		.counted = e2fsck_check.session
	});
}
