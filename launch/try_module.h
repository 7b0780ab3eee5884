/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the real e2fsck can be started with the module in it. */
#ifndef TRY_MODULE_H
#define TRY_MODULE_H

#include <stdbool.h>

#include "findings.h"

/*
 * Start `program` once with the environment as it is, in which the module is
 * preloaded, for the trial alone: it ends before its main() begins.  True if
 * it answered, with what it found.  Nothing it prints is seen; one that does
 * not answer is ended.
 */
bool try_module(const char *program, struct findings *found);

#endif
