/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Shared by the files of the fault injector: the current fault, whose calls are
 * counted, and the real functions behind those defined here.
 */
#ifndef FAULT_INJECT_H
#define FAULT_INJECT_H

/* Both names (32-bit and 64-bit off_t) of each function are defined here, and
 * none of them inline. */
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
	NONE, TRACE, READ_RANGE, WRITE_RANGE, GONE, CUT, ONCE, SIGNAL, HOLD,
	WFAIL, WSIGNAL, CALL, CALLS
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

/* Write a line to E2PF_FAULT_LOG; preserves errno. */
void log_line(const char *line);
void log_hit(void);

/* Whether this is a descriptor of the image or device. */
bool is_target(int fd);
/* Make the pages of the range [fault.start, fault.end) unreadable. */
void mark_bad(void);

/* Count a call of `name` from the address `caller`; true, with errno set, if it
 * must fail. */
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
