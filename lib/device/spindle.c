/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The single-spindle detector (spindle.h): the declared and the measured
 * properties of a device, and what follows.
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
static bool is_known(const struct e2pf_topology *topo)
{
	return topo->disks && !topo->incomplete && !topo->unsure;
}

bool e2pf_declared_seeks(const struct e2pf_topology *topo, bool *guess)
{
	*guess = !is_known(topo) || !topo->spindles;
	return !is_known(topo) || topo->spindles;
}

unsigned e2pf_declared_spindles(const struct e2pf_topology *topo)
{
	if (!is_known(topo))
		return topo->devices;
	return topo->spindles ? topo->spindles : topo->disks;
}

unsigned e2pf_choose_threads(const struct e2pf_topology *topo, bool seeks,
			     unsigned wanted)
{
	unsigned spindles = e2pf_declared_spindles(topo);

	if (wanted)
		return wanted;
	/* Each spindle gets a sweep of its own, up to two. */
	return seeks && spindles < THREADS ? spindles : THREADS;
}

bool e2pf_single_spindle(const struct e2pf_topology *topo, bool seeks)
{
	return seeks && e2pf_declared_spindles(topo) == 1;
}
