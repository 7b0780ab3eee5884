/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what a trial has found, so that the next check needs no trial. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <time.h>

#include "findings.h"

/*
 * Find what an earlier trial of `program` found, in which `module` was loaded,
 * the only one that is preloaded now.  False if there is none that was kept by
 * root since this boot, or if anything has changed that decides which files a
 * process loads and what they hold; then another trial is needed.
 */
bool verdict_recall(const char *program, const char *module,
		    struct findings *found);

/*
 * Keep what a trial that started at `began` has found.  `objects` are the paths
 * of the other files that it loaded, separated by blanks; the text is changed.
 * Keeps nothing if that would not be safe, and reports no errors.
 */
void verdict_keep(const char *program, const char *module, char *objects,
		  const struct findings *found, time_t began);

#endif
