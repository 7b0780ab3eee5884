// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A library to preload into e2fsck, stock or with our preload library, so that two
 * runs of the same check produce the same bytes.  It replaces all sources of
 * values that are not part of e2fsck's input: the clock, random numbers, UUIDs,
 * and the figures of -tt.
 *
 * Where they are used:
 *   uuid_generate	an erased s_uuid; the first sequence of a reset journal
 *   random		the sequence in the MMP block
 *   gettimeofday	the time in the MMP block; how often -C 0 is redrawn
 *   mkstemp		names of scratch files, some of which a crash leaves behind
 *   sleep		nothing; an MMP check would take seconds
 *   getrusage, mallinfo2, mallinfo, sbrk	printed by -t and -tt
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FIXED_TIME	1500000000
#define CLOCK_STEP_USEC	125000	/* the step of the progress bar of -C 0 */

void uuid_generate(unsigned char *out);

/* Both names: the headers may map mkstemp() to either. */
int fixed_temp(char *name);
int fixed_temp32(char *name) __asm__("mkstemp")
	__attribute__((alias("fixed_temp")));
int fixed_temp64(char *name) __asm__("mkstemp64")
	__attribute__((alias("fixed_temp")));

void uuid_generate(unsigned char *out)
{
	static unsigned char calls;

	memset(out, 0xe2, 16);
	out[15] = ++calls;
}

long random(void)
{
	static uint32_t state = 1;

	state = state * 1103515245u + 12345u;
	return state >> 1;
}

void srandom(unsigned int seed)
{
	(void)seed;
}

int fixed_temp(char *name)
{
	char *end = name + strlen(name) - 6;
	unsigned int n;
	int fd = -1;

	for (n = 0; fd < 0 && n < 1000; n++) {
		snprintf(end, 7, "%06u", n);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

unsigned int sleep(unsigned int seconds)
{
	(void)seconds;
	return 0;
}

time_t time(time_t *out)
{
	if (out)
		*out = FIXED_TIME;
	return FIXED_TIME;
}

/* libext2fs reads the clock when it creates a map, but never prints that time; the
 * preload library does the same.  The clock must not depend on the number of maps
 * that e2fsck creates for its own readahead. */
static int is_library(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, ".so");
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	static unsigned int calls;
	uint64_t usec;

	calls += !is_library(__builtin_return_address(0));
	usec = (uint64_t)CLOCK_STEP_USEC * calls;
	(void)tz;
	tv->tv_sec = FIXED_TIME + usec / 1000000;
	tv->tv_usec = usec % 1000000;
	return 0;
}

#ifndef __GLIBC__
typedef int __rusage_who_t;
#endif

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	(void)who;
	memset(usage, 0, sizeof(*usage));
	return 0;
}

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
struct mallinfo2 mallinfo2(void)
{
	return (struct mallinfo2){ 0 };
}
#endif

struct mallinfo mallinfo(void)
{
	return (struct mallinfo){ 0 };
}
#endif

void *sbrk(intptr_t increment)
{
	static char here;

	(void)increment;
	return &here;
}
