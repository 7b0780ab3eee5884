/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The real device: a descriptor for reading ahead, and a mapping that is never accessed
 * and only lets mincore(2) report which pages are cached.
 *
 * Readahead is posix_fadvise(POSIX_FADV_WILLNEED); doc/performance.md, "Readahead calls",
 * compares it with io_uring, MADV_POPULATE_READ and pread.  POSIX_FADV_RANDOM turns the
 * kernel's own readahead off, so that the engine alone chooses the blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "filter.h"

/* Headers of Linux 5.10 do not know it. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* Pages per mincore() call: 4 MiB of device. */
#define SPAN_PAGES 1024u

/* Pauses between queries whether a page has been read.  The first is the time of a fast
 * SSD; each further pause is longer by an eighth, up to the longest. */
#define FIRST_PAUSE_NS 20000
#define MAX_PAUSE_NS 2000000

/* Descriptors left to the checker, which shares our limit: for an external
 * journal, the mount table, the pipe to badblocks. */
#define SPARE_DESCRIPTORS 16u

/* A read that shows whether pages are cached: bytes of its buffer, and of the read at
 * most, which are four of the largest pages. */
#define SINK_BYTES 4096u
#define MAX_ASKED (256u << 10)

struct file_device {
	struct pf_device dev;
	uint64_t offset;	/* of the filesystem in the file */
	unsigned char *map;	/* of the whole file, or NULL */
	uint64_t map_len;
	bool in_memory;		/* of a filesystem in memory */
	atomic_bool no_read_now;	/* the filesystem refuses RWF_NOWAIT */
};

static struct file_device *file_device(struct pf_device *dev)
{
	return (struct file_device *)dev;
}

/* Query the residency of whole pages from `start`.  If the whole file is not
 * mapped, map the range for the duration of the call. */
static int query(struct file_device *f, uint64_t start, size_t len,
		unsigned char *vec)
{
	void *m;
	int r;

	if (f->map && start + len <= f->map_len)
		return mincore(f->map + start, len, vec);
	m = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_NORESERVE, f->dev.fd,
		 (off_t)start);
	if (m == MAP_FAILED)
		return -1;
	r = mincore(m, len, vec);
	munmap(m, len);
	return r;
}

/* A block device has no holes: lseek(2) fails with EINVAL. */
static uint64_t file_next_data(struct pf_device *dev, uint64_t offset)
{
	const struct file_device *f = file_device(dev);
	off_t at = lseek(f->dev.fd, (off_t)(f->offset + offset), SEEK_DATA);

	if (at < 0)
		return errno == ENXIO ? UINT64_MAX : offset;
	return (uint64_t)at - f->offset;
}

/* The number of pages of the range that are in the page cache, in any state; -1 if that
 * is not known.  mincore(2) reports only pages that are up to date. */
static int64_t pages_not_uptodate(const struct file_device *f, uint64_t start,
				  uint64_t len)
{
#ifdef SYS_cachestat
	struct {
		uint64_t offset, length;
	} range = { start, len };
	struct {
		uint64_t cache, dirty, writeback, evicted, recently_evicted;
	} found;

	return f->dev.asks_by_reading ||
	       syscall(SYS_cachestat, f->dev.fd, &range, &found, 0) ? -1 :
	       (int64_t)found.cache;
#else
	(void)f, (void)start, (void)len;
	return -1;
#endif
}

/* The number of bytes at the start of this range, of at most MAX_ASKED, that can be read
 * without a wait.  RWF_NOWAIT also finds what is up to date in a page that was written in
 * part.  It starts to read pages that are missing. */
static uint64_t readable_bytes(struct file_device *f, uint64_t start,
			       uint64_t len)
{
#if defined(HAVE_PREADV2) && defined(RWF_NOWAIT)
	char sink[SINK_BYTES];
	struct iovec part[MAX_ASKED / SINK_BYTES];
	uint64_t left = len;
	int parts = 0;
	ssize_t n;

	if (f->no_read_now || len > MAX_ASKED)
		return 0;
	for (; left; left -= part[parts++].iov_len)
		part[parts] = (struct iovec){
			sink, left < sizeof(sink) ? left : sizeof(sink)
		};
	n = preadv2(f->dev.fd, part, parts, (off_t)start, RWF_NOWAIT);
	if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM))
		f->no_read_now = true;
	return n > 0 ? (uint64_t)n : 0;
