/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The module that the launcher preloads into a stock e2fsck.
 *
 * It interposes libext2fs functions.  Each interposed function calls the real
 * one and passes e2fsck's arguments and libext2fs's results through unchanged.
 * The only argument that is changed is the I/O manager.
 *
 * This file decides when a session begins and ends, and what is told at the end
 * of the process; passes.c decides where the check is meanwhile.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

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
#include "inherit.h"
#include "interpose.h"
#include "linkage.h"
#include "passes.h"
#include "result.h"
#include "reporter.h"
#include "ext4/ext4_session.h"
#include "signals.h"
#include "device/share.h"
#include "engine/trace.h"
#include "libext2fs/io_table.h"
#include "report/stats_file.h"
#include "trial.h"

/* How long the end of the check waits for a worker that waits for the device. A
 * disk that retries a bad sector may block a worker for minutes. */
#define END_PATIENCE_MS 1000

struct module module;

static struct {
	pid_t pid;
	struct timespec began;
	uint32_t block_size;
	struct e2pf_observer observer;
	struct acceleration_names accelerations;
	struct e2pf_decisions decisions;
	struct e2pf_trace *trace;	/* NULL: no trace wanted */
} self;

/*
 * Opening and closing.
 */

/* A checker with threads opens an I/O channel for each of them with the manager
 * that it has chosen itself, and all of them must be the same. */
static io_manager choose_manager(io_manager manager)
{
	if (manager == unix_io_manager && module.env.io == IO_MMAP &&
	    !module.parallel && e2pf_io_table_is_ours()) {
		manager = e2pf_mmap_io_manager;
	}
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
	if (!module.session)
		return;
	passes_end();
	reporter_watch(NULL);
	/* A worker left behind still uses the session, so it is not freed. */
	if (!e2pf_session_end(module.session, END_PATIENCE_MS))
		module.on = false;
}

/* The first call of backtrace() loads a library, which allocates memory.  With
 * threads, that must not happen in a crash: see is_crashing(). */
static void before_threads(void)
{
	module.threads = true;
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
	if (module.fs || ext2fs_has_feature_journal_dev(fs->super) ||
	    (fs->flags & (EXT2_FLAG_IMAGE_FILE | EXT2_FLAG_DIRECT_IO)))
		return;
	/* If no options are passed, they may follow the name after a '?'. */
	path = strndup(name, options ? strlen(name) : strcspn(name, "?"));
	if (!options)
		options = strchr(name, '?');
	if (path && !e2pf_open_paced(fs, path, option_offset(options),
				     &module.env.settings,
				     module.env.stats || module.env.trace,
				     &self.observer, &session)) {
		if (module.session)
			e2pf_inherit(session, module.session);
		session->cfg.before_threads = before_threads;
		module.session = session;
		self.block_size = fs->blocksize;
		e2pf_engine_trace(session->engine, self.trace);
		passes_begin(fs);
	}
	free(path);
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
		begin_session(*ret_fs, name, io_options);
	return err;
}

errcode_t set_undo_io_backing_manager(io_manager manager)
{
	REAL(set_undo_io_backing_manager);

	return real(module.on ? choose_manager(manager) : manager);
}

void ext2fs_free(ext2_filsys fs)
{
	REAL(ext2fs_free);

	if (module.on && fs && fs == module.fs)
		end_session();
	real(fs);
}

errcode_t ext2fs_close_free(ext2_filsys *fs)
{
	REAL(ext2fs_close_free);

	if (module.on && fs && *fs && *fs == module.fs)
		end_session();
	return real(fs);
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
	FILE *out = e2pf_stats_open(module.env.trace, &why);
	size_t i;
	char text[256];
	int used;

	self.trace = out ? e2pf_trace_open(out) : NULL;
	used = snprintf(text, sizeof(text), "{\"e2prefetch_trace\":1,"
			"\"prefetch\":%s,\"stages\":[",
			module.env.observe ? "false" : "true");
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
	read_environment(&module.env, NULL, NULL);
	module.on = module.env.prefetch;
	self.pid = getpid();
	clock_gettime(CLOCK_MONOTONIC, &self.began);
	findings_import(&found);
	inherit_environment(&module);
	if (!module.on)
		return;
	module.parallel = linkage_program_has_threads();
	/* Before the memory is divided, so that checks started at the same time
	 * see each other. */
	e2pf_share_join();
	reporter_begin("e2fsck-prefetch", &module.env);
	if (module.env.trace)
		begin_trace();
	accelerate(module.env.observe ? 0 : module.env.accel, &found,
		   &self.accelerations, &self.decisions);
}

static void write_stats(void)
{
	const char *why;

	if (!module.env.stats || !module.session)
		return;
	module.session->accelerations = self.accelerations.name;
	module.session->acceleration_count = self.accelerations.count;
	module.session->decisions = &self.decisions;
	/* The launcher has checked the file, but the disk may be full. */
	why = e2pf_stats_save(module.session, module.env.stats);
	if (why)
		fprintf(stderr, "e2fsck-prefetch: cannot write statistics to "
			"\"%s\": %s\n", module.env.stats, why);
}

static void tell(void)
{
	struct e2pf_decisions all = { .count = 0 };
	bool scanned = module.session && module.session->cfg.budget;

	if (scanned)
		all = self.decisions;
	if (!module.session)
		e2pf_decide_off(&all, "off", "no filesystem was opened for a check");
	result_tell(&(struct result) {
		.env = &module.env, .said_by = "e2fsck-prefetch",
		.done = "checked", .began = self.began,
		.session = module.session, .finished = scanned,
		.recorded = scanned && !module.env.observe,
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
	e2pf_trace_close(self.trace, !module.on);
	self.trace = NULL;
	write_stats();
	if (module.env.prefetch)
		tell();
	signals_release(&held);
}
