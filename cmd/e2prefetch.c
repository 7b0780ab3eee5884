/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch: load a filesystem's metadata into the page cache.
 *
 * prefetch/ does the reading.  This file decides what is read, one filesystem after the
 * other, and when the user's command begins.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "commands.h"
#include "prefetch/share.h"
#include "prefetch/statistics.h"
#include "lib/thread.h"
#include "lib/lock.h"
#include "btrfs/walk.h"

/*
 * A thread reads one filesystem after the other: two partitions of a disk share its
 * head.  The sessions stay open until the end, and with them the devices.
 */
struct reading {
	struct options *o;
	struct targets targets;
	struct beside beside;
	pid_t group;			/* of the process that was started */
	int ended;			/* can be read when `done` is set */
	pthread_mutex_t lock;		/* protects the members below */
	unsigned begun;			/* targets whose sessions may be counted */
	struct target *followed;	/* its opens are passed on; or NULL */
	uint64_t left;			/* memory for the next one, bytes */
	bool over;			/* no more is wanted */
	bool done;
	int status;			/* the worst of all */
};

static void raise_status(int *status, int other)
{
	if (other > *status)
		*status = other;
}

/* Leave the next filesystem the memory that this one has not used. */
static void subtract_memory(struct reading *r, struct pf_session *s)
{
	const uint64_t min = 1u << 20;
	struct pf_engine_stats st;

	pf_session_count(s, &st);
	r->left = s->options.budget > st.prefetched_bytes + min ?
		  s->options.budget - st.prefetched_bytes : min;
}

/* Bytes of the inode tables, if a walk needs them. */
static uint64_t table_bytes(const struct target *t)
{
	const struct ext4_source *ext4 = ext4_session_of(t->session)->ext4;

	return t->mounted && ext4->options.classes & 1u << EXT4_INODES ?
	       ext4_source_table_bytes(ext4) : 0;
}

/* Memory that the kernel takes for an inode that was opened, and for its name. */
#define INODE_BYTES 1350u

/* Those evict the tables, too: with a million files, whose tables are 250 MiB, find took
 * 24.9 s alone; with all read ahead 27.4, 24.2, 22.0 and 16.9 s in a group of 512, 768,
 * 1024 and 1536 MiB, and 8.8 to 9.1 s when it was followed. */
static bool is_crowded(const struct target *t, uint64_t bytes)
{
	const struct ext4_source *ext4 = ext4_session_of(t->session)->ext4;

	return bytes + bytes / ext4->geo->inode_size * INODE_BYTES >
	       t->session->available;
}

/* Keep ahead of the command if the walk exceeds the memory.  It comes to inodes in the
 * order of names, and most blocks of tables that do not fit are evicted before it needs
 * them: with a million files in a group of 256 MiB, on the network volume, find took 1.09
 * to 1.21 of its time alone. */
static int open_target(struct reading *r, struct target *t)
{
	int status = open_session(r->o, t, &t->session);
	uint64_t bytes;

	if (status || t->btrfs)
		return status;
	pf_session_limit(t->session, r->left);
	bytes = table_bytes(t);
	t->too_large = bytes > t->session->options.budget;
	t->follow = (t->too_large || is_crowded(t, bytes)) && t->path &&
		    opens_watch(r->beside.opens, t->path);
	if (t->follow) {
		close_ext4(t->session);
		status = open_session(r->o, t, &t->session);
	}
	return status;
}

static errcode_t start_target(struct reading *r, struct target *t)
{
	pf_session_limit(t->session, r->left);
	if (t->too_large && t->whole && !t->follow)
		pf_session_turn_off(t->session, "inode tables exceed the "
				    "memory limit");
	return pf_session_start(t->session);
}

/* Tell how many are begun.  Returns whether no more is wanted. */
static bool is_over(struct reading *r, unsigned begun)
{
	bool over;

	pthread_mutex_lock(&r->lock);
	r->begun = begun;
	over = r->over;
	pthread_mutex_unlock(&r->lock);
	return over;
}

static void set_followed(struct reading *r, struct target *t)
{
	E2PF_LOCKED(r);

	r->followed = t;
}

/* Returns whether all was read. */
static bool wait_for_target(struct reading *r, struct target *t)
{
	bool all;

	if (t->btrfs) {
		bt_walk_read(t->session, r->left);
		return true;
	}
	set_followed(r, t->follow ? t : NULL);
	all = pf_engine_wait(t->session->engine, -1);
	set_followed(r, NULL);
	if (t->follow)
		opens_watch(r->beside.opens, NULL);
	return all;
}

