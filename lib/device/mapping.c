/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * To read 4 KiB of a cached block device takes 650 ns by pread(2), 560 by a page
 * fault, and 145 from a mapping whose page tables are filled; filling them takes
 * 150, on another processor (kernel 6.18).  So the workers fill them for what they
 * have read, and a page is read from the mapping only if they did: what nobody
 * has read ahead is read by the program's I/O manager, with the same requests and
 * errors as without a mapping.
 *
 * MADV_RANDOM: if the kernel evicts a page, reading it again must not read those
 * around it; and a page does not stay in memory because it is mapped.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapping.h"

/* Linux 5.14.  On an older kernel nothing is mapped: a worker blocks SIGBUS, so it
 * must not touch pages instead. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define BITS (8 * sizeof(unsigned long))

/* What populating a range may take beside it: a page of page tables, which are
 * freed only with the mapping, and one of our bits. */
#define RANGE_COST 8192u

/* Reads between two times at which the kernel is asked whether a SIGBUS would come to
 * us: the two calls take 0.34 us. */
#define READS_PER_LOOK 16u

struct e2pf_mapping {
	int fd;
	bool regular;		/* a file, not a device */
	uint64_t offset;	/* of the filesystem */
	size_t size, page;	/* mapped, from the start of the device */
	const char *map;
	atomic_ulong *bits;	/* of populated pages */
	uint64_t most;
	atomic_ullong used;	/* of `most` */
	/* The reader's alone: */
	unsigned reads;
	bool ready;
};

/*
 * The guard: an error instead of a SIGBUS if a page cannot be read (media error,
 * truncated file, a device that is gone).  With any other SIGBUS the program
 * gets back its handler, for good, and the signal.
 *
 * The handler runs with SA_NODEFER and an empty mask.  So when siglongjmp()
 * leaves it, no mask must be restored, and sigsetjmp() need not save one: that
 * takes 3 ns per guarded access instead of the 140 ns of a system call.
 */
static struct {
	atomic_bool installed;		/* and not removed since */
	struct sigaction previous;	/* written only while not installed */
	/* What the reader copies.  Only it accesses a mapping. */
	volatile uintptr_t start, end;
	sigjmp_buf env;
} guard;

/* True if the kernel sent the signal because of the access that the thread has
 * just made.  A memory error that is found in the background is not. */
static bool is_synchronous(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)context;
	/* The address of a memory error is that of its page, and some
	 * architectures round that of a fault down to it. */
	if (is_synchronous(info) && address < guard.end &&
	    address >= (guard.start & ~(uintptr_t)4095))
		siglongjmp(guard.env, 1);
	atomic_store(&guard.installed, false);
	sigaction(SIGBUS, &guard.previous, NULL);
	/* A synchronous signal comes again when the instruction is repeated. */
	if (!is_synchronous(info))
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
			sig, info);
}

/* Also tells which handler is installed. */
static bool is_ours(struct sigaction *action)
{
	return sigaction(SIGBUS, NULL, action) == 0 &&
	       (action->sa_flags & SA_SIGINFO) &&
	       action->sa_sigaction == on_sigbus;
}

/* Returns false if that failed.  Also if ours is installed but covered by another
 * handler, which may call ours: the two would call each other forever. */
static bool install(void)
{
	struct sigaction action;

	if (is_ours(&action) || atomic_load(&guard.installed))
		return false;
	guard.previous = action;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
	atomic_store(&guard.installed, sigaction(SIGBUS, &action, NULL) == 0);
	return atomic_load(&guard.installed);
}

/* Restore the previous handler, if ours is still installed. */
static void uninstall(void)
{
	struct sigaction action;

	if (is_ours(&action) && sigaction(SIGBUS, &guard.previous, NULL) == 0)
		atomic_store(&guard.installed, false);
}

/* False if another handler is installed, or if this thread blocks SIGBUS: then a
 * fault would end the process. */
static bool is_ready(struct e2pf_mapping *m)
{
	struct sigaction action;
	sigset_t mask;

	if (m->reads++ % READS_PER_LOOK == 0)
		m->ready = is_ours(&action) &&
			   !pthread_sigmask(SIG_BLOCK, NULL, &mask) &&
			   !sigismember(&mask, SIGBUS);
	return m->ready;
}

/* Returns false if a page could not be read.  Everything is filled in before
 * sigsetjmp(): variables that are changed after it are indeterminate after a
 * siglongjmp(). */
