/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which accelerations are put in e2fsck's way. */
#ifndef ACCELERATE_H
#define ACCELERATE_H

#include <stddef.h>

#include "accel.h"
#include "report/decisions.h"
#include "findings.h"

/* Those in use, by name, for the statistics. */
struct acceleration_names {
	const char *name[ACCELERATIONS];
	size_t count;
};

/*
 * Begin with those of the set `asked` that the trial found whole, and with
 * what there is in place of the others.  What was decided and why goes into
 * `list`.  Called once, before e2fsck's main().
 */
void accelerate(unsigned asked, const struct findings *found,
		struct acceleration_names *names, struct e2pf_decisions *list);

#endif
