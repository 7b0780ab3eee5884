/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file e2prefetch.conf(5). */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <stddef.h>

/* The file to read: CONFIGURATION, the installed one, or another that
 * PREFETCH_CONFIG names.  NULL, with a line in `error`, where that may not be
 * used. */
const char *configuration_path(char *error, size_t size);

/* Takes a setting as the variable it stands for. */
typedef void configuration_take(void *ctx, const char *variable,
				const char *value);

/*
 * Read the file `path` and pass on each of its settings.  0; 1 when there is no
 * such file; or -1 with a line in `error` that says what is wrong and where.
 * Nothing is passed on but with 0.  The line is empty where the file is not at
 * fault: no descriptor or memory was left.  Not to be called by two threads.
 */
int configuration_read(const char *path, configuration_take *take, void *ctx,
		       char *error, size_t size);

#endif
