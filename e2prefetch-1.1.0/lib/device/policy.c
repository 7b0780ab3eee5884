/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides threads and order from the topology.  Looks at nothing itself. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "policy.h"

/* Threads wait for the device more than they compute: even with one processor,
 * two of them overlap parsing with reading. */
#define FLASH_THREADS_LEAST 2u

/* More threads than this keep no device busier: each has many requests in
 * flight, and takes a share of the engine's memory. */
#define FLASH_THREADS_MOST 16u

/* More elevator passes at a time than this gain no more than a queue does. */
#define HEAD_THREADS_MOST 32u

static unsigned within(unsigned least, unsigned n, unsigned most)
{
	return n < least ? least : n > most ? most : n;
}

/*
 * Reported of real devices: threads in the checker's order make a USB disk three
 * times as slow, and gain 15-20 % on flash; three spindles can serve about three
 * passes.  Flash that takes one request at a time gains from larger requests,
 * as a rotational disk does.  A virtual disk declared rotational may be a
 * single spindle, or any number of disks with a spindle among them.
 */
void e2pf_policy_choose(const struct e2pf_topology *topo, unsigned processors,
			struct e2pf_policy *policy)
{
	policy->threads = within(FLASH_THREADS_LEAST, processors,
				 FLASH_THREADS_MOST);
	policy->head_threads = 1;
	policy->has_head = true;
	/* A physical disk declared rotational is; all others are measured. */
	policy->probe = !topo->known || topo->virtual_disk || !topo->spindles;
	if (!topo->known || topo->declared_spindle)
		return;
	policy->has_head = !topo->flash || topo->one_request;
	if (policy->has_head)
		policy->head_threads = within(1, topo->flash ? topo->leaves :
					      topo->data_spindles,
					      HEAD_THREADS_MOST);
}
