/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Runs the user's command in the process that was started, as nohup(1) and nice(1) do:
 * the command has its PID, parent, group, terminal and signals.  The reader is a process
 * beside it that is no child of it, and ends when the command does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "prefetch/tasks.h"

/* The reader, its thread that opens the filesystems, and a worker. */
#define MIN_TASKS 3u

/* Without pidfd_open(2) of Linux 5.3, how often to look whether the command has ended. */
#define POLL_MS 100

/* How often to look at most which directories it has opened. */
#define OPENS_NS 1000000

/* If standard error is a closed pipe or a full file, the command runs all the same. */
static void complain(const char *what, const char *name, int err)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction pipe, size;

	sigaction(SIGPIPE, &ignore, &pipe);
	sigaction(SIGXFSZ, &ignore, &size);
	fprintf(stderr, "e2prefetch: cannot %s%s: %s\n", what, name,
		strerror(err));
	sigaction(SIGPIPE, &pipe, NULL);
	sigaction(SIGXFSZ, &size, NULL);
}

int exec_command(char **command)
{
	int err;

	execvp(command[0], command);
	err = errno;
	complain("run ", command[0], err);
	return err == ENOENT ? 127 : 126;
}

void drop_output(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, fd) < 0)
		close(fd);
	if (null > fd)
		close(null);
}

/* What the reader holds open a moment longer than the command may be a pipe whose end
 * somebody waits for, or a lock. */
static void close_inherited(int keep)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd;

	drop_output(STDIN_FILENO);
	drop_output(STDOUT_FILENO);
	while (dir && (entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (fd > STDERR_FILENO && fd != keep && fd != dirfd(dir))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Refer to the process of the command, which does not end before begin_command() unless
 * it is killed: then this may be another one of that number. */
static void watch_command(struct beside *b)
{
	struct pollfd begin = { .fd = b->begin };

#ifdef SYS_pidfd_open
	b->pidfd = (int)syscall(SYS_pidfd_open, b->command, 0);
#endif
	if (poll(&begin, 1, 0) > 0)
		_exit(0);
}

/* If memory runs out, it is the reader that ends, and not the command. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

/* All signals are the command's; also that of a terminal to which a process in the
 * background may not write. */
static void become_reader(struct beside *b)
{
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	pid = fork();
	if (pid < 0)
		complain("read ahead", "", errno);
	if (pid)
		_exit(0);
	setpgid(0, 0);
	close_inherited(b->begin);
	offer_to_oom_killer();
	watch_command(b);
}

/* The command must not see that a child has ended.  A reader whose parent has ended
 * would become a child of a process that adopts those. */
static pid_t fork_orphan(struct beside *b)
{
	struct sigaction of_child;
	int adopts = 0;
	pid_t pid;

	prctl(PR_GET_CHILD_SUBREAPER, &adopts);
	if (adopts)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	pid = fork();
	if (!pid)
		become_reader(b);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid && adopts)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* This drops the signal if it was blocked. */
	if (pid > 0 && !sigaction(SIGCHLD, NULL, &of_child))
		sigaction(SIGCHLD, &of_child, NULL);
	return pid;
}

/* The reader's end, which is none of the standard files if one of those is closed.
 * Returns 0 or an errno. */
static int make_pipe(int *out, struct beside *b)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	b->begin = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(ends[1]);
	*out = ends[0];
	return b->begin < 0 ? EMFILE : 0;
}

bool start_reader(struct beside *b)
{
	int out = -1, err;
	pid_t pid;
	char any;

	b->command = getpid();
	err = pf_tasks_left("", MIN_TASKS) < MIN_TASKS ? EAGAIN :
							 make_pipe(&out, b);
	if (!err) {
		pid = fork_orphan(b);
		if (!pid)
			return true;
		err = pid < 0 ? errno : 0;
		close(b->begin);
	}
	if (!err)
		(void)!read(out, &any, 1);
	else
		complain("read ahead", "", err);
	if (out >= 0)
		close(out);
	return false;
}

void begin_command(struct beside *b)
{
	close(b->begin);
}

/* Events are read in portions: each wakes this process. */
static void pass_opens(struct beside *b)
{
	const struct timespec pause = { .tv_nsec = OPENS_NS };

	if (!opens_read(b->opens, b->command, b->opened, b->ctx)) {
		close(b->opens);
		b->opens = -1;
	}
	nanosleep(&pause, NULL);
}

bool command_has_ended(const struct beside *b)
{
	struct pollfd fd = { .fd = b->pidfd, .events = POLLIN };

	return b->pidfd < 0 ? kill(b->command, 0) && errno == ESRCH :
			      poll(&fd, 1, 0) > 0;
}

bool wait_beside(struct beside *b, int other, int milliseconds)
{
	struct pollfd fd[3] = {
		{ .fd = b->pidfd, .events = POLLIN },
		{ .fd = other, .events = POLLIN },
		{ .events = POLLIN }
	};
	bool must_poll = b->command && b->pidfd < 0;
	int n;

	do {
		fd[2].fd = b->opens;
		n = poll(fd, 3, must_poll && milliseconds < 0 ? POLL_MS :
			 milliseconds);
		if (n > 0 && fd[2].revents) {
			pass_opens(b);
			n--;
		}
		if (must_poll && command_has_ended(b))
			return true;
	} while (!n && milliseconds < 0);
	return fd[0].revents;
}
