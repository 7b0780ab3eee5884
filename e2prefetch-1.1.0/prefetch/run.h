/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running the user's command while prefetching. */
#ifndef RUN_H
#define RUN_H

#include <sys/types.h>

/*
 * Start the command.  Must be called before this program has a second thread.
 * From then on signals that would end this program are passed on to the
 * command.  If no process can be created, this program executes the command
 * itself.  Returns the child's process ID; or -1 after an error message, with
 * the exit status in *status: 127 not found, 126 not executable.
 */
pid_t start_command(char **command, int *status);

/* Wait until the command has ended; signals act on this program again from then
 * on.  Returns the status of waitpid(2). */
int wait_command(pid_t pid);

/* The exit status for a command that ended with this waitpid(2) status.  If a
 * signal killed the command, this program kills itself with the same signal. */
int exit_as_command(int waited);

#endif
