/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap I/O manager: a filter over libext2fs's unix manager.  The channel is
 * the unix manager's own, with our table of operations.  We make the reads,
 * from a mapping of the device or by pread(2), until the first write to the
 * channel or the first read that fails; from then on everything is the unix
 * manager's.
 *
 * To read 4 KiB of a cached file takes 650 ns in order by pread and 145 from the
 * mapping, and mincore() takes 940 (kernel 6.18).  So the pages known to be
 * resident are recorded.  A page is not read from the mapping the first time:
 * the device gets the same requests as from the unix manager, and an error is
 * an errno.  The mapping serves pages that were read before, and those that
 * mincore() has found ahead of a sequential reader.  It does not use
 * MADV_RANDOM: a fault on the page that the kernel has marked for readahead must
 * start the next readahead, as a pread does.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io_table.h"
#include "mmap_io.h"

/* Pages that are recorded, at most: 1 GiB of them in 2 MiB, of which the kernel
 * allocates what is used.  A page that is no longer recorded costs a pread; one
 * that was evicted since costs a fault, with the kernel's read-around. */
#define KNOWN_PAGES (1u << 18)
#define KNOWN_SIZE (KNOWN_PAGES * sizeof(atomic_ulong))

/* How far to look ahead of a sequential reader.  A page fault maps 16 pages at
 * once (fault_around_bytes), and looking at them costs about 1 us. */
#define AHEAD_PAGES 16

/* The descriptor stays out of the way of the program's. */
#define LEAST_DESCRIPTOR 100

/* The mapped channel, known by its address, for its private data is the unix
 * manager's.  There is one: a check has one at a time, and the unix manager
 * serves another that is opened meanwhile. */
static struct mapped {
	_Atomic(io_channel) channel;	/* NULL: none */
	atomic_bool handed_over;	/* to the unix manager */
	atomic_ullong bytes_read;	/* not yet in the statistics */
	int fd;
	bool regular;		/* a file, not a device */
	const char *map;
	size_t size, page_size;
	atomic_ulong *known;	/* of pages in memory the number + 1, at the
				   place that follows from the number */
} mapped;

static struct struct_io_manager mmap_manager;

io_manager e2pf_mmap_io_manager = &mmap_manager;

/* NULL if the channel is not the mapped one, or no longer served by us. */
static struct mapped *find(io_channel channel)
{
	return channel->magic == EXT2_ET_MAGIC_IO_CHANNEL &&
	       atomic_load(&mapped.channel) == channel &&
	       !atomic_load(&mapped.handed_over) ? &mapped : NULL;
}

bool e2pf_mmap_io_is_mapped(io_channel channel)
{
	return channel && channel->manager == &mmap_manager;
}

/*
 * Copying from the mapping: an error instead of a SIGBUS if a page cannot be read
 * (media error, truncated file, a device that is gone).  With any other SIGBUS
 * the program gets back its handler, for good, and the signal.
 *
 * The handler runs with SA_NODEFER and an empty mask.  So when siglongjmp()
 * leaves it, no mask must be restored, and sigsetjmp() need not save one: that
 * takes 3 ns per guarded access instead of the 140 ns of a system call.
 */

/* If this thread causes a fault in [start, end), it continues at `env`. */
struct guarded {
	uintptr_t start, end;
	struct guarded *outer;	/* interrupted by a signal */
	sigjmp_buf env;
};

/* glibc may allocate such a variable with malloc() when it is first used, and that
 * may be in the handler; not with initial-exec, which musl's dlopen() refuses. */
#ifdef __GLIBC__
__attribute__((tls_model("initial-exec")))
#endif
static __thread struct guarded *volatile current;

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

