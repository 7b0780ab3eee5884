/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The priority of one thread among those of its process: Linux keeps both values
 * for each thread, though POSIX has the nice value for the process.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "priority.h"

/* libc has no header for ioprio_set(2). */
#define WHO_PROCESS 1
#define CLASS_SHIFT 13
#define CLASS_BEST_EFFORT 2u
#define NORMAL_LEVEL 4u

void e2pf_priority_set(unsigned io_priority, unsigned nice)
{
	int is;

	if (io_priority)
		syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)io_priority);
	if (!nice)
		return;
	errno = 0;
	is = getpriority(PRIO_PROCESS, 0);
	if (!errno && is < (int)nice)
		setpriority(PRIO_PROCESS, 0, (int)nice);
}

bool e2pf_priority_is_low(unsigned io_priority)
{
	return io_priority >
	       (CLASS_BEST_EFFORT << CLASS_SHIFT | NORMAL_LEVEL);
}
