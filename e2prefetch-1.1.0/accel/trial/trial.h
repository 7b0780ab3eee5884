/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trial: which parts of the module can be used with the e2fsck and the
 * libext2fs that are loaded into this process.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"

/*
 * Run all trials.  `findings` is a struct findings.  This takes about a
 * millisecond, changes how maps, checksums and walks are made in this process,
 * and may crash with an unknown version of the library.  Call it in a process
 * that ends afterwards, never in a check.
 */
void trial_run(void *findings);

/* Whether the module can see where this e2fsck is in its check.  Harmless. */
bool trial_sees_progress(void);

/*
 * Create, use, write and read a filesystem in memory through functions inside
 * libext2fs, with the kinds of maps now in force, and store the results of all
 * steps in `result`.  Two kinds of maps that give the same results are
 * interchangeable.  False if a step failed.
 */
#define TRIAL_RESULTS 1024u
struct trial_life {
	unsigned long long result[TRIAL_RESULTS];
	unsigned results;
	bool ours;		/* all its maps were of our kind */
};
bool trial_live(struct trial_life *life);

/* The next number below `below` of the pseudo-random sequence in *random, which
 * is the same in every run. */
static inline uint64_t number(uint64_t *random, uint64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) +
		  UINT64_C(1442695040888963407);
	return (*random >> 33) % below;
}

/* Whether the walk of indirect.c does the same as libext2fs's own, on sound and
 * on damaged trees of blocks. */
bool trial_walks_agree(void);

#endif
