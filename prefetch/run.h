/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running the user's command beside the prefetch. */
#ifndef RUN_H
#define RUN_H

#include <sys/types.h>

/* Start it.  Its process, or -1 after a line about what is wrong, with the
 * status to exit with in *status: 127 not found, 126 not to be run. */
pid_t start_command(char **command, int *status);

/* Wait for its end; signals that would end us are passed on to it.  Returns
 * its exit status; when a signal ended it, ends us by the same. */
int wait_command(pid_t pid);

#endif
