/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libinih is loaded when there is something for it to parse.  A launcher that
 * is linked with it could not start without it, and then there would be no
 * check.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "inih.h"

/* Where there is no shared library, or for a program that may fail to start. */
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

	/* It stays loaded until this process becomes another program. */
	*why = "cannot load " INIH_SONAME;
	memcpy(&parse, &symbol, sizeof(parse));
	return parse;
}

#endif
