/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Tells whether a check would prefetch.  The wrapper and the preload library answer if
 * this is the only argument, which no stock program takes.  The answer is an exit
 * status that no stock program has; any other status means that the preload library is
 * not in the program.  cmd/enable.in asks for them.
 */
#ifndef PRELOAD_STATUS_H
#define PRELOAD_STATUS_H

#include <stdbool.h>
#include <string.h>

#define STATUS_OPTION "--prefetch-status"

enum {
	STATUS_PREFETCHES = 40,
	STATUS_OFF = 41,	/* settings say so, or are wrong */
	STATUS_CANNOT = 42	/* a message says why */
};

static inline bool preload_status_is_asked(int argc, char *const *argv)
{
	return argc == 2 && !strcmp(argv[1], STATUS_OPTION);
}

#endif
