/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Options are not parsed with getopt(3), whose state is e2fsck's. */
#include <string.h>

#include "arguments.h"

/* Options that take a value, and options that only affect answers to questions
 * and output.  Any other option may lead to a check. */
#define WITH_VALUE "CbBEjPlLzIkNm"
#define PLAIN "panyvtCV"

struct arguments arguments_read(int argc, char *const *argv)
{
	struct arguments a = { .force = argc < 2 };
	const char *c;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-')
			continue;
		for (c = argv[i] + 1; *c; c++) {
			a.force |= !strchr(PLAIN, *c);
			a.parallel |= *c == 'm';
			if (strchr(WITH_VALUE, *c))
				break;
		}
	}
	return a;
}
