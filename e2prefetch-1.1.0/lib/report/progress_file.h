/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file in /run that shows how far a check is: its folder, its name, and
 * whether its process is still there.
 */
#ifndef E2PF_PROGRESS_FILE_H
#define E2PF_PROGRESS_FILE_H

#include <sys/types.h>

#include "progress.h"

/* Write the file of this process, complete at any moment.  Does nothing unless
 * this is root and the folder is nobody else's. */
void e2pf_progress_save(const struct e2pf_progress *progress);

/* Remove the file of process `pid`. */
void e2pf_progress_remove(pid_t pid);

/* Call show() with the contents of each file whose process is still there.
 * Removes the others, if it may.  Returns 0, or an errno if the folder exists
 * and cannot be read. */
int e2pf_progress_each(void (*show)(void *ctx, const char *text), void *ctx);

/* Copy the value of this key in a file's text to `value`; an empty string if it
 * has none.  Returns `value`. */
const char *e2pf_progress_value(const char *text, const char *key, char *value,
				size_t size);

#endif
