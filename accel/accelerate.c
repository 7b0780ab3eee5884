/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which accelerations are in use: those that were requested, that
 * passed the self-test, and that this machine's memory and settings allow.
 */
#include <stdlib.h>

#include "accelerate.h"
#include "bitmaps.h"
#include "crc32c.h"
#include "indirect.h"

static const char *const reasons[FINDINGS] = {
	[FINDING_UNTRIED] = "no self-test was run",
	[FINDING_WHOLE] = "self-test matched libext2fs",
	[FINDING_LINKED] = "internal calls of libext2fs cannot be interposed",
	[FINDING_ABSENT] = "libext2fs lacks a function that it needs",
	[FINDING_DIFFERS] = "self-test differed from libext2fs",
	[FINDING_UNREAD] = "this version of libext2fs has not been reviewed",
	[FINDING_UNABLE] = "the processor or the memory does not allow it",
	[FINDING_THREADS] = "this e2fsck checks in several threads",
	[FINDING_SMALL] = "the filesystem is small",
	[FINDING_CRASHED] = "the self-test crashed or hung",
};

/*
 * Begin an acceleration that passed the self-test.  Returns NULL, or why it is
 * not used.
 */

static const char *begin_crc32c(void)
{
	crc32c_fn *fn = crc32c_choose();

	crc32c_begin(fn);
	return fn ? NULL : reasons[FINDING_UNABLE];
}

static const char *begin_bitmaps(void)
{
	if (getenv("E2FSPROGS_BITMAP_STATS"))
		return "E2FSPROGS_BITMAP_STATS asks for statistics of trees";
	return bitmaps_begin() ? NULL : reasons[FINDING_ABSENT];
}

static const char *begin_indirect(void)
{
	indirect_begin();
	return NULL;
}

static const char *(*const begins[E2PF_ACCELERATIONS])(void) = {
#define ROW(ability, name) [ABILITY_##ability] = begin_##name,
	ACCELERATIONS(ROW)
#undef ROW
};

void accelerate(unsigned asked, const struct findings *found,
		struct acceleration_names *names, struct e2pf_decisions *list)
{
	unsigned i;

	names->count = 0;
	for (i = 0; i < E2PF_ACCELERATIONS; i++) {
		const char *name = e2pf_acceleration_names[i], *why_not;

		if (!(asked & 1u << i))
			why_not = "excluded by the setting accel";
		else if (found->of[i] != FINDING_WHOLE)
			why_not = reasons[found->of[i]];
		else
			why_not = begins[i]();
		if (!why_not)
			names->name[names->count++] = name;
		e2pf_decide(list, name, why_not ? "not accelerated" :
			    "accelerated", "%s", why_not ? why_not :
			    reasons[FINDING_WHOLE]);
	}
}
