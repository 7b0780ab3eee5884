/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or device, mapped for reading, and which of its pages are known to
 * be in memory.
 */
#ifndef E2PF_MAPPING_H
#define E2PF_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct e2pf_region;

struct e2pf_mapping {
	int fd;			/* not owned */
	const char *map;	/* NULL: none */
	size_t mapped;		/* bytes, the size when it was opened */
	size_t page_size;
	bool regular;		/* a file, and no device */
	struct e2pf_region *regions;
};

/*
 * Map what `fd` is, opened from `name`, writable or not, with this `st`.
 * False, with nothing to be undone, where that cannot be had for whatever
 * reason.  e2pf_guard_get() is the caller's, before any other function here.
 */
bool e2pf_mapping_init(struct e2pf_mapping *m, int fd, const char *name,
		       bool writable, const struct stat *st);
void e2pf_mapping_fini(struct e2pf_mapping *m);

/* Unmap before the descriptor is closed; the rest is e2pf_mapping_fini()'s. */
void e2pf_mapping_unmap(struct e2pf_mapping *m);

/*
 * The functions below may be called from several threads at once.  `location`
 * is a byte of the file, from which `size` bytes are meant.
 */

/* Copy from the mapping.  False, and the bytes are to be had elsewhere, where
 * it is not known that all are in memory, or where they cannot be had. */
bool e2pf_mapping_read(struct e2pf_mapping *m, long long location, void *buf,
		       size_t size);

/* The range has just been read otherwise: its pages are in memory. */
void e2pf_mapping_was_read(struct e2pf_mapping *m, long long location,
			   size_t size);

/* Is the range in memory, and equal to `buf`? */
bool e2pf_mapping_is_equal(struct e2pf_mapping *m, long long location,
			   const void *buf, size_t size);

/* Nothing is known of any page. */
void e2pf_mapping_forget(struct e2pf_mapping *m);

#endif
