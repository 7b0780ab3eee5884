/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap I/O manager of libext2fs, for ext2fs_open2(): the unix manager, whose reads
 * are copies from a mapping as far as its page tables were filled.  The copy takes the
 * place of the pread64() with which the unix manager reads (pread.h), below its cache of
 * blocks, so writes have the unix manager's order.
 */
#ifndef E2PF_MMAP_IO_H
#define E2PF_MMAP_IO_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A channel that it opens has this manager, or unix_io_manager where nothing can be
 * mapped: with direct I/O; while another channel is mapped; on a filesystem whose reads
 * do not come from the page cache; with 32 bits, Linux before 5.14, or a C library
 * other than glibc; if address space is limited; if a library that was loaded after us
 * replaces pread64(); if libext2fs has another table of operations, as Lustre's.  A
 * static program refers to unix_io_manager itself: lib/ refers to libext2fs weakly.
 */
extern io_manager e2pf_mmap_io_manager;

/* For pread.c.  Copies the bytes that pread64() would read, if a channel of this manager
 * reads them in this thread, and returns true.  If not, `to` is undefined. */
bool e2pf_mmap_copy(int fd, void *to, size_t length, uint64_t offset);

/* Fill the page tables for a range of the device or file, which should be cached:
 * other pages are read one by one.  Has no effect if it is not mapped.  Any thread. */
void e2pf_mmap_populate(uint64_t offset, uint64_t length);

/* Populate at most this many bytes more, or 1 GiB: they count as memory of this
 * process. */
void e2pf_mmap_limit(uint64_t bytes);

#endif
