/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of status on a terminal that another program prints on: it is drawn
 * below the cursor, which stays where it is, so that a question of that program
 * stays whole.  A row in between is left free: what the program prints before the
 * line is drawn again is not mixed with it, up to two lines.
 */
#ifndef E2PF_STATUS_LINE_H
#define E2PF_STATUS_LINE_H

#include <stdio.h>
#include <sys/ioctl.h>

/* What follows the cursor is the last line of status. */
#define STATUS_LINE_CLEAR "\033[J"

/* Scroll up if the cursor is in one of the last rows, and go back; save the
 * cursor; two rows down. */
#define STATUS_LINE_BELOW "\033D\033D\033M\033M\0337\033[2B\r"
#define STATUS_LINE_BACK "\0338"

/* Draw `text` on the terminal that standard error is, cut off at its last column
 * but one, in place of an earlier line. */
static inline void status_line_draw(const char *text)
{
	struct winsize w;
	int columns = 79;

	if (!ioctl(2, TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col - 1;
	fprintf(stderr, STATUS_LINE_CLEAR STATUS_LINE_BELOW "%.*s"
		STATUS_LINE_BACK, columns, text);
}

#endif
