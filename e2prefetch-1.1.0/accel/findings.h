/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the self-test finds out about the accelerations with this e2fsck and
 * libext2fs. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "settings.h"

enum finding {
	FINDING_UNTRIED,	/* no self-test was run */
	FINDING_WHOLE,		/* it can be used */
	FINDING_LINKED,		/* internal calls bypass the module */
	FINDING_ABSENT,		/* a function that it needs is not there */
	FINDING_DIFFERS,	/* other results than libext2fs */
	FINDING_UNREAD,		/* a version whose source nobody has read */
	FINDING_UNABLE,		/* the processor or the memory is lacking */
	FINDING_THREADS,	/* the checker may use it in several threads */
	FINDING_SMALL,		/* it would gain less than the test takes */
	FINDING_CRASHED,	/* the self-test did not end as it should */
	FINDINGS
};

/*
 * The accelerations: ability, name in PREFETCH_ACCEL, and another ability that
 * is enough as well.  Each has a begin_NAME() in accelerate.c and a try_NAME()
 * in trial.c.
 */
#define ACCELERATIONS(X) \
	X(CRC32C, crc32c, CRC32C) \
	X(BITMAPS, bitmaps, ARRAYS) \
	X(INDIRECT, indirect, INDIRECT)

/* What is tested.  The first are enum e2pf_acceleration. */
enum ability {
#define ABILITY(ability, name, instead) ABILITY_##ability,
	ACCELERATIONS(ABILITY)
#undef ABILITY
	ABILITY_ARRAYS,		/* libext2fs's bit arrays instead of trees */
	ABILITIES
};

_Static_assert((unsigned)ABILITY_ARRAYS == E2PF_ACCELERATIONS, "as in settings.h");

struct findings {
	enum finding of[ABILITIES];
};

#endif
