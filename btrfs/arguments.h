/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the launcher must know about btrfs's command line. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>

/* Whether this is "btrfs check", or btrfs called as btrfsck. */
bool arguments_are_check(int argc, char **argv);

/* Whether this is "btrfs send" or "btrfs subvolume find-new".  The module learns
 * from the ioctl what is sent or searched. */
bool arguments_are_send(int argc, char **argv);

/* Whether btrfs only prints its version. */
bool arguments_are_version(int argc, char **argv);

/*
 * Why a check with these arguments should run without prefetching, in words;
 * NULL if there is no reason.  Looks at the device if that matters.
 */
const char *arguments_aside(int argc, char **argv);

#endif
