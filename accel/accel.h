/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the accelerations, and sets of them.
 */
#ifndef ACCEL_H
#define ACCEL_H

#include <stddef.h>

#define ACCELERATIONS 3u

enum {
	ACCEL_CRC32C = 1 << 0,
	ACCEL_BITMAPS = 1 << 1,
	ACCEL_INDIRECT = 1 << 2,
	ACCEL_ALL = (1 << ACCELERATIONS) - 1,
	ACCEL_DEFAULT = ACCEL_ALL,
};

/*
 * Parse a set: "none", "all", or names separated by commas.  Returns 0, or -1
 * with *set unchanged if `text` is invalid.  "extents", an acceleration of
 * 1.0.0, is valid and stands for nothing.
 */
int accel_parse(const char *text, unsigned *set);

/* The name of one acceleration; NULL for an unknown bit. */
const char *accel_name(unsigned one);

#endif
