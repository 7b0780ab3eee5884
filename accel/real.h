/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the libext2fs functions that the module interposes. */
#ifndef REAL_H
#define REAL_H

#include <ext2fs/ext2fs.h>

/* The next function of this name in the dynamic linker's search order.  Aborts
 * if there is none: e2fsck itself would not have started then. */
void *real_function(const char *name);

/* The real function of this name, looked up once.  Threads that call it at the
 * same time may each look it up, with the same result. */
#define REAL(name) \
	static __typeof__(&name) real_known; \
	__typeof__(&name) real = __atomic_load_n(&real_known, __ATOMIC_RELAXED); \
	if (__builtin_expect(!real, 0)) { \
		real = (__typeof__(&name))real_function(#name); \
		__atomic_store_n(&real_known, real, __ATOMIC_RELAXED); \
	} \
	(void)real

#endif
