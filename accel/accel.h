/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accelerations by name: which are asked for, and which are in use.
 */
#ifndef ACCEL_H
#define ACCEL_H

#include <stddef.h>

#define ACCELERATIONS 4u

enum {
	ACCEL_CRC32C = 1 << 0,
	ACCEL_BITMAPS = 1 << 1,
	ACCEL_INDIRECT = 1 << 2,
	ACCEL_EXTENTS = 1 << 3,
	ACCEL_ALL = (1 << ACCELERATIONS) - 1,
	ACCEL_DEFAULT = ACCEL_ALL,
};

/*
 * The set that `text` names: "none", "all", or names with commas between
 * them.  0, or -1 with *set unchanged if it is none of these.
 */
int accel_parse(const char *text, unsigned *set);

/* The name of one acceleration; NULL for a bit that is none. */
const char *accel_name(unsigned one);

#endif
