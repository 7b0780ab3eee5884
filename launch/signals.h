/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a module does about the signals that its own output can cause. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

struct signals_held {
	sigset_t mask, pending;		/* as they were */
};

/*
 * Between the two, in one thread, SIGPIPE (nobody reads our messages any more)
 * and SIGXFSZ (a file may not become larger) come to nothing: they would end
 * the checker, after its work, with another exit status than its own.
 */
void signals_hold(struct signals_held *held);
void signals_release(const struct signals_held *held);

#endif
