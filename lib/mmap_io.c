/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mmap I/O manager: decides, read by read, whether the mapping or
 * pread(2) serves, and which writes change nothing.  Knows nothing of ext2
 * but the magic number of the MMP block.  Which blocks are kept back, and for
 * how long, is the matter of write_cache.c.
 *
 * What a program sees is what unix_io_manager shows: the same data, errors,
 * callbacks and statistics, and the same bytes on the disk at any time.  That
 * has changed between versions of libext2fs; which of them is at hand a trial
 * on memory files tells when the first channel is opened (2 to 5 ms, once),
 * and where none fits the unix manager is opened instead.  These differences
 * are left.
 * - A block that would not change by being written is not: the disk sees fewer
 *   writes, and an error that only such a write would have met is not met.
 * - A write of several blocks of which some change is several writes.  If one
 *   fails the whole is written as one, so blocks before it are written twice.
 * - A block size for which there is no memory, or a negative one, leaves the
 *   channel as it was; there it is of no use any more.
 *
 * Where the time goes, 4 KiB at a time from a warm 1 GiB file (kernel 6.18,
 * 2 virtual processors; each a loop around the one call): pread in order
 * 650 ns, at random 980; memcpy from the mapping in order 145, at random 560
 * on first touch and 460 after; mincore of 1 page at random 940, of 64 pages
 * 1050 when mapped and 4200 when not; sigaction query 205, of the
 * signal mask 137; sigsetjmp 3.
 * Asking mincore() before each read costs more than the mapping saves, so
 * what is known to be resident is remembered.  The first read of a page is a
 * pread of exactly what was asked for: the device sees the requests that
 * unix_io_manager makes, and an error is an errno.  Pages read before, and
 * pages that mincore() has found ahead of a sequential reader, come from the
 * mapping.  The mapping has no MADV_RANDOM: a fault on the kernel's
 * read-ahead mark must start the next read-ahead as a pread would.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "e2prefetch.h"
#include "guard.h"
#include "io_trial.h"
#include "write_cache.h"

#ifndef BLKDISCARDZEROES
#define BLKDISCARDZEROES _IO(0x12, 124)
#endif

/* Of libext2fs 1.47.1. */
#ifndef CHANNEL_FLAGS_NODISCARD
#define CHANNEL_FLAGS_NODISCARD 0x10
#define CHANNEL_FLAGS_NOZEROOUT 0x20
#endif

#define MMAP_IO_MAGIC 0x65327066	/* "e2pf" */

/* Pages a residency word covers, and how many words are kept.  96 KiB of
 * memory per channel know 1 GiB of 4 KiB pages; a page forgotten costs a
 * pread, one evicted since costs a fault with the kernel's read-around. */
#define REGION_PAGES (sizeof(unsigned long) * CHAR_BIT)
#define REGIONS 4096

/* How far to look ahead of a sequential reader.  16 pages are what a page
 * fault maps at once (fault_around_bytes) and cost about 1 us to look at. */
#define AHEAD_PAGES 16

/* Larger reads are a pread if not known to be resident: 64 KiB take 5.0 us
 * by pread and 3.7 from the mapping, little to win for the looking. */
#define MOST_PAGES 256

/* A 32-bit program needs its address space for itself. */
#define MOST_MAPPED_32BIT (1ull << 30)

/* Pages of one region found resident.  A torn update can only claim pages
 * that are not: they are faulted in, under the guard. */
struct region {
	unsigned long number;
	unsigned long resident;
	unsigned long last;	/* page where the last read in it ended */
};

/* The unix manager of libext2fs: not one we know, that of 1.46.3 to 1.47.0,
 * that since 1.47.1, which takes a range it cannot zero or discard for all of
 * them, and that since 1.47.3, which drops clean blocks as well when a write
 * passes its cache by. */
enum kind { UNKNOWN, OF_1_46, OF_1_47_1, OF_1_47_3 };

struct mmap_private_data {
	unsigned magic;
	int fd;
	int flags;		/* IO_FLAG_* */
	ext2_loff_t offset;
	const char *map;
	size_t mapped;		/* bytes, the size when it was opened */
	size_t page_size;
	bool regular;
	bool remembers;		/* what cannot be zeroed or discarded */
	bool write_all;		/* a write has failed: skip none any more */
	struct region *regions;
	struct e2pf_write_cache cache;
	/* Of libext2fs 1.47.3, that of earlier ones being a part of it. */
	struct {
		int num_fields;
		int reserved;
		unsigned long long bytes_read;
		unsigned long long bytes_written;
		unsigned long long cache_hits;
		unsigned long long cache_misses;
	} stats;
	pthread_mutex_t stats_lock;
	pthread_mutex_t seek_lock;	/* the descriptor's position */
};

