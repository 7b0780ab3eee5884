/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores the environment that the checker's child processes inherit. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "inherit.h"
#include "stock.h"

void inherit_environment(const void *inside)
{
	const char *list = getenv("LD_PRELOAD");
	Dl_info info;
	size_t len;
	char *rest;

	unsetenv(FINDINGS_VARIABLE);
	unsetenv(STOCK_GUARD);
	if (!list || !dladdr(inside, &info) || !info.dli_fname)
		return;
	len = strlen(info.dli_fname);
	if (strncmp(list, info.dli_fname, len))
		return;
	if (!list[len]) {
		unsetenv("LD_PRELOAD");
	} else if (list[len] == ':' || list[len] == ' ') {
		rest = strdup(list + len + 1);
		if (rest)
			setenv("LD_PRELOAD", rest, 1);
		free(rest);
	}
}
