/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the launcher must know of a program file. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

/*
 * Does the program at `path` load a shared library whose name begins with
 * `library`, so that a preloaded module can stand between the two?  False
 * for a static program, a script, or what cannot be read.
 */
bool program_loads(const char *path, const char *library);

#endif
