/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The device under the engine: which pages are cached, readahead, reads, and
 * the clock.  The engine knows a device only through these operations, so that
 * tests run it on a simulated disk and clock.
 */
#ifndef PREFETCH_DEVICE_H
#define PREFETCH_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

/* cachestat(2) of Linux 6.5, which the headers need not know yet. */
#if !defined(SYS_cachestat) && (defined(__x86_64__) || \
	defined(__aarch64__) || defined(__riscv) || \
	defined(__powerpc64__) || defined(__s390x__))
#define SYS_cachestat 451
#endif

struct pf_device;

/* The most bytes that POSIX_FADV_WILLNEED reads if the device does not report it: the
 * kernel's VM_READAHEAD_PAGES. */
#define PF_READAHEAD (128u << 10)

/* The state of a range in the page cache. */
enum pf_residency {
	PF_MISSING,		/* nothing */
	PF_CACHED,		/* all of it, to be had now */
	PF_NOT_UPTODATE		/* pages that cannot be had now: they are being
				   read, could not be read, or were written in
				   part, and then nobody reads the rest */
};

/* Offsets and lengths are bytes of the device.  Every operation may be called
 * from any thread. */
struct pf_device_ops {
	/* Length (1 to len) of the leading part of the range that is all in the
	 * same state.  A multiple of the cache's page size, or len. */
	uint64_t (*span)(struct pf_device *dev, uint64_t offset,
			 uint64_t len, enum pf_residency *state);
	/* Start reading the range into the page cache; may block while the
	 * device's queue is full. */
	void (*willneed)(struct pf_device *dev, uint64_t offset,
			 uint64_t len);
	/* Copy the range, reading pages that are not cached.  Returns 0 or an
	 * errno; EIO for a range that ends beyond the device. */
	int (*read)(struct pf_device *dev, void *buf, uint64_t offset,
		    uint32_t len);
	/* Nanoseconds of a monotonic clock. */
	uint64_t (*now)(struct pf_device *dev);
	void (*close)(struct pf_device *dev);
	/* Wait at most `ns` until none of the range is held, without a request:
	 * read() would have the device try again what it could not read.  Returns
	 * false if some of it is still held.  `drop`: before that a page that could
	 * not be read is dropped from the cache, and so is missing.  NULL: nobody
	 * can tell. */
	bool (*arrives)(struct pf_device *dev, uint64_t offset, uint64_t len,
			uint64_t ns, bool drop);
	/* The first byte at or after this one that is stored, and not in a hole
	 * of a file; UINT64_MAX if there is none.  NULL: there are no holes. */
	uint64_t (*next_data)(struct pf_device *dev, uint64_t offset);
};

struct pf_device {
	const struct pf_device_ops *ops;
	uint64_t size;			/* bytes */
	int fd;				/* if pf_device_open() made it */
	uint32_t max_readahead;		/* most bytes per readahead call */
	/* Unit of residency, in bytes. */
	uint32_t page_size;
	/* span() can tell pages that are not up to date from missing ones: cachestat(2) of
	 * Linux 6.5. */
	bool sees_not_uptodate;
	/* Only a read without a wait shows what is cached: span() begins to read what
	 * is missing.  mincore(2) is not allowed. */
	bool asks_by_reading;
	/* Why nothing is to be read ahead, a text that follows its name; NULL: it may.
	 * Reads pass the page cache, as on a FUSE mount with direct I/O: blocks read
	 * ahead would be read twice.  Or mincore(2) does not show what is cached: it
	 * does to the owner of a file and to users who may write to it. */
	const char *unusable;
};

/*
 * Open `path` for reading ahead, starting `offset` bytes into it, on its own
 * descriptor.  Returns 0 and *dev, or an errno.  EMFILE also when RLIMIT_NOFILE
 * would leave the program too few descriptors.
 */
int pf_device_open(const char *path, uint64_t offset,
		   struct pf_device **dev);

/* Are all of these bytes in the page cache?  `not_uptodate_counts`: also if they are held. */
bool pf_device_is_cached(struct pf_device *dev, uint64_t offset, uint64_t len,
			 bool not_uptodate_counts);

#endif
