/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the real e2fsck can be started with the module. */
#ifndef TRY_MODULE_H
#define TRY_MODULE_H

#include <stdbool.h>

#include "findings.h"

/*
 * Start `program` once with the current environment, in which the module is
 * preloaded.  The module answers before the program's main() begins, and ends
 * the process.  True if it answered; its findings are in *found, and the paths of
 * the files that it loaded in objects[ANSWER_SIZE], separated by blanks, or
 * nothing.  All other output is discarded; a process that does not answer is
 * killed.
 */
bool try_module(const char *program, struct findings *found, char *objects);

#endif
