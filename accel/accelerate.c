/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which accelerations are in use: those that are asked for, that passed
 * the self-test, and that this machine's memory and settings allow.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "accelerate.h"
#include "checksums.h"
#include "indirect.h"
#include "map_kind.h"
#include "device/share.h"

struct choice {
	unsigned asked;
	const struct findings *found;
	struct acceleration_names *names;
	struct e2pf_decisions *list;
};

static void use(struct choice *c, const char *about, const char *name,
		const char *decision, const char *why)
{
	c->names->name[c->names->count++] = name;
	e2pf_decide(c->list, about, decision, "%s", why);
}

static void leave(struct choice *c, const char *about, const char *why)
{
	e2pf_decide(c->list, about, "not accelerated", "%s", why);
}

/* May this acceleration be used?  If not, the reason is recorded. */
static bool may_use(struct choice *c, unsigned one, enum ability ability)
{
	enum finding found = c->found->of[ability];

	if (!(c->asked & one))
		leave(c, accel_name(one), "excluded by PREFETCH_ACCEL");
	else if (found != FINDING_WHOLE)
		leave(c, accel_name(one), finding_reason(found));
	else
		return true;
	return false;
}

static void choose_checksums(struct choice *c)
{
	crc32c_fn *fn;

	if (!may_use(c, ACCEL_CRC32C, ABILITY_CRC32C))
		return;
	fn = crc32c_choose();
	if (!fn) {
		leave(c, "crc32c", finding_reason(FINDING_UNABLE));
		return;
	}
	checksums_begin(fn);
	use(c, "crc32c", "crc32c", "accelerated",
	    finding_reason(FINDING_WHOLE));
}

/* Use our maps if they passed the self-test; otherwise libext2fs's bit arrays
 * instead of its trees, chosen by a public field. */
static void choose_maps(struct choice *c)
{
	enum finding ours = c->found->of[ABILITY_BITMAPS];
	enum finding arrays = c->found->of[ABILITY_ARRAYS];
	uint64_t budget = e2pf_memory_share("") / MAPS_SHARE;
	const char *why;

	if (!(c->asked & ACCEL_BITMAPS))
		leave(c, "bitmaps", "excluded by PREFETCH_ACCEL");
	else if (ours != FINDING_WHOLE && arrays != FINDING_WHOLE)
		leave(c, "bitmaps", finding_reason(ours));
	else if (!map_kind_begin(ours == FINDING_WHOLE ? MAP_OURS : MAP_ARRAY,
				 budget, &why))
		leave(c, "bitmaps", why);
	else if (ours == FINDING_WHOLE)
		use(c, "bitmaps", "bitmaps", "accelerated",
		    finding_reason(ours));
	else
		use(c, "bitmaps", "bitarrays",
		    "libext2fs's bit arrays instead of its trees",
		    finding_reason(ours));
}

static void choose_walk(struct choice *c)
{
	if (!may_use(c, ACCEL_INDIRECT, ABILITY_INDIRECT))
		return;
	indirect_begin();
	use(c, "indirect", "indirect", "accelerated",
	    finding_reason(FINDING_WHOLE));
}

void accelerate(unsigned asked, const struct findings *found,
		struct acceleration_names *names, struct e2pf_decisions *list)
{
	struct choice c = { asked, found, names, list };

	names->count = 0;
	choose_checksums(&c);
	choose_maps(&c);
	choose_walk(&c);
}
