/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command as a child process.  The terminal sends its signals to both of
 * us; those from elsewhere are passed on.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

static volatile sig_atomic_t child;

static void pass_on(int sig)
{
	if (child > 0)
		kill((pid_t)child, sig);
}

static void handle(int sig, void (*handler)(int), struct sigaction *old)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, old);
}

static struct sigaction old_int, old_quit, old_term, old_hup;

static void child_main(char **command, int report)
{
	int err;

	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	sigaction(SIGTERM, &old_term, NULL);
	sigaction(SIGHUP, &old_hup, NULL);
	execvp(command[0], command);
	err = errno;
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

pid_t start_command(char **command, int *status)
{
	int report[2], err = 0;
	pid_t pid;

	*status = 126;
	if (pipe2(report, O_CLOEXEC)) {
		fprintf(stderr, "e2prefetch: pipe: %s\n", strerror(errno));
		return -1;
	}
	handle(SIGINT, SIG_IGN, &old_int);
	handle(SIGQUIT, SIG_IGN, &old_quit);
	handle(SIGTERM, pass_on, &old_term);
	handle(SIGHUP, pass_on, &old_hup);
	pid = fork();
	if (pid == 0)
		child_main(command, report[1]);
	if (pid < 0)
		err = errno;
	close(report[1]);
	/* The pipe closes when the command runs; an errno says why not. */
	if (pid > 0 && read(report[0], &err, sizeof(err)) > 0)
		waitpid(pid, NULL, 0);
	close(report[0]);
	if (!err) {
		child = pid;
		return pid;
	}
	*status = err == ENOENT ? 127 : 126;
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", command[0],
		strerror(err));
	return -1;
}

int wait_command(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	child = 0;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	handle(WTERMSIG(status), SIG_DFL, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
