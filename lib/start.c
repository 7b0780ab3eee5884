/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What there is to find out before the first batch: is all in memory already,
 * and does the device have a head?
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* Groups looked at to find out whether all is in memory already, and bytes of
 * the table of each that are parsed. */
#define WARM_SAMPLES 48u
#define WARM_BYTES 4096u

/* A sink: is what is referred to in memory? */
struct look {
	struct e2pf_engine *e;
	bool missing;
};

static void look_at(void *ctx, const struct e2pf_ref *ref)
{
	struct look *look = ctx;
	uint64_t bs = look->e->cfg.geo->block_size;

	if (!look->missing)
		look->missing = !e2pf_is_resident(look->e, ref->block * bs,
					     ref->count * bs);
}

/* Is the table of a group in memory, and what the first of its inodes refer
 * to?  The tables alone may have come with the kernel's own read-ahead. */
static bool group_is_warm(struct e2pf_engine *e, uint64_t group)
{
	const struct e2pf_geometry *geo = e->cfg.geo;
	uint64_t off = e->cfg.groups[group].inode_table * geo->block_size;
	uint32_t ino = (uint32_t)group * geo->inodes_per_group + 1;
	unsigned char inodes[WARM_BYTES];
	struct look look = { .e = e };
	uint64_t n = e2pf_table_bytes(e, group);

	if (!e2pf_is_resident(e, off, n))
		return false;
	if (n > sizeof(inodes))
		n = sizeof(inodes);
	if (e->cfg.dev->ops->read(e->cfg.dev, inodes, off, (uint32_t)n))
		return false;
	e2pf_plan_inodes(geo, e->cfg.groups, ino, inodes, n, look_at, &look);
	return !look.missing;
}

/* Is all in memory already?  A look at groups all over the device tells. */
bool e2pf_looks_warm(struct e2pf_engine *e)
{
	uint64_t groups = e->cfg.geo->groups, i;
	unsigned seen = 0;

	for (i = 0; i < groups; i += groups / WARM_SAMPLES + 1) {
		if (!e->cfg.groups[i].inode_table || !e2pf_table_bytes(e, i))
			continue;
		if (!group_is_warm(e, i))
			return false;
		seen++;
	}
	return seen;
}

/* Places far from each other that are not in memory: the middle of tables
 * that will be read anyway, in an order that is none.  False when there are
 * not enough of them. */
static bool probe_offsets(struct e2pf_engine *e, uint64_t *offset)
{
	/* Eleven elevenths of the groups, shuffled. */
	static const unsigned place[E2PF_PROBES] = {
		5, 0, 8, 2, 10, 4, 7, 1, 9, 3, 6
	};
	uint64_t groups = e->cfg.geo->groups, g, end, n;
	unsigned i;

	for (i = 0; i < E2PF_PROBES; i++) {
		g = groups * place[i] / E2PF_PROBES;
		end = groups * (place[i] + 1) / E2PF_PROBES;
		for (; g < end; g++) {
			n = e2pf_table_bytes(e, g);
			offset[i] = e->cfg.groups[g].inode_table *
				    e->cfg.geo->block_size + n / 2 / 4096 * 4096;
			if (e->cfg.groups[g].inode_table && n >= 8192 &&
			    !e2pf_is_resident(e, offset[i], 4096))
				break;
		}
		if (g == end)
			return false;
	}
	return true;
}

void e2pf_probe_engine(struct e2pf_engine *e)
{
	uint64_t offset[E2PF_PROBES];
	uint64_t began = e2pf_now(e);
	struct e2pf_probe p;

	/* Of a stuck device, as the checker's first reads have shown it, one
	 * probe more would be waited for as long. */
	if (!e->cfg.probe || e->stats.latency_ns || e->stuck ||
	    !probe_offsets(e, offset))
		return;
	if (!e2pf_probe_device(e->cfg.dev, offset, &p)) {
		if (e->cfg.paced && e2pf_now(e) - began >= STUCK_NS)
			e->stuck = STUCK_PROOFS;
		return;
	}
	e->block_order = e2pf_probe_has_head(&p);
	e->stats.latency_ns = p.latency_ns;
	e->stats.deep_latency_ns = p.deep_ns;
}
