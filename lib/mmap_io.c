/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which reads are copies from the mapping: those that pass the unix manager's
 * cache of blocks, while that has nothing to write, if all of their pages are cached and
 * a SIGBUS would come to our handler.  So the cache sees all that it would see without
 * us, and writes the same blocks in the same order.
 *
 * The handler puts a page of zeros where a page cannot be read, and marks the mapping.
 * The reader sees the mark after its copy, and leaves this read and all others to the
 * unix manager.  So there is no state that a longjmp() out of a read could leave behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io_table.h"
#include "mmap_io.h"

/* The unix manager reads more blocks than these directly: its READ_DIRECT_SIZE. */
#define MAX_CACHED 4

/* So much is looked for in the page cache at once, and in so many windows until the
 * mapping begins again with empty page tables.  Each may take a page of them, and one of
 * ours. */
#define WINDOW (512u << 10)
#define MAX_WINDOWS 512u

/* That are left to the program. */
#define SPARE_DESCRIPTORS 16

/* Of the address space: 64 MiB of 4 GiB, which the program needs, too. */
#define SPACE_PART 64

/* Behind any folio that begins before the end of a file. */
#define FAR_BEHIND (UINT64_C(1) << 30)

/* A channel of this manager.  They are reused, and never freed: the handler may look. */
struct mapped {
	struct mapped *next;
	_Atomic(io_channel) channel;		/* NULL: unused */
	_Atomic(const char *) why_not;		/* NULL: reads are copies */
	int fd;
	char *map;				/* NULL: none */
	uint64_t size;
	size_t pages;
	unsigned char *cached;			/* of each page: bit 0, it was */
	uint64_t offset;			/* the option */
	atomic_uint windows;			/* looked at */
	atomic_uint writes, flushed;		/* ... of these */
};

static _Atomic(struct mapped *) all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* to open and close */
static unsigned mappings;
static size_t page_size;

/* SIGBUS. */
static atomic_bool installed;		/* our handler, and not given up */
static struct sigaction previous;	/* written only while not installed */

static struct mapped *of(io_channel channel)
{
	struct mapped *m = all;

	while (m && m->channel != channel)
		m = m->next;
	return m;
}

/* With any other SIGBUS the program gets back its handler, for good, and the signal. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	/* Was it caused by an access?  A memory error may be found in the background. */
	bool access = info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
	uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(page_size - 1);
	struct mapped *m;

	(void)context;
	for (m = access ? all : NULL; m; m = m->next) {
		if (!m->channel || !m->map || at - (uintptr_t)m->map >= m->size)
			continue;
		m->why_not = "a page could not be read";
		if (mmap((void *)at, page_size, PROT_READ, MAP_FIXED | MAP_PRIVATE |
			 MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
			return;
	}
	sigaction(SIGBUS, &previous, NULL);
	installed = false;
	/* The thread's own comes again when the instruction is repeated. */
	if (!access)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
			sig, info);
}

static bool handles_sigbus(void)
{
	struct sigaction action;

	return !sigaction(SIGBUS, NULL, &action) &&
	       action.sa_flags & SA_SIGINFO && action.sa_sigaction == on_sigbus;
}

/* Another handler may cover ours, and call it.  Ours never comes above that one: the two
 * would call each other forever. */
static void install_handler(void)
{
	struct sigaction action = {
		.sa_sigaction = on_sigbus,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART
	};

	if (!installed && !sigaction(SIGBUS, NULL, &previous))
		installed = !sigaction(SIGBUS, &action, NULL);
}

static void remove_handler(void)
{
	if (handles_sigbus() && !sigaction(SIGBUS, &previous, NULL))
		installed = false;
}

/* Would a page that cannot be read end the process? */
static bool is_guarded(void)
{
	sigset_t mask;

	return handles_sigbus() && !pthread_sigmask(SIG_BLOCK, NULL, &mask) &&
	       !sigismember(&mask, SIGBUS);
}

