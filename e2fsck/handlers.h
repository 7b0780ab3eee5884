/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the signal handlers of e2fsck for the mmap I/O manager. */
#ifndef HANDLERS_H
#define HANDLERS_H

/*
 * To be called before the mmap manager opens a channel.  If every change of the
 * handler of SIGBUS and of the signals that are blocked can be seen, the manager
 * need not ask the kernel before each read.
 */
void handlers_watch(void);

#endif