#else
	(void)start, (void)len;
	f->no_read_now = true;
	return 0;
#endif
}

/* The same question where only a read can answer it: a range of which the first page is
 * missing is missing as a whole, since it is being read from now on. */
static uint64_t span_by_reading(struct file_device *f, uint64_t start,
				uint64_t len, enum pf_residency *state)
{
	uint64_t page = f->dev.page_size, n, left;

	if (len > MAX_ASKED)
		len = MAX_ASKED;
	/* The last page of a file may have less. */
	left = f->offset + f->dev.size - start;
	n = readable_bytes(f, start, left < len ? left : len);
	*state = n >= left || n >= page ? PF_CACHED : PF_MISSING;
	return *state == PF_MISSING || n >= left ? len : n - n % page;
}

static enum pf_residency page_state(struct file_device *f, uint64_t start)
{
	uint64_t left = f->offset + f->dev.size - start, len = f->dev.page_size;

	if (pages_not_uptodate(f, start, len) <= 0)
		return PF_MISSING;
	/* The last page of a file may have less. */
	if (len > left)
		len = left;
	return readable_bytes(f, start, len) == len ? PF_CACHED :
	       PF_NOT_UPTODATE;
}

/* The leading pages of a range that mincore(2) reports as missing. */
static uint64_t missing_span(struct file_device *f, uint64_t start,
			     uint64_t len, enum pf_residency *state)
{
	uint64_t page = f->dev.page_size, n;
	int64_t pages = f->dev.sees_not_uptodate ? pages_not_uptodate(f, start,
								      len) : -1;

	*state = PF_MISSING;
	if (pages <= 0)
		return len;
	*state = page_state(f, start);
	/* Whoever waits for one of these pages queries its state. */
	if (*state == PF_NOT_UPTODATE && (uint64_t)pages == len / page)
		return len;
	for (n = page; n < len && page_state(f, start + n) == *state; n += page)
		;
	return n;
}

static uint64_t file_span(struct pf_device *dev, uint64_t offset,
			  uint64_t len, enum pf_residency *state)
{
	struct file_device *f = file_device(dev);
	unsigned char vec[SPAN_PAGES];
	uint64_t page = dev->page_size, start, end, data, pages, i;

	*state = PF_MISSING;
	if (!len)
		return len;
	offset += f->offset;
	start = offset - offset % page;
	pages = (offset + len - start + page - 1) / page;
	if (pages > SPAN_PAGES)
		pages = SPAN_PAGES;
	if (dev->asks_by_reading) {
		end = start + span_by_reading(f, start, pages * page, state) -
		      offset;
		return end < len ? end : len;
	}
	if (query(f, start, pages * page, vec) < 0)
		return len;
	for (i = 1; i < pages && (vec[i] & 1) == (vec[0] & 1); i++)
		;
	end = start + i * page - offset;
	if (vec[0] & 1) {
		*state = PF_CACHED;
	} else if (f->in_memory) {
		/* A hole never becomes resident, and needs no device. */
		data = file_next_data(dev, offset - f->offset);
		if (data > offset - f->offset)
			*state = PF_CACHED;
		end = *state == PF_CACHED ? data - (offset - f->offset) :
		      start + page - offset;
	} else {
		end = start + missing_span(f, start, i * page, state) - offset;
	}
	return end < len ? end : len;
}

