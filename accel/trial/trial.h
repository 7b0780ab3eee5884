/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trial: what of the module can be used with the e2fsck and the libext2fs
 * that are loaded into this process.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdint.h>

#include "findings.h"

/*
 * Try everything.  It takes about a millisecond, changes how maps, checksums
 * and walks are made in this process, and on a library unlike those known it
 * may crash: it is for a process that ends after it, and not for a check.
 */
void trial_run(struct findings *f);

/*
 * Let a filesystem in memory be made, used, written and read by functions
 * inside libext2fs, with the kinds of maps now in force, and keep in `result`
 * what came of it: two kinds that give the same results can take each other's
 * place.  False if something failed.
 */
#define TRIAL_RESULTS 1024u
struct trial_life {
	unsigned long long result[TRIAL_RESULTS];
	unsigned results;
	bool ours;		/* all maps of its filesystem were ours */
};
bool trial_live(struct trial_life *life);

/* A number below `below`: the next of the sequence that *random stands in, the
 * same in every run. */
static inline uint64_t number(uint64_t *random, uint64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) +
		  UINT64_C(1442695040888963407);
	return (*random >> 33) % below;
}

/* Whether the walk of indirect.c does what libext2fs's own does, on trees of
 * blocks sound and damaged. */
bool trial_walks_agree(void);

/* Whether the handles of extents.c do what libext2fs's own do, on inodes sound
 * and damaged. */
bool trial_extents_agree(void);

#endif
