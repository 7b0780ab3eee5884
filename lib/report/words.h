/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* For people: times in words, and a line of status on a terminal. */
#ifndef E2PF_WORDS_H
#define E2PF_WORDS_H

#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>

#include "progress.h"

/* The time on this clock, in seconds. */
static inline double clock_seconds(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* "14 s", "3.7 s", "25 min": with the digits that are meaningful. */
static inline const char *in_words(double seconds, char *text, size_t size)
{
	if (seconds < 0.005)
		snprintf(text, size, "0 s");
	else if (seconds < 9.95)
		snprintf(text, size, "%.2g s", seconds);
	else if (seconds < 120)
		snprintf(text, size, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(text, size, "%.0f min", seconds / 60);
	else
		snprintf(text, size, "%.1f h", seconds / 3600);
	return text;
}

/* "pass1, 3 of 512 groups, left 12 s, waits for disk sda": how far a
 * check is, in three texts of a line. */
struct progress_words {
	char place[128], left[32], wait[384];
};

static inline struct progress_words
progress_in_words(const struct e2pf_progress *p)
{
	const char *wait = p->waits_for ? p->waits_for : e2pf_wait_names[p->wait];
	const char *disk = p->disk ? p->disk : "";
	struct progress_words words = { .left = "not known" };

	snprintf(words.place, sizeof(words.place), p->places > 0 ?
		 "%s, %.0f of %.0f %s" : "%s", p->stage, p->place, p->places,
		 p->unit);
	if (p->left > 0)
		in_words(p->left, words.left, sizeof(words.left));
	if (p->wait_seconds > 0)
		snprintf(words.wait, sizeof(words.wait),
			 "a read of %s at byte %.0f, for %.0f s",
			 *disk ? disk : "the disk", p->wait_at, p->wait_seconds);
	else
		snprintf(words.wait, sizeof(words.wait), "%s%s%s", wait,
			 *disk ? " " : "", disk);
	return words;
}

/* "0.044 ms", "8.2 ms", "117 ms" */
static inline const char *in_milliseconds(double seconds, char *text,
					  size_t size)
{
	double ms = seconds * 1e3;

	if (ms < 9.95)
		snprintf(text, size, "%.2g ms", ms);
	else
		snprintf(text, size, "%.0f ms", ms);
	return text;
}

/*
 * A line of status on a terminal that another program prints on: it is drawn
 * below the cursor, which stays where it is, so that a question of that program
 * stays whole.  A row in between is left free: what the program prints before the
 * line is drawn again is not mixed with it, up to two lines.
 */

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
