/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Which accelerations work with this e2fsck and libext2fs, and which are in
 * use. */
#ifndef ACCELERATE_H
#define ACCELERATE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"
#include "settings.h"

/* What the self-test finds out about an acceleration. */
enum finding {
	FINDING_UNTRIED,	/* no self-test was run */
	FINDING_WHOLE,		/* it can be used */
	FINDING_LINKED,		/* internal calls bypass the module */
	FINDING_ABSENT,		/* a function that it needs is not there */
	FINDING_DIFFERS,	/* other results than libext2fs */
	FINDING_UNREAD,		/* a version whose source nobody has read */
	FINDING_UNABLE,		/* the processor or the memory is lacking */
	FINDING_THREADS,	/* the checker may use it in several threads */
	FINDING_STATISTICS,	/* it would leave out what was asked for */
	FINDING_SMALL,		/* it would gain less than the test takes */
	FINDING_CRASHED,	/* the self-test did not end as it should */
	FINDINGS
};

struct findings {
	enum finding of[E2PF_ACCELERATIONS];
};

/* Whether the module can see where this e2fsck is in its check.  Harmless. */
bool accelerate_sees_progress(void);

/*
 * The self-test.  `findings` is a struct findings.  This changes how maps,
 * checksums and walks are made in this process, and may crash with an unknown
 * version of the library.  Call it in a process that ends afterwards, never in
 * a check.
 */
void accelerate_try(void *findings);

/*
 * Begin those accelerations of the set `asked` (enum e2pf_acceleration) that
 * passed the self-test.  What was decided, and why, is added to `notes`.  Called
 * once, before there is any map of the filesystem.
 */
void accelerate(unsigned asked, const struct findings *found,
		struct e2pf_notes *notes);

#endif
