/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the checker would have asked the device for by itself: an estimate of
 * the requests that reading ahead has spared it.
 *
 * Each of its reads that met something read ahead is a request it would have
 * waited for, unless the kernel had read that ahead: it does so where a read
 * goes on behind what was read before, in windows that grow as long as it goes
 * on.
 *
 * Not safe from two threads at once.
 */
#ifndef E2PF_ALONE_H
#define E2PF_ALONE_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's windows ahead of a sequence: the first, and the largest where
 * read_ahead_kb is 128, as it is on all but a few devices. */
#define E2PF_ALONE_FIRST (16u << 10)
#define E2PF_ALONE_LARGEST (128u << 10)

/* A request no further than this from the one before is a near one: a disk
 * has what follows in its buffer, or under the head soon. */
#define E2PF_ALONE_NEAR (1u << 20)

/* Pages that are remembered, each in the one place its number gives it. */
#define E2PF_ALONE_PAGE 4096u
#define E2PF_ALONE_PAGES 8192u

struct e2pf_alone {
	uint64_t next;		/* where the last read ended, bytes */
	uint64_t window;	/* size of the kernel's last one */
	uint64_t asked;		/* where the last request ended */
	uint64_t requests;	/* near ones included */
	uint64_t near;
	uint64_t bytes;		/* read ahead, and met */
	uint64_t page[E2PF_ALONE_PAGES];	/* number + 1 of pages the
						   kernel would have */
};

/* The checker read `length` bytes at `offset`, counted over all devices, of
 * which `ahead` were read ahead of it.  Zeroed to begin; every read is to be
 * told. */
void e2pf_alone_add(struct e2pf_alone *alone, uint64_t offset,
		    uint64_t length, uint64_t ahead);

#endif
