/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running the user's command beside the prefetch. */
#ifndef RUN_H
#define RUN_H

#include <sys/types.h>

/*
 * Start the command.  It is called before this program has a second thread.
 * From then on signals that would end this program are passed on to the
 * command.  Where no process can be had, this program becomes the command.
 * Returns its process, or -1 after a line that says why it cannot run, with
 * the exit status for that in *status: 127 not found, 126 not executable.
 */
pid_t start_command(char **command, int *status);

/* Wait until the command has ended; from then on signals act on this program
 * again.  Returns what waitpid(2) says of it. */
int wait_command(pid_t pid);

/* The exit status of a command of which waitpid(2) has said this.  A command
 * that a signal has ended: this program ends by the same signal. */
int exit_as_command(int waited);

#endif
