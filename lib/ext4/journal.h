/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Readahead for a journal that is about to be examined or replayed.
 *
 * The first thing a check does is walk the journal's block map.  On ext3 that
 * is one indirect block per 4 MiB, and on a disk each costs a turn of the
 * platter.  A replay first follows the descriptor blocks to find the end of
 * each transaction, skipping the data between them, and then reads that data:
 * on a disk each step costs a turn of the platter.  Reading everything ahead in
 * order costs one sequential transfer.
 */
#ifndef E2PF_JOURNAL_H
#define E2PF_JOURNAL_H

#include <pthread.h>

#include "device/device.h"
#include "plan.h"

struct e2pf_journal {
	struct e2pf_device *dev;
	uint32_t block_size;
	uint64_t bytes;			/* requested, because not cached */
	/* Private. */
	struct e2pf_journal_run *run;
	size_t runs, room;
	bool full;			/* later blocks are left out */
	uint64_t blocks;		/* in all runs */
	pthread_mutex_t lock;		/* of e2pf_journal_at() */
	/* Indices in the journal: all blocks from `from` up to `to` were
	 * requested. */
	uint64_t from, to;
	uint64_t window;		/* blocks; 0: the replay has not begun */
};

/* Begin with a journal without blocks.  The device must outlive it. */
void e2pf_journal_init(struct e2pf_journal *j, struct e2pf_device *dev,
		       uint32_t block_size);
void e2pf_journal_fini(struct e2pf_journal *j);

/* The checker is about to walk the journal's map.  Request the indirect, double
 * indirect and triple indirect block that its inode names (0: none), and all
 * blocks that the double indirect block refers to, at most 4 MiB.  The blocks below
 * the triple indirect one are not requested: they begin at 4 GiB. */
void e2pf_journal_request_map(struct e2pf_journal *j,
			      const struct e2pf_geometry *geo,
			      const uint32_t block[3]);

/* Append this block of the filesystem to the journal.  If a journal consists of
 * too many runs, only its first part is read ahead. */
void e2pf_journal_add(struct e2pf_journal *j, uint64_t block);

/* The checker is about to read this block, which may or may not belong to the
 * journal: read ahead of it.  The window starts small and grows while the reads
 * follow the journal.  May be called from any thread, but not while another
 * function is. */
void e2pf_journal_at(struct e2pf_journal *j, uint64_t block);

#endif
