/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help for an e2fsck that takes no module: a process beside it. */
#ifndef SIDEPROCESS_H
#define SIDEPROCESS_H

#include "environment.h"

/*
 * Start a process that fills the page cache while the calling one, about to
 * become e2fsck with these arguments, runs; it ends when that does.  Does
 * nothing where the arguments name no device or the filesystem needs no
 * check.  Never fails: without it the check is only slower.
 */
void start_side_process(const struct environment *env, int argc, char **argv);

#endif
