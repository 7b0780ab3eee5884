/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which SIGBUS was caused by our own access.  With any other one the
 * program gets back its handler, for good, and the signal.
 *
 * The handler runs with SA_NODEFER and an empty mask.  So when siglongjmp()
 * leaves it, no mask must be restored, and sigsetjmp() need not save one: that
 * takes 3 ns per guarded access instead of the 140 ns of a system call.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"

/* If this thread causes a fault in [start, end), it continues at `env`. */
struct guarded {
	uintptr_t start, end;
	struct guarded *outer;	/* interrupted by a signal */
	sigjmp_buf env;
};

/*
 * initial-exec: otherwise the handler might be the first to use a lazily
 * allocated block of thread-local storage, which calls malloc().
 */
#define SIGNAL_SAFE_TLS __thread __attribute__((tls_model("initial-exec")))

static SIGNAL_SAFE_TLS struct guarded *volatile current;

static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint users;		/* changed only with the lock held */
static atomic_bool installed;		/* and not removed since */
static struct sigaction previous;	/* written only while not installed */

/* The address of a memory error is that of its page, and some architectures
 * round a fault's address down to this. */
#define LEAST_PAGE ((uintptr_t)4096)

/* True if the kernel sent the signal because of the access that the thread has
 * just made.  A memory error that is found in the background is not. */
static bool is_synchronous(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	struct guarded *guarded = current;
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)context;
	if (guarded && is_synchronous(info) &&
	    address >= (guarded->start & ~(LEAST_PAGE - 1)) &&
	    address < guarded->end)
		siglongjmp(guarded->env, 1);
	atomic_store(&installed, false);
	sigaction(SIGBUS, &previous, NULL);
	/* A synchronous signal comes again when the instruction is repeated. */
	if (!is_synchronous(info))
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
			sig, info);
}

static bool is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) &&
	       action->sa_sigaction == on_sigbus;
}

/* If ours is installed but covered by another handler, which may call ours, the
 * two would call each other forever. */
static bool install(void)
{
	struct sigaction action, now;

	if (sigaction(SIGBUS, NULL, &now) < 0)
		return false;
	if (is_ours(&now) || atomic_load(&installed))
		return is_ours(&now);
	previous = now;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
	if (sigaction(SIGBUS, &action, NULL) < 0)
		return false;
	atomic_store(&installed, true);
	return true;
}

bool e2pf_guard_get(void)
{
	bool ok;

	pthread_mutex_lock(&install_lock);
	ok = users > 0 || install();
	users += ok;
	pthread_mutex_unlock(&install_lock);
	return ok;
}

void e2pf_guard_put(void)
{
	struct sigaction now;

	pthread_mutex_lock(&install_lock);
	if (--users == 0 && sigaction(SIGBUS, NULL, &now) == 0 &&
	    is_ours(&now) && sigaction(SIGBUS, &previous, NULL) == 0)
		atomic_store(&installed, false);
	pthread_mutex_unlock(&install_lock);
}

bool e2pf_guard_ready(void)
{
	struct sigaction now;
	sigset_t mask;

	return sigaction(SIGBUS, NULL, &now) == 0 && is_ours(&now) &&
	       pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 &&
	       !sigismember(&mask, SIGBUS);
}

/* Everything is filled in before sigsetjmp(): variables that are changed after
 * it are indeterminate after a siglongjmp(). */
bool e2pf_guard_copy(void *to, const void *from, size_t size)
{
	struct guarded guarded = {
		.start = (uintptr_t)from, .end = (uintptr_t)from + size,
		.outer = current
	};

	if (sigsetjmp(guarded.env, 0)) {
		current = guarded.outer;
		return false;
	}
	current = &guarded;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(to, from, size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	current = guarded.outer;
	return true;
}
