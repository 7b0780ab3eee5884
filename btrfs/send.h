/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Reads ahead of the kernel's send of a btrfs subvolume.  One session without an engine
 * serves all sends of this process.  One thread at a time may use it.
 */
#ifndef BTRFS_SEND_H
#define BTRFS_SEND_H

#include <linux/btrfs.h>

#include "prefetch/session.h"

/* Create a session for the filesystem that contains the subvolume `fd`.  If it
 * cannot be read ahead of, returns NULL and sets *why to the reason. */
struct pf_session *bt_send_open(int fd, const char *name,
				const struct pf_settings *settings,
				const char **why);

/* Start to read ahead of a send of the subvolume `fd`, with the arguments of
 * BTRFS_IOC_SEND.  Returns NULL, or the reason why this send is left alone. */
const char *bt_send_start(struct pf_session *session, int fd,
			  const struct btrfs_ioctl_send_args *args);

/* The send has written more bytes.  May be called on any thread. */
void bt_send_came_out(struct pf_session *session, uint64_t bytes);

/* The send that was started has ended: stop the threads, and wait for them.
 * Returns false if one of them still waits for a device: then the session must
 * not be closed. */
bool bt_send_stop(struct pf_session *session, int milliseconds);

#endif
