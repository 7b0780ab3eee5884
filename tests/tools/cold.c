/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A library to preload that simulates an empty page cache: of what is mapped, nothing
 * is in memory.  An image that was copied a moment ago is then read ahead like one on
 * a disk; otherwise the engine would find everything cached and do nothing.  The kernel
 * is one before cachestat(2), by which a page that is being read is told from one that is
 * missing: all would be waited for.
 *
 * With COLD=2 a page is missing when it is looked at for the first time only: so what was
 * requested has arrived, and can be mapped for the check. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEEN (1u << 20)

int mincore(void *start, size_t length, unsigned char *vec)
{
	static atomic_uchar seen[SEEN];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	const char *cold = getenv("COLD");
	bool twice = cold && *cold == '2';

	for (i = 0; i < (length + page - 1) / page; i++)
		vec[i] = twice && atomic_exchange(
				&seen[((uintptr_t)start / page + i) % SEEN], 1);
	/* The manager asks whether what it has just read is there at all. */
	if (length == 1)
		vec[0] = 1;
	return 0;
}

#define CACHESTAT 451

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long argument[6];
	va_list list;
	int i;

	if (number == CACHESTAT) {
		errno = ENOSYS;
		return -1;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	return real(number, argument[0], argument[1], argument[2],
		    argument[3], argument[4], argument[5]);
}