/* One read or write: the range in the file, and the arguments as given. */
struct request {
	unsigned long long block;
	int count;
	size_t size;
	ext2_loff_t location;
};

static struct struct_io_manager mmap_manager;

io_manager e2pf_mmap_io_manager = &mmap_manager;

static errcode_t get_data(io_channel channel, struct mmap_private_data **out)
{
	struct mmap_private_data *data;

	if (channel->magic != EXT2_ET_MAGIC_IO_CHANNEL)
		return EXT2_ET_MAGIC_IO_CHANNEL;
	data = channel->private_data;
	if (data->magic != MMAP_IO_MAGIC)
		return EXT2_ET_MAGIC_UNIX_IO_CHANNEL;
	*out = data;
	return 0;
}

bool e2pf_mmap_io_is_mapped(io_channel channel)
{
	struct mmap_private_data *data;

	return channel && channel->manager == &mmap_manager &&
	       get_data(channel, &data) == 0;
}

static void lock(const struct mmap_private_data *data, pthread_mutex_t *mutex)
{
	if (data->flags & IO_FLAG_THREADS)
		pthread_mutex_lock(mutex);
}

static void unlock(const struct mmap_private_data *data,
		   pthread_mutex_t *mutex)
{
	if (data->flags & IO_FLAG_THREADS)
		pthread_mutex_unlock(mutex);
}

/* Counted as tried: also what fails, and what needs no writing. */
static void count_bytes(struct mmap_private_data *data,
			unsigned long long *counter, size_t size)
{
	lock(data, &data->stats_lock);
	*counter += size;
	unlock(data, &data->stats_lock);
}

/* Byte position of a block; wraps as it does in the unix manager, where the
 * kernel then refuses the negative offset. */
static ext2_loff_t position(const io_channel channel,
			    const struct mmap_private_data *data,
			    unsigned long long block)
{
	return (ext2_loff_t)(block * (unsigned long long)channel->block_size +
			     (unsigned long long)data->offset);
}

static struct request make_request(const io_channel channel,
				   const struct mmap_private_data *data,
				   unsigned long long block, int count)
{
	struct request request = {
		.block = block,
		.count = count,
		.location = position(channel, data, block),
	};

	if (count < 0)
		request.size = (size_t)-(long long)count;
	else
		request.size = (size_t)count * (size_t)channel->block_size;
	return request;
}

/* What is known to be resident */

static struct region *region_of(const struct mmap_private_data *data,
				unsigned long number)
{
	return &data->regions[number % REGIONS];
}

/* The bits of pages first to last, both of one region. */
static unsigned long bits(size_t first, size_t last)
{
	unsigned long mask = ~0ul;

	mask >>= REGION_PAGES - 1 - (last - first);
	return mask << (first % REGION_PAGES);
}

static size_t last_in_region(size_t page, size_t last)
{
	size_t end = page | (REGION_PAGES - 1);

	return end < last ? end : last;
}

static bool is_known(const struct mmap_private_data *data, size_t first,
		     size_t last)
{
	while (first <= last) {
		size_t end = last_in_region(first, last);
		unsigned long number = first / REGION_PAGES;
		const struct region *region = region_of(data, number);
		unsigned long want = bits(first, end);

		if (__atomic_load_n(&region->number, __ATOMIC_RELAXED) !=
		    number)
			return false;
		if ((__atomic_load_n(&region->resident, __ATOMIC_RELAXED) &
		     want) != want)
			return false;
		first = end + 1;
	}
	return true;
}

static void set_known(struct mmap_private_data *data, size_t first,
		      size_t last)
{
	while (first <= last) {
		size_t end = last_in_region(first, last);
		unsigned long number = first / REGION_PAGES;
		struct region *region = region_of(data, number);

		if (__atomic_load_n(&region->number, __ATOMIC_RELAXED) !=
		    number) {
			__atomic_store_n(&region->resident, 0,
					 __ATOMIC_RELAXED);
			__atomic_store_n(&region->number, number,
					 __ATOMIC_RELAXED);
		}
		__atomic_fetch_or(&region->resident, bits(first, end),
				  __ATOMIC_RELAXED);
		first = end + 1;
	}
}