/* Returns false if no other one is wanted. */
static bool read_target(struct reading *r, unsigned i)
{
	struct target *t = &r->targets.item[i];
	double began = e2pf_clock_seconds(CLOCK_MONOTONIC);
	int status = open_target(r, t);
	bool over, opened = !status;
	errcode_t err;

	raise_status(&r->status, status);
	if (opened && is_over(r, i)) {
		pf_session_turn_off(t->session, command_ended);
	} else if (opened && !t->btrfs) {
		err = start_target(r, t);
		if (err)
			pf_session_turn_off(t->session, error_message(err));
	}
	over = is_over(r, i + 1);
	if (opened && !over && wait_for_target(r, t)) {
		subtract_memory(r, t->session);
		over = is_over(r, i + 1);
		if (!over)
			t->seconds = e2pf_clock_seconds(CLOCK_MONOTONIC) - began;
	}
	return !over;
}

static void *read_all(void *arg)
{
	struct reading *r = arg;
	unsigned i = 0;

	r->status = find_targets(r->o, &r->targets);
	while (i < r->targets.count && read_target(r, i))
		i++;
	pthread_mutex_lock(&r->lock);
	r->done = true;
	pthread_mutex_unlock(&r->lock);
	eventfd_write(r->ended, 1);
	return NULL;
}

/* How often it is asked whether the command may begin, and progress is shown. */
#define TICK_MS 10
#define SHOWN_TICKS 25u

#define CLEAR_LINE "\r\033[K"

/* Returns true when all is read; otherwise how much is. */
static bool has_ended(struct reading *r, struct pf_engine_stats *sum)
{
	struct pf_engine_stats one;
	unsigned i, begun;
	bool done;

	pthread_mutex_lock(&r->lock);
	done = r->done;
	begun = r->begun;
	pthread_mutex_unlock(&r->lock);
	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < begun && !done; i++)
		if (r->targets.item[i].session) {
			pf_session_count(r->targets.item[i].session, &one);
			pf_statistics_add(sum, &one);
		}
	return done;
}

/* Print how much has been read, and how fast, on one line of the terminal. */
static void print_progress(const struct pf_engine_stats *st, double passed)
{
	uint64_t bytes = st->prefetched_bytes > st->in_flight_bytes ?
			 st->prefetched_bytes - st->in_flight_bytes : 0;
	double mib = (double)bytes / (1u << 20);

	fprintf(stderr, CLEAR_LINE "e2prefetch: %.0f MiB read, %.1f MiB/s", mib,
		mib / passed);
}

/* How long to wait, after the command has ended, for a device that does not
 * answer. */
#define PATIENCE_MS 1000

/* The command begins when the device has not answered for this long. */
#define STALL_S 1.0

/* On a terminal, but not from the background: there it would come between the lines of
 * other programs, or stop this one. */
static bool shows_progress(const struct reading *r)
{
	return tcgetpgrp(STDERR_FILENO) == r->group;
}

/* The one that is read, or was the last; NULL if there is none yet.  Needs the lock. */
static struct target *current_target(const struct reading *r)
{
	struct target *t = r->begun ? &r->targets.item[r->begun - 1] : NULL;

	return t && t->session ? t : NULL;
}

/* The command has opened this directory. */
static void pass_open(void *ctx, uint32_t directory)
{
	struct reading *r = ctx;
	struct target *t;

	pthread_mutex_lock(&r->lock);
	t = r->followed;
	pthread_mutex_unlock(&r->lock);
	if (t)
		follow_open(t, &r->beside, directory);
}

/* Unless a device is seek-bound: with a million files on the network volume rsync took
 * 14.2 s after it was read and 11.2 beside; fd 11.1 and 8.0; find on NVMe 7.07 and
 * 6.66. */
static bool may_begin(struct reading *r)
{
	const struct target *t;

	E2PF_LOCKED(r);
	t = current_target(r);
	if (!t)
		return false;
	if (t->follow && ext4_directories_follow(ext4_session_of(t->session)->ext4))
		return true;
	if (r->o->waits)
		return false;
	if (t->btrfs)
		return bt_walk_serves_both(t->session);
	return t->mounted && !t->session->options.seek_bound &&
	       r->begun == r->targets.count;
}

/* Wait until everything is read.  Print progress four times a second, but not for a read
 * that is over sooner.  A command begins after a limited time, whatever is left, because
 * it may need little of the rest.  Returns whether everything is read. */
static bool wait_with_progress(struct reading *r)
{
	double began = e2pf_clock_seconds(CLOCK_MONOTONIC), now = began, moved = began;
	struct pf_engine_stats st;
	bool shown = false, done = false;
	unsigned ticks = 0;
	uint64_t before = 0;

	while (!(r->o->command && (now - began >= (double)r->o->wait ||
				   now - moved >= STALL_S || may_begin(r)))) {
		/* There is nothing to be said about a command that never began. */
		if (wait_beside(&r->beside, r->ended, TICK_MS))
			_exit(0);
		done = has_ended(r, &st);
		if (done)
			break;
		now = e2pf_clock_seconds(CLOCK_MONOTONIC);
		if (st.planned_bytes + st.prefetched_requests != before)
			moved = now;
		before = st.planned_bytes + st.prefetched_requests;
		if (++ticks % SHOWN_TICKS == 0 && shows_progress(r)) {
			print_progress(&st, now - began);
			shown = true;
		}
	}
	if (shown)
		fputs(CLEAR_LINE, stderr);
	return done;
}

