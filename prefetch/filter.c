/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "filter.h"
#include "lib/sysfile.h"

/* Any thread may set it, to the same. */
static _Atomic(enum { UNKNOWN, MAY, MAY_NOT }) known;

static void find_mode(void *ctx, char *text)
{
	static const char field[] = "Seccomp:\t";
	char *mode = ctx;

	if (!strncmp(text, field, strlen(field)))
		*mode = text[strlen(field)];
}

/* Read from a file: a filter might end a process that asks with prctl(2). */
bool pf_filter_is_set(void)
{
	char mode = '0';

	return e2pf_read_lines("/proc/self", "status", find_mode, &mode) < 0 ||
	       mode != '0';
}

void pf_filter_try_calls(void)
{
	unsigned char in_core;

	mincore(NULL, 1, &in_core);
#ifdef SYS_cachestat
	syscall(SYS_cachestat, -1, NULL, NULL, 0);
#endif
}

/* The exit status is lost if SIGCHLD is ignored. */
static bool child_survives(void)
{
	static const struct rlimit no_core = { 0, 0 };
	atomic_bool *alive = mmap(NULL, sizeof(*alive), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool survived;
	pid_t child;

	if (alive == MAP_FAILED)
		return false;
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		prctl(PR_SET_DUMPABLE, 0);
		pf_filter_try_calls();
		*alive = true;
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	survived = *alive;
	munmap(alive, sizeof(*alive));
	return survived;
}

bool pf_filter_allows_calls(void)
{
	if (known == UNKNOWN)
		pf_filter_set_allows_calls(!pf_filter_is_set() ||
					   child_survives());
	return known == MAY;
}

void pf_filter_set_allows_calls(bool may)
{
	known = may ? MAY : MAY_NOT;
}