static void forget_all(struct mmap_private_data *data)
{
	size_t i;

	for (i = 0; i < REGIONS; i++)
		__atomic_store_n(&data->regions[i].resident, 0,
				 __ATOMIC_RELAXED);
}

/* Reads are told apart by region, so that several threads may each have a
 * sequence of their own. */
static bool is_sequential(const struct mmap_private_data *data, size_t first)
{
	const struct region *region;
	size_t last;

	if (first == 0)
		return false;
	region = region_of(data, (first - 1) / REGION_PAGES);
	last = __atomic_load_n(&region->last, __ATOMIC_RELAXED);
	return last == first - 1 || last == first;
}

static void set_last(struct mmap_private_data *data, size_t last)
{
	struct region *region = region_of(data, last / REGION_PAGES);

	__atomic_store_n(&region->last, last, __ATOMIC_RELAXED);
}

/*
 * Ask the kernel about the pages from `first` on, at least to `last`, and
 * remember the answer.  Returns whether first to last are all resident.
 */
static bool look(struct mmap_private_data *data, size_t first, size_t last)
{
	unsigned char resident[MOST_PAGES];
	size_t pages = (data->mapped - 1) / data->page_size + 1 - first;
	size_t wanted = last - first + 1;
	size_t i, most = wanted > AHEAD_PAGES ? wanted : AHEAD_PAGES;

	if (wanted > MOST_PAGES)
		return false;
	if (pages > most)
		pages = most;
	if (mincore((char *)data->map + first * data->page_size,
		    pages * data->page_size, resident) < 0)
		return false;
	for (i = 0; i < pages; i++)
		if (resident[i] & 1)
			set_known(data, first + i, first + i);
	return is_known(data, first, last);
}

/* Is the range inside the mapping?  If so, its first and last page. */
static bool to_pages(const struct mmap_private_data *data,
		     ext2_loff_t location, size_t size, size_t *first,
		     size_t *last)
{
	if (location < 0 || size == 0 || size > data->mapped ||
	    (unsigned long long)location > data->mapped - size)
		return false;
	*first = (size_t)location / data->page_size;
	*last = ((size_t)location + size - 1) / data->page_size;
	return true;
}

/*
 * A file cut off in the middle of a page reads as zeros up to the end of that
 * page through a mapping, without a fault.  Only where the last byte is zero
 * can that have happened, and only to a file.
 */
static bool is_cut_off(const struct mmap_private_data *data,
		       ext2_loff_t location, const void *buf, size_t size)
{
	struct stat st;

	if (!data->regular || ((const char *)buf)[size - 1] != 0)
		return false;
	return fstat(data->fd, &st) < 0 ||
	       st.st_size < (off_t)(location + (ext2_loff_t)size);
}

/* Reading */

static bool read_mapped(struct mmap_private_data *data,
			const struct request *request, void *buf)
{
	size_t first, last;

	if (!to_pages(data, request->location, request->size, &first, &last))
		return false;
	if (!is_known(data, first, last) &&
	    (!is_sequential(data, first) || !look(data, first, last)))
		return false;
	if (!e2pf_guard_ready())
		return false;
	if (e2pf_guard_copy(buf, data->map + request->location,
			    request->size) != 0 ||
	    is_cut_off(data, request->location, buf, request->size)) {
		forget_all(data);
		return false;
	}
	set_last(data, last);
	return true;
}

/*
 * The second attempt of the unix manager, with its outcome: seek (a device
 * refuses a position past its end, a file does not) and read what can be
 * had.  Sets *actual to the bytes read.
 */
static errcode_t read_again(struct mmap_private_data *data,
			    const struct request *request, void *buf,
			    int *actual)
{
	errcode_t error = 0;
	ssize_t got = 0;

	lock(data, &data->seek_lock);
	if (lseek(data->fd, request->location, SEEK_SET) < 0)
		error = errno ? errno : EXT2_ET_LLSEEK_FAILED;
	else
		got = read(data->fd, buf, request->size);
	if (got < 0) {
		error = errno;
		got = 0;
	} else if (!error && (size_t)got != request->size) {
		error = EXT2_ET_SHORT_READ;
	}
	unlock(data, &data->seek_lock);
	*actual = (int)got;
	return error;
}

