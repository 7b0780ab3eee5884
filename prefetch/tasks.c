/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* How many threads may be started, so that the program has the tasks that it needs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cgroup.h"
#include "lib/sysfile.h"
#include "lib/thread.h"
#include "tasks.h"

/* Tasks that are left besides one for each processor, which a checker may start: for a
 * command, and a program that it runs. */
#define SPARE 2u

static void lower_by_cgroup(void *ctx, const char *dir, int version)
{
	uint64_t *left = ctx, max, used;

	(void)version;
	/* "max" is not a number, and means no limit. */
	if (e2pf_read_u64(dir, "pids.max", &max) ||
	    e2pf_read_u64(dir, "pids.current", &used))
		return;
	if (used > max)
		used = max;
	if (max - used < *left)
		*left = max - used;
}

static void *pass_mutex(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

/* Start this many threads, because the kernel does not tell how many tasks a user has. */
static uint64_t try_threads(uint64_t max)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	pthread_t *thread = calloc(max, sizeof(*thread));
	uint64_t n = 0, i;

	pthread_mutex_lock(&gate);
	while (thread && n < max && !e2pf_thread_start(&thread[n], pass_mutex,
						       &gate))
		n++;
	pthread_mutex_unlock(&gate);
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return n;
}

/* Is the limit of the user's tasks so far above the number of all tasks that it does not
 * matter whose they are? */
static bool user_has(const char *sysroot, uint64_t tasks)
{
	unsigned long long all;
	struct rlimit max;
	char text[128];

	if (getrlimit(RLIMIT_NPROC, &max) || max.rlim_cur == RLIM_INFINITY)
		return true;
	return e2pf_read_text(sysroot, "proc/loadavg", text, sizeof(text)) > 0 &&
	       sscanf(text, "%*s %*s %*s %*u/%llu", &all) == 1 &&
	       max.rlim_cur > all && max.rlim_cur - all >= tasks;
}

unsigned pf_tasks_left(const char *sysroot, unsigned wanted)
{
	/* Checkers count those that are offline, too. */
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t spare = SPARE + (processors > 0 ? (uint64_t)processors : 1);
	uint64_t left = UINT64_MAX;

	pf_cgroup_visit(sysroot, "pids", lower_by_cgroup, &left);
	if (left > spare && !user_has(sysroot, spare + wanted))
		left = try_threads(left - spare < wanted ? left : spare + wanted);
	left = left > spare ? left - spare : 0;
	return left < wanted ? (unsigned)left : wanted;
}
