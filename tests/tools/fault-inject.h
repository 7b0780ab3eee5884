/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the fault injector share: which fault there is, whose calls
 * are counted, and the functions that stand behind those defined here.
 */
#ifndef FAULT_INJECT_H
#define FAULT_INJECT_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
/* Both names of each function are defined here, none of them inline. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _LARGEFILE64_SOURCE
#define _LARGEFILE64_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind {
	NONE, TRACE, READ_RANGE, WRITE_RANGE, GONE, CUT, SIGNAL, WFAIL, WSIGNAL,
	CALL, CALLS
};

struct fault {
	enum kind kind;
	struct stat target;
	bool has_target;
	uint64_t n, start, end;
	long value;			/* errno, signal or size */
	char name[48];
	uintptr_t text, text_end;	/* whose calls are counted */
	const char *log;
};

#pragma GCC visibility push(hidden)

extern struct fault fault;

/* A line for E2PF_FAULT_LOG; errno stays the caller's. */
void log_line(const char *line);
void log_hit(void);

/* Is it a descriptor of the image or device? */
bool is_target(int fd);
/* The pages of the range [fault.start, fault.end) cannot be read. */
void mark_bad(void);

/* Counts a call of `name` from the address `caller`; true, with errno set, where
 * it is one that fails. */
bool call_fails(const char *name, const void *caller, int error);
#define FAILS(name, error) \
	call_fails(name, __builtin_return_address(0), error)

int real_open(const char *path, int flags, int mode);
ssize_t real_write(int fd, const void *buf, size_t n);

#pragma GCC visibility pop

#define REAL(name) REAL_OF(name)
#define REAL_OF(name) \
	static __typeof__(&name) real; \
	if (!real) \
		real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#endif