static errcode_t read_file(io_channel channel, struct mmap_private_data *data,
			   const struct request *request, void *buf)
{
	errcode_t error;
	size_t first, last;
	int actual;

	if (pread(data->fd, buf, request->size, request->location) !=
	    (ssize_t)request->size) {
		error = read_again(data, request, buf, &actual);
		if (error) {
			memset((char *)buf + actual, 0,
			       request->size - (size_t)actual);
			if (channel->read_error)
				error = channel->read_error(channel,
						request->block, request->count,
						buf, request->size, actual,
						error);
			return error;
		}
	}
	if (to_pages(data, request->location, request->size, &first, &last)) {
		set_known(data, first, last);
		set_last(data, last);
	}
	return 0;
}

/* What the cache does not have. */
static errcode_t read_past_cache(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	struct mmap_private_data *data = channel->private_data;
	struct request request = make_request(channel, data, block, count);

	count_bytes(data, &data->stats.bytes_read, request.size);
	if (read_mapped(data, &request, buf))
		return 0;
	return read_file(channel, data, &request, buf);
}

static errcode_t mmap_read_blk64(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	return e2pf_cache_read(&data->cache, channel, block, count, buf);
}

static errcode_t mmap_read_blk(io_channel channel, unsigned long block,
			       int count, void *buf)
{
	return mmap_read_blk64(channel, block, count, buf);
}

/* Writing */

/*
 * The MMP block is read past the page cache by every machine that shares the
 * disk, and what the cache holds says nothing about the disk.
 */
static bool is_mmp(const void *buf, size_t size)
{
	uint32_t magic;

	if (size < sizeof(magic))
		return false;
	memcpy(&magic, buf, sizeof(magic));
	return le32toh(magic) == EXT4_MMP_MAGIC;
}

/*
 * Would this write change nothing?  Only what is in memory is compared.  A
 * block that could not be read is not, or faults, and is written: rewriting
 * it is how a disk is made to replace a bad sector.
 */
static bool is_identical(struct mmap_private_data *data, ext2_loff_t location,
			 const void *buf, size_t size)
{
	size_t first, last;

	if (is_mmp(buf, size) ||
	    !to_pages(data, location, size, &first, &last))
		return false;
	if (!is_known(data, first, last) && !look(data, first, last))
		return false;
	return e2pf_guard_ready() &&
	       e2pf_guard_equal(data->map + location, buf, size) &&
	       !is_cut_off(data, location, buf, size);
}

static bool may_skip(const struct mmap_private_data *data)
{
	return (data->flags & IO_FLAG_RW) &&
	       !__atomic_load_n(&data->write_all, __ATOMIC_RELAXED);
}

/*
 * After a failed write or flush the page cache may hold what the disk does
 * not: a rewrite of the same must go out again.
 */
static void skip_no_more(struct mmap_private_data *data)
{
	__atomic_store_n(&data->write_all, true, __ATOMIC_RELAXED);
}

/* The second attempt of the unix manager.  *actual comes in as what the
 * first returned, and keeps it if the seek fails. */
static errcode_t write_again(struct mmap_private_data *data,
			     const struct request *request, const void *buf,
			     int *actual)
{
	errcode_t error = 0;

	lock(data, &data->seek_lock);
	if (lseek(data->fd, request->location, SEEK_SET) < 0) {
		error = errno ? errno : EXT2_ET_LLSEEK_FAILED;
	} else {
		ssize_t put = write(data->fd, buf, request->size);

		if (put < 0)
			error = errno;
		else if ((size_t)put != request->size)
			error = EXT2_ET_SHORT_WRITE;
		*actual = (int)put;
	}
	unlock(data, &data->seek_lock);
	return error;
}

static errcode_t write_whole(io_channel channel,
			     struct mmap_private_data *data,
			     const struct request *request, const void *buf,
			     bool may_tell)
{
	errcode_t error;
	ssize_t put;
	int actual;

	put = pwrite(data->fd, buf, request->size, request->location);
	if (put == (ssize_t)request->size)
		return 0;
	actual = (int)put;
	error = write_again(data, request, buf, &actual);
	if (!error)
		return 0;
	skip_no_more(data);
	if (may_tell && channel->write_error)
		error = channel->write_error(channel, request->block,
					     request->count, buf,
					     request->size, actual, error);
	return error;
}

