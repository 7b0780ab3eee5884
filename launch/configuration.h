/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the file e2prefetch.conf(5). */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <stddef.h>

/* Path of the file to read: the installed one (CONFIGURATION), or the one that
 * PREFETCH_CONFIG names.  NULL, with a line in `error`, if the path in
 * PREFETCH_CONFIG may not be used. */
const char *configuration_path(char *error, size_t size);

/* Called with the variable that a setting stands for, and its value. */
typedef void configuration_take(void *ctx, const char *variable,
				const char *value);

/*
 * Read the file `path` and pass each of its settings to `take`.  Returns 0; 1
 * if there is no such file; or -1 with a line in `error` that says what is
 * wrong and where.  `take` is called only if 0 is returned.  The line is empty
 * if the file is not at fault: the process ran out of descriptors or memory.
 * Not thread-safe.
 */
int configuration_read(const char *path, configuration_take *take, void *ctx,
		       char *error, size_t size);

#endif
