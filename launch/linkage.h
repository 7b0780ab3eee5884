/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the process was linked: which functions a loaded program or library
 * reaches through the dynamic linker, and so through a stand-in.
 */
#ifndef LINKAGE_H
#define LINKAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the program itself refers to all of the `count` functions by name.
 * One that is called at an address fixed when the program was linked is not
 * among them.
 */
bool linkage_program_refers(const char *const *names, size_t count);

/* Whether the program itself can begin threads: a parallel checker.  Those that
 * a library begins are the library's to keep apart. */
bool linkage_program_has_threads(void);

/*
 * The same of the library that holds `address`.  False also where the library
 * asks to be searched before the program and what is preloaded into it
 * (DT_SYMBOLIC).
 */
bool linkage_library_refers(const void *address, const char *const *names,
			    size_t count);

#endif
