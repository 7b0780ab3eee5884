/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the module does while btrfs sends subvolumes.  All of these keep errno.
 * From the program's first thread, but for send_came_out(). */
#ifndef SEND_H
#define SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

/* The kernel is about to be asked to send what `args`, of BTRFS_IOC_SEND on
 * this descriptor, say; and it has been.  `name` is the subvolume. */
void send_begins(int fd, const void *args, const char *name,
		 const struct e2pf_settings *settings);
void send_ends(void);

/* So many bytes of the stream more have been passed on.  From any thread. */
void send_came_out(uint64_t bytes);

/* Was anything to be sent? */
bool send_was_tried(void);

/* Add why sends were left alone. */
void send_refusals(struct e2pf_decisions *list);

/* The session of all sends; NULL without memory. */
struct e2pf_session *send_session(void);

#endif
