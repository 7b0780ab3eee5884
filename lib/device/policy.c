/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides threads and order from the topology.  Looks at nothing itself. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "policy.h"

/* Threads wait for the device more than they compute: on a machine of few
 * processors two of them still overlap parsing with reading. */
#define FLASH_THREADS_LEAST 2u

/* And more than this keep no device busier: each has many requests under way,
 * and takes a share of the helper's memory. */
#define FLASH_THREADS_MOST 16u

/* More elevator passes than this at a time gain nothing a queue does not. */
#define HEAD_THREADS_MOST 32u

static unsigned within(unsigned least, unsigned n, unsigned most)
{
	return n < least ? least : n > most ? most : n;
}

/*
 * The RFC's figures: threads in the checker's order make a USB disk three
 * times as slow, and gain 15-20 % on flash; three spindles stand about three.
 * Flash that takes one request at a time gains by a larger one as a disk does.
 * A virtual disk that says it rotates may be one spindle with any number of
 * others on it.
 */
void e2pf_policy_choose(const struct e2pf_topology *topo, unsigned processors,
			struct e2pf_policy *policy)
{
	policy->threads = within(FLASH_THREADS_LEAST, processors,
				 FLASH_THREADS_MOST);
	policy->head_threads = 1;
	policy->has_head = true;
	/* A disk that says it rotates does; the others have to show. */
	policy->probe = !topo->known || topo->virtual_disk || !topo->spindles;
	if (!topo->known || topo->declared_spindle)
		return;
	policy->has_head = !topo->flash || topo->one_request;
	if (policy->has_head)
		policy->head_threads = within(1, topo->flash ? topo->leaves :
					      topo->data_spindles,
					      HEAD_THREADS_MOST);
}
