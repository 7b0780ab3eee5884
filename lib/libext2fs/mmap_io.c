/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mmap I/O manager: its operations, and which files are mapped.
 * mmap_transfer.c decides what is read from the mapping and which writes change
 * nothing, mapping.c what is known of the mapped pages, and write_cache.c which
 * blocks are cached and for how long.
 *
 * A program sees what unix_io_manager would show: the same data, errors,
 * callbacks and statistics, and at any time the same bytes on the disk.  The
 * details differ between versions of libext2fs.  When the first channel is
 * opened, a trial on memory files finds out which version this is (2 to 5 ms,
 * once).  If it is none of the known ones, the unix manager is used.  These
 * differences remain:
 *
 * - A block is not written if that would not change it: the disk sees fewer
 *   writes, and an error that only such a write would have caused is missed.
 * - A write of several blocks, some of which change, becomes several writes.
 *   If one of them fails, the whole range is written at once, so the blocks
 *   before it are written twice.
 * - If there is no memory for a new block size, or if that is negative, the
 *   channel stays as it was; with the unix manager it becomes unusable.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guard.h"
#include "io_trial.h"
#include "mmap_io.h"
#include "slots.h"

#ifndef BLKDISCARDZEROES
#define BLKDISCARDZEROES _IO(0x12, 124)
#endif

/* New in libext2fs 1.47.1. */
#ifndef CHANNEL_FLAGS_NODISCARD
#define CHANNEL_FLAGS_NODISCARD 0x10
#define CHANNEL_FLAGS_NOZEROOUT 0x20
#endif

/* The versions of libext2fs's unix manager: unknown; 1.46.3 to 1.47.0; since
 * 1.47.1, where a range that cannot be zeroed or discarded disables that
 * operation for all ranges; and since 1.47.3, where a write that bypasses the
 * cache also drops clean blocks. */
enum kind { UNKNOWN, OF_1_46, OF_1_47_1, OF_1_47_3 };

#define MMAP_IO_MAGIC 0x65327066	/* "e2pf" */

static struct struct_io_manager mmap_manager;

io_manager e2pf_mmap_io_manager = &mmap_manager;

static errcode_t get_data(io_channel channel, struct e2pf_mmap_data **out)
{
	struct e2pf_mmap_data *data;

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
	struct e2pf_mmap_data *data;

	return channel && channel->manager == &mmap_manager &&
	       get_data(channel, &data) == 0;
}

/* Reading and writing */

static errcode_t mmap_read_blk64(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	struct e2pf_mmap_data *data;
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

static errcode_t mmap_write_blk64(io_channel channel,
				  unsigned long long block, int count,
				  const void *buf)
{
	struct e2pf_mmap_data *data;
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
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);
	ssize_t put;

	if (error)
		return error;
	error = e2pf_cache_flush(&data->cache, channel, true);
	if (error)
		return error;
	e2pf_mmap_lock(data, &data->seek_lock);
	if (lseek(data->fd, (off_t)offset + data->offset, SEEK_SET) < 0) {
		error = errno;
	} else {
		put = write(data->fd, buf, (size_t)size);
		if (put < 0)
			error = errno;
		else if (put != size)
			error = EXT2_ET_SHORT_WRITE;
	}
	e2pf_mmap_unlock(data, &data->seek_lock);
	if (error)
		e2pf_mmap_skip_no_more(data);
	return error;
}

static errcode_t mmap_flush(io_channel channel)
{
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	error = e2pf_cache_flush(&data->cache, channel, false);
	if (error)
		return error;
	if (fsync(data->fd) == 0)
		return 0;
	error = errno;
	e2pf_mmap_skip_no_more(data);
	return error;
}

/* The other operations */

static errcode_t mmap_set_blksize(io_channel channel, int blksize)
{
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	return e2pf_cache_set_block_size(&data->cache, channel, blksize);
}

static errcode_t set_offset(struct e2pf_mmap_data *data, const char *arg)
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
	struct e2pf_mmap_data *data;
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
	struct e2pf_mmap_data *data;
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
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	return posix_fadvise(data->fd, e2pf_mmap_position(channel, data, block),
			     (off_t)(count * (unsigned)channel->block_size),
			     POSIX_FADV_WILLNEED);
}

