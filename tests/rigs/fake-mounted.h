/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A mounted btrfs without a kernel: it takes the place of lib/send/mounted.c.
 * Every tree has one node with FAKE_LEAVES leaves; leaf i has the keys of inode
 * 1000 + 10 * i, whose data is the extent i.  The newer subvolume differs from
 * the older one in every leaf.
 */
#ifndef FAKE_MOUNTED_H
#define FAKE_MOUNTED_H

#include "send/mounted.h"

#define FAKE_LEAVES 100u
#define FAKE_NEWER 256u
#define FAKE_OLDER 257u
#define FAKE_CLONES 264u		/* trees from here on may be cloned
					   from */

struct fake_mounted {
	bool leaves_cached, data_cached;
	bool counts;			/* the kernel counts bytes read */
	uint64_t length;		/* of data, 0: 4096 */
	bool in_leaves;			/* the data is in the leaves */
	bool adjacent;			/* all extents are */
	bool shared;			/* each also with the same leaf of the first
					   clone, by its address */
	/* The requests: searches in the newer, the older and all other
	 * subvolumes and in the extent tree, and reads of data. */
	unsigned newer, older, clones, records, data;
	unsigned threads;		/* the most that the process had meanwhile */
};

extern struct fake_mounted fake;

/* Threads of the process. */
unsigned fake_threads(void);

#endif
