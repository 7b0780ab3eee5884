/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The module that the launcher preloads into a stock e2fsck.
 *
 * It interposes libext2fs functions.  Each calls the real one, and passes e2fsck's
 * arguments and libext2fs's results through unchanged.  This file decides what is
 * reported at the end; check.c decides when a session begins and ends, and passes.c
 * where the check is.
 */
#include "libext2fs/weak.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "interpose.h"
#include "mmap_io.h"
#include "module.h"

/*
 * Opening and closing.
 */

/* The mmap manager also makes system calls that e2fsck does not make. */
static io_manager choose_manager(io_manager asked)
{
	enum selftest outcome = SELFTEST_NONE;
	bool maps = module.settings.mmap_io && asked == unix_io_manager &&
		    stages_can_be_followed();

	return maps && selftest_may_read(&outcome) ? e2mmap_io_manager :
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
	if (!err && check_opens(*ret_fs, name, io_options))
		passes_begin();
	return err;
}

void ext2fs_free(ext2_filsys fs)
{
	REAL(ext2fs_free);

	check_closes(fs);
	real(fs);
}

errcode_t ext2fs_close_free(ext2_filsys *fs)
{
	REAL(ext2fs_close_free);

	check_closes(fs ? *fs : NULL);
	return real(fs);
}

/*
 * Start and end of the process.
 */

/* The launcher calls this in its own process, to learn which modules to preload. */
bool prefetch_wants_accel(void)
{
	struct e2pf_settings settings;
	char error[1024];

	return e2pf_settings_read(&settings, error, sizeof(error)) &&
	       settings.prefetch && settings.accel;
}

__attribute__((constructor))
static void begin(void)
{
	if (!(true E2PF_FOLLOWS_WITH(E2PF_IS_THERE)))
		return;
	module_begin("e2fsck-prefetch");
	module_read_arguments();
	module_answer(stages_can_be_followed());
	if (!module.on)
		return;
	check.arguments = arguments_read(module.argc, module.argv);
	check.arguments.force |= module.more_arguments;
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
	if (!module.settings.prefetch || getpid() != module.pid || is_crashing())
		return;
	check_ends();
	reporter_end();
	if (!check.session &&
	    (module.settings.verbose <= 0 || !stages_can_be_followed()))
		return;
	scanned = check.session && check.session->options.budget;
	if (!check.session && !module.report.notes.count)
		e2pf_note_off(&module.report.notes, "off", check.path ?
			      "the filesystem is marked as clean" :
			      "no filesystem was opened for a check");
	module_tell(&(struct module_result) {
		.session = check.session, .done = "checked",
		.finished = scanned, .logged = scanned,
		.counted = check.session
	});
}
