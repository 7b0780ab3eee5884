/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap I/O manager of libext2fs, for ext2fs_open2(): the unix manager with another
 * table, whose reads set a mark for the pread64() with which it reads (pread.c).  That
 * copies from a mapping as far as its page tables were filled, below the unix manager's
 * cache of blocks, so writes have its order.
 */
#ifndef E2PF_MMAP_IO_H
#define E2PF_MMAP_IO_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A channel is unix_io_manager's where nothing can be mapped: with direct I/O; while
 * another channel is mapped; if address space is limited; with 32 bits, Linux before 5.14,
 * or a C library other than glibc; on a filesystem whose reads do not come from the page
 * cache; if a library loaded after us replaces pread64(); if libext2fs's table of
 * operations is another, as Lustre's.  A static program must refer to unix_io_manager.
 */
extern io_manager e2pf_mmap_io_manager;

/* For pread.c: copies what pread64() would read, if a channel of this manager reads in
 * this thread, and returns true.  If not, `to` is undefined. */
bool e2pf_mmap_copy(int fd, void *to, size_t length, uint64_t offset);

/* Fill the page tables for a range of the device or file, which should be cached:
 * other pages are read one by one.  Has no effect if it is not mapped.  Any thread. */
void e2pf_mmap_populate(uint64_t offset, uint64_t length);

/* Populate at most this many bytes more: they count as memory of this process.  Only
 * lowers the limit, which is 1 GiB for each channel. */
void e2pf_mmap_limit(uint64_t bytes);

/*
 * pread.c: the unix manager reads with a pread64() of ours, which takes the place of
 * libc's.  Every program or module that is linked with this has it.  It hands on all
 * reads but those that the mmap manager has copied already, and makes some again that
 * have failed.
 */

/* A variable of a thread that a signal handler may access: glibc allocates others at their
 * first access.  musl does not, and its dlopen(3) refuses this model. */
#ifdef __GLIBC__
#define E2PF_OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define E2PF_OF_THREAD _Thread_local
#endif

/* False if a preloaded library may supply the bytes: also with another C library than
 * glibc, where that is unknown. */
bool e2pf_pread_is_libcs(void);

/* Asked when a read of this thread has failed with EIO: it may have done so because of
 * others, whose sectors are in the same large folio or in the same merged request.  If so,
 * it is made again, past the page cache. */
struct e2pf_retry {
	bool (*is_worth)(void *context);
	void *context;
};

/* From now on, in this thread; NULL: never.  Returns what was set before. */
const struct e2pf_retry *e2pf_pread_retry(const struct e2pf_retry *r);

/*
 * True if the library in this process calls the operations of an I/O manager's
 * table at the places where the header has them that this was compiled with.  In
 * Lustre's e2fsprogs there is one more in the middle.  Only if it is true may we
 * provide a table, or replace an operation in one.
 */
bool e2pf_io_table_is_ours(void);

#endif
