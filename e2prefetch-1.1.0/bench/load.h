/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a device busy with direct I/O at a given depth.  Used by replay and by
 * the self-test of diskmodel.
 */
#ifndef E2PF_BENCH_LOAD_H
#define E2PF_BENCH_LOAD_H

#include <stddef.h>
#include <stdint.h>

#define LOAD_ALIGN	4096

struct load_io {
	uint64_t off;
	uint64_t len;
};

struct load_result {
	uint64_t elapsed;	/* ns */
	uint64_t bytes;
	uint64_t failed;
	uint64_t mean, median;	/* ns of latency */
};

/*
 * Read the @n requests of @list, in order, from @fd, which was opened with
 * O_DIRECT, with up to @depth in flight.  Offsets and lengths are multiples of
 * LOAD_ALIGN.  Returns 0, or an errno if the load could not be run; failed
 * reads are counted.
 */
int load_run(int fd, const struct load_io *list, size_t n,
	     unsigned int depth, struct load_result *result);

#endif
