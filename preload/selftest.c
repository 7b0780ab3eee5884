/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The self-test's process.  Decides how it is kept apart from the check: it has
 * none of its signal handlers, ends without a flush or a core file, and is not
 * waited for longer than it may take.
 *
 * It leaves its findings in memory that both processes share: its exit status is lost
 * if SIGCHLD is ignored.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prefetch/filter.h"
#include "preload.h"

/* How long the self-test may take, some thousand times its usual time, and how
 * long a killed process may take to disappear. */
#define PATIENCE_MS 5000
#define END_MS 100
#define POLL_MS 100

/* The memory that both processes see. */
struct shared {
	atomic_bool called;	/* all system calls were made but these: */
	atomic_bool asked;	/* those that show what is cached */
	atomic_bool done;
	_Alignas(16) char result[];
};

static void *return_at_once(void *unused)
{
	return unused;
}

/* Most calls have arguments that make them fail: a filter looks at the number.
 * Calls that e2fsck, btrfs or the dynamic linker make themselves are left out.
 * tests/scripts/test-failures.sh finds calls that are missing here. */
static void make_calls(void)
{
	static const struct timespec now = { 0, 0 };
	struct sockaddr_un log = { .sun_family = AF_UNIX };
	struct file_handle none = { .handle_bytes = 0 };
	struct rusage used;
	struct sysinfo info;
	struct statfs fs;
	struct timespec cpu;
	char target;
	pthread_t other;
	cpu_set_t set;
	sigset_t pending;
	int fd;

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv) || \
	defined(__powerpc64__) || defined(__s390x__)
	syscall(439, -1, "", 0, 0);		/* faccessat2, of realpath() */
#endif
	sched_getaffinity(0, sizeof(set), &set);
	sysinfo(&info);
	madvise(NULL, 0, MADV_DONTNEED);
	mremap(NULL, 0, 0, 0);
	posix_fadvise(-1, 0, 0, POSIX_FADV_WILLNEED);
	readahead(-1, 0, 0);
	if (preadv(-1, NULL, 0, 0) < 0)
		errno = 0;
#ifdef HAVE_PREADV2
	if (preadv2(-1, NULL, 0, 0, RWF_NOWAIT) < 0)
		errno = 0;
#endif
	fcntl(-1, F_DUPFD_CLOEXEC, 0);
	mkdir("", 0);
	mkfifoat(-1, "", 0);
	unlinkat(-1, "", 0);
	if (ftruncate(-1, 0) && pwrite(-1, "", 0, 0) < 0)
		errno = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	sendto(fd, "", 0, MSG_NOSIGNAL, (struct sockaddr *)&log, sizeof(log));
	clock_nanosleep(CLOCK_MONOTONIC, 0, &now, NULL);
	sigpending(&pending);
	/* A clock of processor time, because the usual clocks need no system
	 * call. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	geteuid();
	fstatfs(-1, &fs);
	lseek(-1, 0, SEEK_SET);
	syscall(SYS_getdents64, -1, NULL, 0);
	getrusage(RUSAGE_THREAD, &used);
	if (preload.sends)
		syscall(SYS_open_by_handle_at, -1, &none, 0);
	if (readlink("", &target, sizeof(target)) < 0)
		errno = 0;
	if (!pthread_create(&other, NULL, return_at_once, NULL))
		pthread_join(other, NULL);
}

/* The check's handlers would print that the check has crashed. */
static void forget_handlers(void)
{
	static const struct rlimit no_core = { 0, 0 };
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_DUMPABLE, 0);
}

/* libext2fs may print: with E2FSPROGS_BITMAP_STATS it does. */
static void be_child(struct shared *s, bool asks, void (*run)(void *result))
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	forget_handlers();
	make_calls();
	atomic_store(&s->called, true);
	if (asks)
		pf_filter_try_calls();
	atomic_store(&s->asked, true);
	if (run)
		run(s->result);
	atomic_store(&s->done, true);
	_exit(0);
}

/* The pipe breaks when the child ends, even if nobody is told of that.  Looks ten
 * times a second, in case of signals. */
static bool has_ended(int pipe, int milliseconds)
{
	struct pollfd fd = { .fd = pipe, .events = POLLIN };

	for (; milliseconds > 0; milliseconds -= POLL_MS)
		if (poll(&fd, 1, POLL_MS) > 0)
			return true;
	return false;
}

static void wait_for_child(pid_t child, int pipe)
{
	if (!has_ended(pipe, PATIENCE_MS)) {
		kill(child, SIGKILL);
		if (!has_ended(pipe, END_MS))
			return;		/* it is left alone */
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns false if there is no child. */
static bool run_child(struct shared *s, bool asks, void (*run)(void *result))
{
	pid_t child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		be_child(s, asks, run);
	close(ends[1]);
	if (child > 0)
		wait_for_child(child, ends[0]);
	close(ends[0]);
	return child > 0;
}

enum selftest preload_selftest_run(void (*run)(void *result), void *result,
				   size_t size)
{
	size_t room = sizeof(struct shared) + size;
	struct shared *s = mmap(NULL, room, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum selftest outcome = SELFTEST_NONE;
	bool ran;

	if (s == MAP_FAILED)
		return SELFTEST_NONE;
	ran = run_child(s, true, run);
	if (s->called)
		pf_filter_set_allows_calls(s->asked);
	/* There is another way to see what is cached. */
	if (s->called && !s->asked)
		ran = run_child(s, false, run);
	if (ran)
		outcome = atomic_load(&s->done) ? SELFTEST_DONE :
			  atomic_load(&s->asked) ? SELFTEST_FAILED :
			  SELFTEST_DENIED;
	if (outcome == SELFTEST_DONE && size)
		memcpy(result, s->result, size);
	munmap(s, room);
	return outcome;
}

bool preload_selftest_may_read(enum selftest *outcome)
{
	if (*outcome == SELFTEST_NONE) {
		if (!pf_filter_is_set()) {
			pf_filter_set_allows_calls(true);
			return true;
		}
		*outcome = preload_selftest_run(NULL, NULL, 0);
	}
	return *outcome == SELFTEST_FAILED || *outcome == SELFTEST_DONE;
}
