/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads libinih only if there is something to parse.  A launcher linked with
 * libinih could not start if the library were missing, and then there would be
 * no check.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "inih.h"

/* There is no shared library; or this program is linked with libinih, because
 * no check depends on whether it starts. */
#if !defined(INIH_SONAME) || defined(INIH_LINKED)

inih_parse inih_load(const char **why)
{
	(void)why;
	return ini_parse_stream;
}

#else

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

inih_parse inih_load(const char **why)
{
	void *library = dlopen(INIH_SONAME, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "ini_parse_stream") : NULL;
	inih_parse parse = NULL;

	/* The library stays loaded until this process calls execve(2). */
	*why = "cannot load " INIH_SONAME;
	memcpy(&parse, &symbol, sizeof(parse));
	return parse;
}

#endif
