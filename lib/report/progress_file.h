/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file in /run that shows how far a check is: its folder, its name, and
 * whether its process is still there.
 */
#ifndef E2PF_PROGRESS_FILE_H
#define E2PF_PROGRESS_FILE_H

#include <sys/types.h>

#include "progress.h"

/* The text of a file, of at most so many bytes; empty if it does not fit. */
#define E2PF_PROGRESS_BYTES 8192
void e2pf_progress_print(const struct e2pf_progress *progress,
			 char text[E2PF_PROGRESS_BYTES]);

/* Write this text to the file of this process, complete at any moment.  Does
 * nothing unless this is root and the folder is nobody else's. */
void e2pf_progress_save(const char *text);

/* Remove the file of process `pid`. */
void e2pf_progress_remove(pid_t pid);

/* Call show() with each file whose process is still there: what it says, and its
 * text.  Removes the others, if it may.  Returns 0, or an errno if the folder
 * exists and cannot be read. */
int e2pf_progress_each(void (*show)(void *ctx, const struct e2pf_progress *p,
				    const char *text), void *ctx);

#endif
