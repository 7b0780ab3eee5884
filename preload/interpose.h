/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Whether the program calls a function through the dynamic linker, so that a preload
 * library can interpose it, and how the preload library then calls the program's own.
 * */
#ifndef PRELOAD_INTERPOSE_H
#define PRELOAD_INTERPOSE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

/* Whether the program itself refers to the function of this name.  A function whose
 * address was fixed when the program was linked does not count. */
bool preload_program_refers(const char *name);

/* The next function of this name in the dynamic linker's search order.  Aborts
 * if there is none: the program itself would not have started then. */
static inline void *preload_real_function(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		abort();
	return f;
}

/* Declares `real`, the next function of this name, looked up once.
 * Threads that call it at the same time may each look it up, with the same
 * result. */
#define REAL(name) \
	static __typeof__(&name) real_known; \
	__typeof__(&name) real = __atomic_load_n(&real_known, __ATOMIC_RELAXED); \
	if (__builtin_expect(!real, 0)) { \
		real = (__typeof__(&name))preload_real_function(#name); \
		__atomic_store_n(&real_known, real, __ATOMIC_RELAXED); \
	} \
	(void)real

#endif
