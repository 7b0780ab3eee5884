/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the process was linked: which functions a loaded program or library calls
 * through the dynamic linker, so that a module can interpose them.
 */
#ifndef LINKAGE_H
#define LINKAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the program itself refers to all of the `count` functions by name.  A
 * function whose address was fixed when the program was linked does not count.
 */
bool linkage_program_refers(const char *const *names, size_t count);

/* Whether the program itself can create threads, as a parallel checker does.
 * Threads that a library creates do not count: they run that library's code,
 * not the checker's. */
bool linkage_program_has_threads(void);

/*
 * The same for the library that holds `address`.  Also false if the library is
 * linked to prefer its own symbols to those of the program and of preloaded
 * modules (DT_SYMBOLIC).
 */
bool linkage_library_refers(const void *address, const char *const *names,
			    size_t count);

#endif
