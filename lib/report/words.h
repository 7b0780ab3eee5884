/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* For people: times in words. */
#ifndef E2PF_WORDS_H
#define E2PF_WORDS_H

#include <stddef.h>
#include <stdio.h>
#include <time.h>

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

#endif
