/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the user's command as a child process.  The terminal sends its signals
 * to both processes; signals from elsewhere are passed on to the command.  The
 * command runs even if this program lacks resources.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

/* Signals that this program ignores or passes on while the command runs. */
static const struct {
	int number;
	void (*handler)(int);
} signals[] = {
	/* The terminal has sent these to the command as well. */
	{ SIGINT, SIG_IGN },
	{ SIGQUIT, SIG_IGN },
	{ SIGTERM, pass_on },
	{ SIGHUP, pass_on }
};

#define SIGNALS (sizeof(signals) / sizeof(*signals))

static struct sigaction before[SIGNALS];

static void take_signals(void)
{
	size_t i;

	for (i = 0; i < SIGNALS; i++)
		handle(signals[i].number, signals[i].handler, &before[i]);
}

static void restore_signals(void)
{
	size_t i;

	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i].number, &before[i], NULL);
}

static int say_why_not(const char *command, int err)
{
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", command,
		strerror(err));
	return err == ENOENT ? 127 : 126;
}

static void child_main(char **command, int report, const sigset_t *mask)
{
	int err;

	restore_signals();
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	err = errno;
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Fork, with signals blocked until it is known which process must handle them.
 * Returns 0, or the errno of fork(2). */
static int fork_command(char **command, int report)
{
	sigset_t all, mask;
	int err = 0;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	take_signals();
	pid = fork();
	if (pid == 0)
		child_main(command, report, &mask);
	if (pid > 0)
		child = pid;
	else
		err = errno;
	if (err)
		restore_signals();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return err;
}

pid_t start_command(char **command, int *status)
{
	int report[2], err = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) || fork_command(command, report[1])) {
		/* There is no child process and no prefetching, but the command
		 * runs. */
		execvp(command[0], command);
		*status = say_why_not(command[0], errno);
		return -1;
	}
	pid = (pid_t)child;
	close(report[1]);
	/* The pipe closes when the command is executed; an errno in it says why
	 * it was not. */
	if (read(report[0], &err, sizeof(err)) == sizeof(err)) {
		wait_command(pid);
		*status = say_why_not(command[0], err);
		pid = -1;
	}
	close(report[0]);
	return pid;
}

int wait_command(pid_t pid)
{
	int waited = 0;

	while (waitpid(pid, &waited, 0) < 0 && errno == EINTR)
		;
	child = 0;
	restore_signals();
	return waited;
}

int exit_as_command(int waited)
{
	if (WIFEXITED(waited))
		return WEXITSTATUS(waited);
	handle(WTERMSIG(waited), SIG_DFL, NULL);
	raise(WTERMSIG(waited));
	return 128 + WTERMSIG(waited);
}
