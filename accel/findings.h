/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the self-test finds out about this e2fsck and libext2fs, and how that
 * gets from the self-test to the launcher and on to the module.
 */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Set for the process that runs the self-test: the module writes its findings
 * to standard output and exits. */
#define TRIAL_VARIABLE "PREFETCH_TRIAL"

/* Set for the check: the process it is meant for, and the findings. */
#define FINDINGS_VARIABLE "PREFETCH_FINDINGS"

#define FINDINGS_SIZE 256u		/* size of findings as text, at most */

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

/* What is tested. */
enum ability {
	ABILITY_PROGRESS,	/* follow the position of the check */
	ABILITY_CRC32C,		/* the accelerations of these names */
	ABILITY_BITMAPS,
	ABILITY_ARRAYS,		/* libext2fs's bit arrays instead of trees */
	ABILITY_INDIRECT,
	ABILITIES
};

struct findings {
	enum finding of[ABILITIES];
};

/* Format as one line of text, without the newline. */
void findings_print(const struct findings *f, char *text, size_t size);

/* Returns false, with everything FINDING_UNTRIED, unless the text is a complete
 * line from findings_print(). */
bool findings_parse(const char *text, struct findings *f);

/* Write to and read from the environment, for one process.  A process that
 * inherits the variable from another reads FINDING_UNTRIED for everything. */
bool findings_export(const struct findings *f, pid_t process);
void findings_import(struct findings *f);

/* Why an ability cannot be used: a phrase for messages. */
const char *finding_reason(enum finding one);

#endif
