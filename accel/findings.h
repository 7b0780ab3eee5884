/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the trial finds out about the e2fsck and libext2fs at hand, and how it
 * is passed from the trial to the launcher and on to the module.
 */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Set for the process that makes the trial: the module writes its findings to
 * standard output, and the process ends. */
#define TRIAL_VARIABLE "PREFETCH_TRIAL"

/* Set for the check: the process it is meant for, and the findings. */
#define FINDINGS_VARIABLE "PREFETCH_FINDINGS"

#define FINDINGS_SIZE 256u		/* bytes of findings as text, at most */

enum finding {
	FINDING_UNTRIED,	/* no trial was made */
	FINDING_WHOLE,		/* it can be used */
	FINDING_LINKED,		/* calls go past a stand-in */
	FINDING_ABSENT,		/* a function that it needs is not there */
	FINDING_DIFFERS,	/* the trial gave other results than stock */
	FINDING_UNREAD,		/* a version whose source nobody has read */
	FINDING_UNABLE,		/* the processor or the memory is lacking */
	FINDING_THREADS,	/* the checker may use it in several threads */
	FINDINGS
};

/* What there is to find out about. */
enum ability {
	ABILITY_PROGRESS,	/* to see where the check is */
	ABILITY_CRC32C,		/* the accelerations of the same names */
	ABILITY_BITMAPS,
	ABILITY_ARRAYS,		/* libext2fs's bit arrays in place of trees */
	ABILITY_INDIRECT,
	ABILITY_EXTENTS,
	ABILITIES
};

struct findings {
	enum finding of[ABILITIES];
};

/* As text, in one line without its end. */
void findings_print(const struct findings *f, char *text, size_t size);

/* False, with all untried, when the text is not the whole of a line that
 * findings_print() wrote. */
bool findings_parse(const char *text, struct findings *f);

/* To and from the environment, for one process.  A process that inherits the
 * variable from another has no findings: all are untried. */
bool findings_export(const struct findings *f, pid_t process);
void findings_import(struct findings *f);

/* A sentence without its end, of why an ability cannot be used. */
const char *finding_reason(enum finding one);

#endif
