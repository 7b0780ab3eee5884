/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The unix manager reads with a pread64() of ours, which takes the place of libc's.  Every
 * program or module that is linked with this has it.  It hands on all reads but those that
 * the mmap manager has copied already, and makes some again that have failed.
 */
#ifndef E2PF_PREAD_H
#define E2PF_PREAD_H

#include <features.h>
#include <stdbool.h>

/* A variable of a thread that a signal handler may access: glibc allocates others at their
 * first access.  musl does not, and its dlopen(3) refuses this model. */
#ifdef __GLIBC__
#define E2PF_OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define E2PF_OF_THREAD _Thread_local
#endif

/* False if a preloaded library may supply the bytes: also with another C library than
 * glibc, where that is unknown. */
bool e2pf_pread_is_libcs(void);

/* Asked when a read of this thread has failed with EIO: it may have done so because of
 * others, whose sectors are in the same large folio or in the same merged request.  If so,
 * it is made again, past the page cache. */
struct e2pf_retry {
	bool (*is_worth)(void *context);
	void *context;
};

/* From now on, in this thread; NULL: never.  Returns what was set before. */
const struct e2pf_retry *e2pf_pread_retry(const struct e2pf_retry *r);

#endif
