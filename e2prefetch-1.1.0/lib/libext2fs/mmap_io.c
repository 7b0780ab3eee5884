/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mmap I/O manager: a filter over libext2fs's unix manager that makes the
 * reads itself, from a mapping of the device or by pread(2), until the first
 * write to the channel or the first read that fails.
 *
 * The channel is the unix manager's own, with our table of operations.  From
 * that first write or error on, its cache matters: which block leaves it, and
 * when, is visible in the order of writes, in errors and callbacks, and in what
 * is on the disk if the program dies.  So the cache is then filled as it would
 * be if it had made all reads (unix_cache.c), and every operation is the unix
 * manager's until the channel is closed.  If the unix manager does not cache as
 * unix_cache.c has it, it serves the channel from the start.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "e2prefetch.h"
#include "guard.h"
#include "mapping.h"
#include "io_table.h"
#include "unix_cache.h"

struct mapped {
	struct mapped *next;
	io_channel channel;
	unsigned long long offset;	/* of the filesystem, in bytes */
	bool handed_over;		/* to the unix manager */
	bool off;			/* option cache=off */
	struct e2pf_unix_cache cache;
	pthread_mutex_t lock;	/* protects off and cache */
	struct e2pf_mapping mapping;
};

static struct struct_io_manager mmap_manager;

io_manager e2pf_mmap_io_manager = &mmap_manager;

/* The channels that are open.  Their private data is the unix manager's, so
 * they are found by their address. */
static pthread_rwlock_t list_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct mapped *list;

/* NULL if the channel is not one of ours, or no longer served by us. */
static struct mapped *find(io_channel channel)
{
	struct mapped *m;

	if (channel->magic != EXT2_ET_MAGIC_IO_CHANNEL)
		return NULL;
	pthread_rwlock_rdlock(&list_lock);
	for (m = list; m && m->channel != channel; m = m->next)
		;
	pthread_rwlock_unlock(&list_lock);
	return m && !__atomic_load_n(&m->handed_over, __ATOMIC_ACQUIRE) ? m :
									  NULL;
}

bool e2pf_mmap_io_is_mapped(io_channel channel)
{
	return channel && channel->manager == &mmap_manager;
}

/* Handing over */

/* Set what the unix manager has counted: since 1.47.3 also hits and misses. */
static void set_stats(const struct mapped *m, io_stats stats)
{
	unsigned long long *hits_misses = &stats->bytes_written + 1;

	stats->bytes_read = m->cache.bytes_read;
	if (stats->num_fields < 4)
		return;
	hits_misses[0] = m->cache.hits;
	hits_misses[1] = m->cache.misses;
}

static void fill_cache(const struct mapped *m)
{
	unsigned long long blocks[2 * E2PF_UNIX_CACHE_BLOCKS];
	unsigned i, count = e2pf_unix_cache_list(&m->cache, blocks);
	io_channel channel = m->channel;
	char *buf = malloc((size_t)channel->block_size);

	unix_io_manager->set_option(channel, "cache", "on");
	for (i = 0; buf && i < count; i++)
		unix_io_manager->read_blk64(channel, blocks[i], 1, buf);
	if (m->off)
		unix_io_manager->set_option(channel, "cache", "off");
	free(buf);
}

