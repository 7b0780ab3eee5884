/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much time is left, by the part of the check that is done.
 */
#include "progress.h"

/* The pace is that of the last quarter of the time, about: while a disk reads ahead
 * the checker stands still, and then passes in seconds what was read.  Of the checks
 * of tests/fixtures/progress.txt, by the pace since their start, the time left was up
 * to 420 times too long. */
#define MEMORY 0.25

/* Before this part of the walk nothing is said: at a tenth of it the time was up to 13
 * times too long, from here on 2.7 times. */
#define PART_LEAST 0.2

/* Follow the pace, and what the walk computes. */
static void remember(struct e2pf_progress_past *past,
		     const struct e2pf_progress_facts *f)
{
	double elapsed = f->seconds - past->seconds;

	if (elapsed > 0 && f->passed < 1)
		past->pace += ((f->passed - past->passed) / elapsed - past->pace) *
			      elapsed / (elapsed + MEMORY * past->seconds);
	if (f->passed > 0 && f->passed < 1)
		past->walk_cpu = f->cpu / f->passed;
	past->seconds = f->seconds;
	past->passed = f->passed;
	past->cpu = f->cpu;
	past->stalled = f->stalled;
}

double e2pf_progress_left(struct e2pf_progress_past *past,
			  const struct e2pf_progress_facts *f)
{
	remember(past, f);
	if (f->passed < PART_LEAST || past->pace <= 0)
		return 0;
	return (1 - f->passed) / past->pace +
	       past->walk_cpu * f->rest_part * (1 - f->rest_done);
}