/* Returns 0; or EXIT_OPERATIONAL, after a message that says why there are no
 * statistics. */
static int stats_status(const struct options *o, const char *why)
{
	if (!why)
		return 0;
	fprintf(stderr, "e2prefetch: cannot write statistics to \"%s\": %s\n",
		o->settings.stats, why);
	return EXIT_OPERATIONAL;
}

/* The thread has ended.  Returns the status without a command.  With several
 * filesystems, the statistics are the last one's. */
static int finish(struct reading *r)
{
	static const char none[] = "nothing was prefetched";
	const char *why = none;
	const struct target *t;

	for (t = r->targets.item; t < r->targets.item + r->begun; t++) {
		why = none;
		if (!t->session)
			continue;
		pf_session_stop(t->session, r->over ? PATIENCE_MS : -1);
		raise_status(&r->status, report_target(r->o, t, &why));
	}
	if (r->o->settings.stats)
		raise_status(&r->status, stats_status(r->o, why));
	return r->status;
}

/* The command has ended, or the reading.  Returns false if a thread still waits for the
 * device: that ends with the process. */
static bool end_reading(struct reading *r, pthread_t thread)
{
	const struct target *t;
	bool ended;

	pthread_mutex_lock(&r->lock);
	r->over = true;
	t = r->done ? NULL : current_target(r);
	pthread_mutex_unlock(&r->lock);
	if (t)
		pf_session_interrupt(t->session, PATIENCE_MS);
	ended = e2pf_thread_join(thread, PATIENCE_MS);
	if (ended)
		finish(r);
	else
		report(r->o, r->o->path[0], "incomplete: the device does not respond");
	return ended;
}

/* A device that is not mounted keeps its page cache as long as it is open. */
static bool must_hold(const struct reading *r)
{
	unsigned i;

	for (i = 0; i < r->targets.count; i++)
		if (r->targets.item[i].session && !r->targets.item[i].mounted)
			return true;
	return false;
}

/* Report before the command begins, or as soon as the reading or the command has ended.
 * exit() would run handlers that free memory which a thread may still use. */
static void end_beside(struct reading *r, bool done, pthread_t thread)
{
	bool ended;

	if (!done) {
		begin_command(&r->beside);
		wait_beside(&r->beside, r->ended, -1);
	}
	ended = end_reading(r, thread);
	drop_output(STDERR_FILENO);
	if (done)
		begin_command(&r->beside);
	if (ended && must_hold(r))
		wait_beside(&r->beside, -1, -1);
	_exit(0);
}

static int read_ahead(struct reading *r)
{
	pthread_t thread = pthread_self();
	int err = configure_options(r->o);
	unsigned i;
	bool done;

	if (err)
		return err;
	/* A descriptor of a high number takes 7 ms once there are threads. */
	pf_share_join();
	r->ended = eventfd(0, EFD_CLOEXEC);
	if (r->o->command) {
		r->beside.opens = opens_init();
		r->beside.opened = pass_open;
		r->beside.ctx = r;
	}
	err = r->ended < 0 ? errno : e2pf_thread_start(&thread, read_all, r);
	if (err)
		return fail(r->o, r->o->path[0], err);
	done = wait_with_progress(r);
	if (r->o->command)
		end_beside(r, done, thread);
	pthread_join(thread, NULL);
	finish(r);
	for (i = 0; i < r->begun; i++)
		pf_session_free(r->targets.item[i].session);
	return r->status;
}

static int run(struct options *o)
{
	struct reading r = {
		.o = o, .lock = PTHREAD_MUTEX_INITIALIZER, .left = UINT64_MAX,
		.group = getpgrp(), .beside = { .pidfd = -1, .opens = -1 }
	};

	if (!o->command)
		return read_ahead(&r);
	if (start_reader(&r.beside)) {
		read_ahead(&r);
		_exit(0);
	}
	/* The command may write statistics of its own. */
	unsetenv("PREFETCH_STATS");
	return exec_command(o->command);
}

int main(int argc, char **argv)
{
	struct options o;
	int status;

	initialize_ext2_error_table();
	status = run_named(argc, argv);
	if (status < 0)
		status = parse_options(argc, argv, &o);
	if (status < 0)
		status = run(&o);
	/* An error in writing the statistics has been reported already. */
	if ((fflush(stdout) || ferror(stdout)) && status != EXIT_OPERATIONAL) {
		fprintf(stderr, "e2prefetch: cannot write to standard output: "
			"%s\n", strerror(errno));
		status = status ? status : EXIT_OPERATIONAL;
	}
	return status;
}
