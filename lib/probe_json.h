/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What e2pf_write_probe() writes, as JSON (doc/statistics.md). */
#ifndef E2PF_PROBE_JSON_H
#define E2PF_PROBE_JSON_H

#include "decisions.h"
#include "device/topology.h"
#include "engine/engine.h"
#include "estimate.h"

struct e2pf_probe_report {
	const char *device;		/* as it was named */
	const char *sysroot;
	int fd;				/* the device, open */
	uint32_t groups;
	unsigned groups_looked_at;
	const struct e2pf_topology *topo;
	const struct e2pf_engine_config *cfg;
	const struct e2pf_decisions *decisions;
	const struct e2pf_measured *measured;
	struct e2pf_facts facts;
};

/* Write one JSON object and a newline.  0, EIO when `out` has an error, or
 * EXT2_ET_NO_MEMORY. */
errcode_t e2pf_probe_write(const struct e2pf_probe_report *report, FILE *out);

#endif
