/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filesystem that the commands of e2prefetch(8) read. */
#ifndef FILESYSTEM_H
#define FILESYSTEM_H

#include "options.h"

/* Print what is wrong with the device on standard error; returns
 * EXIT_OPERATIONAL. */
int fail(const struct options *o, errcode_t err);

/* Open the filesystem for reading, with the superblock that the options
 * name. */
errcode_t open_filesystem(const struct options *o, ext2_filsys *fs);

/* Size of the parts of its inode tables that are in use, bytes. */
uint64_t table_bytes(ext2_filsys fs);

#endif
