/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The disks below a device or file, as sysfs lists them.  A starting point: a virtio
 * or loop device, or flash behind a bridge to USB, may claim to be rotational, and
 * then it is measured.  spindle.h decides what follows.
 */
#ifndef PREFETCH_TOPOLOGY_H
#define PREFETCH_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/stat.h>

#define PF_MAX_DISKS 64

struct pf_disk {
	char name[32];			/* kernel name: sda, nvme0n1 */
	bool rotational;
};

/* Zeroed: of no device. */
struct pf_topology {
	unsigned devices;		/* that were added */
	unsigned disks;			/* distinct disks that are read */
	struct pf_disk disk[PF_MAX_DISKS];
	unsigned spindles;		/* disks that rotate */
	bool incomplete;		/* something could not be found out */
	bool unsure;			/* a disk that is declared rotational
					   may not be: virtio, loop, USB, ... */
};

/*
 * Add the disks below the device or file of `st`, with sysfs below `sysroot`
 * ("" is the machine itself); the same disk counts once.  Always succeeds: a
 * part that cannot be found out is left incomplete.  Returns the most bytes
 * that a POSIX_FADV_WILLNEED call reads on this device.
 */
unsigned pf_topology_add(const char *sysroot, const struct stat *st,
			 struct pf_topology *topo);

/* The kernel's counters of these disks: nanoseconds in which each had requests, added
 * up, and the requests that they have now.  False if one cannot be counted, or there
 * is none. */
bool pf_topology_count(const char *sysroot, const struct pf_topology *topo,
		       uint64_t *busy_ns, uint64_t *in_flight);

#endif
