/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of accelerations.  Each is implemented in a file of its own. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "accel.h"

static const struct entry {
	const char *name;
	unsigned bit;
} entries[] = {
	{ "crc32c", ACCEL_CRC32C },
	{ "bitmaps", ACCEL_BITMAPS },
	{ "indirect", ACCEL_INDIRECT },
	{ "extents", 0 },
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const struct entry *named(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ENTRIES; i++)
		if (strlen(entries[i].name) == len &&
		    !memcmp(entries[i].name, name, len))
			return &entries[i];
	return NULL;
}

int accel_parse(const char *text, unsigned *set)
{
	const struct entry *one;
	unsigned found = 0;
	size_t len;

	if (!strcmp(text, "none")) {
		*set = 0;
		return 0;
	}
	if (!strcmp(text, "all")) {
		*set = ACCEL_ALL;
		return 0;
	}
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		one = named(text, len);
		if (!one)
			return -1;
		found |= one->bit;
		if (!text[len])
			break;
	}
	*set = found;
	return 0;
}

const char *accel_name(unsigned one)
{
	size_t i;

	for (i = 0; i < ENTRIES; i++)
		if (entries[i].bit == one)
			return entries[i].name;
	return NULL;
}
