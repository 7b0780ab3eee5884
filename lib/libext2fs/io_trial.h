/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares all that a program can observe of two I/O managers. */
#ifndef E2PF_IO_TRIAL_H
#define E2PF_IO_TRIAL_H

#include <stdbool.h>

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>

/*
 * Make the same reads, writes, flushes and changes of block size and options
 * through both managers, each on a memory file of its own that cannot grow, so
 * that some operations fail.  Returns true if after each operation the results,
 * the data read, the arguments of error callbacks, the statistics and the files
 * are the same.  Also returns false if the trial is not possible: without
 * procfs or memfd_create(2), or with a low limit on the size of files.  Takes a
 * few milliseconds and leaves nothing behind.
 */
bool e2pf_io_alike(io_manager a, io_manager b);

#endif
