/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operations that observe an io_channel.  They decide nothing: the original
 * manager reads and writes, and the engine is told.
 */
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "observe.h"
#include "io_table.h"

/* The number of managers that can be observed in one process.  A manager's
 * original operations are kept until the process ends: when observing ends,
 * another thread may be inside a read. */
#define MANAGERS 4u

typedef errcode_t read64_fn(io_channel channel, unsigned long long block,
			    int count, void *data);
typedef errcode_t read32_fn(io_channel channel, unsigned long block, int count,
			    void *data);
typedef errcode_t readahead_fn(io_channel channel, unsigned long long block,
			       unsigned long long count);

struct e2pf_observed {
	io_manager manager;		/* NULL: unused entry */
	struct e2pf_io_table slots;	/* of the manager's table */
	read64_fn *read64;		/* the original operation, or NULL */
	read32_fn *read32;
	readahead_fn *readahead;
	char *name;			/* of the device: all channels with this
					   name are observed */
	_Atomic(struct e2pf_observer *) observer;
};

static struct e2pf_observed observed[MANAGERS];

/* The observer of this channel; NULL if it is of another device. */
static struct e2pf_observer *watcher(const struct e2pf_observed *entry,
				     io_channel channel)
{
	struct e2pf_observer *o = atomic_load(&entry->observer);

	if (!o || (channel != o->channel &&
		   (!channel->name || strcmp(channel->name, entry->name))))
		return NULL;
	return o;
}

/* Tell the engine of a read before it is made.  Returns the engine if it must
 * also be told afterwards. */
static struct e2pf_engine *announce(const struct e2pf_observed *entry,
				    io_channel channel,
				    unsigned long long block, int count,
				    struct e2pf_read *r)
{
	struct e2pf_observer *o = watcher(entry, channel);
	uint64_t bs = (uint64_t)channel->block_size;
	struct e2pf_journal *journal;

	if (!o)
		return NULL;
	r->device = 0;
	r->offset = block * bs;
	r->length = count < 0 ? (uint64_t)-(int64_t)count :
				(uint64_t)count * bs;
	journal = atomic_load(&o->journal);
	if (journal && channel == o->channel)
		e2pf_journal_at(journal, block);
	e2pf_engine_before_read(o->engine, r);
	return o->engine;
}

static errcode_t read64(const struct e2pf_observed *entry, io_channel channel,
			unsigned long long block, int count, void *data)
{
	struct e2pf_read r;
	struct e2pf_engine *engine = announce(entry, channel, block, count, &r);
	errcode_t err = entry->read64(channel, block, count, data);

	if (engine)
		e2pf_engine_after_read(engine, &r);
	return err;
}

static errcode_t read32(const struct e2pf_observed *entry, io_channel channel,
			unsigned long block, int count, void *data)
{
	struct e2pf_read r;
	struct e2pf_engine *engine = announce(entry, channel, block, count, &r);
	errcode_t err = entry->read32(channel, block, count, data);

	if (engine)
		e2pf_engine_after_read(engine, &r);
	return err;
}

/*
 * The engine has planned all blocks that the checker's own readahead requests,
 * but the checker's order makes a disk seek back and forth, so the engine's
 * readahead replaces it.  If a request is refused, e2fsck silently stops its
 * readahead for the rest of the pass.  That also saves the bitmap of all blocks
 * that it makes for each part of the inode tables, and its walks over the
 * directory list.  But if e2fsck prints statistics of all bitmaps, it has to
 * make those, too, so requests seem to succeed.
 */
static errcode_t readahead(const struct e2pf_observed *entry,
			   io_channel channel, unsigned long long block,
			   unsigned long long count)
{
	struct e2pf_observer *o = watcher(entry, channel);

	if (o && e2pf_engine_reads_ahead(o->engine))
		return getenv("E2FSPROGS_BITMAP_STATS") ?
		       0 : EXT2_ET_OP_NOT_SUPPORTED;
	return entry->readahead(channel, block, count);
}

/*
 * Each entry has operations of its own.  A program may have copied the table
 * while it was observed; then only the operation itself tells to which entry it
 * belongs.
 */
#define OPERATIONS(n) \
static errcode_t read64_##n(io_channel channel, unsigned long long block, \
			    int count, void *data) \
{ \
	return read64(&observed[n], channel, block, count, data); \
} \
static errcode_t read32_##n(io_channel channel, unsigned long block, \
			    int count, void *data) \
{ \
	return read32(&observed[n], channel, block, count, data); \
} \
static errcode_t readahead_##n(io_channel channel, unsigned long long block, \
			       unsigned long long count) \
{ \
	return readahead(&observed[n], channel, block, count); \
}

