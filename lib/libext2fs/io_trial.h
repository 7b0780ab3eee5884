/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Are two I/O managers alike in all that a program can see?
 */
#ifndef E2PF_IO_TRIAL_H
#define E2PF_IO_TRIAL_H

#include <stdbool.h>

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>

/*
 * Make the same reads, writes, flushes and changes of block size and options
 * through both, each on a memory file of its own that cannot grow, so that
 * some of them fail.  True if after each the results, what was read, what the
 * error callbacks were told, the statistics and the files are the same.
 * False too where the trial cannot be made: without procfs, memfd_create(2),
 * or under a limit on the size of files.  Takes a few milliseconds, and
 * leaves nothing.
 */
bool e2pf_io_alike(io_manager a, io_manager b);

#endif
