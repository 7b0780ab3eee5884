/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The single-spindle detector: is a device seek-bound, that is, is one sweep over it
 * cheaper than two?
 *
 * It decides by the kernel's declaration (topology.h), where that can be believed, and
 * else by the time of eleven reads (speed.h).  The policy:
 *
 *  threads	one for each spindle, two at most, in place of two
 *  order	of the device, in long sweeps, in place of the checker's
 *  gate	the checker waits for a sweep that is about to reach its block, in
 *		place of reading it itself and moving the head away
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

/* Does a device on these disks seek, by their declared properties?  *guess: measure it.
 * Unknown disks do, until they are measured. */
bool pf_spindle_is_declared_seek_bound(const struct pf_topology *topo,
				       bool *guess);

/* Spindles that can sweep side by side, if it is seek-bound.  Unknown disks are one for
 * each device. */
unsigned pf_spindle_count_declared(const struct pf_topology *topo);

/* The number of threads for it.  `wanted` is the user's choice, or 0. */
unsigned pf_spindle_choose_threads(const struct pf_topology *topo,
				   bool seek_bound, unsigned wanted);

/* Is it seek-bound, by the time of a read at queue depth 1 and that of each of eight in
 * flight? */
bool pf_spindle_is_measured_seek_bound(uint64_t latency_ns,
				       uint64_t latency_qd8_ns);

/* Is a seek-bound device a single spindle, as far as is known? */
bool pf_spindle_is_single(const struct pf_topology *topo, bool seek_bound);

#endif
