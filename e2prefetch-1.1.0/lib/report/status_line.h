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

/* The bytes that draw `text`, cut off at the terminal's last column but one, in
 * place of an earlier line; returns how many, as snprintf(3). */
static inline int status_line_draw(int terminal, const char *text, char *out,
				   size_t size)
{
	struct winsize w;
	int columns = 79;

	if (!ioctl(terminal, TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col - 1;
	return snprintf(out, size, STATUS_LINE_CLEAR STATUS_LINE_BELOW "%.*s"
			STATUS_LINE_BACK, columns, text);
}

#endif
