/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * An empty /run that no other process sees, so that the checks which share the memory
 * are those of the test.
 */
#ifndef OWN_RUN_H
#define OWN_RUN_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

/* Replace /run for this process.  False if that is not possible. */
static inline bool own_run_begin(void)
{
	return !geteuid() && !unshare(CLONE_NEWNS) &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", "/run", "tmpfs", 0, "mode=755");
}

/* How many checks the directory of /run shows. */
static inline unsigned own_run_checks(const char *directory)
{
	char path[128];
	unsigned i, checks = 0;
	int fd;

	for (i = 0; i < 32; i++) {
		snprintf(path, sizeof(path), "%s/check.%u", directory, i);
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		checks += fd >= 0 && !close(fd);
	}
	return checks;
}

#endif
