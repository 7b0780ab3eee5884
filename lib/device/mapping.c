/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A page is read from the mapping only if a worker has entered it into the page
 * tables: 4 KiB take 145 ns then, by a page fault 560, by pread(2) 650.  All other
 * reads are the I/O manager's, with the same requests and errors as without us.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapping.h"

/* Linux 5.14.  To touch pages instead, a worker would have to handle SIGBUS. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/*
 * The mapping, and the guard: an error instead of a SIGBUS if a page cannot be read.
 * With any other SIGBUS the program gets back its handler, for good, and the signal.
 * The handler runs with an empty mask, so siglongjmp() need not restore one (140 ns).
 */
static struct e2pf_mapping {
	int fd;
	bool regular;			/* a file, not a device */
	char *map;
	uint64_t size;
	size_t page;
	atomic_int reader;		/* the checker's descriptor; -1: unknown */
	atomic_flag busy;		/* a thread copies */
	atomic_llong left;		/* bytes that may be populated */
	atomic_uchar *populated;	/* of each page; NULL: there is no mapping */
	atomic_bool guarded;		/* and not given up since */
	struct sigaction previous;	/* written only while not guarded */
	volatile uintptr_t from, to;	/* what the reader copies */
	sigjmp_buf env;
} one;

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	/* Of an access, and not of a memory error found in the background? */
	bool own = info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)context;
	/* That of a memory error, or of some processors, is its page's. */
	if (own && address < one.to && address >= (one.from & ~(uintptr_t)4095))
		siglongjmp(one.env, 1);
	one.guarded = false;
	sigaction(SIGBUS, &one.previous, NULL);
	/* The thread's own comes again when the instruction is repeated. */
	if (!own)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
			sig, info);
}

/* Also tells which handler is installed. */
static bool is_ours(struct sigaction *action)
{
	return !sigaction(SIGBUS, NULL, action) &&
	       action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_sigbus;
}

/* False if a page could not be read, or another thread copies. */
static bool copy(void *to, const char *from, size_t size)
{
	volatile bool done = false;

	if (atomic_flag_test_and_set(&one.busy))
		return false;
	one.from = (uintptr_t)from;
	one.to = one.from + size;
	if (!sigsetjmp(one.env, 0)) {
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		memcpy(to, from, size);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		done = true;
	}
	one.to = 0;
	atomic_flag_clear(&one.busy);
	return done;
}

/* MADV_RANDOM: a page that the kernel has evicted is read alone. */
struct e2pf_mapping *e2pf_mapping_new(int fd, void *map, uint64_t size,
				      uint64_t most)
{
	struct sigaction previous, action = {
		.sa_sigaction = on_sigbus,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART
	};
	struct stat st;

	/* Another handler may cover ours, and call it: the two would call each
	 * other forever. */
	if (one.populated || one.guarded || is_ours(&previous))
		return NULL;
	one.previous = previous;
	one.fd = fd;
	one.regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	one.map = map;
	one.size = size;
	one.reader = -1;
	one.left = (long long)most;
	one.page = (size_t)sysconf(_SC_PAGESIZE);
	one.populated = calloc((size_t)(size / one.page) + 1, 1);
	one.guarded = one.populated && !madvise(map, (size_t)size, MADV_RANDOM) &&
		      !madvise(map, 0, MADV_POPULATE_READ) &&
		      !sigaction(SIGBUS, &action, NULL);
	if (one.guarded)
		return &one;
	free(one.populated);
	one.populated = NULL;
	return NULL;
}

void e2pf_mapping_free(struct e2pf_mapping *m)
{
	struct sigaction action;

	if (!m)
		return;
	if (is_ours(&action) && !sigaction(SIGBUS, &one.previous, NULL))
		one.guarded = false;
	free(m->populated);
	m->populated = NULL;
}

/* The pages of a range; false if it is not all inside. */
static bool find(const struct e2pf_mapping *m, uint64_t offset,
		 uint64_t length, size_t *first, size_t *end)
{
	if (!length || length > m->size || offset > m->size - length)
		return false;
	*first = (size_t)(offset / m->page);
	*end = (size_t)((offset + length - 1) / m->page) + 1;
	return true;
}

void e2pf_mapping_populate(struct e2pf_mapping *m, uint64_t offset,
			   uint64_t length)
{
	size_t page, end;

	if (!find(m, offset, length, &page, &end) || m->left <= 0)
		return;
	/* With a page of page tables, which stay, and one of our bytes. */
	m->left -= (long long)((end - page + 2) * m->page);
	if (!madvise(m->map + page * m->page, (end - page) * m->page,
		     MADV_POPULATE_READ))
		for (; page < end; page++)
			m->populated[page] = 1;
}

/* Is it a descriptor of what is mapped? */
static bool is_reader(struct e2pf_mapping *m, int fd)
{
	struct stat a, b;

	if (fd != m->reader && !fstat(fd, &a) && !fstat(m->fd, &b) &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
	    a.st_rdev == b.st_rdev)
		m->reader = fd;
	return fd == m->reader;
}

bool e2pf_mapping_read(struct e2pf_mapping *m, int fd, void *to, size_t length,
		       uint64_t offset)
{
	struct sigaction action;
	size_t page, end;
	struct stat st;
	sigset_t mask;

	if (!find(m, offset, length, &page, &end) || !is_reader(m, fd))
		return false;
	while (page < end && m->populated[page])
		page++;
	/* With another's handler or none, a fault would end the process. */
	if (page < end || !is_ours(&action) ||
	    pthread_sigmask(SIG_BLOCK, NULL, &mask) ||
	    sigismember(&mask, SIGBUS) || !copy(to, m->map + offset, length))
		return false;
	/* The rest of the last page of a truncated file reads as zeros. */
	return !m->regular || ((char *)to)[length - 1] ||
	       (!fstat(m->fd, &st) && (uint64_t)st.st_size >= offset + length);
}
