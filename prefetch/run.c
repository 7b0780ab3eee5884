/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Runs the user's command as a child process.  The terminal sends its signals
 * to both processes; signals from elsewhere are passed on to the command.  The
 * command runs even if this program lacks resources.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"

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

static int say_why_not(const char *command, int err)
{
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", command,
		strerror(err));
	return err == ENOENT ? 127 : 126;
}

/* Signals are blocked until it is known which process must handle them. */
pid_t start_command(char **command, int *status)
{
	posix_spawnattr_t attr;
	sigset_t all, mask;
	pid_t pid = -1;
	size_t i;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &mask);
	err = posix_spawnp(&pid, command[0], NULL, &attr, command, environ);
	posix_spawnattr_destroy(&attr);
	if (!err) {
		child = pid;
		for (i = 0; i < SIGNALS; i++)
			handle(signals[i].number, signals[i].handler,
			       &before[i]);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (!err)
		return pid;
	/* If the process cannot be made there is no prefetching, but the
	 * command runs. */
	if (err == EAGAIN || err == ENOMEM) {
		execvp(command[0], command);
		err = errno;
	}
	*status = say_why_not(command[0], err);
	return -1;
}

int wait_command(pid_t pid)
{
	int waited = 0;
	size_t i;

	while (waitpid(pid, &waited, 0) < 0 && errno == EINTR)
		;
	child = 0;
	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i].number, &before[i], NULL);
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