/* Bytes from `done` on that are all to be written, or all to be left, up to
 * the next block where that changes. */
static size_t run_length(io_channel channel, struct mmap_private_data *data,
			 const struct request *request, const char *buf,
			 size_t done, bool *identical)
{
	size_t unit = (size_t)channel->block_size;
	size_t at = done;

	while (at < request->size) {
		size_t size = request->size - at < unit ? request->size - at :
							  unit;
		bool same = is_identical(data,
					 request->location + (ext2_loff_t)at,
					 buf + at, size);

		if (at == done)
			*identical = same;
		else if (same != *identical)
			break;
		at += size;
	}
	return at - done;
}

/*
 * Write the blocks that change.  If one of these writes fails the whole is
 * written as one, so that the error is that of the whole.
 */
static errcode_t write_changed(io_channel channel,
			       struct mmap_private_data *data,
			       const struct request *request, const char *buf,
			       bool may_tell)
{
	size_t done = 0;

	while (done < request->size) {
		bool identical = false;
		size_t run = run_length(channel, data, request, buf, done,
					&identical);

		if (!identical) {
			if (run == request->size ||
			    pwrite(data->fd, buf + done, run,
				   request->location + (ext2_loff_t)done) !=
			    (ssize_t)run)
				return write_whole(channel, data, request, buf,
						   may_tell);
		}
		done += run;
	}
	return 0;
}

/* What leaves the cache, or never was in it. */
static errcode_t write_past_cache(io_channel channel,
				  unsigned long long block, int count,
				  const void *buf, bool may_tell)
{
	struct mmap_private_data *data = channel->private_data;
	struct request request = make_request(channel, data, block, count);

	count_bytes(data, &data->stats.bytes_written, request.size);
	if (request.size > 0 && channel->block_size > 0 && may_skip(data))
		return write_changed(channel, data, &request, buf, may_tell);
	return write_whole(channel, data, &request, buf, may_tell);
}

static const struct e2pf_cache_io past_cache = {
	.read = read_past_cache,
	.write = write_past_cache,
};

static errcode_t mmap_write_blk64(io_channel channel,
				  unsigned long long block, int count,
				  const void *buf)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	return e2pf_cache_write(&data->cache, channel, block, count, buf);
}

static errcode_t mmap_write_blk(io_channel channel, unsigned long block,
				int count, const void *buf)
{
	return mmap_write_blk64(channel, block, count, buf);
}

static errcode_t mmap_write_byte(io_channel channel, unsigned long offset,
				 int size, const void *buf)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);
	ssize_t put;

	if (error)
		return error;
	error = e2pf_cache_flush(&data->cache, channel, true);
	if (error)
		return error;
	lock(data, &data->seek_lock);
	if (lseek(data->fd, (off_t)offset + data->offset, SEEK_SET) < 0) {
		error = errno;
	} else {
		put = write(data->fd, buf, (size_t)size);
		if (put < 0)
			error = errno;
		else if (put != size)
			error = EXT2_ET_SHORT_WRITE;
	}
	unlock(data, &data->seek_lock);
	if (error)
		skip_no_more(data);
	return error;
}

static errcode_t mmap_flush(io_channel channel)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	error = e2pf_cache_flush(&data->cache, channel, false);
	if (error)
		return error;
	if (fsync(data->fd) == 0)
		return 0;
	error = errno;
	skip_no_more(data);
	return error;
}

/* The rest of the operations */

static errcode_t mmap_set_blksize(io_channel channel, int blksize)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	return e2pf_cache_set_block_size(&data->cache, channel, blksize);
}

static errcode_t set_offset(struct mmap_private_data *data, const char *arg)
{
	unsigned long long offset;
	char *end;

	offset = strtoull(arg, &end, 0);
	if (*end)
		return EXT2_ET_INVALID_ARGUMENT;
	data->offset = (ext2_loff_t)offset;
	return data->offset < 0 ? EXT2_ET_INVALID_ARGUMENT : 0;
}

static errcode_t mmap_set_option(io_channel channel, const char *option,
				 const char *arg)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	if (!arg)
		return EXT2_ET_INVALID_ARGUMENT;
	if (!strcmp(option, "offset"))
		return set_offset(data, arg);
	if (strcmp(option, "cache") ||
	    (strcmp(arg, "on") && strcmp(arg, "off")))
		return EXT2_ET_INVALID_ARGUMENT;
	return e2pf_cache_set_off(&data->cache, channel, !strcmp(arg, "off"));
}

