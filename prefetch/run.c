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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"

static volatile sig_atomic_t child;

/* The terminal has sent two of them to the command as well, unless that has left our
 * process group.  What the command sends to the group has reached it. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	bool of_terminal = info->si_code == SI_KERNEL &&
			   (sig == SIGINT || sig == SIGQUIT);

	(void)context;
	if (child > 0 && info->si_pid != child &&
	    !(of_terminal && getpgid((pid_t)child) == getpgrp()))
		kill((pid_t)child, sig);
}

static const int signals[] = {
	SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM
};

#define SIGNALS (sizeof(signals) / sizeof(*signals))

static struct sigaction before[SIGNALS];

static int say_why_not(const char *command, int err)
{
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", command,
		strerror(err));
	return err == ENOENT ? 127 : 126;
}

/* A closed pipe or a limit on file sizes must neither keep the command from running nor
 * change its status. */
static const int of_output[] = { SIGPIPE, SIGXFSZ };
static sigset_t defaults;		/* of the command */

void ignore_output_signals(void)
{
	size_t i;

	sigemptyset(&defaults);
	for (i = 0; i < 2; i++)
		if (signal(of_output[i], SIG_IGN) == SIG_DFL)
			sigaddset(&defaults, of_output[i]);
}

int become_command(char **command)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (sigismember(&defaults, of_output[i]))
			signal(of_output[i], SIG_DFL);
	execvp(command[0], command);
	return say_why_not(command[0], errno);
}

/* Signals are blocked until it is known which process must handle them. */
pid_t start_command(char **command, int *status)
{
	posix_spawnattr_t attr;
	sigset_t all, mask;
	pid_t pid = -1;
	const struct sigaction sa = {
		.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO
	};
	size_t i;
	int err;

	/* If it is ignored, a command that has ended leaves no status. */
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setsigmask(&attr, &mask);
	err = posix_spawnp(&pid, command[0], NULL, &attr, command, environ);
	posix_spawnattr_destroy(&attr);
	if (!err) {
		child = pid;
		for (i = 0; i < SIGNALS; i++)
			sigaction(signals[i], &sa, &before[i]);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (!err)
		return pid;
	/* If the process cannot be made there is no prefetching, but the
	 * command runs. */
	*status = err == EAGAIN || err == ENOMEM ? become_command(command) :
						   say_why_not(command[0], err);
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
		sigaction(signals[i], &before[i], NULL);
	return waited;
}

int exit_as_command(int waited)
{
	if (WIFEXITED(waited))
		return WEXITSTATUS(waited);
	/* The command has left a core file, if one is wanted. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(waited), SIG_DFL);
	raise(WTERMSIG(waited));
	return 128 + WTERMSIG(waited);
}
