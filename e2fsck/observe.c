/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Tells the engine of each read.  Decides only one thing: a read that fails, and may have
 * failed because of a request of the engine, is made again, past the page cache, before
 * the program learns of it.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "observe.h"
#include "lib/io_table.h"
#include "lib/keep_errno.h"

/*
 * The table that observed channels have in place of their manager's, which is the
 * same for all of them.  They keep it until they are closed: when observing ends,
 * another thread may be inside a read.
 */
static struct {
	struct struct_io_manager table;
	io_manager manager;		/* NULL: none yet */
	io_channel channel;		/* written only while `engine` is NULL */
	_Atomic(struct pf_engine *) engine;
} observed;

/* A variable of a thread that a signal handler may access: glibc allocates others at
 * their first access.  musl does not, and its dlopen(3) refuses this model. */
#ifdef __GLIBC__
#define OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define OF_THREAD _Thread_local
#endif

/* The innermost observed read of this thread: values, because a handler of errors may
 * leave the read by longjmp(). */
static OF_THREAD struct observed_read {
	struct pf_engine *engine;		/* that is told of it, or NULL */
	struct pf_read r;
	bool is_several;			/* blocks */
} reading;

/* Where the last read of several blocks of this thread has failed. */
static OF_THREAD uint64_t failed_from, failed_to;

/* NULL: the channel is no longer observed. */
static struct pf_engine *engine_of(io_channel channel)
{
	struct pf_engine *engine = atomic_load(&observed.engine);

	return engine && observed.channel == channel ? engine : NULL;
}

bool e2fsck_failed_read_may_be_ours(void)
{
	struct observed_read *o = &reading;

	if (!o->engine || o->engine != atomic_load(&observed.engine))
		return false;
	if (o->is_several) {
		failed_from = o->r.offset;
		failed_to = o->r.offset + o->r.length;
	}
	return pf_engine_read_failed(o->engine, &o->r);
}

/* Tell the engine of a read before it is made.  Returns the engine if it must
 * also be told afterwards. */
static struct pf_engine *announce_read(io_channel channel,
				       unsigned long long block, int count,
				       struct pf_read *r)
{
	struct pf_engine *engine = engine_of(channel);
	uint64_t bs = (uint64_t)channel->block_size;
	E2PF_KEEP_ERRNO;

	if (!engine)
		return NULL;
	r->device = 0;
	r->offset = block * bs;
	r->length = count < 0 ? (uint64_t)-(int64_t)count :
				(uint64_t)count * bs;
	pf_engine_before_read(engine, r);
	return engine;
}

/* The program's handler of errors may read, too, each block of a read that has failed. */
static errcode_t read_observed(io_channel channel, unsigned long long block,
			       int count, void *data, bool wide)
{
	struct observed_read outer = reading, o = { .is_several = count > 1 };
	errcode_t err;

	o.engine = announce_read(channel, block, count, &o.r);
	o.r.of_several = count == 1 && o.r.offset >= failed_from &&
			 o.r.offset < failed_to;
	reading = o;
	err = wide ?
	      observed.manager->read_blk64(channel, block, count, data) :
	      observed.manager->read_blk(channel, (unsigned long)block, count,
					 data);
	reading = outer;
	if (o.engine) {
		E2PF_KEEP_ERRNO;

		pf_engine_after_read(o.engine, &o.r);
	}
	return err;
}

static errcode_t read64(io_channel channel, unsigned long long block,
			int count, void *data)
{
	return read_observed(channel, block, count, data, true);
}

static errcode_t read32(io_channel channel, unsigned long block, int count,
			void *data)
{
	return read_observed(channel, block, count, data, false);
}

/*
 * The engine has planned all blocks that e2fsck's own readahead requests, in an order
 * that makes a disk seek less.  After a refusal e2fsck silently stops its readahead for
 * the rest of the pass, and saves the bitmap of all blocks that it makes for each part
 * of the inode tables.  If it prints statistics of all bitmaps, it has to make those,
 * so requests seem to succeed.
 */
static errcode_t readahead(io_channel channel, unsigned long long block,
			   unsigned long long count)
{
	struct pf_engine *engine = engine_of(channel);

	if (engine && pf_engine_reads_ahead(engine))
		return getenv("E2FSPROGS_BITMAP_STATS") ?
		       0 : EXT2_ET_OP_NOT_SUPPORTED;
	return observed.manager->cache_readahead(channel, block, count);
}

bool e2fsck_observe(io_channel channel, struct pf_engine *engine)
{
	io_manager manager = channel->manager == &observed.table ?
			     observed.manager : channel->manager;

	if (atomic_load(&observed.engine) ||
	    (observed.manager && observed.manager != manager) ||
	    !e2pf_io_table_is_ours())
		return false;
	observed.manager = manager;
	/* An operation that the manager lacks stays absent. */
	observed.table = *manager;
	observed.table.read_blk = read32;
	if (manager->read_blk64)
		observed.table.read_blk64 = read64;
	if (manager->cache_readahead)
		observed.table.cache_readahead = readahead;
	observed.channel = channel;
	channel->manager = &observed.table;
	atomic_store(&observed.engine, engine);
	return true;
}

void e2fsck_unobserve(struct pf_engine *engine)
{
	struct pf_engine *was = engine;

	atomic_compare_exchange_strong(&observed.engine, &was, NULL);
}
