/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discards the signals that a module's own output can raise. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

struct signals_held {
	sigset_t mask, pending;		/* as they were before */
};

/*
 * Between these two calls, made by the same thread, SIGPIPE (nobody reads our
 * messages any more) and SIGXFSZ (a file has reached the size limit) are
 * discarded.  They would kill the checker after its work, and change its exit
 * status.
 */
void signals_hold(struct signals_held *held);
void signals_release(const struct signals_held *held);

#endif
