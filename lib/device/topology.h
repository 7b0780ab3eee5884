/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The spindle detector: from a device or file down to the physical disks
 * below it, as sysfs tells.  What it says is a start value: a virtio or loop
 * device claims to be rotational whatever lies under it, and latency under
 * load has the last word.
 */
#ifndef E2PF_TOPOLOGY_H
#define E2PF_TOPOLOGY_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/stat.h>

#define E2PF_MAX_LEAVES 64

struct e2pf_leaf {
	char name[32];			/* kernel name: sda, nvme0n1 */
	bool rotational;
	bool one_request;		/* USB and SD transports: no queue */
};

struct e2pf_topology {
	unsigned leaves;		/* distinct disks below the device */
	struct e2pf_leaf leaf[E2PF_MAX_LEAVES];
	unsigned spindles;		/* of them, those that rotate */
	bool known;			/* false: nothing could be found out */
	bool virtual_disk;		/* a leaf's flag says nothing: virtio,
					   loop over a file on no device, ... */
	bool one_request;		/* every leaf takes one at a time */
	unsigned data_spindles;		/* spindles that can seek on their own
					   for reads: all of a RAID */
	bool flash;			/* reads go to flash, and to no
					   spindle */
	bool declared_spindle;		/* a virtual disk says it rotates */
	unsigned max_readahead;		/* bytes one POSIX_FADV_WILLNEED call
					   reads at most on this device */
};

/*
 * Fill *topo for the device or file of `st`, with sysfs and procfs below
 * `sysroot` ("" is the machine itself).  Never fails: what cannot be found out
 * leaves known = false.  Safe from any thread.
 */
void e2pf_topology_probe(const char *sysroot, const struct stat *st,
			 struct e2pf_topology *topo);

#endif