/* Leave the channel to the unix manager. */
static void hand_over(io_channel channel)
{
	struct mapped *m = find(channel);
	io_stats stats = NULL;
	errcode_t (*told)(io_channel, unsigned long, int, void *, size_t, int,
			  errcode_t);

	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	if (!m->handed_over) {
		/* These were read before. */
		told = channel->read_error;
		channel->read_error = NULL;
		fill_cache(m);
		channel->read_error = told;
		if (!unix_io_manager->get_stats(channel, &stats) && stats)
			set_stats(m, stats);
		__atomic_store_n(&m->handed_over, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&m->lock);
}

/* Operations */

static errcode_t mmap_read_blk64(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	struct mapped *m = find(channel);
	int bs = channel->block_size;
	unsigned long long location;
	size_t size;

	if (!m)
		return unix_io_manager->read_blk64(channel, block, count, buf);
	/* Wraps as in the unix manager. */
	location = block * (unsigned long long)bs + m->offset;
	size = count < 0 ? (size_t)-(long long)count :
			   (size_t)count * (size_t)bs;
	if (!e2pf_mapping_read(&m->mapping, (long long)location, buf, size)) {
		hand_over(channel);
		return unix_io_manager->read_blk64(channel, block, count, buf);
	}
	pthread_mutex_lock(&m->lock);
	if (m->off)
		m->cache.bytes_read += size;
	else
		e2pf_unix_cache_read(&m->cache, block, count, bs);
	pthread_mutex_unlock(&m->lock);
	return 0;
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

static errcode_t mmap_set_blksize(io_channel channel, int size)
{
	struct mapped *m = find(channel);
	int before = channel->block_size;
	errcode_t error = unix_io_manager->set_blksize(channel, size);

	if (m && channel->block_size != before) {
		pthread_mutex_lock(&m->lock);
		e2pf_unix_cache_reset(&m->cache);
		pthread_mutex_unlock(&m->lock);
	}
	return error;
}

/* With another offset, the cache would go on showing what it has. */
static errcode_t mmap_set_option(io_channel channel, const char *option,
				 const char *arg)
{
	struct mapped *m = find(channel);
	errcode_t error;

	if (m && !strcmp(option, "cache")) {
		error = unix_io_manager->set_option(channel, option, arg);
		pthread_mutex_lock(&m->lock);
		if (!error)
			m->off = !strcmp(arg, "off");
		pthread_mutex_unlock(&m->lock);
		return error;
	}
	if (m && (m->cache.filled || strcmp(option, "offset")))
		hand_over(channel);
	error = unix_io_manager->set_option(channel, option, arg);
	if (error)
		hand_over(channel);
	else if (m)
		m->offset = strtoull(arg, NULL, 0);
	return error;
}

static errcode_t mmap_get_stats(io_channel channel, io_stats *stats)
{
	errcode_t error = unix_io_manager->get_stats(channel, stats);
	struct mapped *m = find(channel);

	if (m && !error && stats && *stats)
		set_stats(m, *stats);
	return error;
}

/* Opening and closing */

/* True if the environment variable is set, and the program has no more rights
 * than its caller. */
static bool is_asked_for(const char *name)
{
	if (getuid() != geteuid() || getgid() != getegid() ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		return false;
	return secure_getenv(name) != NULL;
}

static struct mapped *map_file(const char *name, int flags,
			       const struct stat *st)
{
	struct mapped *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (e2pf_mapping_init(&m->mapping, name, flags & IO_FLAG_RW, st)) {
		if (e2pf_guard_get() == 0)
			return m;
		e2pf_mapping_fini(&m->mapping);
	}
	free(m);
	return NULL;
}

static pthread_once_t tried = PTHREAD_ONCE_INIT;
static bool is_known;

static void try_cache(void)
{
	is_known = e2pf_unix_cache_is_known();
}

static errcode_t mmap_open(const char *name, int flags, io_channel *channel)
{
	struct stat st = { 0 };
	struct mapped *m;
	errcode_t error;

	/* Before it is opened, so that both descriptors are of one file. */
	if (name && stat(name, &st) < 0)
		st.st_mode = 0;
	error = unix_io_manager->open(name, flags, channel);
	/* The program calls operations by their places in the header's table,
	 * so these must be right. */
	if (error || (flags & (IO_FLAG_DIRECT_IO | IO_FLAG_FORCE_BOUNCE)) ||
	    is_asked_for("UNIX_IO_FORCE_BOUNCE") ||
	    !e2pf_io_table_is_ours() || pthread_once(&tried, try_cache) ||
	    !is_known)
		return error;
	m = map_file(name, flags, &st);
	if (!m)
		return 0;
	m->channel = *channel;
	m->off = flags & IO_FLAG_NOCACHE;
	pthread_mutex_init(&m->lock, NULL);
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
		/* First: the mapping keeps the file open, and the unix
		 * manager's close() must be the one that reports errors. */
		e2pf_mapping_fini(&m->mapping);
		e2pf_guard_put();
		pthread_mutex_destroy(&m->lock);
		free(m);
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
	mmap_manager.set_blksize = mmap_set_blksize;
	mmap_manager.read_blk = mmap_read_blk;
	mmap_manager.write_blk = mmap_write_blk;
	mmap_manager.write_byte = mmap_write_byte;
	mmap_manager.set_option = mmap_set_option;
	mmap_manager.get_stats = mmap_get_stats;
	mmap_manager.read_blk64 = mmap_read_blk64;
	mmap_manager.write_blk64 = mmap_write_blk64;
	mmap_manager.discard = mmap_discard;
	mmap_manager.zeroout = mmap_zeroout;
}
