/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the module does while btrfs sends subvolumes, or searches one for what is
 * new.  All functions preserve
 * errno.  Except for send_came_out(), they are called by the program's first
 * thread. */
#ifndef SEND_H
#define SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

/* Around each BTRFS_IOC_SEND call: `args` is its argument, `fd` its descriptor,
 * `name` the subvolume. */
void send_begins(int fd, const void *args, const char *name,
		 const struct e2pf_settings *settings);
void send_ends(void);

/* This many more bytes of the stream have been passed on.  Any thread. */
void send_came_out(uint64_t bytes);

/* Whether a send was attempted. */
bool send_was_tried(void);

/* Add to the list why sends ran without prefetching. */
void send_refusals(struct e2pf_decisions *list);

/* The session of all sends; NULL if there was no memory. */
struct e2pf_session *send_session(void);

#endif
