/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How the program was linked: which functions it calls through the dynamic
 * linker, so that a module can interpose them.
 */
#ifndef LINKAGE_H
#define LINKAGE_H

#include <stdbool.h>

/* Whether the program itself refers to the function of this name.  A function whose
 * address was fixed when the program was linked does not count. */
bool linkage_program_refers(const char *name);

/* Whether the program itself can create threads, as a parallel checker does.
 * Threads that a library creates do not count: they run that library's code,
 * not the checker's. */
bool linkage_program_has_threads(void);

#endif
