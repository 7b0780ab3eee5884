/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mmap I/O manager: a filter over the unix I/O manager of libext2fs that
 * copies from a mapping of the device what it knows to be cached.
 *
 * A channel is the unix manager's own, with our table of operations.  Writes,
 * errors, callbacks and the write-back cache of eight blocks are the unix
 * manager's.  From a write to the next flush that cache may hold blocks the
 * mapping does not show, so meanwhile reads are the unix manager's too; it then
 * writes the same blocks in the same order as it would have without us, because
 * which of them leaves its cache follows from what was used since they were
 * written.
 *
 * One difference is left: where that cache holds an older copy of a block that
 * was written past it, as before libext2fs 1.47.3, the mapping shows the newer
 * one after the next flush.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "e2prefetch.h"
#include "guard.h"
#include "mapping.h"
#include "slots.h"
#include "unix_count.h"

/* Descriptors of ours stay out of the way of the program's. */
#define LEAST_DESCRIPTOR 100

/* Bytes read and written; and, of libext2fs 1.47.3, hits and misses of the
 * cache. */
#define STATS_MOST 4

struct mapped {
	struct mapped *next;
	io_channel channel;
	unsigned long long offset;	/* of the filesystem, bytes */
	struct e2pf_unix_count count;
	unsigned long long writes;	/* begun and ended */
	unsigned long long flushed;	/* of them, by the last flush */
	struct e2pf_mapping mapping;
	struct {
		int num_fields;
		int reserved;
		unsigned long long number[STATS_MOST];
	} stats;
};

static struct struct_io_manager mmap_manager;

io_manager e2pf_mmap_io_manager = &mmap_manager;

/* Channels that are open.  Another manager's table may be in front of ours, so
 * a channel is found by its address. */
static pthread_rwlock_t list_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct mapped *list;

static struct mapped *find(io_channel channel)
{
	struct mapped *m;

	if (!channel || channel->magic != EXT2_ET_MAGIC_IO_CHANNEL)
		return NULL;
	pthread_rwlock_rdlock(&list_lock);
	for (m = list; m && m->channel != channel; m = m->next)
		;
	pthread_rwlock_unlock(&list_lock);
	return m;
}

bool e2pf_mmap_io_is_mapped(io_channel channel)
{
	return find(channel);
}

/* Does the mapping show all that was written? */
static bool is_clean(const struct mapped *m)
{
	return __atomic_load_n(&m->writes, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&m->flushed, __ATOMIC_ACQUIRE);
}

/* Before a write and behind it, so that a flush between the two is not taken
 * for one that has written all. */
static void count_write(struct mapped *m)
{
	if (m)
		__atomic_fetch_add(&m->writes, 1, __ATOMIC_ACQ_REL);
}

static errcode_t mmap_read_blk64(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	unsigned long long bs = (unsigned)channel->block_size;
	struct mapped *m = find(channel);
	size_t size = count < 0 ? (size_t)-(long long)count :
				  (size_t)count * bs;
	long long location;
	errcode_t error;

	if (m)
		e2pf_unix_count_read(&m->count, block, count, bs);
	if (!m || !is_clean(m))
		return unix_io_manager->read_blk64(channel, block, count, buf);
	/* Wraps as it does in the unix manager. */
	location = (long long)(block * bs + m->offset);
	if (e2pf_mapping_read(&m->mapping, location, buf, size))
		return 0;
	error = unix_io_manager->read_blk64(channel, block, count, buf);
	if (!error)
		e2pf_mapping_was_read(&m->mapping, location, size);
	return error;
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
	struct mapped *m = find(channel);
	errcode_t error;

	if (m)
		e2pf_unix_count_write(&m->count, block, count);
	count_write(m);
	error = unix_io_manager->write_blk64(channel, block, count, buf);
	count_write(m);
	return error;
}

static errcode_t mmap_write_blk(io_channel channel, unsigned long block,
				int count, const void *buf)
{
	return mmap_write_blk64(channel, block, count, buf);
}

static errcode_t mmap_flush(io_channel channel)
{
	struct mapped *m = find(channel);
	unsigned long long writes = m ? __atomic_load_n(&m->writes,
							__ATOMIC_ACQUIRE) : 0;
	errcode_t error = unix_io_manager->flush(channel);

	if (m && !error) {
		e2pf_unix_count_flush(&m->count);
		__atomic_store_n(&m->flushed, writes, __ATOMIC_RELEASE);
	}
	return error;
}

static errcode_t mmap_write_byte(io_channel channel, unsigned long offset,
				 int size, const void *buf)
{
	struct mapped *m = find(channel);

	/* As a write that passes the cache by. */
	if (m)
		e2pf_unix_count_write(&m->count, 0, -1);
	return unix_io_manager->write_byte(channel, offset, size, buf);
}

static errcode_t mmap_set_blksize(io_channel channel, int size)
{
	struct mapped *m = find(channel);
	int before = channel->block_size;
	errcode_t error = unix_io_manager->set_blksize(channel, size);

	if (m && !error && size != before)
		e2pf_unix_count_reset(&m->count);
	return error;
}

static errcode_t mmap_set_option(io_channel channel, const char *option,
				 const char *arg)
{
	errcode_t error = unix_io_manager->set_option(channel, option, arg);
	struct mapped *m = find(channel);

	if (m && !error && !strcmp(option, "offset"))
		m->offset = strtoull(arg, NULL, 0);
	if (m && !error && !strcmp(option, "cache"))
		m->count.off = !strcmp(arg, "off");
	return error;
}

