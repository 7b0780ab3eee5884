// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A library to preload into a stock program, to detect results that depend on the
 * layout of its heap: it takes E2PF_HEAP bytes of it before the program begins, which
 * stay taken, and leaves as many free behind them.
 */
#include <stdlib.h>

static void *volatile taken, *volatile behind;

static void __attribute__((constructor)) take(void)
{
	const char *text = getenv("E2PF_HEAP");
	size_t bytes = text ? (size_t)atol(text) : 0;
	void *hole = NULL;

	if (bytes) {
		taken = malloc(bytes);
		hole = malloc(bytes);
	}
	/* So that the hole is not joined with what is free behind it. */
	behind = hole ? malloc(1) : NULL;
	free(hole);
}
