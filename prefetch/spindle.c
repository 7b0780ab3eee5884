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
#define SEEK_LATENCY_QD8_NS 1200000u

bool pf_spindle_is_measured_seek_bound(uint64_t latency_ns,
				       uint64_t latency_qd8_ns)
{
	return latency_ns >= SEEK_LATENCY_NS && latency_qd8_ns >= SEEK_LATENCY_QD8_NS;
}

/*
 * A disk that is not known to be one and is declared rotational may be flash, a single
 * spindle, or any number of disks with a spindle among them.  A known disk that is
 * declared rotational is; all others are measured.
 */
static bool is_known(const struct pf_topology *topo)
{
	return topo->disks && !topo->incomplete && !topo->unsure;
}

bool pf_spindle_is_declared_seek_bound(const struct pf_topology *topo,
				       bool *guess)
{
	*guess = !is_known(topo) || !topo->spindles;
	return !is_known(topo) || topo->spindles;
}

unsigned pf_spindle_count_declared(const struct pf_topology *topo)
{
	if (!is_known(topo))
		return topo->devices;
	return topo->spindles ? topo->spindles : topo->disks;
}

unsigned pf_spindle_choose_threads(const struct pf_topology *topo,
				   bool seek_bound, unsigned wanted)
{
	unsigned spindles = pf_spindle_count_declared(topo);

	if (wanted)
		return wanted;
	/* Each spindle gets a sweep of its own, up to two. */
	return seek_bound && spindles < THREADS ? spindles : THREADS;
}

bool pf_spindle_is_single(const struct pf_topology *topo, bool seek_bound)
{
	return seek_bound && pf_spindle_count_declared(topo) == 1;
}
