/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * An mmap I/O manager for libext2fs: pass it to ext2fs_open2().
 *
 * It is the unix manager with another read: more than four blocks, or bytes, are copied
 * from a shared mapping of the device or file if they are in the page cache.  The unix
 * manager has a cache of a few blocks, which such reads pass.  All other reads are its
 * own, and so are these while its cache has something to write: it writes the same
 * blocks, in the same order, and with the same errors, as without us.
 *
 * It does not pay: scans of cached inode tables, in reads of 32 KiB, take 1 % more
 * processor time than with the unix manager.  Copying 4 KiB takes 145 ns and pread(2)
 * 650, but the page fault (16 pages), asking whether they are cached (128 pages) and
 * three system calls that make it safe (a read) take the rest.  Filling the page tables
 * with MADV_POPULATE_READ costs more than the page faults, pread(2) is faster with what
 * is not cached, and single blocks in no order would take 1.5 times as long as by
 * pread(2).
 */
#ifndef E2MMAP_MMAP_IO_H
#define E2MMAP_MMAP_IO_H

#include <ext2fs/ext2fs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any number of channels may be open, in any threads.  One channel is for one thread, or
 * for several with IO_FLAG_THREADS, as the unix manager's.  A mapping takes at most 4 MiB
 * of the process's own memory, and 256 MiB of the page cache count as resident. */
extern io_manager e2mmap_io_manager;

/*
 * NULL if this channel reads from a mapping.  Otherwise all of its reads are the unix
 * manager's, and this is the reason, in English and never freed.  If a page of it cannot
 * be read a channel ceases to read from its mapping, for good.
 */
const char *e2mmap_why_not(io_channel channel);

#ifdef __cplusplus
}
#endif

#endif
