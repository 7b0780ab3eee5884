/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or device that is mapped for reading, and a record of which of its
 * pages are in memory.
 */
#ifndef E2PF_MAPPING_H
#define E2PF_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct e2pf_region;

struct e2pf_mapping {
	int fd;			/* not owned */
	const char *map;	/* NULL: not mapped */
	size_t mapped;		/* bytes; the size when it was opened */
	size_t page_size;
	bool regular;		/* a file, not a device */
	struct e2pf_region *regions;
};

/*
 * Map the file `fd`, which was opened from `name`, is `writable` or not, and
 * has this `st`.  Returns false, with nothing to undo, if that is not possible
 * for any reason.  The caller must call e2pf_guard_get() before any other
 * function here.
 */
bool e2pf_mapping_init(struct e2pf_mapping *m, int fd, const char *name,
		       bool writable, const struct stat *st);
void e2pf_mapping_fini(struct e2pf_mapping *m);

/* Unmap, before the descriptor is closed.  e2pf_mapping_fini() frees the
 * rest. */
void e2pf_mapping_unmap(struct e2pf_mapping *m);

/*
 * Several threads may call the functions below at once.  They work on the
 * `size` bytes of the file that start at byte `location`.
 */

/* Copy from the mapping.  Returns false if it is not known that all the pages
 * are in memory, or if one cannot be read: then the caller must read the bytes
 * in another way. */
bool e2pf_mapping_read(struct e2pf_mapping *m, long long location, void *buf,
		       size_t size);

/* The range was just read in another way, so its pages are in memory. */
void e2pf_mapping_was_read(struct e2pf_mapping *m, long long location,
			   size_t size);

/* True if the range is in memory and equals `buf`. */
bool e2pf_mapping_is_equal(struct e2pf_mapping *m, long long location,
			   const void *buf, size_t size);

/* Forget which pages are in memory. */
void e2pf_mapping_forget(struct e2pf_mapping *m);

#endif
