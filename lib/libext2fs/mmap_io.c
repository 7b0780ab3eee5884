/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which reads are copies from the mapping: those whose pages are all in the
 * page tables.  4 KiB take 145 ns then, by a page fault 560, by pread(2) 650.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/device.h"
#include "io_table.h"
#include "mmap_io.h"
#include "pread.h"

/* Linux 5.14.  To touch pages instead, a worker would have to handle SIGBUS. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static struct {
	pthread_rwlock_t lock;		/* held to map and unmap; shared, to populate */
	atomic_bool open;		/* a channel is */
	struct stat file;
	char *map;			/* NULL: none */
	uint64_t size;
	size_t page;
	atomic_uchar *populated;	/* of each page */
	atomic_llong left;		/* bytes that may be populated */
	atomic_int reader;		/* the channel's descriptor; -1: unknown */
	atomic_bool guarded;		/* SIGBUS is ours, and was not given up */
	struct sigaction previous;	/* written only while not guarded */
} one = { .lock = PTHREAD_RWLOCK_INITIALIZER };

/* Of this thread.  A signal handler may access it, so it is not allocated late. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	bool reading;			/* the unix manager does, for our channel */
	volatile uintptr_t from, to;	/* `to` is 0 while nothing is copied */
	sigjmp_buf env;
} self;

/*
 * The guard: an error instead of a SIGBUS if a page cannot be read.  With any other
 * SIGBUS the program gets back its handler, for good, and the signal.  The handler runs
 * with an empty mask, so siglongjmp() need not restore one (140 ns).
 */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	/* Was it caused by an access?  A memory error may be found in the background. */
	bool own = info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)context;
	/* That of a memory error, or of some processors, is its page's. */
	if (own && address < self.to &&
	    address >= (self.from & ~(uintptr_t)4095))
		siglongjmp(self.env, 1);
	one.guarded = false;
	sigaction(SIGBUS, &one.previous, NULL);
	/* The thread's own comes again when the instruction is repeated. */
	if (!own)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
			sig, info);
}

static bool is_guarded(void)
{
	struct sigaction action;

	return !sigaction(SIGBUS, NULL, &action) &&
	       action.sa_flags & SA_SIGINFO && action.sa_sigaction == on_sigbus;
}

/* Another handler may cover ours, and call it.  Ours never comes above that one: the two
 * would call each other forever. */
static void guard(void)
{
	struct sigaction action = {
		.sa_sigaction = on_sigbus,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART
	};

	if (!one.guarded && !sigaction(SIGBUS, NULL, &one.previous))
		one.guarded = !sigaction(SIGBUS, &action, NULL);
}

