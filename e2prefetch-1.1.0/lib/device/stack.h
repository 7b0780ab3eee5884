/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists the stack of block devices below a device or file, for display: each
 * device, followed by the devices that it consists of.  Decisions about reading
 * are based on the topology instead (topology.h).
 */
#ifndef E2PF_STACK_H
#define E2PF_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Limits: depth of the stack, and devices in all. */
#define E2PF_STACK_LEVELS 8u
#define E2PF_STACK_DEVICES 128u

struct e2pf_stack_device {
	char name[64];		/* kernel name */
	char kind[64];		/* "partition", "md raid1", "dm LVM-...",
				   "loop", or the disk's model; may be empty */
	unsigned level;		/* 0: the device itself */
	uint64_t bytes;
	bool rotational;	/* as the kernel declares it */
	uint32_t queue_depth;	/* requests; 0: not known */
};

typedef void (*e2pf_stack_sink)(void *ctx,
				const struct e2pf_stack_device *device);

/* Call `sink` for each device, upper ones first, with sysfs below `sysroot`.
 * What cannot be read is left out.  Safe from any thread. */
void e2pf_stack_walk(const char *sysroot, const struct stat *st,
		     e2pf_stack_sink sink, void *ctx);

#endif
