/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A library to preload that simulates an empty page cache: of what is mapped, nothing
 * is in memory.  An image that was copied a moment ago is then read ahead like one on
 * a disk; otherwise the engine would find everything cached and do nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int mincore(void *start, size_t length, unsigned char *vec)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)start;
	memset(vec, 0, (length + page - 1) / page);
	return 0;
}
