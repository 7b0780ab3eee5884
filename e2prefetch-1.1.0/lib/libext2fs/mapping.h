/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or device that is read from a mapping where its pages are known to be
 * in memory, and with pread(2) elsewhere.
 */
#ifndef E2PF_MAPPING_H
#define E2PF_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct e2pf_region;

struct e2pf_mapping {
	int fd;
	const char *map;
	size_t mapped;		/* bytes; the size when it was opened */
	size_t page_size;
	bool regular;		/* a file, not a device */
	struct e2pf_region *regions;
};

/*
 * Open and map `name`.  It must still be the file that stat(2) found, which is
 * described by `st`.
 * `writable` says whether the caller may write to it.  Returns false, with
 * nothing to undo, if that is not possible for any reason.  The caller must
 * call e2pf_guard_get() before it reads.
 */
bool e2pf_mapping_init(struct e2pf_mapping *m, const char *name, bool writable,
		       const struct stat *st);
void e2pf_mapping_fini(struct e2pf_mapping *m);

/*
 * Read the `size` bytes that start at byte `location`.  Returns false if not
 * all of them can be read; then `buf` is undefined.  Several threads may call
 * this at once.
 */
bool e2pf_mapping_read(struct e2pf_mapping *m, long long location, void *buf,
		       size_t size);

#endif
