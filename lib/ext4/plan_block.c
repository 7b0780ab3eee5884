/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes a metadata block to the part of the planner that parses its kind,
 * which the run that led to it tells.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "plan_gather.h"

void e2pf_plan_block(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups,
		     const struct e2pf_run *run, const void *block,
		     e2pf_run_sink sink, void *ctx)
{
	struct e2pf_gather out = { .geo = geo, .sink = sink, .ctx = ctx };

	switch (run->parse) {
	case E2PF_EXTENT_NODE:
		e2pf_plan_extents(&out, run, run->depth, block,
				  geo->block_size);
		break;
	case E2PF_INDIRECT_BLOCK:
		e2pf_plan_indirect(&out, run, block);
		break;
	case E2PF_XATTR_BLOCK:
		e2pf_plan_xattr_block(&out, groups, block);
		break;
	default:
		break;
	}
	e2pf_gather_flush(&out);
}
