/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the stand-ins for libc tell the module of a check or a send.  All of
 * these keep errno, and do nothing on other threads than the program's first
 * unless they say so.
 */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* Set by the launcher: why this check is left alone. */
#define ASIDE_VARIABLE "PREFETCH_ASIDE"

/* The program drops the page cache of a device: it has opened it, or is about
 * to close it.  Before it does. */
void module_drops_cache(int fd);

/* The program has closed this. */
void module_closes(int fd);

/* About to read `length` bytes.  True when module_has_read() must follow. */
bool module_reads(int fd, uint64_t offset, uint64_t length,
		  struct e2pf_read *read);
void module_has_read(const struct e2pf_read *read);

/* The program reads ahead: true where the device need not be asked, because it
 * was a moment ago, or for what is there or on its way.  Otherwise *fd and
 * *offset are those of the copy that the program is going to read. */
bool module_reads_ahead(int *fd, uint64_t *offset, uint64_t length);

/* About to have the kernel send a subvolume, as `args` of BTRFS_IOC_SEND say.
 * True when module_has_sent() must follow. */
bool module_sends(int fd, const void *args);
void module_has_sent(void);

/* The program has passed on so many bytes from one descriptor to another.  On
 * any thread. */
void module_came_out(size_t bytes);

#endif
