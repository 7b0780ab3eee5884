/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks the signals that our own writes can raise, and discards them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "signals.h"

static const int ours[] = { SIGPIPE, SIGXFSZ };

static void ours_into(sigset_t *set)
{
	size_t i;

	sigemptyset(set);
	for (i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		sigaddset(set, ours[i]);
}

void signals_hold(struct signals_held *held)
{
	sigset_t set;

	ours_into(&set);
	sigemptyset(&held->pending);
	pthread_sigmask(SIG_BLOCK, &set, &held->mask);
	sigpending(&held->pending);
}

void signals_release(const struct signals_held *held)
{
	static const struct timespec now = { 0, 0 };
	sigset_t set;
	size_t i;

	/* A signal that was already pending belongs to the checker. */
	ours_into(&set);
	for (i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (sigismember(&held->pending, ours[i]))
			sigdelset(&set, ours[i]);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
}
