/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a check came to: a sentence for the user, a line in the history. */
#ifndef OUTCOME_H
#define OUTCOME_H

struct outcome {
	const char *program;	/* as it was called, without its folder */
	const char *done;	/* "checked" */
	const char *device;
	double seconds;		/* the check took; 0: not known yet */
	double without;		/* it would have taken; 0: no estimate */
	const char *why_not;	/* why nothing was read ahead, or NULL */
};

/* "checked in 2.7 s; without prefetching about 12 s".  Fills text[size]. */
const char *outcome_in_words(const struct outcome *o, char *text,
			     unsigned size);

/* The history that a value of PREFETCH_HISTORY names; NULL if it is off. */
const char *history_path(const char *setting);

/* Older lines are in the file of this suffix. */
#define HISTORY_OLDER ".1"

/*
 * Append a line of JSON (doc/statistics.md) to the history, which `setting`
 * names.  Nothing is written, and nothing is said, if the folder or the right to
 * write to it is missing, if the file is not ours alone or holds something else, if
 * file sizes are limited, or if the folder is on the filesystem that was checked.
 * Waits for no lock and never asks for the disk to be written; a filesystem that
 * does not answer is waited for at most half a second.
 */
void history_add(const char *setting, const struct outcome *o);

#endif