/* With empty page tables.  Reads of other threads go on. */
static bool begin_again(struct mapped *m)
{
	if (mmap(m->map, (size_t)m->size, PROT_READ,
		 MAP_FIXED | MAP_SHARED | MAP_NORESERVE, m->fd, 0) == MAP_FAILED) {
		m->why_not = "cannot map it again";
		(void)mmap(m->map, (size_t)m->size, PROT_READ, MAP_FIXED |
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		return false;
	}
	m->windows = 0;
	return !madvise(m->cached, m->pages, MADV_DONTNEED);
}

static bool are_marked(const struct mapped *m, size_t page, size_t end)
{
	while (page < end && m->cached[page] & 1)
		page++;
	return page == end;
}

/* Are these pages cached?  Asks the kernel for what is not known of whole windows. */
static bool are_cached(struct mapped *m, size_t page, size_t end)
{
	const size_t window = WINDOW / page_size;
	size_t from = page - page % window, to = end + window - 1;

	if (are_marked(m, page, end))
		return true;
	to -= to % window;
	m->windows += (unsigned)((to - from) / window);
	if (m->windows > MAX_WINDOWS && !begin_again(m))
		return false;
	if (to > m->pages)
		to = m->pages;
	return !mincore(m->map + from * page_size, (to - from) * page_size,
			m->cached + from) && are_marked(m, page, end);
}

/* Returns false, and `to` is undefined, if the unix manager has to read it. */
static bool copy(struct mapped *m, void *to, uint64_t offset, uint64_t length)
{
	if (m->why_not || length > m->size || offset > m->size - length ||
	    !are_cached(m, (size_t)(offset / page_size),
			(size_t)((offset + length - 1) / page_size) + 1) ||
	    !is_guarded())
		return false;
	memcpy(to, m->map + offset, (size_t)length);
	/* What was behind the end of a file reads as zeros, and of a device as before. */
	return !m->why_not && lseek(m->fd, 0, SEEK_END) >= (off_t)(offset + length);
}

static errcode_t mmap_read64(io_channel channel, unsigned long long block, int count,
			     void *data)
{
	struct mapped *m = of(channel);
	uint64_t block_size = (uint64_t)channel->block_size;
	uint64_t length = count < 0 ? (uint64_t)-(int64_t)count :
				      (uint64_t)count * block_size;
	bool directly = count < 0 || count > MAX_CACHED;
	unsigned writes = m->writes;
	io_stats stats = NULL;
	errcode_t err;

	if (directly && m->flushed == writes &&
	    copy(m, data, m->offset + block * block_size, length)) {
		/* Of 4 bytes' alignment with 32 bits, where __atomic_fetch_add() may be
		 * a library's. */
		if (!unix_io_manager->get_stats(channel, &stats) && stats)
			__sync_fetch_and_add(&stats->bytes_read, length);
		return 0;
	}
	err = unix_io_manager->read_blk64(channel, block, count, data);
	/* Before a direct read the unix manager writes what it has. */
	if (!err && directly)
		m->flushed = writes;
	return err;
}

static errcode_t mmap_read(io_channel channel, unsigned long block, int count, void *data)
{
	return mmap_read64(channel, block, count, data);
}

static errcode_t mmap_set_option(io_channel channel, const char *option, const char *arg)
{
	errcode_t err = unix_io_manager->set_option(channel, option, arg);

	if (!err && !strcmp(option, "offset"))
		of(channel)->offset = strtoull(arg, NULL, 0);
	return err;
}

static errcode_t mmap_write64(io_channel channel, unsigned long long block, int count,
			      const void *data)
{
	of(channel)->writes++;
	return unix_io_manager->write_blk64(channel, block, count, data);
}

static errcode_t mmap_write(io_channel channel, unsigned long block, int count,
			    const void *data)
{
	return mmap_write64(channel, block, count, data);
}

static errcode_t mmap_flush(io_channel channel)
{
	struct mapped *m = of(channel);
	unsigned writes = m->writes;
	errcode_t err = unix_io_manager->flush(channel);

	if (!err)
		m->flushed = writes;
	return err;
}

static void unmap(struct mapped *m)
{
	if (m->map)
		munmap(m->map, (size_t)m->size);
	if (m->cached)
		munmap(m->cached, m->pages);
	m->cached = NULL;
	m->map = NULL;
}

static errcode_t mmap_close(io_channel channel)
{
	struct mapped *m = of(channel);

	if (channel->refcount == 1) {
		pthread_mutex_lock(&lock);
		if (m->map && !--mappings)
			remove_handler();
		unmap(m);
		if (m->fd >= 0)
			close(m->fd);
		m->channel = NULL;
		pthread_mutex_unlock(&lock);
	}
	return unix_io_manager->close(channel);
}

/* mincore(2) reports all pages as cached to a user who neither owns the file nor may
 * write to it: also one that cannot be. */
static bool shows_what_is_cached(const struct mapped *m)
{
	unsigned char seen = 1;
	void *far = mmap(NULL, page_size, PROT_READ, MAP_SHARED, m->fd,
			 (off_t)(m->size - m->size % page_size + FAR_BEHIND));

	if (far != MAP_FAILED) {
		mincore(far, page_size, &seen);
		munmap(far, page_size);
	}
	return !(seen & 1);
}

/* A filesystem that keeps copies of its own, or none, has no page of the bytes that are
 * read from it. */
static bool shares_pages(const struct mapped *m)
{
	unsigned char seen = 0;
	char byte;

	return pread(m->fd, &byte, 1, 0) == 1 && !mincore(m->map, 1, &seen) && seen & 1;
}

/* Is less left of it than this? */
static bool is_limited(int resource, rlim_t min)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) ||
	       (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= min);
}

