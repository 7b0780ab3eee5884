/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Finds libc's functions.  Decides nothing. */
#include "real.h"

#include <dlfcn.h>
#include <stdlib.h>

static void *find(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	/* Without this function the program itself would not have started. */
	if (!f)
		abort();
	return f;
}

/* Looked up once. */
#define DEFINE(type, name, parameters, arguments) \
	type real_##name parameters \
	{ \
		static __typeof__(&name) real; \
		if (__builtin_expect(!real, 0)) \
			real = (__typeof__(&name))find(#name); \
		return real arguments; \
	}
REAL_FUNCTIONS(DEFINE)
