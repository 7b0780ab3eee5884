/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device under the engine: what is in the page cache, read this ahead,
 * read this now, what time is it.  The engine knows a device only through
 * these operations, so that tests run it on a simulated disk and clock.
 */
#ifndef E2PF_DEVICE_H
#define E2PF_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct e2pf_device;

/* Offsets and lengths are bytes of the device.  Every operation may be
 * called from any thread. */
struct e2pf_device_ops {
	/* Length (1 to len) of the leading part of the range that is of one
	 * kind: all in the page cache, or all missing.  Always a multiple of
	 * what the cache keeps, or len. */
	uint64_t (*span)(struct e2pf_device *dev, uint64_t offset,
			 uint64_t len, bool *resident);
	/* Start reading the range into the page cache; may block while the
	 * device's queue is full.  Returns the number of requests made. */
	unsigned (*willneed)(struct e2pf_device *dev, uint64_t offset,
			     uint64_t len);
	/* Copy the range, reading what is missing.  0 or an errno; a range
	 * that ends past the device is EIO. */
	int (*read)(struct e2pf_device *dev, void *buf, uint64_t offset,
		    uint32_t len);
	/* Nanoseconds of a clock that never goes back. */
	uint64_t (*now)(struct e2pf_device *dev);
	void (*close)(struct e2pf_device *dev);
	/* Is the page of this byte neither in memory nor on its way there?
	 * False also where that cannot be seen.  NULL: it never can. */
	bool (*is_gone)(struct e2pf_device *dev, uint64_t offset);
};

struct e2pf_device {
	const struct e2pf_device_ops *ops;
	uint64_t size;			/* bytes */
	uint32_t max_readahead;		/* bytes one readahead call takes */
	/* Where residency is kept by bigger units than the block. */
	uint32_t page_size;
	/* What is in memory cannot be seen (mincore(2) tells only the owner of
	 * a file and those who may write it): span() says that nothing is. */
	bool blind;
};

/*
 * Open `path` for reading ahead `offset` bytes into it, on a descriptor of
 * its own.  Returns 0 and *dev, or an errno: EMFILE also where a limit leaves
 * the program few descriptors beside it.
 */
int e2pf_device_open(const char *path, uint64_t offset,
		     struct e2pf_device **dev);

/* The descriptor below a device of e2pf_device_open(). */
int e2pf_device_fd(const struct e2pf_device *dev);

#endif