static errcode_t mmap_get_stats(io_channel channel, io_stats *stats)
{
	errcode_t error = unix_io_manager->get_stats(channel, stats);
	struct mapped *m = find(channel);

	if (error || !m || !stats || !*stats)
		return error;
	m->stats.num_fields = (*stats)->num_fields < STATS_MOST ?
			      (*stats)->num_fields : STATS_MOST;
	m->stats.number[0] = m->count.bytes_read;
	m->stats.number[1] = (*stats)->bytes_written;
	m->stats.number[2] = m->count.hits;
	m->stats.number[3] = m->count.misses;
	*stats = (io_stats)(void *)&m->stats;
	return 0;
}

/* What is known of the pages may be true no more. */
static errcode_t forget(io_channel channel, errcode_t error)
{
	struct mapped *m = find(channel);

	if (m)
		e2pf_mapping_forget(&m->mapping);
	return error;
}

static errcode_t mmap_discard(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	return forget(channel, unix_io_manager->discard(channel, block,
							count));
}

static errcode_t mmap_zeroout(io_channel channel, unsigned long long block,
			      unsigned long long count)
{
	return forget(channel, unix_io_manager->zeroout(channel, block,
							count));
}

/* Opening and closing */

/* The environment, unless the program has more rights than its caller. */
static bool is_asked_for(const char *name)
{
	if (getuid() != geteuid() || getgid() != getegid() ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		return false;
	return secure_getenv(name) != NULL;
}

/* Only these are opened once more: opening a pipe waits, and opening a tape or
 * a terminal twice is not the same as once. */
static bool is_candidate(const char *name, int flags)
{
	struct stat st;

	return !(flags & (IO_FLAG_DIRECT_IO | IO_FLAG_FORCE_BOUNCE)) &&
	       !is_asked_for("UNIX_IO_FORCE_BOUNCE") && stat(name, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

static int open_once_more(const char *name)
{
	int low = open(name, O_RDONLY | O_CLOEXEC), high;

	if (low < 0)
		return -1;
	high = fcntl(low, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
	close(low);
	return high;
}

/* NULL where the file cannot be mapped, for whatever reason. */
static struct mapped *map_file(const char *name, int flags)
{
	struct mapped *m = calloc(1, sizeof(*m));
	int fd = m ? open_once_more(name) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		goto fail;
	if (!e2pf_mapping_init(&m->mapping, fd, name, flags & IO_FLAG_RW, &st))
		goto fail;
	pthread_mutex_init(&m->count.lock, NULL);
	if (!e2pf_guard_get())
		return m;
	e2pf_mapping_fini(&m->mapping);
fail:
	if (fd >= 0)
		close(fd);
	free(m);
	return NULL;
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel)
{
	errcode_t error = unix_io_manager->open(name, flags, channel);
	io_stats stats = NULL;
	struct mapped *m;

	/* The program would call by the header's places. */
	if (error || !is_candidate(name, flags) || !e2pf_io_slots_are_ours())
		return error;
	m = map_file(name, flags);
	if (!m)
		return 0;
	m->channel = *channel;
	m->count.off = flags & IO_FLAG_NOCACHE;
	if (!unix_io_manager->get_stats(*channel, &stats) && stats)
		m->count.drops_clean = stats->num_fields == STATS_MOST;
	(*channel)->manager = &mmap_manager;
	pthread_rwlock_wrlock(&list_lock);
	m->next = list;
	list = m;
	pthread_rwlock_unlock(&list_lock);
	return 0;
}

static struct mapped *take_out(io_channel channel)
{
	struct mapped **at, *m;

	pthread_rwlock_wrlock(&list_lock);
	for (at = &list; *at && (*at)->channel != channel; at = &(*at)->next)
		;
	m = *at;
	if (m)
		*at = m->next;
	pthread_rwlock_unlock(&list_lock);
	return m;
}

static errcode_t mmap_close(io_channel channel)
{
	struct mapped *m = NULL;

	if (channel->refcount <= 1)
		m = take_out(channel);
	if (m) {
		/* The mapping first: it holds the file open as well, and what
		 * closing has to say is for the program to hear. */
		e2pf_mapping_unmap(&m->mapping);
		close(m->mapping.fd);
		e2pf_mapping_fini(&m->mapping);
		e2pf_guard_put();
		free(m);
	}
	return unix_io_manager->close(channel);
}

/* All else is the unix manager's. */
__attribute__((constructor))
static void fill_table(void)
{
	mmap_manager = *unix_io_manager;
	mmap_manager.name = "e2prefetch mmap I/O manager";
	mmap_manager.open = mmap_open;
	mmap_manager.close = mmap_close;
	mmap_manager.read_blk = mmap_read_blk;
	mmap_manager.write_blk = mmap_write_blk;
	mmap_manager.flush = mmap_flush;
	mmap_manager.set_blksize = mmap_set_blksize;
	mmap_manager.write_byte = mmap_write_byte;
	mmap_manager.set_option = mmap_set_option;
	mmap_manager.get_stats = mmap_get_stats;
	mmap_manager.read_blk64 = mmap_read_blk64;
	mmap_manager.write_blk64 = mmap_write_blk64;
	mmap_manager.discard = mmap_discard;
	mmap_manager.zeroout = mmap_zeroout;
}
