/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides what a process inherits that may outlive the check, and how its end is
 * noticed. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart.h"

/* Linux 5.9.  The headers of older systems do not have it. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Without close_range(2): no descriptor of ours is higher (device/share.c). */
#define MOST_DESCRIPTOR 1024u

static void close_from(unsigned first, unsigned last)
{
	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	for (; first <= last && first < MOST_DESCRIPTOR; first++)
		close((int)first);
}

static void keep_only(unsigned fd)
{
	if (fd)
		close_from(0, fd - 1);
	close_from(fd + 1, ~0u);
}

void apart(void (*body)(void *ctx), void *ctx, int patience)
{
	struct pollfd end = { .events = POLLIN };
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		keep_only((unsigned)ends[1]);
		body(ctx);
		_exit(0);
	}
	close(ends[1]);
	end.fd = ends[0];
	/* The pipe breaks when the child ends. */
	if (child > 0)
		waitpid(child, NULL, poll(&end, 1, patience) > 0 ? 0 : WNOHANG);
	close(ends[0]);
}
