/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filesystem that the commands of e2prefetch(8) read. */
#ifndef FILESYSTEM_H
#define FILESYSTEM_H

#include "options.h"

/* Print what is wrong with the device on standard error; returns
 * EXIT_OPERATIONAL. */
int fail(const struct options *o, errcode_t err);

/* Open a session on the filesystem that the options name, and get the size of its
 * blocks, if that is not NULL. */
errcode_t open_session(const struct options *o, struct e2pf_session **session,
		       unsigned *block_size);

#endif
