/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The device under the engine: the state of its pages in the cache, readahead, reads,
 * and the clock.  The engine uses a device only through these operations, so that tests
 * can run it on a simulated disk and clock.
 */
#ifndef PREFETCH_DEVICE_H
#define PREFETCH_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

/* cachestat(2) of Linux 6.5, which older headers lack. */
#if !defined(SYS_cachestat) && (defined(__x86_64__) || \
	defined(__aarch64__) || defined(__riscv) || \
	defined(__powerpc64__) || defined(__s390x__))
#define SYS_cachestat 451
#endif

struct pf_device;

/* The most bytes that POSIX_FADV_WILLNEED reads if the device does not report a limit:
 * the kernel's VM_READAHEAD_PAGES. */
#define PF_READAHEAD (128u << 10)

/* The state of a range in the page cache. */
enum pf_residency {
	PF_MISSING,		/* no page is in the cache */
	PF_CACHED,		/* all pages are in the cache and up to date */
	PF_NOT_UPTODATE		/* the pages are in the cache and not up to date:
				   they are being read, could not be read, or were
				   written in part, and then the rest is not read */
};

/* Offsets and lengths are bytes of the device.  Any thread may call any operation. */
struct pf_device_ops {
	/* Return the length (1 to len) of the leading part of the range that is in one
	 * state, and set *state.  A multiple of the cache's page size, or len. */
	uint64_t (*span)(struct pf_device *dev, uint64_t offset,
			 uint64_t len, enum pf_residency *state);
	/* Start reading the range into the page cache.  May block while the device's
	 * queue is full. */
	void (*willneed)(struct pf_device *dev, uint64_t offset,
			 uint64_t len);
	/* Copy the range, and read pages that are not cached.  Returns 0 or an errno;
	 * EIO if the range ends beyond the device. */
	int (*read)(struct pf_device *dev, void *buf, uint64_t offset,
		    uint32_t len);
	/* Nanoseconds of a monotonic clock. */
	uint64_t (*now)(struct pf_device *dev);
	void (*close)(struct pf_device *dev);
	/* Wait at most `ns` until no page of the range is in the state
	 * PF_NOT_UPTODATE.  Makes no request; read() would make the device retry what
	 * it could not read.  Returns false if a page is still in that state.  `drop`:
	 * first drop a page that could not be read from the cache, so that it is
	 * missing.  NULL: the kernel cannot tell. */
	bool (*arrives)(struct pf_device *dev, uint64_t offset, uint64_t len,
			uint64_t ns, bool drop);
	/* Return the offset of the first byte at or after this one that is not in a
	 * hole of a file; UINT64_MAX if there is none.  NULL: there are no holes. */
	uint64_t (*next_data)(struct pf_device *dev, uint64_t offset);
};

struct pf_device {
	const struct pf_device_ops *ops;
	uint64_t size;			/* bytes */
	int fd;				/* if pf_device_open() made it */
	uint32_t max_readahead;		/* the most bytes of a readahead call */
	uint32_t page_size;		/* bytes; the unit of residency */
	/* span() can tell pages that are not up to date from missing ones.  It uses
	 * cachestat(2) of Linux 6.5. */
	bool sees_not_uptodate;
	/* mincore(2) is not allowed.  span() reads without waiting instead, which
	 * starts to read what is missing. */
	bool asks_by_reading;
	/* Why nothing may be read ahead: a text that follows the device's name; NULL:
	 * reading ahead is possible.  Reads may bypass the page cache, as on a FUSE
	 * mount with direct I/O, so that blocks read ahead would be read twice.  Or
	 * mincore(2) may not show what is cached: it shows that only to a file's owner
	 * and to users who may write to the file. */
	const char *unusable;
};

/*
 * Open `path`, from `offset` bytes into it on, for reading ahead through a descriptor
 * of its own.  Returns 0 and sets *dev, or returns an errno; EMFILE also if
 * RLIMIT_NOFILE would leave the program too few descriptors.
 */
int pf_device_open(const char *path, uint64_t offset,
		   struct pf_device **dev);

/* Returns true if all of these bytes are in the page cache and, unless
 * `not_uptodate_counts`, up to date. */
bool pf_device_is_cached(struct pf_device *dev, uint64_t offset, uint64_t len,
			 bool not_uptodate_counts);

#endif
