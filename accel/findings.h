/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which accelerations there are; what the self-test finds out about them with
 * this e2fsck and libext2fs, and how that gets from the self-test to the
 * launcher and on to the module.
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

/* Size of what the self-test answers, at most: the findings, and the paths of
 * the files that it loaded.  A pipe takes it in one piece. */
#define ANSWER_SIZE 4096u

enum finding {
	FINDING_UNTRIED,	/* no self-test was run */
	FINDING_WHOLE,		/* it can be used */
	FINDING_LINKED,		/* internal calls bypass the module */
	FINDING_ABSENT,		/* a function that it needs is not there */
	FINDING_DIFFERS,	/* other results than libext2fs */
	FINDING_UNREAD,		/* a version whose source nobody has read */
	FINDING_UNABLE,		/* the processor or the memory is lacking */
	FINDING_THREADS,	/* the checker may use it in several threads */
	FINDINGS
};

/* The accelerations: ability, and name in PREFETCH_ACCEL.  Each has a
 * begin_NAME() in accelerate.c and a try_NAME() in trial.c. */
#define ACCELERATIONS(X) \
	X(CRC32C, crc32c) \
	X(BITMAPS, bitmaps) \
	X(INDIRECT, indirect)

/* What is tested. */
enum ability {
#define ABILITY(ability, name) ABILITY_##ability,
	ACCELERATIONS(ABILITY)
#undef ABILITY
	ACCELERATION_COUNT,
	ABILITY_PROGRESS = ACCELERATION_COUNT,	/* follow the check */
	ABILITIES
};

/* A set of accelerations has the bit 1 << ABILITY_... of each. */
#define ACCEL_ALL ((1u << ACCELERATION_COUNT) - 1)

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

/*
 * Parse a set: "none", "all", or names separated by commas.  Returns 0, or -1
 * with *set unchanged if `text` is invalid.  "extents", an acceleration of
 * 1.0.0, is valid and stands for nothing.
 */
int accelerations_parse(const char *text, unsigned *set);

/* Why an ability cannot be used: a phrase for messages. */
const char *finding_reason(enum finding one);

#endif
