/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The single-spindle detector: is a device seek-bound, that is, is one sweep over it
 * cheaper than two?
 *
 * It decides by the kernel's declaration (topology.h), where that can be believed, and
 * else by the time of eleven reads (speed.h).  The policy:
 *
 *  threads	one for each spindle, two at most, instead of two
 *  order	of the device, in long sweeps, instead of the checker's
 *  gate	the checker waits for a sweep that is about to reach its block,
 *		instead of reading it itself and moving the head away
 *
 * It does not know how many spindles are behind a controller, a bridge or a
 * hypervisor, nor that an object store which answers late is none; the number of
 * threads can be set for those.  It decides once, when reading begins.
 */
#ifndef PREFETCH_SPINDLE_H
#define PREFETCH_SPINDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "topology.h"

/* Returns true if a device on these disks is seek-bound by their declared properties.
 * Unknown disks are, until they are measured.  Sets *guess if the device must be
 * measured. */
bool pf_spindle_is_declared_seek_bound(const struct pf_topology *topo,
				       bool *guess);

/* Returns the number of spindles that can sweep side by side, if the device is
 * seek-bound.  Unknown disks count as one spindle for each device. */
unsigned pf_spindle_count_declared(const struct pf_topology *topo);

/* Returns the number of threads for the device.  `wanted` is the user's choice, or 0. */
unsigned pf_spindle_choose_threads(const struct pf_topology *topo,
				   bool seek_bound, unsigned wanted);

/* Returns true if the device is seek-bound, judged by the time of a read at queue depth 1
 * and that of a read at queue depth 8. */
bool pf_spindle_is_measured_seek_bound(uint64_t latency_ns,
				       uint64_t latency_qd8_ns);

/* Returns true if the device is seek-bound and, as far as is known, a single spindle. */
bool pf_spindle_is_single(const struct pf_topology *topo, bool seek_bound);

#endif