static errcode_t mmap_get_stats(io_channel channel, io_stats *stats)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error || !stats)
		return error;
	data->stats.cache_hits = data->cache.hits;
	data->stats.cache_misses = data->cache.misses;
	*stats = (io_stats)(void *)&data->stats;
	return 0;
}

static errcode_t mmap_cache_readahead(io_channel channel,
				      unsigned long long block,
				      unsigned long long count)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	return posix_fadvise(data->fd, position(channel, data, block),
			     (off_t)(count * (unsigned)channel->block_size),
			     POSIX_FADV_WILLNEED);
}

static errcode_t mmap_discard(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);
	unsigned long long range[2];
	int result;

	if (error)
		return error;
	if (data->remembers && (channel->flags & CHANNEL_FLAGS_NODISCARD))
		return EXT2_ET_UNIMPLEMENTED;
	range[0] = (unsigned long long)position(channel, data, block);
	range[1] = count * (unsigned)channel->block_size;
	if (channel->flags & CHANNEL_FLAGS_BLOCK_DEVICE)
		result = ioctl(data->fd, BLKDISCARD, range);
	else
		result = fallocate(data->fd, FALLOC_FL_PUNCH_HOLE |
				   FALLOC_FL_KEEP_SIZE, (off_t)range[0],
				   (off_t)range[1]);
	if (result < 0)
		error = errno == EOPNOTSUPP ? EXT2_ET_UNIMPLEMENTED : errno;
	if (error == EXT2_ET_UNIMPLEMENTED && data->remembers)
		channel->flags |= CHANNEL_FLAGS_NODISCARD;
	forget_all(data);
	return error;
}

/* The environment, unless the program has more rights than its caller. */
static bool is_asked_for(const char *name)
{
	if (getuid() != geteuid() || getgid() != getegid() ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		return false;
	return secure_getenv(name) != NULL;
}

/* Make a file as long as a range that ends at `end`. */
static int extend(const struct mmap_private_data *data,
		  unsigned long long end)
{
	struct stat st;

	if (fstat(data->fd, &st) < 0)
		return -1;
	if ((unsigned long long)st.st_size >= end)
		return 0;
	return ftruncate(data->fd, (off_t)end);
}

static errcode_t cannot_zero(io_channel channel,
			     const struct mmap_private_data *data)
{
	if (data->remembers)
		channel->flags |= CHANNEL_FLAGS_NOZEROOUT;
	return EXT2_ET_UNIMPLEMENTED;
}

static errcode_t mmap_zeroout(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);
	off_t start, size;

	if (error)
		return error;
	start = position(channel, data, block);
	size = (off_t)(count * (unsigned)channel->block_size);
	if (!(channel->flags & CHANNEL_FLAGS_BLOCK_DEVICE)) {
		if (count == 0)
			return 0;
		if (extend(data, (unsigned long long)start +
			   (unsigned long long)size) < 0)
			return errno == EOPNOTSUPP ?
				cannot_zero(channel, data) : errno;
	}
	if (data->remembers && (channel->flags & CHANNEL_FLAGS_NOZEROOUT))
		return EXT2_ET_UNIMPLEMENTED;
	if (fallocate(data->fd, FALLOC_FL_ZERO_RANGE, start, size) < 0 &&
	    fallocate(data->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      start, size) < 0)
		error = cannot_zero(channel, data);
	forget_all(data);
	return error;
}

/* Opening and closing */

/* The size of what can be mapped, 0 if it should not be. */
static size_t mappable_size(int fd, const struct stat *st)
{
	unsigned long long size = 0;
	struct rlimit limit;

	if (S_ISREG(st->st_mode))
		size = (unsigned long long)st->st_size;
	else if (!S_ISBLK(st->st_mode) || ioctl(fd, BLKGETSIZE64, &size) < 0)
		return 0;
	if (size > PTRDIFF_MAX ||
	    (sizeof(void *) == 4 && size > MOST_MAPPED_32BIT))
		return 0;
	/* A mapping that leaves the program without memory is no help. */
	if (getrlimit(RLIMIT_AS, &limit) < 0 ||
	    (limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur / 2))
		return 0;
	return (size_t)size;
}

/*
 * Does mincore() tell this process the truth?  To one that neither owns the
 * file nor may write it all pages are said to be resident.
 */
