/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment variables of e2fsck-prefetch(8), read by launcher and
 * module alike.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "e2prefetch.h"

enum io_choice { IO_DEFAULT, IO_UNIX, IO_MMAP };

struct environment {
	bool prefetch;			/* PREFETCH */
	enum io_choice io;		/* TEST_MMAP_IO */
	struct e2pf_settings settings;	/* PREFETCH_THREADS, PREFETCH_MEM */
	const char *stats;		/* PREFETCH_STATS: a file, "-", NULL */
	bool verbose;			/* PREFETCH_VERBOSE */
	unsigned accel;			/* PREFETCH_ACCEL: of accel.h */
};

/*
 * Read the environment.  0; or -1 with one line in `error` that says which
 * variable is wrong, and *env holding the defaults in its place.
 */
int read_environment(struct environment *env, char *error, size_t size);

#endif
