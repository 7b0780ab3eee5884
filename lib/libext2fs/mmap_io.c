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
#include "mmap_io.h"

/* Linux 5.14.  To touch pages instead, a worker would have to handle SIGBUS. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* The mapping of the one channel that has one. */
static struct {
	pthread_rwlock_t lock;		/* held to map and unmap; shared, to populate */
	atomic_bool open;		/* its channel is */
	struct stat file;
	char *map;			/* NULL: none */
	uint64_t size;
	size_t page;
	atomic_uchar *populated;	/* of each page: its entry was filled */
	atomic_llong left;		/* bytes that may be populated */
	atomic_int reader;		/* the channel's descriptor; -1: unknown */
	atomic_bool guarded;		/* SIGBUS is ours, and was not given up */
	struct sigaction previous;	/* written only while not guarded */
} mapping = { .lock = PTHREAD_RWLOCK_INITIALIZER };

static E2PF_OF_THREAD struct {
	bool reading;			/* for our channel, by the unix manager */
	volatile uintptr_t from, to;	/* copied now; `to` is 0: nothing */
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
	/* The address of a memory error, or on some processors, is its page's. */
	if (own && address < self.to &&
	    address >= (self.from & ~(uintptr_t)(mapping.page - 1)))
		siglongjmp(self.env, 1);
	mapping.guarded = false;
	sigaction(SIGBUS, &mapping.previous, NULL);
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

	if (!mapping.guarded && !sigaction(SIGBUS, NULL, &mapping.previous))
		mapping.guarded = !sigaction(SIGBUS, &action, NULL);
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
static bool pages_of(uint64_t offset, uint64_t length, size_t *first,
		     size_t *end)
{
	if (!length || length > mapping.size || offset > mapping.size - length)
		return false;
	*first = (size_t)(offset / mapping.page);
	*end = (size_t)((offset + length - 1) / mapping.page) + 1;
	return true;
}

/* Is the mapped device or file open as `fd`? */
static bool is_reader(int fd)
{
	struct stat st;

	if (fd != mapping.reader && !fstat(fd, &st) &&
	    st.st_dev == mapping.file.st_dev &&
	    st.st_ino == mapping.file.st_ino)
		mapping.reader = fd;
	return fd == mapping.reader;
}

bool e2pf_mmap_copy(int fd, void *to, size_t length, uint64_t offset)
{
	size_t page, end;
	struct stat st;
	sigset_t mask;

	if (!self.reading || !pages_of(offset, length, &page, &end) ||
	    !is_reader(fd))
		return false;
	while (page < end && mapping.populated[page])
		page++;
	/* With another's handler or none, a fault would end the process. */
	if (page < end || !is_guarded() ||
	    pthread_sigmask(SIG_BLOCK, NULL, &mask) ||
	    sigismember(&mask, SIGBUS) ||
	    !copy(to, mapping.map + offset, length))
		return false;
	/* The rest of the last page of a truncated file reads as zeros. */
	return S_ISBLK(mapping.file.st_mode) || ((char *)to)[length - 1] ||
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

	return S_ISBLK(mapping.file.st_mode) ||
	       (pread(fd, &byte, 1, 0) == 1 &&
		!mincore(mapping.map, 1, &resident) && resident & 1);
}

/* Bytes that are populated, unless there is less memory. */
#define POPULATED_MOST (INT64_C(1) << 30)

static void unmap(void)
{
	if (mapping.map)
		munmap(mapping.map, (size_t)mapping.size);
	free(mapping.populated);
	mapping.populated = NULL;
	mapping.map = NULL;
}

/* MADV_RANDOM: a page that the kernel has evicted is read alone. */
static bool map_file(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	unmap();
	if (size <= 0 || fstat(fd, &mapping.file))
		return false;
	mapping.size = (uint64_t)size;
	mapping.page = (size_t)sysconf(_SC_PAGESIZE);
	mapping.map = e2pf_device_map(fd, mapping.size);
	mapping.populated = calloc((size_t)(mapping.size / mapping.page) + 1,
				   1);
	mapping.reader = -1;
	mapping.left = POPULATED_MOST;
	if (mapping.map && mapping.populated && shares_pages(fd) &&
	    !madvise(mapping.map, (size_t)size, MADV_RANDOM) &&
	    !madvise(mapping.map, 0, MADV_POPULATE_READ))
		return true;
	unmap();
	return false;
}

/* A mapping that a thread still populates, because the device hangs, stays until the
 * next channel is opened. */
static errcode_t mmap_close(io_channel channel)
{
	if (channel->refcount == 1) {
		mapping.open = false;
		if (is_guarded() && !sigaction(SIGBUS, &mapping.previous, NULL))
			mapping.guarded = false;
		if (!pthread_rwlock_trywrlock(&mapping.lock)) {
			unmap();
			pthread_rwlock_unlock(&mapping.lock);
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
	    !e2pf_io_table_is_ours() || pthread_rwlock_trywrlock(&mapping.lock))
		return err;
	fd = mapping.open ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && map_file(fd)) {
		manager = *unix_io_manager;
		manager.name = "mmap";
		manager.open = mmap_open;
		manager.close = mmap_close;
		manager.read_blk64 = mmap_read64;
		guard();
		(*channel)->manager = &manager;
		mapping.open = true;
	}
	if (fd >= 0)
		close(fd);
	pthread_rwlock_unlock(&mapping.lock);
	return 0;
}

void e2pf_mmap_limit(uint64_t bytes)
{
	if ((long long)bytes < mapping.left)
		mapping.left = (long long)bytes;
}

void e2pf_mmap_populate(uint64_t offset, uint64_t length)
{
	size_t page, end;

	if (mapping.left <= 0 || pthread_rwlock_tryrdlock(&mapping.lock))
		return;
	if (mapping.open && pages_of(offset, length, &page, &end)) {
		/* With a page of page tables, which stay, and one of our bytes. */
		mapping.left -= (long long)((end - page + 2) * mapping.page);
		if (!madvise(mapping.map + page * mapping.page,
			     (end - page) * mapping.page, MADV_POPULATE_READ))
			for (; page < end; page++)
				mapping.populated[page] = 1;
	}
	pthread_rwlock_unlock(&mapping.lock);
}
