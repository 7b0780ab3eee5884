/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A program may print an errno that an earlier call of its own has left, so the library
 * must not change errno in the program's threads. */
#ifndef LIB_KEEP_ERRNO_H
#define LIB_KEEP_ERRNO_H

#include <errno.h>

static inline void e2pf_restore_errno(const int *kept)
{
	errno = *kept;
}

/* From this declaration to the end of its block. */
#define E2PF_KEEP_ERRNO __attribute__((cleanup(e2pf_restore_errno), unused)) \
	const int kept_errno = errno

#endif