/* Also tells which handler is installed. */
static bool is_ours(struct sigaction *action)
{
	return sigaction(SIGBUS, NULL, action) == 0 &&
	       (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_sigbus;
}

/* Returns false if that failed.  Also if ours is installed but covered by another
 * handler, which may call ours: the two would call each other forever. */
static bool install(void)
{
	struct sigaction action;

	if (is_ours(&action) || atomic_load(&installed))
		return is_ours(&action);
	previous = action;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
	atomic_store(&installed, sigaction(SIGBUS, &action, NULL) == 0);
	return atomic_load(&installed);
}

/* Restore the previous handler, if ours is still installed. */
static void uninstall(void)
{
	struct sigaction action;

	if (is_ours(&action) && sigaction(SIGBUS, &previous, NULL) == 0)
		atomic_store(&installed, false);
}

/* False if another handler is installed, or if this thread blocks SIGBUS: then a
 * fault would end the process.  The two system calls take 0.34 us. */
static bool is_ready(void)
{
	struct sigaction action;
	sigset_t mask;

	return is_ours(&action) && pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 &&
	       !sigismember(&mask, SIGBUS);
}

/* Returns false if a page could not be read; then `to` is partly written.
 * Everything is filled in before sigsetjmp(): variables that are changed after
 * it are indeterminate after a siglongjmp(). */
static bool copy(void *to, const void *from, size_t size)
{
	struct guarded guarded = {
		.start = (uintptr_t)from, .end = (uintptr_t)from + size,
		.outer = current
	};

	if (!is_ready())
		return false;
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

/*
 * The mapping.
 */

static bool is_known(const struct mapped *m, size_t first, size_t last)
{
	while (first <= last && atomic_load_explicit(
		&m->known[first % KNOWN_PAGES], memory_order_relaxed) ==
	       first + 1)
		first++;
	return first > last;
}

static void set_known(struct mapped *m, size_t page)
{
	atomic_store_explicit(&m->known[page % KNOWN_PAGES], page + 1,
			      memory_order_relaxed);
}

/* A reader that has come to the next page is likely to go on: ask the kernel
 * about the next ones, too.  Returns true if `first` to `last` are resident. */
static bool look_ahead(struct mapped *m, size_t first, size_t last)
{
	size_t i, pages = (m->size - 1) / m->page_size + 1 - first;
	unsigned char resident[AHEAD_PAGES];

	if (!first || !is_known(m, first - 1, first - 1) ||
	    last - first >= AHEAD_PAGES)
		return false;
	if (pages > AHEAD_PAGES)
		pages = AHEAD_PAGES;
	if (mincore((char *)m->map + first * m->page_size,
		    pages * m->page_size, resident) < 0)
		return false;
	for (i = 0; i < pages; i++)
		if (resident[i] & 1)
			set_known(m, first + i);
	return is_known(m, first, last);
}

/*
 * If a file is truncated in the middle of a page, the mapping reads as zeros up
 * to the end of that page, without a fault.  That can have happened only if the
 * last byte is zero, and only to a file.
 */
static bool is_cut_off(const struct mapped *m, unsigned long long end,
		       char last_byte)
{
	struct stat st;

	return m->regular && !last_byte &&
	       (fstat(m->fd, &st) < 0 || (unsigned long long)st.st_size < end);
}

static bool read_bytes(struct mapped *m, unsigned long long at, char *buf,
		       size_t size)
{
	bool inside = size && size <= m->size && at <= m->size - size;
	size_t first = inside ? (size_t)at / m->page_size : 1;
	size_t last = inside ? ((size_t)at + size - 1) / m->page_size : 0;

	if (inside &&
	    (is_known(m, first, last) || look_ahead(m, first, last)) &&
	    copy(buf, m->map + at, size) &&
	    !is_cut_off(m, at + size, buf[size - 1]))
		return true;
	if (pread(m->fd, buf, size, (off_t)at) != (ssize_t)size)
		return false;
	for (; first <= last; first++)
		set_known(m, first);
	return true;
}

/*
 * Operations.
 */

/* What we have read is counted in the unix manager's statistics. */
static errcode_t mmap_get_stats(io_channel channel, io_stats *stats)
{
	errcode_t error = unix_io_manager->get_stats(channel, stats);
	struct mapped *m = find(channel);

	if (m && !error && stats && *stats)
		(*stats)->bytes_read += atomic_exchange(&m->bytes_read, 0);
	return error;
}

/* Leave the channel to the unix manager. */
static void hand_over(io_channel channel)
{
	struct mapped *m = find(channel);
	io_stats stats = NULL;

	if (!m)
		return;
	mmap_get_stats(channel, &stats);
	atomic_store(&m->handed_over, true);
}

static errcode_t mmap_read_blk64(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	unsigned long long bs = (unsigned long long)channel->block_size;
	struct mapped *m = find(channel);
	size_t size = count < 0 ? (size_t)-(long long)count :
				  (size_t)count * bs;

	/* The position wraps as in the unix manager. */
	if (m && read_bytes(m, block * bs, buf, size)) {
		atomic_fetch_add(&m->bytes_read, size);
		return 0;
	}
	hand_over(channel);
	return unix_io_manager->read_blk64(channel, block, count, buf);
}

static errcode_t mmap_write_blk64(io_channel channel,
				  unsigned long long block, int count,
				  const void *buf)
{
	hand_over(channel);
	return unix_io_manager->write_blk64(channel, block, count, buf);
}

static errcode_t mmap_write_blk(io_channel channel, unsigned long block,
				int count, const void *buf)
{
	return mmap_write_blk64(channel, block, count, buf);
}

static errcode_t mmap_write_byte(io_channel channel, unsigned long offset,
				 int size, const void *buf)
{
	hand_over(channel);
	return unix_io_manager->write_byte(channel, offset, size, buf);
}

static errcode_t mmap_discard(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	hand_over(channel);
	return unix_io_manager->discard(channel, block, count);
}

static errcode_t mmap_zeroout(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	hand_over(channel);
	return unix_io_manager->zeroout(channel, block, count);
}

/* An offset, or what we do not know. */
static errcode_t mmap_set_option(io_channel channel, const char *option,
				 const char *arg)
{
	if (strcmp(option, "cache"))
		hand_over(channel);
	return unix_io_manager->set_option(channel, option, arg);
}

/*
 * Opening and closing.
 */

/* The size to be mapped, 0 if the file should not be.  The mapping must not
 * take the address space that the program needs. */
static size_t mappable_size(int fd, const struct stat *st)
{
	unsigned long long size = 0;
	struct rlimit limit;

	if (S_ISREG(st->st_mode))
		size = (unsigned long long)st->st_size;
	else if (ioctl(fd, BLKGETSIZE64, &size) < 0)
		return 0;
	if (size > SIZE_MAX / 4 || getrlimit(RLIMIT_AS, &limit) < 0 ||
	    (limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur / 2))
		return 0;
	return (size_t)size;
}

static void *map(size_t size, int flags, int prot, int fd)
{
	void *at = size ? mmap(NULL, size, prot, flags, fd, 0) : MAP_FAILED;

	return at == MAP_FAILED ? NULL : at;
}

static void unmap(struct mapped *m)
{
	if (m->map)
		munmap((void *)m->map, m->size);
	if (m->known)
		munmap(m->known, KNOWN_SIZE);
	if (m->fd >= 0)
		close(m->fd);
}

/* The table of known pages is not from the heap: free() of so large a block
 * makes the allocator go through all that the check has freed, 5 of 160 ms of
 * the check of extents@1/4. */
static bool map_file(struct mapped *m, const char *name,
		     const struct stat *before)
{
	struct stat st;
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	m->map = NULL;
	m->known = NULL;
	atomic_store(&m->bytes_read, 0);
	atomic_store(&m->handed_over, false);
	m->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
	if (fd >= 0)
		close(fd);
	if (m->fd >= 0 && !fstat(m->fd, &st) && st.st_dev == before->st_dev &&
	    st.st_ino == before->st_ino && st.st_rdev == before->st_rdev) {
		m->page_size = (size_t)sysconf(_SC_PAGESIZE);
		m->regular = S_ISREG(st.st_mode);
		m->size = mappable_size(m->fd, &st);
		m->map = map(m->size, MAP_SHARED, PROT_READ, m->fd);
		m->known = map(KNOWN_SIZE, MAP_PRIVATE | MAP_ANONYMOUS,
			       PROT_READ | PROT_WRITE, -1);
	}
	if (m->map && m->known && install())
		return true;
	unmap(m);
	return false;
}

static void serve(io_channel channel, const char *name, const struct stat *st)
{
	io_channel none = NULL;

	if (!atomic_compare_exchange_strong(&mapped.channel, &none, channel))
		return;
	if (map_file(&mapped, name, st))
		channel->manager = &mmap_manager;
	else
		atomic_store(&mapped.channel, NULL);
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel)
{
	struct stat st = { 0 };
	errcode_t error;

	/* Before it is opened, so that both descriptors are of one file.
	 * Opening a pipe blocks, and opening a tape or a terminal twice has
	 * effects that opening it once has not. */
	if (name && stat(name, &st) < 0)
		st.st_mode = 0;
	error = unix_io_manager->open(name, flags, channel);
	/* The program calls operations by their places in the header's table,
	 * so these must be right. */
	if (!error && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) &&
	    !(flags & (IO_FLAG_DIRECT_IO | IO_FLAG_FORCE_BOUNCE)) &&
	    e2pf_io_table_is_ours())
		serve(*channel, name, &st);
	return error;
}

static errcode_t mmap_close(io_channel channel)
{
	/* First: the mapping keeps the file open, and the unix manager's
	 * close() must be the one that reports errors. */
	if (channel->magic == EXT2_ET_MAGIC_IO_CHANNEL &&
	    channel->refcount <= 1 && channel == mapped.channel) {
		unmap(&mapped);
		uninstall();
		atomic_store(&mapped.channel, NULL);
	}
	return unix_io_manager->close(channel);
}

/* All other operations are the unix manager's.  A module may be loaded into a
 * program that has none. */
__attribute__((constructor))
static void fill_table(void)
{
	if (!&unix_io_manager || !unix_io_manager)
		return;
	mmap_manager = *unix_io_manager;
	mmap_manager.name = "e2prefetch mmap I/O manager";
	mmap_manager.open = mmap_open;
	mmap_manager.close = mmap_close;
	mmap_manager.write_blk = mmap_write_blk;
	mmap_manager.write_byte = mmap_write_byte;
	mmap_manager.set_option = mmap_set_option;
	mmap_manager.get_stats = mmap_get_stats;
	mmap_manager.read_blk64 = mmap_read_blk64;
	mmap_manager.write_blk64 = mmap_write_blk64;
	mmap_manager.discard = mmap_discard;
	mmap_manager.zeroout = mmap_zeroout;
}
