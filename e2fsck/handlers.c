/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interposes sigaction() and tells the guard of mapped reads what it installs.
 * Decides whether the guard hears of every change in this way: e2fsck calls no
 * other function that changes a handler or blocks a signal, and libblkid only
 * sigaction(), too.
 *
 * Not seen are system calls that are not made through the C library, and what a
 * library loaded later blocks for good in the thread of the check.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <signal.h>

#include "handlers.h"
#include "interpose.h"
#include "libext2fs/guard.h"
#include "linkage.h"

int sigaction(int sig, const struct sigaction *action, struct sigaction *before)
{
	REAL(sigaction);

	if (action)
		e2pf_guard_told(sig, action);
	return real(sig, action, before);
}

/* The other functions that change a handler or block a signal. */
static const char *const others[] = {
	"__sigaction", "signal", "__sysv_signal", "sysv_signal", "bsd_signal",
	"ssignal", "sigset", "sigignore", "sigvec",
	"sigprocmask", "pthread_sigmask", "sigblock", "sigsetmask", "sighold",
	"setcontext", "swapcontext",
};

void handlers_watch(void)
{
	if (dlsym(RTLD_DEFAULT, "sigaction") == (void *)sigaction &&
	    !linkage_others_refer((void *)handlers_watch, others,
				  sizeof(others) / sizeof(*others)))
		e2pf_guard_watch();
}