/* Returns NULL or why not.  `named` is what had the name before the unix manager opened
 * it: another file may have it by now. */
static const char *map(struct mapped *m, const struct stat *named)
{
	struct stat st;
	off_t size = lseek(m->fd, 0, SEEK_END);

	if (fstat(m->fd, &st) || st.st_dev != named->st_dev || st.st_ino != named->st_ino)
		return "cannot open it a second time";
	/* It has the lowest free number, so all below it are in use. */
	if (is_limited(RLIMIT_NOFILE, (rlim_t)m->fd + SPARE_DESCRIPTORS)) {
		close(m->fd);
		m->fd = -1;
		return "too few file descriptors left (RLIMIT_NOFILE)";
	}
	if (size <= 0 || !(S_ISBLK(st.st_mode) || S_ISREG(st.st_mode)))
		return "its size is unknown";
	if ((uint64_t)size > SIZE_MAX / SPACE_PART ||
	    is_limited(RLIMIT_AS, RLIM_INFINITY))
		return "address space is limited";
	m->size = (uint64_t)size;
	m->pages = (size_t)((m->size - 1) / page_size) + 1;
	m->map = mmap(NULL, (size_t)m->size, PROT_READ, MAP_SHARED | MAP_NORESERVE, m->fd,
		      0);
	m->cached = mmap(NULL, m->pages, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	m->map = m->map == MAP_FAILED ? NULL : m->map;
	m->cached = m->cached == MAP_FAILED ? NULL : m->cached;
	if (!m->map || !m->cached)
		return "cannot map it";
	if (!shows_what_is_cached(m))
		return "this user may not query its page cache";
	if (S_ISREG(st.st_mode) && !shares_pages(m))
		return "mappings of this file may be stale";
	return NULL;
}

/* An unused one, or NULL. */
static struct mapped *add(void)
{
	struct mapped *m = of(NULL);

	if (!m && (m = calloc(1, sizeof(*m)))) {
		m->next = all;
		all = m;
	}
	return m;
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel);

/* From the first channel on, it has all that the unix manager of the installed library
 * can do, whether or not our header knows of it. */
static struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "mmap", .open = mmap_open
};

io_manager e2mmap_io_manager = &manager;

static void fill_manager(void)
{
	struct struct_io_manager all_of_it = *unix_io_manager;

	all_of_it.name = manager.name;
	all_of_it.open = mmap_open;
	all_of_it.close = mmap_close;
	all_of_it.read_blk = mmap_read;
	all_of_it.read_blk64 = mmap_read64;
	all_of_it.write_blk = mmap_write;
	all_of_it.write_blk64 = mmap_write64;
	all_of_it.flush = mmap_flush;
	all_of_it.set_option = mmap_set_option;
	manager = all_of_it;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
}

static void accept(struct mapped *m, io_channel channel, const char *name, int flags,
		   const struct stat *named)
{
	const char *why_not = "direct I/O was asked for";

	m->offset = 0;
	m->windows = 0;
	m->writes = 0;
	m->flushed = 0;
	m->fd = -1;
	if (!(flags & IO_FLAG_DIRECT_IO)) {
		m->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		why_not = map(m, named);
	}
	if (why_not)
		unmap(m);
	else
		install_handler();
	mappings += !why_not;
	m->why_not = why_not;
	m->channel = channel;
	channel->manager = &manager;
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel)
{
	int kept_errno = errno;
	struct mapped *m;
	struct stat named;
	errcode_t err;

	memset(&named, 0, sizeof(named));
	stat(name, &named);
	err = unix_io_manager->open(name, flags, channel);
	if (err || !e2pf_io_table_is_ours())
		return err;
	pthread_mutex_lock(&lock);
	if (!page_size)
		fill_manager();
	m = add();
	if (m)
		accept(m, *channel, name, flags, &named);
	pthread_mutex_unlock(&lock);
	errno = kept_errno;
	return 0;
}

const char *e2mmap_why_not(io_channel channel)
{
	const struct mapped *m = of(channel);

	if (!m)
		return e2pf_io_table_is_ours() ? "another I/O manager opened it" :
		       "this libext2fs has an unknown table of I/O operations";
	return m->why_not ? m->why_not : handles_sigbus() ? NULL :
	       "another handler of SIGBUS is set";
}
