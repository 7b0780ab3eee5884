/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The spindle detector: finds in sysfs the physical disks below a device or
 * file.  Its answer is a starting point: a virtio or loop device claims to be
 * rotational whatever is under it, and latency under load decides.
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
	unsigned spindles;		/* leaves that rotate */
	bool known;			/* false: nothing could be found out */
	bool virtual_disk;		/* a leaf's rotational flag means
					   nothing: virtio, a loop device over
					   a file on no device, ... */
	bool one_request;		/* every leaf takes one request at a
					   time */
	unsigned data_spindles;		/* spindles that can seek independently
					   for reads: all of a RAID */
	bool flash;			/* reads go to flash, and to no
					   spindle */
	bool declared_spindle;		/* a virtual disk is declared
					   rotational */
	unsigned max_readahead;		/* most bytes that a
					   POSIX_FADV_WILLNEED call reads on
					   this device */
};

/*
 * Fill *topo for the device or file of `st`, with sysfs and procfs below
 * `sysroot` ("" is the machine itself).  Never fails: if something cannot be
 * found out, known is false.  Safe from any thread.
 */
void e2pf_topology_probe(const char *sysroot, const struct stat *st,
			 struct e2pf_topology *topo);

#endif
