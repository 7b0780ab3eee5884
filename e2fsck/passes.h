/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Follows a check through its passes. */
#ifndef PASSES_H
#define PASSES_H

/* check.fs was opened, and check.session is its session.  Called on the checker's
 * first thread, before it has others. */
void passes_begin(void);

#endif