static bool may_ask_residency(const char *name, int flags,
			      const struct stat *st)
{
	return (flags & IO_FLAG_RW) || geteuid() == 0 ||
	       st->st_uid == geteuid() || faccessat(AT_FDCWD, name, W_OK,
						    AT_EACCESS) == 0;
}

static void free_data(struct mmap_private_data *data)
{
	if (!data)
		return;
	if (data->map)
		munmap((void *)data->map, data->mapped);
	free(data->regions);
	free(data);
}

/*
 * Map the file.  Returns NULL where that cannot be had, for whatever reason:
 * the caller has the unix manager to turn to.
 */
static struct mmap_private_data *map_file(int fd, const char *name, int flags,
					  const struct stat *st)
{
	struct mmap_private_data *data;
	size_t size = mappable_size(fd, st);
	void *map;

	if (size == 0 || !may_ask_residency(name, flags, st))
		return NULL;
	data = calloc(1, sizeof(*data));
	if (!data)
		return NULL;
	data->regions = calloc(REGIONS, sizeof(*data->regions));
	map = data->regions ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) :
			      MAP_FAILED;
	if (map == MAP_FAILED) {
		free_data(data);
		return NULL;
	}
	data->magic = MMAP_IO_MAGIC;
	data->fd = fd;
	data->flags = flags;
	data->map = map;
	data->mapped = size;
	data->page_size = (size_t)sysconf(_SC_PAGESIZE);
	data->regular = S_ISREG(st->st_mode);
	pthread_mutex_init(&data->stats_lock, NULL);
	pthread_mutex_init(&data->seek_lock, NULL);
	return data;
}

static int channel_flags(int fd, int flags, const struct stat *st)
{
	int zeroes = 0;
	int result = S_ISBLK(st->st_mode) ? CHANNEL_FLAGS_BLOCK_DEVICE :
					    CHANNEL_FLAGS_DISCARD_ZEROES;

	if (ioctl(fd, BLKDISCARDZEROES, &zeroes) == 0 && zeroes)
		result |= CHANNEL_FLAGS_DISCARD_ZEROES;
	if (flags & IO_FLAG_THREADS)
		result |= CHANNEL_FLAGS_THREADS;
	return result;
}

/* ext2fs_get_mem() because libext2fs may free or replace the name. */
static io_channel make_channel(const char *name, int flags,
			       const struct stat *st,
			       struct mmap_private_data *data, enum kind kind)
{
	io_channel channel;

	if (ext2fs_get_mem(sizeof(*channel), &channel))
		return NULL;
	memset(channel, 0, sizeof(*channel));
	if (ext2fs_get_mem(strlen(name) + 1, &channel->name)) {
		ext2fs_free_mem(&channel);
		return NULL;
	}
	strcpy(channel->name, name);
	channel->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	channel->manager = &mmap_manager;
	channel->private_data = data;
	channel->block_size = 1024;
	channel->refcount = 1;
	channel->flags = channel_flags(data->fd, flags, st);
	if (e2pf_cache_init(&data->cache, channel, &past_cache,
			    flags & IO_FLAG_THREADS)) {
		ext2fs_free_mem(&channel->name);
		ext2fs_free_mem(&channel);
		return NULL;
	}
	data->cache.off = flags & IO_FLAG_NOCACHE;
	data->cache.drops_clean = kind >= OF_1_47_3;
	data->remembers = kind >= OF_1_47_1;
	data->stats.num_fields = kind >= OF_1_47_3 ? 4 : 2;
	return channel;
}

/* A channel that owns `fd`, or NULL with `fd` as it was. */
static io_channel open_mapped(const char *name, int flags, int fd,
			      const struct stat *st, enum kind kind)
{
	struct mmap_private_data *data = map_file(fd, name, flags, st);
	io_channel channel;

	if (!data)
		return NULL;
	if (e2pf_guard_get() != 0) {
		free_data(data);
		return NULL;
	}
	channel = make_channel(name, flags, st, data, kind);
	if (!channel) {
		e2pf_guard_put();
		free_data(data);
	}
	return channel;
}

/* Only these are opened here: opening a pipe waits, and opening a tape or a
 * terminal twice is not the same as once. */
