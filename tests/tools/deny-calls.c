// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * deny-calls ERRNO NAME[,NAME...] PROGRAM ARGUMENTS: runs a program in which
 * the named system calls fail with this error, as under a container's seccomp
 * filter; with "kill" for ERRNO they end the process.  Supports only the system calls
 * that prefetching may use, and those that runtimes refuse.  It may be nested.
 *
 * The exit status is 125 if the kernel has no seccomp.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 32

static const struct call {
	const char *name;
	unsigned nr;
} known[] = {
	{ "madvise", SYS_madvise },
	{ "mincore", SYS_mincore },
#ifdef SYS_fadvise64
	{ "fadvise64", SYS_fadvise64 },
#endif
#ifdef SYS_fadvise64_64
	{ "fadvise64", SYS_fadvise64_64 },
#endif
	{ "readahead", SYS_readahead },
	/* Calls from 424 on have the same number on every processor. */
	{ "io_uring", 425 },
	{ "io_uring", 426 },
	{ "io_uring", 427 },
	{ "sched_getaffinity", SYS_sched_getaffinity },
	{ "prctl", SYS_prctl },
	{ "pidfd_open", 434 },
	{ "clone3", 435 },
	{ "faccessat2", 439 },
	{ "cachestat", 451 },
	{ "socket", SYS_socket },
#ifdef SYS_readlink
	{ "readlink", SYS_readlink },
#endif
	{ "getdents64", SYS_getdents64 },
	{ "getrusage", SYS_getrusage },
	{ "open_by_handle_at", SYS_open_by_handle_at },
};

static struct sock_filter filter[3 * MAX_CALLS + 2] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short used = 1;

static int deny(const char *name, unsigned action)
{
	size_t i;
	int found = 0;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(name, known[i].name))
			continue;
		found = 1;
		if (used + 3u > sizeof(filter) / sizeof(*filter))
			return 0;
		filter[used++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, known[i].nr, 0, 1);
		filter[used++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, action);
	}
	return found;
}

int main(int argc, char **argv)
{
	struct sock_fprog prog = { .filter = filter };
	unsigned action = SECCOMP_RET_KILL_PROCESS;
	char *name;

	if (argc < 4) {
		fprintf(stderr, "Usage: deny-calls ERRNO NAME[,NAME...] "
			"PROGRAM ARGUMENTS\n");
		return 2;
	}
	if (strcmp(argv[1], "kill"))
		action = SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]);
	for (name = strtok(argv[2], ","); name; name = strtok(NULL, ","))
		if (!deny(name, action)) {
			fprintf(stderr, "deny-calls: %s?\n", name);
			return 2;
		}
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						      SECCOMP_RET_ALLOW);
	prog.len = used;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 125;
	execvp(argv[3], argv + 3);
	fprintf(stderr, "deny-calls: %s: %s\n", argv[3], strerror(errno));
	return 127;
}
