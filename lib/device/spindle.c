/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The single-spindle detector (spindle.h): the declared and the measured
 * properties of a device, and the policy that follows.
 */
#include "spindle.h"

/* Two threads keep a device busy, since each has many requests in flight, and
 * overlap parsing with reading. */
#define THREADS 2u

/*
 * A 7200 rpm disk takes 8 to 15 ms for a single read far away, and 4 ms per
 * read with eight in flight; a USB disk 10 ms.  Flash takes 0.05 to 1 ms for a
 * single read.  A network volume may take several ms, and a tenth of that per
 * read with eight in flight.
 */
#define SEEK_LATENCY_NS 2000000u
#define SEEK_DEEP_NS 1200000u

bool e2pf_measured_seeks(uint64_t latency_ns, uint64_t deep_latency_ns)
{
	return latency_ns >= SEEK_LATENCY_NS && deep_latency_ns >= SEEK_DEEP_NS;
}

/*
 * A disk that is not known to be one and is declared rotational may be flash, a single
 * spindle, or any number of disks with a spindle among them.  A known disk that is declared
 * rotational is; all others are measured.
 */
static struct e2pf_policy declared(const struct e2pf_topology *topo)
{
	bool known = topo->disks && !topo->incomplete;
	struct e2pf_policy policy = {
		.seeks = true, .spindles = topo->devices,
		.measure = !known || topo->unsure || !topo->spindles
	};

	if (known && !topo->unsure) {
		policy.seeks = topo->spindles;
		policy.spindles = topo->spindles ? topo->spindles : topo->disks;
	}
	return policy;
}

struct e2pf_policy e2pf_policy_choose(const struct e2pf_topology *topo,
				      unsigned threads)
{
	struct e2pf_policy policy = declared(topo);

	policy.threads = policy.seek_threads = threads ? threads : THREADS;
	/* Each spindle gets a sweep of its own, up to two. */
	if (!threads && policy.spindles < THREADS)
		policy.seek_threads = policy.spindles;
	return policy;
}

bool e2pf_single_spindle(const struct e2pf_topology *topo, bool seeks)
{
	return seeks && declared(topo).spindles == 1;
}
