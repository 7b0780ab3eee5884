/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The cgroups that this process is in, version 1, 2 or both at once. */
#ifndef PREFETCH_CGROUP_H
#define PREFETCH_CGROUP_H

/*
 * Call group(ctx, directory, version) for this process's group in each hierarchy that may
 * have the controller ("memory", "pids"), where systemd mounts it, and for each group
 * above that one.  A hierarchy of version 2 is visited whatever controllers it has.
 */
void pf_cgroup_visit(const char *sysroot, const char *controller,
		     void (*group)(void *ctx, const char *directory,
				   int version),
		     void *ctx);

#endif
