/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file e2prefetch.conf(5). */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <stddef.h>

/* Another file than the installed one, by its absolute path. */
#define CONFIGURATION_VARIABLE "PREFETCH_CONFIG"

/*
 * Set each variable that the file `path` has a setting for and that is not in
 * the environment.  0, also when there is no such file; or -1 with a line in
 * `error` that says what is wrong and where, and nothing set.  The line is empty
 * where the file is not at fault: no descriptor or memory was left.
 */
int configuration_apply(const char *path, char *error, size_t size);

#endif
