/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads and writes of the mmap I/O manager past its cache.  Decides for each
 * read whether the mapping or pread(2) serves it, and which writes change
 * nothing.  Knows nothing of ext2 but the magic number of the MMP block.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "mmap_io.h"

/* One read or write: the range in the file, and the caller's arguments. */
struct request {
	unsigned long long block;
	int count;
	size_t size;
	ext2_loff_t location;
};

void e2pf_mmap_lock(const struct e2pf_mmap_data *data,
		    pthread_mutex_t *mutex)
{
	if (data->flags & IO_FLAG_THREADS)
		pthread_mutex_lock(mutex);
}

void e2pf_mmap_unlock(const struct e2pf_mmap_data *data,
		      pthread_mutex_t *mutex)
{
	if (data->flags & IO_FLAG_THREADS)
		pthread_mutex_unlock(mutex);
}

/* Attempts are counted, including those that fail and writes that are
 * skipped. */
static void count_bytes(struct e2pf_mmap_data *data,
			unsigned long long *counter, size_t size)
{
	e2pf_mmap_lock(data, &data->stats_lock);
	*counter += size;
	e2pf_mmap_unlock(data, &data->stats_lock);
}

ext2_loff_t e2pf_mmap_position(const io_channel channel,
			       const struct e2pf_mmap_data *data,
			       unsigned long long block)
{
	return (ext2_loff_t)(block * (unsigned long long)channel->block_size +
			     (unsigned long long)data->offset);
}

static struct request make_request(const io_channel channel,
				   const struct e2pf_mmap_data *data,
				   unsigned long long block, int count)
{
	struct request request = {
		.block = block,
		.count = count,
		.location = e2pf_mmap_position(channel, data, block),
	};

	if (count < 0)
		request.size = (size_t)-(long long)count;
	else
		request.size = (size_t)count * (size_t)channel->block_size;
	return request;
}

/* Reading */

/*
 * Repeat what the unix manager does in its second attempt, with the same
 * result: seek (a device refuses a position past its end, a file does not) and
 * read as much as possible.  Sets *actual to the number of bytes read.
 */
static errcode_t read_again(struct e2pf_mmap_data *data,
			    const struct request *request, void *buf,
			    int *actual)
{
	errcode_t error = 0;
	ssize_t got = 0;

	e2pf_mmap_lock(data, &data->seek_lock);
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
	e2pf_mmap_unlock(data, &data->seek_lock);
	*actual = (int)got;
	return error;
}

static errcode_t read_file(io_channel channel, struct e2pf_mmap_data *data,
			   const struct request *request, void *buf)
{
	errcode_t error;
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
	e2pf_mapping_was_read(&data->mapping, request->location,
			      request->size);
	return 0;
}

static errcode_t read_past_cache(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	struct e2pf_mmap_data *data = channel->private_data;
	struct request request = make_request(channel, data, block, count);

	count_bytes(data, &data->stats.bytes_read, request.size);
	if (e2pf_mapping_read(&data->mapping, request.location, buf,
			      request.size))
		return 0;
	return read_file(channel, data, &request, buf);
}

/* Writing */

/*
 * Every machine that shares the disk reads the MMP block past the page cache,
 * so the cache does not tell what is on the disk.
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
 * True if this write would change nothing.  Only cached data is compared.  A
 * block that could not be read is not cached, or it faults, and so it is
 * written: rewriting a bad sector makes a disk replace it.
 */
static bool is_identical(struct e2pf_mmap_data *data, ext2_loff_t location,
			 const void *buf, size_t size)
{
	return !is_mmp(buf, size) &&
	       e2pf_mapping_is_equal(&data->mapping, location, buf, size);
}

static bool may_skip(const struct e2pf_mmap_data *data)
{
	return (data->flags & IO_FLAG_RW) &&
	       !__atomic_load_n(&data->write_all, __ATOMIC_RELAXED);
}

void e2pf_mmap_skip_no_more(struct e2pf_mmap_data *data)
{
	__atomic_store_n(&data->write_all, true, __ATOMIC_RELAXED);
}

/* The second attempt of the unix manager.  On entry *actual is the result of
 * the first attempt; it stays so if the seek fails. */
static errcode_t write_again(struct e2pf_mmap_data *data,
			     const struct request *request, const void *buf,
			     int *actual)
{
	errcode_t error = 0;

	e2pf_mmap_lock(data, &data->seek_lock);
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
	e2pf_mmap_unlock(data, &data->seek_lock);
	return error;
}

static errcode_t write_whole(io_channel channel,
			     struct e2pf_mmap_data *data,
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
	e2pf_mmap_skip_no_more(data);
	if (may_tell && channel->write_error)
		error = channel->write_error(channel, request->block,
					     request->count, buf,
					     request->size, actual, error);
	return error;
}

/* The number of bytes, from `done` to the next block where that changes, that
 * must all be written or can all be skipped. */
static size_t run_length(io_channel channel, struct e2pf_mmap_data *data,
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
 * Write the blocks that change.  If one of these writes fails, write the whole
 * range at once, so that the error is the one of the whole write.
 */
static errcode_t write_changed(io_channel channel,
			       struct e2pf_mmap_data *data,
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

static errcode_t write_past_cache(io_channel channel,
				  unsigned long long block, int count,
				  const void *buf, bool may_tell)
{
	struct e2pf_mmap_data *data = channel->private_data;
	struct request request = make_request(channel, data, block, count);

	count_bytes(data, &data->stats.bytes_written, request.size);
	if (request.size > 0 && channel->block_size > 0 && may_skip(data))
		return write_changed(channel, data, &request, buf, may_tell);
	return write_whole(channel, data, &request, buf, may_tell);
}

const struct e2pf_cache_io e2pf_mmap_past_cache = {
	.read = read_past_cache,
	.write = write_past_cache,
};

