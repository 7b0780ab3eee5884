/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which accelerations are in use. */
#ifndef ACCELERATE_H
#define ACCELERATE_H

#include <stddef.h>

#include "findings.h"
#include "report/report.h"

/* The names of those in use, for the statistics. */
struct acceleration_names {
	const char *name[E2PF_ACCELERATIONS];
	size_t count;
};

/*
 * Begin those accelerations of the set `asked` (enum e2pf_acceleration) that
 * passed the self-test.  What was decided, and why, is added to `list`.  Called
 * once, before there is any map of the filesystem.
 */
void accelerate(unsigned asked, const struct findings *found,
		struct acceleration_names *names, struct e2pf_decisions *list);

#endif