static bool copy(void *to, const char *from, size_t size)
{
	guard.start = (uintptr_t)from;
	guard.end = guard.start + size;
	if (sigsetjmp(guard.env, 0)) {
		guard.end = 0;
		return false;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(to, from, size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	guard.end = 0;
	return true;
}

/*
 * The mapping.
 */

static size_t bits_size(const struct e2pf_mapping *m)
{
	return (m->size / m->page / BITS + 1) * sizeof(unsigned long);
}

/* The mapping must not take the address space that the program needs. */
static bool map(struct e2pf_mapping *m)
{
	struct rlimit as;
	void *map, *bits;

	if (sizeof(void *) < 8 || m->size > SIZE_MAX / 4 ||
	    getrlimit(RLIMIT_AS, &as) || as.rlim_cur != RLIM_INFINITY)
		return false;
	map = mmap(NULL, m->size, PROT_READ, MAP_SHARED, m->fd, 0);
	m->map = map == MAP_FAILED ? NULL : map;
	bits = mmap(NULL, bits_size(m), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	m->bits = bits == MAP_FAILED ? NULL : bits;
	return m->map && m->bits && !madvise(map, m->size, MADV_RANDOM) &&
	       !madvise(map, 0, MADV_POPULATE_READ);
}

static void unmap(struct e2pf_mapping *m)
{
	if (m->map)
		munmap((void *)m->map, m->size);
	if (m->bits)
		munmap(m->bits, bits_size(m));
	free(m);
}

struct e2pf_mapping *e2pf_mapping_new(int fd, uint64_t offset, uint64_t size,
				      uint64_t most)
{
	struct e2pf_mapping *m = calloc(1, sizeof(*m));
	struct stat st;

	if (!m)
		return NULL;
	m->fd = fd;
	m->regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	m->offset = offset;
	m->size = (size_t)(offset + size);
	m->page = (size_t)sysconf(_SC_PAGESIZE);
	m->most = most;
	if (map(m) && install())
		return m;
	unmap(m);
	return NULL;
}

void e2pf_mapping_free(struct e2pf_mapping *m)
{
	if (!m)
		return;
	uninstall();
	unmap(m);
}

/* The place of a range in the mapping; false if it is not all inside. */
static bool find(const struct e2pf_mapping *m, uint64_t offset,
		 uint64_t length, size_t *at)
{
	uint64_t size = m->size - m->offset;

	*at = (size_t)(m->offset + offset);
	return length && length <= size && offset <= size - length;
}

void e2pf_mapping_populate(struct e2pf_mapping *m, uint64_t offset,
			   uint64_t length)
{
	size_t at, page, end;

	if (!find(m, offset, length, &at) || m->used >= m->most)
		return;
	page = at / m->page;
	end = (at + (size_t)length - 1) / m->page + 1;
	m->used += length + RANGE_COST;
	if (madvise((char *)m->map + page * m->page, (end - page) * m->page,
		    MADV_POPULATE_READ))
		return;
	for (; page < end; page++)
		atomic_fetch_or_explicit(&m->bits[page / BITS],
					 1ul << page % BITS,
					 memory_order_relaxed);
}

static bool is_populated(const struct e2pf_mapping *m, size_t at, size_t size)
{
	size_t page = at / m->page, end = (at + size - 1) / m->page + 1;

	while (page < end && atomic_load_explicit(&m->bits[page / BITS],
						  memory_order_relaxed) >>
				     page % BITS & 1)
		page++;
	return page == end;
}

/*
 * If a file is truncated in the middle of a page, the mapping reads as zeros up
 * to the end of that page, without a fault.  That can have happened only if the
 * last byte is zero, and only to a file.
 */
static bool is_cut_off(const struct e2pf_mapping *m, size_t end, char last_byte)
{
	struct stat st;

	return m->regular && !last_byte &&
	       (fstat(m->fd, &st) || (uint64_t)st.st_size < end);
}

bool e2pf_mapping_read(struct e2pf_mapping *m, uint64_t offset,
		       uint64_t length, void *to)
{
	size_t at, size = (size_t)length;

	return find(m, offset, length, &at) && is_populated(m, at, size) &&
	       is_ready(m) && copy(to, m->map + at, size) &&
	       !is_cut_off(m, at + size, ((char *)to)[size - 1]);
}