OPERATIONS(0)
OPERATIONS(1)
OPERATIONS(2)
OPERATIONS(3)

static const struct {
	read64_fn *read64;
	read32_fn *read32;
	readahead_fn *readahead;
} operations[MANAGERS] = {
	{ read64_0, read32_0, readahead_0 },
	{ read64_1, read32_1, readahead_1 },
	{ read64_2, read32_2, readahead_2 },
	{ read64_3, read32_3, readahead_3 },
};

/*
 * True if the table is writable.  Memory that belongs to no loaded object was
 * allocated, and so it is writable.
 */

struct look {
	ElfW(Addr) start, end;
	bool writable;
};

static bool overlaps(const struct dl_phdr_info *info, const ElfW(Phdr) *ph,
		     const struct look *look)
{
	ElfW(Addr) start = info->dlpi_addr + ph->p_vaddr;

	return look->start < start + ph->p_memsz && start < look->end;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct look *look = data;
	unsigned i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (!overlaps(info, ph, look))
			continue;
		/* RELRO is written to before main() and then protected. */
		if (ph->p_type == PT_GNU_RELRO ||
		    (ph->p_type == PT_LOAD && !(ph->p_flags & PF_W)))
			look->writable = false;
	}
	return 0;
}

static bool is_writable(const void *start, size_t size)
{
	struct look look = {
		.start = (ElfW(Addr))start,
		.end = (ElfW(Addr))start + size,
		.writable = true
	};

	dl_iterate_phdr(look_at_object, &look);
	return look.writable;
}

/* The table as an array of operations.  Other threads may be calling them. */
static e2pf_slot *place(io_manager manager, unsigned slot)
{
	return (e2pf_slot *)(void *)manager + slot;
}

static void put(io_manager manager, unsigned slot, e2pf_slot operation)
{
	__atomic_store_n(place(manager, slot), operation, __ATOMIC_RELEASE);
}

/* Save the manager's original operations. */
static void take(struct e2pf_observed *entry, io_manager manager)
{
	entry->manager = manager;
	entry->read64 = (read64_fn *)*place(manager, entry->slots.read64);
	entry->read32 = (read32_fn *)*place(manager, entry->slots.read32);
	entry->readahead = (readahead_fn *)*place(manager,
						  entry->slots.readahead);
}

static void give_back(const struct e2pf_observed *entry)
{
	put(entry->manager, entry->slots.read64, (e2pf_slot)entry->read64);
	put(entry->manager, entry->slots.read32, (e2pf_slot)entry->read32);
	put(entry->manager, entry->slots.readahead,
	    (e2pf_slot)entry->readahead);
}

/* Replace the manager's operations by those of entry `n`. */
static void replace(const struct e2pf_observed *entry, size_t n)
{
	put(entry->manager, entry->slots.read32,
	    (e2pf_slot)operations[n].read32);
	if (entry->read64)
		put(entry->manager, entry->slots.read64,
		    (e2pf_slot)operations[n].read64);
	if (entry->readahead)
		put(entry->manager, entry->slots.readahead,
		    (e2pf_slot)operations[n].readahead);
}

static struct e2pf_observed *entry_for(io_manager manager)
{
	struct e2pf_observed *unused = NULL;
	unsigned i;

	for (i = 0; i < MANAGERS; i++) {
		if (observed[i].manager == manager)
			return &observed[i];
		if (!unused && !observed[i].manager)
			unused = &observed[i];
	}
	return unused;
}

bool e2pf_observe(struct e2pf_observer *o, io_channel channel,
		  struct e2pf_engine *engine)
{
	io_manager manager = channel->manager;
	struct e2pf_observed *entry = entry_for(manager);
	struct e2pf_io_table slots;
	char *name;

	o->observed = NULL;
	if (!entry || atomic_load(&entry->observer) ||
	    !is_writable(manager, sizeof(*manager)) ||
	    !e2pf_io_table_find(&slots))
		return false;
	name = strdup(channel->name ? channel->name : "");
	if (!name)
		return false;
	o->observed = entry;
	o->channel = channel;
	o->engine = engine;
	atomic_store(&o->journal, NULL);
	entry->slots = slots;
	take(entry, manager);
	free(entry->name);
	entry->name = name;
	atomic_store(&entry->observer, o);
	replace(entry, (size_t)(entry - observed));
	return true;
}

void e2pf_unobserve(struct e2pf_observer *o)
{
	struct e2pf_observed *entry = o->observed;

	if (!entry)
		return;
	give_back(entry);
	atomic_store(&entry->observer, NULL);
	o->observed = NULL;
}
