/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The mmap I/O manager for libext2fs. */
#ifndef E2PF_MMAP_IO_H
#define E2PF_MMAP_IO_H

#include <stdbool.h>
#include <ext2fs/ext2fs.h>

/*
 * An I/O manager for ext2fs_open2() and everything else that takes one: a
 * filter over unix_io_manager.  Reads copy from a shared mapping of the device
 * until the first write or failed read of the channel; from then on, if the
 * device cannot be mapped, and while another channel is mapped, unix_io_manager
 * serves the channel.  A channel opened with IO_FLAG_THREADS may be used by
 * several threads at once, any other channel by one thread at a time.
 */
extern io_manager e2pf_mmap_io_manager;

/* True if this manager has mapped the device of this channel.  False if it
 * could not, or if it is a channel of another manager. */
bool e2pf_mmap_io_is_mapped(io_channel channel);

#endif