/* False if a page could not be read. */
static bool copy(void *to, const char *from, size_t size)
{
	if (sigsetjmp(self.env, 0)) {
		self.to = 0;
		return false;
	}
	self.from = (uintptr_t)from;
	self.to = (uintptr_t)from + size;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(to, from, size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.to = 0;
	return true;
}

/* The pages of a range; false if it is not all inside. */
static bool find(uint64_t offset, uint64_t length, size_t *first, size_t *end)
{
	if (!length || length > one.size || offset > one.size - length)
		return false;
	*first = (size_t)(offset / one.page);
	*end = (size_t)((offset + length - 1) / one.page) + 1;
	return true;
}

/* Is the mapped device or file open as `fd`? */
static bool is_reader(int fd)
{
	struct stat st;

	if (fd != one.reader && !fstat(fd, &st) &&
	    st.st_dev == one.file.st_dev && st.st_ino == one.file.st_ino)
		one.reader = fd;
	return fd == one.reader;
}

bool e2pf_mmap_copy(int fd, void *to, size_t length, uint64_t offset)
{
	size_t page, end;
	struct stat st;
	sigset_t mask;

	if (!self.reading || !find(offset, length, &page, &end) || !is_reader(fd))
		return false;
	while (page < end && one.populated[page])
		page++;
	/* With another's handler or none, a fault would end the process. */
	if (page < end || !is_guarded() ||
	    pthread_sigmask(SIG_BLOCK, NULL, &mask) ||
	    sigismember(&mask, SIGBUS) || !copy(to, one.map + offset, length))
		return false;
	/* The rest of the last page of a truncated file reads as zeros. */
	return S_ISBLK(one.file.st_mode) || ((char *)to)[length - 1] ||
	       (!fstat(fd, &st) && (uint64_t)st.st_size >= offset + length);
}

static errcode_t mmap_read64(io_channel channel, unsigned long long block,
			     int count, void *data)
{
	errcode_t err;

	self.reading = true;
	err = unix_io_manager->read_blk64(channel, block, count, data);
	self.reading = false;
	return err;
}

/* Whether reads come from the pages that a mapping shows.  A filesystem that keeps
 * copies of its own, or none, has no page of the bytes read from it. */
static bool shares_pages(int fd)
{
	unsigned char resident = 0;
	char byte;

	return S_ISBLK(one.file.st_mode) ||
	       (pread(fd, &byte, 1, 0) == 1 &&
		!mincore(one.map, 1, &resident) && resident & 1);
}

static void unmap(void)
{
	if (one.map)
		munmap(one.map, (size_t)one.size);
	free(one.populated);
	one.populated = NULL;
	one.map = NULL;
}

/* MADV_RANDOM: a page that the kernel has evicted is read alone. */
static bool map_file(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	unmap();
	if (size <= 0 || fstat(fd, &one.file))
		return false;
	one.size = (uint64_t)size;
	one.page = (size_t)sysconf(_SC_PAGESIZE);
	one.map = e2pf_device_map(fd, one.size);
	one.populated = calloc((size_t)(one.size / one.page) + 1, 1);
	one.reader = -1;
	one.left = INT64_C(1) << 30;
	if (one.map && one.populated && shares_pages(fd) &&
	    !madvise(one.map, (size_t)size, MADV_RANDOM) &&
	    !madvise(one.map, 0, MADV_POPULATE_READ))
		return true;
	unmap();
	return false;
}

/* A mapping that a thread still populates, because the device hangs, stays until the
 * next channel is opened. */
static errcode_t mmap_close(io_channel channel)
{
	if (channel->refcount == 1) {
		one.open = false;
		if (is_guarded() && !sigaction(SIGBUS, &one.previous, NULL))
			one.guarded = false;
		if (!pthread_rwlock_trywrlock(&one.lock)) {
			unmap();
			pthread_rwlock_unlock(&one.lock);
		}
	}
	return unix_io_manager->close(channel);
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel);

/* From the first channel on, it has all that the unix manager of the installed library
 * can do, whether or not our header knows of it. */
static struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "mmap", .open = mmap_open
};

io_manager e2pf_mmap_io_manager = &manager;

static errcode_t mmap_open(const char *name, int flags, io_channel *channel)
{
	errcode_t err = unix_io_manager->open(name, flags, channel);
	int fd;

	if (err || flags & IO_FLAG_DIRECT_IO || !e2pf_pread_is_libcs() ||
	    !e2pf_io_table_is_ours() || pthread_rwlock_trywrlock(&one.lock))
		return err;
	fd = one.open ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && map_file(fd)) {
		manager = *unix_io_manager;
		manager.name = "mmap";
		manager.open = mmap_open;
		manager.close = mmap_close;
		manager.read_blk64 = mmap_read64;
		guard();
		(*channel)->manager = &manager;
		one.open = true;
	}
	if (fd >= 0)
		close(fd);
	pthread_rwlock_unlock(&one.lock);
	return 0;
}

void e2pf_mmap_limit(uint64_t bytes)
{
	if ((long long)bytes < one.left)
		one.left = (long long)bytes;
}

void e2pf_mmap_populate(uint64_t offset, uint64_t length)
{
	size_t page, end;

	if (one.left <= 0 || pthread_rwlock_tryrdlock(&one.lock))
		return;
	if (one.open && find(offset, length, &page, &end)) {
		/* With a page of page tables, which stay, and one of our bytes. */
		one.left -= (long long)((end - page + 2) * one.page);
		if (!madvise(one.map + page * one.page, (end - page) * one.page,
			     MADV_POPULATE_READ))
			for (; page < end; page++)
				one.populated[page] = 1;
	}
	pthread_rwlock_unlock(&one.lock);
}