static uint64_t file_now(struct pf_device *dev)
{
	struct timespec ts;

	(void)dev;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void file_willneed(struct pf_device *dev, uint64_t offset, uint64_t len)
{
	struct file_device *f = file_device(dev);

	/* The kernel cuts a longer request off at its readahead size. */
	while (len) {
		uint64_t part = len < dev->max_readahead ?
				len : dev->max_readahead;

		posix_fadvise(f->dev.fd, (off_t)(f->offset + offset), (off_t)part,
			      POSIX_FADV_WILLNEED);
		offset += part;
		len -= part;
	}
}

static int file_read(struct pf_device *dev, void *buf, uint64_t offset,
		     uint32_t len)
{
	struct file_device *f = file_device(dev);
	char *p = buf;

	while (len) {
		ssize_t n = pread(f->dev.fd, p, len, (off_t)(f->offset + offset));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return EIO;
		p += n;
		offset += (uint64_t)n;
		len -= (uint32_t)n;
	}
	return 0;
}

static void drop_page(const struct file_device *f, uint64_t offset)
{
	uint64_t at = f->offset + offset, page = f->dev.page_size;

	posix_fadvise(f->dev.fd, (off_t)(at - at % page), (off_t)page,
		      POSIX_FADV_DONTNEED);
}

static bool file_arrives(struct pf_device *dev, uint64_t offset, uint64_t len,
			 uint64_t ns, bool drop)
{
	uint64_t part, page = dev->page_size, began = file_now(dev);
	uint64_t base = file_device(dev)->offset % page;
	struct timespec pause = { .tv_nsec = FIRST_PAUSE_NS };
	enum pf_residency state;

	for (; len; offset += part, len -= part) {
		part = file_span(dev, offset, len, &state);
		/* One page is asked about while it is waited for. */
		if (state == PF_NOT_UPTODATE && part > page - (base +
							       offset) % page)
			part = page - (base + offset) % page;
		while (state == PF_NOT_UPTODATE) {
			if (file_now(dev) - began >= ns) {
				/* The kernel keeps a page that is being read. */
				if (drop)
					drop_page(file_device(dev), offset);
				file_span(dev, offset, 1, &state);
				return state != PF_NOT_UPTODATE;
			}
			nanosleep(&pause, NULL);
			if (pause.tv_nsec < MAX_PAUSE_NS)
				pause.tv_nsec += pause.tv_nsec / 8;
			file_span(dev, offset, 1, &state);
		}
	}
	return true;
}

static void file_close(struct pf_device *dev)
{
	struct file_device *f = file_device(dev);

	if (f->map)
		munmap(f->map, (size_t)f->map_len);
	close(f->dev.fd);
	free(f);
}

static const struct pf_device_ops file_ops = {
	.span = file_span,
	.willneed = file_willneed,
	.read = file_read,
	.now = file_now,
	.close = file_close,
	.arrives = file_arrives,
	.next_data = file_next_data,
};

static const char passes_by[] = "reads bypass the page cache";
static const char unseen[] = "this user may not query its page cache";
static const char denied[] = "system calls that query the page cache are blocked";

/* Behind any folio that begins before the end of a file. */
#define FAR_BEHIND (UINT64_C(1) << 30)

/* mincore(2) reports all pages as resident to a user who neither owns the file nor may
 * write to it, also one that cannot be; the kernel alone knows all of that rule: user
 * name spaces, mapped owners, capabilities. */
static void choose_residency_query(struct file_device *f)
{
	uint64_t end = f->dev.size + f->offset;
	size_t page = f->dev.page_size;
	unsigned char seen = 1;
	void *m = mmap(NULL, page, PROT_READ, MAP_SHARED, f->dev.fd,
		       (off_t)(end - end % page + FAR_BEHIND));

	if (m == MAP_FAILED && errno == ENODEV)
		f->dev.unusable = passes_by;
	else if (m == MAP_FAILED)
		f->dev.unusable = "cannot map it";
	else if (!pf_filter_allows_calls() || mincore(m, page, &seen))
		f->dev.asks_by_reading = true;
	else if (seen & 1)
		f->dev.unusable = unseen;
	if (m != MAP_FAILED)
		munmap(m, page);
	/* e2fsck has read this page before. */
	if (f->dev.asks_by_reading)
		(void)readable_bytes(f, f->offset - f->offset % page, page);
	if (f->dev.asks_by_reading && f->no_read_now)
		f->dev.unusable = denied;
}

/* Returns true if the filesystem maps files, but reads past the page cache. */
static bool passes_cache(struct file_device *f)
{
	char byte;

	return pages_not_uptodate(f, f->offset, 1) == 0 &&
	       pread(f->dev.fd, &byte, 1, (off_t)f->offset) == 1 &&
	       pages_not_uptodate(f, f->offset, 1) == 0;
}

/* The filesystem that a file is on.  The node of a block device is in memory, too. */
static void learn_filesystem(struct file_device *f, const struct stat *st)
{
	struct statfs fs;

	if (S_ISBLK(st->st_mode) || fstatfs(f->dev.fd, &fs))
		return;
	f->in_memory = (uint32_t)fs.f_type == TMPFS_MAGIC ||
		       (uint32_t)fs.f_type == RAMFS_MAGIC;
	if (!f->dev.unusable && ((uint32_t)fs.f_type == FUSE_SUPER_MAGIC ||
				 (uint32_t)fs.f_type == V9FS_MAGIC) &&
	    passes_cache(f))
		f->dev.unusable = passes_by;
}

bool pf_device_is_cached(struct pf_device *dev, uint64_t offset, uint64_t len,
			 bool not_uptodate_counts)
{
	while (len) {
		enum pf_residency state;
		uint64_t n = dev->ops->span(dev, offset, len, &state);

		if (state == PF_MISSING ||
		    (state == PF_NOT_UPTODATE && !not_uptodate_counts))
			return false;
		offset += n;
		len -= n;
	}
	return true;
}

/* The descriptor has the lowest free number, so all below it are in use. */
static bool leaves_too_few(int fd)
{
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	       files.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)fd + SPARE_DESCRIPTORS >= files.rlim_cur;
}

