/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the real functions behind the stand-ins. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <stdlib.h>

#include "real.h"

void *real_function(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		abort();
	return f;
}