static errcode_t mmap_discard(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);
	unsigned long long range[2];
	int result;

	if (error)
		return error;
	if (data->remembers && (channel->flags & CHANNEL_FLAGS_NODISCARD))
		return EXT2_ET_UNIMPLEMENTED;
	range[0] = (unsigned long long)e2pf_mmap_position(channel, data, block);
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
	e2pf_mapping_forget(&data->mapping);
	return error;
}

/* True if the environment variable is set, and the program has no more rights
 * than its caller. */
static bool is_asked_for(const char *name)
{
	if (getuid() != geteuid() || getgid() != getegid() ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		return false;
	return secure_getenv(name) != NULL;
}

/* Extend a file up to the end of a range, which is `end`. */
static int extend(const struct e2pf_mmap_data *data,
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
			     const struct e2pf_mmap_data *data)
{
	if (data->remembers)
		channel->flags |= CHANNEL_FLAGS_NOZEROOUT;
	return EXT2_ET_UNIMPLEMENTED;
}

static errcode_t mmap_zeroout(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);
	off_t start, size;

	if (error)
		return error;
	start = e2pf_mmap_position(channel, data, block);
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
	e2pf_mapping_forget(&data->mapping);
	return error;
}

/* Opening and closing */

static void free_data(struct e2pf_mmap_data *data)
{
	e2pf_mapping_fini(&data->mapping);
	free(data);
}

/*
 * Map the file, and return the data for a channel.  Returns NULL if that is not
 * possible for any reason: then the caller uses the unix manager.
 */
static struct e2pf_mmap_data *map_file(int fd, const char *name, int flags,
				       const struct stat *st)
{
	struct e2pf_mmap_data *data = calloc(1, sizeof(*data));

	if (!data)
		return NULL;
	if (!e2pf_mapping_init(&data->mapping, fd, name, flags & IO_FLAG_RW,
			       st)) {
		free(data);
		return NULL;
	}
	data->magic = MMAP_IO_MAGIC;
	data->fd = fd;
	data->flags = flags;
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

/* Memory comes from ext2fs_get_mem(), because libext2fs may free or replace the
 * name. */
static io_channel make_channel(const char *name, int flags,
			       const struct stat *st,
			       struct e2pf_mmap_data *data, enum kind kind)
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
	if (e2pf_cache_init(&data->cache, channel, &e2pf_mmap_past_cache,
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

/* Returns a channel that owns `fd`, or NULL; then the caller still owns
 * `fd`. */
static io_channel open_mapped(const char *name, int flags, int fd,
			      const struct stat *st, enum kind kind)
{
	struct e2pf_mmap_data *data = map_file(fd, name, flags, st);
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

/* Open only files and block devices here: opening a pipe blocks, and opening a
 * tape or a terminal twice has effects that opening it once has not. */
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
	/* Collect an earlier error of the device now: later it would be taken
	 * for an error of our writes. */
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
 * Find which of the known unix managers this process has: the one that behaves
 * in a trial exactly like ours.  If it is none of them, the unix manager itself
 * is used.
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
	/* The trial and the program call operations by their places in the
	 * header's table, so these must be right. */
	if (!is_candidate(name, flags) || !e2pf_io_slots_are_ours() ||
	    pthread_once(&kind_known, find_kind) || known_kind == UNKNOWN)
		return unix_io_manager->open(name, flags, channel);
	return open_kind(name, flags, known_kind, channel);
}

static errcode_t mmap_close(io_channel channel)
{
	struct e2pf_mmap_data *data;
	errcode_t error = get_data(channel, &data);

	if (error)
		return error;
	if (--channel->refcount > 0)
		return 0;
	error = e2pf_cache_flush(&data->cache, channel, false);
	/* Unmap first: the mapping keeps the file open, and this close() must
	 * be the one that reports errors. */
	e2pf_mapping_unmap(&data->mapping);
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
