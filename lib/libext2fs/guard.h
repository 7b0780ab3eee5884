/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read from a file mapping, and get an error instead of a SIGBUS if a page
 * cannot be read (media error, truncated file, a device that is gone).
 */
#ifndef E2PF_GUARD_H
#define E2PF_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Begin and end the use of the guard.  The first user installs the SIGBUS
 * handler, the last one restores the previous handler if ours is still
 * installed.  Calls are counted and may come from any thread.  e2pf_guard_get()
 * returns false, and e2pf_guard_put() must not be called, if that failed or if
 * another handler, which may call ours, was installed in front of ours.
 */
bool e2pf_guard_get(void);
void e2pf_guard_put(void);

/*
 * True if this thread may use e2pf_guard_copy() now.  False if another SIGBUS
 * handler is installed, or if the thread blocks SIGBUS: then a fault would end
 * the process.  Asks the kernel, with two system calls that take 0.34 us.
 */
bool e2pf_guard_ready(void);

/*
 * Copy `size` bytes from the mapping at `from`.  Returns false if a page could
 * not be read; then `to` is partly written.  May be called by any number of
 * threads at once.
 */
bool e2pf_guard_copy(void *to, const void *from, size_t size);

#endif
