/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A library to preload that simulates a kernel without
 * BTRFS_IOC_TREE_SEARCH_V2. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <linux/btrfs.h>
#include <sys/ioctl.h>

int ioctl(int fd, unsigned long request, ...)
{
	static __typeof__(&ioctl) real;
	va_list args;
	void *arg;

	if (!real)
		real = (__typeof__(&ioctl))dlsym(RTLD_NEXT, "ioctl");
	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == BTRFS_IOC_TREE_SEARCH_V2) {
		errno = ENOTTY;
		return -1;
	}
	return real(fd, request, arg);
}