/* Map a file or device for reading, or return NULL.  That costs nothing but address
 * space; where that is limited (RLIMIT_AS) it is left to the checker. */
static void *map_device(int fd, uint64_t size)
{
	struct rlimit as;
	void *m;

	if (getrlimit(RLIMIT_AS, &as) || as.rlim_cur != RLIM_INFINITY ||
	    sizeof(void *) < 8 || size == 0 || size > SIZE_MAX / 4)
		return NULL;
	m = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd,
		 0);
	return m == MAP_FAILED ? NULL : m;
}

/* The bytes of a device or file that is open as `fd` and may stay so; 0 with errno. */
static uint64_t usable_size(int fd, struct stat *st)
{
	uint64_t size = 0;

	if (fd < 0 || fstat(fd, st) < 0)
		return 0;
	errno = EMFILE;
	if (leaves_too_few(fd))
		return 0;
	errno = EINVAL;
	if (S_ISREG(st->st_mode))
		return (uint64_t)st->st_size;
	if (S_ISBLK(st->st_mode) && ioctl(fd, BLKGETSIZE64, &size) == 0)
		return size;
	errno = ENOTBLK;
	return 0;
}

int pf_device_open(const char *path, uint64_t offset,
		   struct pf_device **dev)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	struct stat st;
	uint64_t size = usable_size(fd, &st);
	struct file_device *f = NULL;
	enum pf_residency first;

	if (size > offset)
		f = calloc(1, sizeof(*f));
	else if (size)
		errno = EINVAL;
	if (!f) {
		err = errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	f->dev.ops = &file_ops;
	f->dev.fd = fd;
	f->dev.max_readahead = PF_READAHEAD;
	f->dev.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	f->dev.size = size - offset;
	f->offset = offset;
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	choose_residency_query(f);
	learn_filesystem(f, &st);
	f->map_len = size;
	f->map = map_device(fd, size);
	/* overlayfs maps the file below it, and counts no pages of its own: what
	 * mincore(2) sees there, cachestat(2) does not. */
	file_span(&f->dev, 0, 1, &first);
	f->dev.sees_not_uptodate = pages_not_uptodate(f, f->offset, 1) >=
				   (first == PF_CACHED);
	*dev = &f->dev;
	return 0;
}
