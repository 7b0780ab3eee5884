/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The disks below a device or file, as sysfs lists them, and what follows for
 * threads and order.  A starting point: a virtio or loop device claims to be
 * rotational whatever is under it, and then the device is measured (probe.h).
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
	unsigned leaves;		/* distinct disks that are read */
	struct e2pf_leaf leaf[E2PF_MAX_LEAVES];
	unsigned spindles;		/* leaves that rotate */
	bool known;			/* false: nothing could be found out */
	bool virtual_disk;		/* a leaf's rotational flag means
					   nothing: virtio, loop, ... */
	bool one_request;		/* every leaf takes one request at a
					   time */
	unsigned max_readahead;		/* most bytes that a
					   POSIX_FADV_WILLNEED call reads on
					   this device */
};

/*
 * Fill *topo for the device or file of `st`, with sysfs below `sysroot` ("" is
 * the machine itself).  Never fails: if something cannot be found out, known is
 * false.  Safe from any thread.
 */
void e2pf_topology_probe(const char *sysroot, const struct stat *st,
			 struct e2pf_topology *topo);

struct e2pf_policy {
	unsigned threads;	/* where no disk is rotational */
	unsigned head_threads;	/* on rotational disks: elevator passes at a
				   time */
	bool has_head;		/* rotational, as far as known before anything
				   is read */
	bool probe;		/* has_head is a guess: measure it */
};

/* Choose for disks of this topology and so many processors.  Unknown disks are
 * treated as one rotational disk until they are measured.  Pure. */
void e2pf_policy_choose(const struct e2pf_topology *topo, unsigned processors,
			struct e2pf_policy *policy);

#endif
