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

/* What is decided about one acceleration. */
struct choice {
	const char *in_use;	/* its name in the statistics; NULL: not used */
	const char *decision, *why;
};

/*
 * Begin an acceleration that passed the self-test, or change the choice.
 */

static void begin_crc32c(const struct findings *f, struct choice *c)
{
	crc32c_fn *fn = crc32c_choose();

	(void)f;
	crc32c_begin(fn);
	if (!fn)
		*c = (struct choice){ .why = reasons[FINDING_UNABLE] };
}

static void begin_bitmaps(const struct findings *f, struct choice *c)
{
	(void)f;
	if (getenv("E2FSPROGS_BITMAP_STATS"))
		*c = (struct choice){
			.why = "E2FSPROGS_BITMAP_STATS asks for statistics of trees"
		};
	else if (!bitmaps_begin())
		*c = (struct choice){ .why = reasons[FINDING_ABSENT] };
}

static void begin_indirect(const struct findings *f, struct choice *c)
{
	(void)f;
	(void)c;
	indirect_begin();
}

static const struct acceleration {
	enum ability ability;
	void (*begin)(const struct findings *f, struct choice *c);
} accelerations[] = {
#define ROW(ability, name) { ABILITY_##ability, begin_##name },
	ACCELERATIONS(ROW)
#undef ROW
};

static struct choice choose(const struct acceleration *a, unsigned asked,
			    const struct findings *f)
{
	struct choice c = {
		e2pf_acceleration_names[a->ability], "accelerated",
		reasons[f->of[a->ability]]
	};

	if (!(asked & 1u << a->ability))
		c = (struct choice){ .why = "excluded by the setting accel" };
	else if (f->of[a->ability] != FINDING_WHOLE)
		c.in_use = NULL;
	else
		a->begin(f, &c);
	return c;
}

void accelerate(unsigned asked, const struct findings *found,
		struct acceleration_names *names, struct e2pf_decisions *list)
{
	struct choice c;
	size_t i;

	names->count = 0;
	for (i = 0; i < E2PF_ACCELERATIONS; i++) {
		c = choose(&accelerations[i], asked, found);
		if (c.in_use)
			names->name[names->count++] = c.in_use;
		e2pf_decide(list, e2pf_acceleration_names[i],
			    c.in_use ? c.decision : "not accelerated", "%s",
			    c.why);
	}
}
