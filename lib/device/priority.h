/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much a thread of ours matters beside others. */
#ifndef E2PF_PRIORITY_H
#define E2PF_PRIORITY_H

#include <stdbool.h>

/*
 * Give the calling thread this I/O priority, as ioprio_set(2) takes it, and
 * this nice value; 0 leaves either as it is.  A value that would raise it, and
 * one that the kernel refuses, changes nothing.
 */
void e2pf_priority_set(unsigned io_priority, unsigned nice);

/* Is a request of this I/O priority served after those that have none? */
bool e2pf_priority_is_low(unsigned io_priority);

#endif