static bool is_candidate(const char *name, int flags)
{
	struct stat st;

	return !(flags & (IO_FLAG_DIRECT_IO | IO_FLAG_FORCE_BOUNCE)) &&
	       !is_asked_for("UNIX_IO_FORCE_BOUNCE") &&
	       !is_asked_for("UNIX_IO_NOZEROOUT") &&
	       stat(name, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

static errcode_t open_kind(const char *name, int flags, enum kind kind,
			   io_channel *channel)
{
	int open_flags = (flags & IO_FLAG_RW) ? O_RDWR : O_RDONLY;
	int fd, read_only = 0;
	struct stat st;
	io_channel opened = NULL;

	if (flags & IO_FLAG_EXCLUSIVE)
		open_flags |= O_EXCL;
	fd = open(name, open_flags);
	if (fd < 0)
		return errno;
	/* A device error from before would be taken for one of ours. */
	(void)fsync(fd);
	if ((flags & IO_FLAG_RW) && ioctl(fd, BLKROGET, &read_only) == 0 &&
	    read_only) {
		close(fd);
		return EPERM;
	}
	if (fstat(fd, &st) == 0)
		opened = open_mapped(name, flags, fd, &st, kind);
	if (!opened) {
		close(fd);
		return unix_io_manager->open(name, flags, channel);
	}
	*channel = opened;
	return 0;
}

/*
 * Which of the unix managers we know this process has: the one that a trial
 * shows no difference from.  Any other, of a version before or after those,
 * is left to read for itself.
 */

static errcode_t open_1_46(const char *name, int flags, io_channel *channel)
{
	return open_kind(name, flags, OF_1_46, channel);
}

static errcode_t open_1_47_1(const char *name, int flags, io_channel *channel)
{
	return open_kind(name, flags, OF_1_47_1, channel);
}

static errcode_t open_1_47_3(const char *name, int flags, io_channel *channel)
{
	return open_kind(name, flags, OF_1_47_3, channel);
}

static pthread_once_t kind_known = PTHREAD_ONCE_INIT;
static enum kind known_kind;

static void find_kind(void)
{
	static const struct {
		enum kind kind;
		errcode_t (*open)(const char *, int, io_channel *);
	} kinds[] = {
		{ OF_1_47_3, open_1_47_3 },
		{ OF_1_47_1, open_1_47_1 },
		{ OF_1_46, open_1_46 },
	};
	struct struct_io_manager ours = mmap_manager;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		ours.open = kinds[i].open;
		if (e2pf_io_alike(unix_io_manager, &ours)) {
			known_kind = kinds[i].kind;
			return;
		}
	}
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel)
{
	if (!name)
		return EXT2_ET_BAD_DEVICE_NAME;
	if (!is_candidate(name, flags) ||
	    pthread_once(&kind_known, find_kind) || known_kind == UNKNOWN)
		return unix_io_manager->open(name, flags, channel);
	return open_kind(name, flags, known_kind, channel);
}

static errcode_t mmap_close(io_channel channel)
{
	struct mmap_private_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	if (--channel->refcount > 0)
		return 0;
	error = e2pf_cache_flush(&data->cache, channel, false);
	/* The mapping first: it holds the file open as well, and what
	 * closing has to say must come from this close(). */
	munmap((void *)data->map, data->mapped);
	data->map = NULL;
	if (close(data->fd) < 0)
		error = errno;
	data->magic = 0;
	e2pf_cache_free(&data->cache);
	pthread_mutex_destroy(&data->stats_lock);
	pthread_mutex_destroy(&data->seek_lock);
	free_data(data);
	e2pf_guard_put();
	if (channel->name)
		ext2fs_free_mem(&channel->name);
	ext2fs_free_mem(&channel);
	return error;
}

static struct struct_io_manager mmap_manager = {
	.magic		= EXT2_ET_MAGIC_IO_MANAGER,
	.name		= "e2prefetch mmap I/O manager",
	.open		= mmap_open,
	.close		= mmap_close,
	.set_blksize	= mmap_set_blksize,
	.read_blk	= mmap_read_blk,
	.write_blk	= mmap_write_blk,
	.flush		= mmap_flush,
	.write_byte	= mmap_write_byte,
	.set_option	= mmap_set_option,
	.get_stats	= mmap_get_stats,
	.read_blk64	= mmap_read_blk64,
	.write_blk64	= mmap_write_blk64,
	.discard	= mmap_discard,
	.cache_readahead = mmap_cache_readahead,
	.zeroout	= mmap_zeroout,
};
