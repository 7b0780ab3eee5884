/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filesystem that the commands of e2prefetch(8) read. */
#ifndef FILESYSTEM_H
#define FILESYSTEM_H

#include "options.h"

/* Say on standard error what is wrong with the device; EXIT_OPERATIONAL. */
int fail(const struct options *o, errcode_t err);

/* Open it for reading, by the superblock that the options name. */
errcode_t open_filesystem(const struct options *o, ext2_filsys *fs);

/* Bytes of its inode tables that are in use. */
uint64_t table_bytes(ext2_filsys fs);

#endif
