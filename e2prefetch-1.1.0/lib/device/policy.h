/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy: how many threads read from the disks below a device, and in which
 * order, given their topology.
 */
#ifndef E2PF_POLICY_H
#define E2PF_POLICY_H

#include "topology.h"

struct e2pf_policy {
	unsigned threads;	/* where no disk is rotational */
	unsigned head_threads;	/* on rotational disks: elevator passes at a
				   time */
	bool has_head;		/* rotational, as far as known before anything
				   is read */
	bool probe;		/* has_head is a guess: measure it */
};

/*
 * Choose for disks of this topology and so many processors.  Unknown disks are
 * treated as one rotational disk until they are measured.  Pure.
 */
void e2pf_policy_choose(const struct e2pf_topology *topo, unsigned processors,
			struct e2pf_policy *policy);

#endif
