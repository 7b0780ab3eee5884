/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of accelerations, and which versions of libext2fs each was made
 * for.  What an acceleration does is in a file of its own.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "accel.h"

/* What the version of libext2fs begins with.  Checksums have had one interface
 * since they exist.  For bitmaps the functions that look into one, and for
 * indirect blocks the walk, were read in the source of each version listed. */
static const struct entry {
	const char *name;
	unsigned bit;
	const char *made_for[3];
} entries[] = {
	{ "crc32c", ACCEL_CRC32C, { "1.46.", "1.47." } },
	{ "bitmaps", ACCEL_BITMAPS, { "1.47.0" } },
	{ "indirect", ACCEL_INDIRECT, { "1.47.0" } },
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static unsigned named(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ENTRIES; i++)
		if (strlen(entries[i].name) == len &&
		    !memcmp(entries[i].name, name, len))
			return entries[i].bit;
	return 0;
}

int accel_parse(const char *text, unsigned *set)
{
	unsigned found = 0, bit;
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
		bit = named(text, len);
		if (!bit)
			return -1;
		found |= bit;
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

/* "1.47.1" is not the beginning of "1.47.10". */
static bool begins(const char *version, const char *with)
{
	size_t len = strlen(with);

	return !strncmp(version, with, len) &&
	       (with[len - 1] == '.' || !isdigit((unsigned char)version[len]));
}

unsigned accel_fit(unsigned asked, const char *version)
{
	unsigned fit = 0;
	size_t i, k;

	for (i = 0; i < ENTRIES; i++)
		for (k = 0; k < 3 && entries[i].made_for[k]; k++)
			if (begins(version, entries[i].made_for[k]))
				fit |= entries[i].bit;
	return asked & fit;
}
