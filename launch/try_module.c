/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the real e2fsck with the module once, to see whether the module
 * answers.  If the module cannot be loaded (a library is missing, a folder is
 * mounted noexec), the dynamic linker's messages are discarded here; without
 * the trial they would appear in e2fsck's own output.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "try_module.h"

/* The module answers within milliseconds, but its libraries may have to be read
 * from a busy disk. */
#define PATIENCE_MS 5000

/* Even a killed process may first have to wait for a disk.  After this time it
 * is left behind. */
#define END_PATIENCE_MS 1000

extern char **environ;

/* Read a line, without its newline, of at most size - 1 bytes. */
static bool read_line(int fd, char *line, size_t size)
{
	struct timespec began, now;
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	long left = PATIENCE_MS;
	size_t used = 0;
	ssize_t n;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &began);
	while (used < size - 1 && left > 0) {
		r = poll(&ready, 1, (int)left);
		n = r > 0 ? read(fd, line + used, size - 1 - used) : r;
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		if (n > 0)
			used += (size_t)n;
		if (used && line[used - 1] == '\n') {
			line[used - 1] = '\0';
			return true;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = PATIENCE_MS - (now.tv_sec - began.tv_sec) * 1000 -
		       (now.tv_nsec - began.tv_nsec) / 1000000;
	}
	return false;
}

/* With the module, the process ends before it reads its arguments; without it,
 * e2fsck prints its version. */
static pid_t start(const char *program, int out)
{
	char *const argv[] = { (char *)program, (char *)"-V", NULL };
	posix_spawn_file_actions_t files;
	pid_t child = -1;
	int err;

	if (posix_spawn_file_actions_init(&files))
		return -1;
	err = posix_spawn_file_actions_addopen(&files, STDIN_FILENO,
					       "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, out,
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addopen(&files, STDERR_FILENO,
						       "/dev/null", O_WRONLY,
						       0);
	if (!err)
		err = posix_spawn(&child, program, &files, NULL, argv,
				  environ);
	posix_spawn_file_actions_destroy(&files);
	return err ? -1 : child;
}

/* The process is not needed any more, whether or not it has answered. */
static void end(pid_t child)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int waited;

	kill(child, SIGKILL);
	for (waited = 0; waited < END_PATIENCE_MS; waited++) {
		if (waitpid(child, NULL, WNOHANG))
			return;
		nanosleep(&moment, NULL);
	}
}

/* Findings, and then each path after a blank. */
static bool parse(char *line, struct findings *found, char *objects)
{
	char *paths = strstr(line, " /");

	strcpy(objects, paths ? paths : "");
	if (paths)
		*paths = '\0';
	return findings_parse(line, found);
}

bool try_module(const char *program, struct findings *found, char *objects)
{
	char line[ANSWER_SIZE];
	bool answered = false;
	pid_t child = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	if (!setenv(TRIAL_VARIABLE, "1", 1))
		child = start(program, ends[1]);
	unsetenv(TRIAL_VARIABLE);
	close(ends[1]);
	if (child > 0) {
		answered = read_line(ends[0], line, sizeof(line)) &&
			   parse(line, found, objects);
		end(child);
	}
	close(ends[0]);
	return answered;
}
