/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides whether e2fsck is likely to check the filesystem that it has opened.
 * Options are not parsed with getopt(3), whose state is e2fsck's.
 */
#include <string.h>

#include "check.h"

/* Options that take a value, and options that only affect answers to questions
 * and output.  Any other option may lead to a check. */
#define WITH_VALUE "CbBEjPlLzIkN"
#define PLAIN "panyvtCV"

struct arguments e2fsck_arguments_read(int argc, char *const *argv)
{
	struct arguments a = { .force = argc < 2 };
	const char *c;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-')
			continue;
		for (c = argv[i] + 1; *c; c++) {
			a.force |= !strchr(PLAIN, *c);
			if (!strchr(WITH_VALUE, *c))
				continue;
			if (!c[1])
				i++;
			break;
		}
	}
	return a;
}

bool e2fsck_arguments_find_clean(const struct ext2_super_block *s, int64_t now)
{
	if (!(s->s_state & EXT2_VALID_FS) || (s->s_state & EXT2_ERROR_FS) ||
	    s->s_feature_incompat & EXT3_FEATURE_INCOMPAT_RECOVER)
		return false;
	if ((int16_t)s->s_max_mnt_count > 0 &&
	    s->s_mnt_count >= s->s_max_mnt_count)
		return false;
	return !s->s_checkinterval || (now >= s->s_lastcheck &&
	       now < (int64_t)s->s_lastcheck + s->s_checkinterval);
}
