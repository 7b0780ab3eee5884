/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a function in a process of its own. */
#ifndef APART_H
#define APART_H

/*
 * Call body(ctx) in a child process, and wait until it has returned, at most
 * `patience` milliseconds.  A body that waits for a filesystem that does not
 * answer is left behind: it has none of this process's descriptors, so no
 * device stays open and no pipe's reader waits for it.  Nothing is done if there
 * can be no other process.
 *
 * The caller may have threads; none of their locks may be needed by the body.
 */
void apart(void (*body)(void *ctx), void *ctx, int patience);

#endif
