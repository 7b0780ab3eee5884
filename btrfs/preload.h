/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The command line, and the calls by which the libc interposers tell the preload
 * library what a check or a send does.  These preserve errno.  On threads other
 * than the program's first they do nothing, unless stated otherwise.
 */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prefetch/engine.h"

/* The request in btrfs's arguments, which end with NULL (arguments.c). */
enum task { TASK_OTHER, TASK_CHECK, TASK_SEND };
enum task bt_arguments_task(char *const *argv);

/* Why a check with these arguments should run without prefetching, in words;
 * NULL if there is no reason. */
const char *bt_arguments_aside(char *const *argv);

/* The program is about to drop the page cache of a device, which it has just
 * opened or is about to close.  Called before it does. */
void bt_drops_cache(int fd);

/* The program is about to close this descriptor. */
void bt_closes(int fd);

/* The program is about to read `length` bytes.  If this returns true,
 * bt_has_read() must follow. */
bool bt_on_program_read(int fd, uint64_t offset, uint64_t length,
			struct pf_read *read);
void bt_has_read(const struct pf_read *read);

/* The program calls readahead.  Returns true if the call may be dropped, because
 * the same range was requested a moment ago.  Otherwise *fd and *offset are set
 * to the mirror copy that the program is going to read. */
bool bt_on_program_readahead(int *fd, uint64_t *offset);

/* The program is about to have the kernel send a subvolume: `args` is the
 * argument of BTRFS_IOC_SEND.  bt_has_sent() must follow. */
void bt_sends(int fd, const void *args);
void bt_has_sent(void);

/* Another `bytes` of the stream have been passed on.  May be called on any
 * thread. */
void bt_passes_on(uint64_t bytes);

#endif
