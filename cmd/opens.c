/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Observes which directories the command opens: fanotify(7) of the whole filesystem, with
 * the number of each inode (Linux 5.1, CAP_SYS_ADMIN).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include "commands.h"
#include "lib/sysfile.h"

/* Headers of before Linux 6.0 lack these. */
#ifndef FAN_MARK_IGNORE_SURV
#define FAN_MARK_IGNORE_SURV (0x400 | FAN_MARK_IGNORED_SURV_MODIFY)
#endif

/* A process is searched for among so many ancestors of the one that has opened. */
#define MAX_ANCESTORS 64

/* The handle of an inode of ext4: its number and generation. */
#define FILEID_INO32_GEN 1

int opens_init(void)
{
	return fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_REPORT_TID |
			     FAN_CLOEXEC | FAN_NONBLOCK, 0);
}

bool opens_watch(int opens, const char *path)
{
	/* One filesystem is read ahead after the other. */
	fanotify_mark(opens, FAN_MARK_FLUSH | FAN_MARK_FILESYSTEM, 0, AT_FDCWD, NULL);
	if (!path || fanotify_mark(opens, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
				   FAN_OPEN | FAN_ONDIR, AT_FDCWD, path))
		return false;
	/* Without this the opens of files are reported, too, and left out here. */
	fanotify_mark(opens, FAN_MARK_ADD | FAN_MARK_FILESYSTEM | FAN_MARK_IGNORE_SURV,
		      FAN_OPEN, AT_FDCWD, path);
	return true;
}

/* What is looked up of a thread: its state, its process and the parent of that. */
struct task {
	char state;
	int process, parent;
};

/* Returns false if it has ended. */
static bool look_up(pid_t thread, struct task *task)
{
	char path[32], text[512];
	const char *state;

	snprintf(path, sizeof(path), "%d/status", (int)thread);
	/* The rest of the text is not needed.  A name has no line feeds in it there. */
	if (e2pf_read_text("/proc", path, text, sizeof(text)) < 0)
		return false;
	state = strstr(text, "\nState:");
	return state && sscanf(state, " State: %c %*[^\n] Tgid: %d Ngid: %*d Pid: %*d "
			       "PPid: %d", &task->state, &task->process,
			       &task->parent) == 3;
}

static bool descends(pid_t thread, pid_t command)
{
	struct task task = { .process = 0, .parent = (int)thread };
	int i;

	for (i = 0; task.process != command && task.parent > 1 && i < MAX_ANCESTORS; i++)
		if (!look_up(task.parent, &task))
			return false;
	return task.process == command;
}

/* Is it the command, or one that this has started?  The last answers are kept. */
static bool is_of_command(pid_t thread, pid_t command)
{
	static struct {
		pid_t thread;
		bool answer;
	} known[16];
	unsigned i = (unsigned)thread % 16;

	if (known[i].thread != thread) {
		known[i].answer = descends(thread, command);
		known[i].thread = thread;
	}
	return known[i].answer;
}

/*
 * How many threads of the command walk at the same time.  Those that open are not all:
 * a program in Go continues one walk in another thread after each call.
 */

/* It is counted how many of those that opened last compute or wait for a device, every so
 * many opens; the mean is of so many counts. */
#define LAST_OPENS 16u
#define COUNTS 16u

static struct {
	pid_t last[LAST_OPENS];
	unsigned opens, counted;	/* all, and when it was counted */
	unsigned counts, sum;
	double mean;
} walkers;

static bool is_listed(pid_t thread, unsigned before)
{
	while (before && walkers.last[before - 1] != thread)
		before--;
	return before;
}

static void count_walkers(void)
{
	struct task task;
	unsigned i;

	if (walkers.opens - walkers.counted < LAST_OPENS)
		return;
	walkers.counted = walkers.opens;
	for (i = 0; i < LAST_OPENS; i++)
		if (!is_listed(walkers.last[i], i) && look_up(walkers.last[i], &task))
			walkers.sum += task.state == 'D' || task.state == 'R';
	if (++walkers.counts % COUNTS)
		return;
	walkers.mean = (double)walkers.sum / COUNTS;
	walkers.sum = 0;
}

double opens_at_once(void)
{
	return walkers.mean;
}

/* Returns the number of a directory's inode; 0: it is none. */
static uint32_t inode_of(const struct fanotify_event_metadata *event)
{
	const struct fanotify_event_info_fid *fid = (const void *)(event + 1);
	const struct file_handle *handle = (const void *)fid->handle;
	uint32_t ino;

	if (event->event_len < sizeof(*event) + sizeof(*fid) + sizeof(*handle) +
			       sizeof(ino) ||
	    !(event->mask & FAN_ONDIR) ||
	    fid->hdr.info_type != FAN_EVENT_INFO_TYPE_FID ||
	    handle->handle_type != FILEID_INO32_GEN ||
	    handle->handle_bytes < sizeof(ino))
		return 0;
	memcpy(&ino, handle->f_handle, sizeof(ino));
	return ino;
}

bool opens_read(int opens, pid_t command,
		void (*found)(void *ctx, uint32_t directory), void *ctx)
{
	static char buffer[16384] __attribute__((aligned(8)));
	const struct fanotify_event_metadata *event = (const void *)buffer;
	ssize_t n = read(opens, buffer, sizeof(buffer));
	uint32_t ino;

	for (; n > 0 && FAN_EVENT_OK(event, n); event = FAN_EVENT_NEXT(event, n)) {
		ino = inode_of(event);
		if (!ino || !is_of_command(event->pid, command))
			continue;
		walkers.last[walkers.opens++ % LAST_OPENS] = event->pid;
		found(ctx, ino);
	}
	count_walkers();
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}
