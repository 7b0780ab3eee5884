/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the launcher must know of btrfs's command line. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>

/* Is this "btrfs check", or btrfs under the name btrfsck? */
bool arguments_are_check(int argc, char **argv);

/* Is this "btrfs send"?  Of what, the module learns from the kernel's call. */
bool arguments_are_send(int argc, char **argv);

/* Does btrfs say which version it is, and nothing else? */
bool arguments_are_version(int argc, char **argv);

/*
 * Why a check with these arguments is better left alone, in words; NULL when
 * it is not.  Looks at the device where that tells.
 */
const char *arguments_aside(int argc, char **argv);

#endif
