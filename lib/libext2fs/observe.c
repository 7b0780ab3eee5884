/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The observing operations of an io_channel.  Decides nothing: the manager
 * below reads and writes, the engine hears of it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "observe.h"

static struct e2pf_observer *observer(io_channel channel)
{
	return (struct e2pf_observer *)channel->manager;
}

/* The engine hears of a read before it is made: true, and what to tell it
 * afterwards. */
static bool announce(io_channel channel, unsigned long long block, int count,
		     struct e2pf_read *r)
{
	const struct e2pf_observer *o = observer(channel);
	uint64_t bs = (uint64_t)channel->block_size;

	if (!o->engine || channel != o->channel)
		return false;
	r->device = 0;
	r->offset = block * bs;
	r->length = count < 0 ? (uint64_t)-(int64_t)count :
				(uint64_t)count * bs;
	if (o->journal)
		e2pf_journal_at(o->journal, block);
	e2pf_engine_before_read(o->engine, r);
	return true;
}

static errcode_t observed_read64(io_channel channel, unsigned long long block,
				 int count, void *data)
{
	struct e2pf_observer *o = observer(channel);
	struct e2pf_read r;
	bool announced = announce(channel, block, count, &r);
	errcode_t err = o->real->read_blk64(channel, block, count, data);

	if (announced)
		e2pf_engine_after_read(o->engine, &r);
	return err;
}

static errcode_t observed_read(io_channel channel, unsigned long block,
			       int count, void *data)
{
	struct e2pf_observer *o = observer(channel);
	struct e2pf_read r;
	bool announced = announce(channel, block, count, &r);
	errcode_t err = o->real->read_blk(channel, block, count, data);

	if (announced)
		e2pf_engine_after_read(o->engine, &r);
	return err;
}

/*
 * The checker's own read-ahead is of blocks the engine has planned, in an
 * order that sends a disk's head about: the engine's takes its place.  Refused,
 * e2fsck gives it up for the rest of the pass without a word, and with it the
 * map of all blocks that it makes for each stretch of inode tables, and the
 * walks over the directory list.
 */
static errcode_t observed_readahead(io_channel channel,
				    unsigned long long block,
				    unsigned long long count)
{
	struct e2pf_observer *o = observer(channel);

	if (o->engine && e2pf_engine_reads_ahead(o->engine))
		return EXT2_ET_OP_NOT_SUPPORTED;
	return o->real->cache_readahead(channel, block, count);
}

void e2pf_observe(struct e2pf_observer *o, io_channel channel,
		  struct e2pf_engine *engine)
{
	o->real = channel->manager;
	o->table = *o->real;
	o->table.read_blk = observed_read;
	if (o->real->read_blk64)
		o->table.read_blk64 = observed_read64;
	if (o->real->cache_readahead)
		o->table.cache_readahead = observed_readahead;
	o->engine = engine;
	o->journal = NULL;
	o->channel = channel;
	channel->manager = &o->table;
}

void e2pf_unobserve(struct e2pf_observer *o)
{
	if (o->channel && o->channel->manager == &o->table)
		o->channel->manager = o->real;
	o->channel = NULL;
	o->engine = NULL;
	o->journal = NULL;
}
