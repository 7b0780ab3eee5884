/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy: how many threads read from the disks below a device, and in
 * which order, by what the topology knows of them.
 */
#ifndef E2PF_POLICY_H
#define E2PF_POLICY_H

#include "topology.h"

struct e2pf_policy {
	unsigned threads;	/* where no disk has a head */
	unsigned head_threads;	/* where disks have: elevator passes at a
				   time */
	bool has_head;		/* there is a head to be moved, as far as known
				   before anything is read */
	bool probe;		/* that is a guess: measure it */
};

/*
 * Choose for disks of this topology and so many processors.  What nothing is
 * known of is treated as one disk with a head until it is measured.  Pure.
 */
void e2pf_policy_choose(const struct e2pf_topology *topo, unsigned processors,
			struct e2pf_policy *policy);

#endif
