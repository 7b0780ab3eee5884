/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read from a file mapping whose pages may turn out not to be there (media
 * error, file truncated), and get an error instead of a SIGBUS.
 */
#ifndef E2PF_GUARD_H
#define E2PF_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Begin and end the use of the guard.  The first user installs the SIGBUS
 * handler; the last one restores what was there before, if the handler is
 * still ours.  Calls are counted and may come from any thread.
 * Returns 0, or EBUSY when a handler that may chain to ours is in front of
 * it, left from an earlier use, or another errno; then put must not be called.
 */
int e2pf_guard_get(void);
void e2pf_guard_put(void);

/*
 * May this thread use e2pf_guard_copy() and e2pf_guard_equal() now?  False
 * when the program has put another SIGBUS handler in front of ours, or when
 * the thread has SIGBUS blocked: a fault would end the process.  Asks the
 * kernel each time, two system calls, 0.34 us.
 */
bool e2pf_guard_ready(void);

/*
 * Copy `size` bytes from the mapping at `from`.  Returns 0, or EFAULT when a
 * page could not be had, with `to` partly written.  Only faults inside
 * [from, from + size) count; all other signals take the way they took before
 * the guard was there.  Any number of threads at once.
 */
int e2pf_guard_copy(void *to, const void *from, size_t size);

/* Is what the mapping holds at `mapped` equal to `data`?  Returns false when
 * it is not or when a page could not be had. */
bool e2pf_guard_equal(const void *mapped, const void *data, size_t size);

#endif
