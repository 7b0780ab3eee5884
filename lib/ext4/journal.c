/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides how far ahead of its replay a journal is read, and which blocks of
 * its map are. */
#include <pthread.h>
#include <stdlib.h>

#include "journal.h"

/* The number of runs that a journal may have.  A journal with extents has one
 * per 128 MiB; on ext3 an indirect block follows every 4 MiB. */
#define MOST_RUNS 4096u

/* The readahead window in bytes.  The smallest costs a disk one wasted request
 * if the journal holds little; the largest keeps the queue of a disk or network
 * volume full. */
#define LEAST_WINDOW (512u << 10)
#define MOST_WINDOW (8u << 20)

/* Adjacent blocks of the filesystem. */
struct run {
	uint64_t block;
	uint64_t first;		/* index in the journal of its first block */
	uint64_t count;
};

struct e2pf_journal {
	struct e2pf_device *dev;
	uint32_t block_size;
	struct run *run;
	size_t runs, room;
	bool full;
	uint64_t blocks;
	/* Only e2pf_journal_at() uses what follows. */
	pthread_mutex_t lock;
	/* Indices in the journal: all blocks from `from` up to `to` were
	 * requested. */
	uint64_t from, to;
	uint64_t window;	/* blocks */
	uint64_t bytes, requests;
};

struct e2pf_journal *e2pf_journal_new(struct e2pf_device *dev,
				      uint32_t block_size)
{
	struct e2pf_journal *j = calloc(1, sizeof(*j));

	if (j) {
		j->dev = dev;
		j->block_size = block_size;
		pthread_mutex_init(&j->lock, NULL);
	}
	return j;
}

void e2pf_journal_free(struct e2pf_journal *j)
{
	if (j) {
		pthread_mutex_destroy(&j->lock);
		free(j->run);
	}
	free(j);
}

static struct run *new_run(struct e2pf_journal *j)
{
	struct run *more;

	if (j->runs == j->room && j->room < MOST_RUNS) {
		size_t room = j->room ? j->room * 4 : 16;

		more = realloc(j->run, room * sizeof(*more));
		if (more) {
			j->run = more;
			j->room = room;
		}
	}
	if (j->runs == j->room) {
		j->full = true;
		return NULL;
	}
	return &j->run[j->runs++];
}

void e2pf_journal_add(struct e2pf_journal *j, uint64_t block)
{
	struct run *last = j->runs ? &j->run[j->runs - 1] : NULL;

	if (j->full)
		return;
	if (block >= j->dev->size / j->block_size) {
		j->full = true;
		return;
	}
	if (last && block == last->block + last->count) {
		last->count++;
	} else {
		last = new_run(j);
		if (!last)
			return;
		*last = (struct run){ block, j->blocks, 1 };
	}
	j->blocks++;
}

static bool find(const struct e2pf_journal *j, uint64_t block, uint64_t *place)
{
	size_t i;

	for (i = 0; i < j->runs; i++) {
		const struct run *r = &j->run[i];

		if (block >= r->block && block - r->block < r->count) {
			*place = r->first + (block - r->block);
			return true;
		}
	}
	return false;
}

static void read_ahead(struct e2pf_journal *j, uint64_t offset, uint64_t len)
{
	const struct e2pf_device_ops *ops = j->dev->ops;

	while (len) {
		bool resident;
		uint64_t n = ops->span(j->dev, offset, len, &resident);

		if (!resident) {
			j->requests += ops->willneed(j->dev, offset, n);
			j->bytes += n;
		}
		offset += n;
		len -= n;
	}
}

static void read_ref_ahead(void *ctx, const struct e2pf_ref *ref)
{
	read_ahead(ctx, ref->offset, ref->length);
}

void e2pf_journal_walk(struct e2pf_journal *j, const struct e2pf_geometry *geo,
		       const uint32_t block[3])
{
	const struct e2pf_kind twice = {
		.cls = E2PF_FILES, .parse = E2PF_INDIRECT_BLOCK,
		.depth = 2, .data = E2PF_CLASSES
	};
	struct e2pf_plan plan = {
		.geo = geo, .classes = E2PF_ALL_CLASSES,
		.sink = read_ref_ahead, .ctx = j
	};
	uint64_t blocks = j->dev->size / j->block_size, bs = j->block_size;
	void *bytes = malloc(bs);
	unsigned i;

	for (i = 0; i < 3; i++)
		if (block[i] && block[i] < blocks)
			read_ahead(j, block[i] * bs, bs);
	if (bytes && block[1] && block[1] < blocks &&
	    j->dev->ops->read(j->dev, bytes, block[1] * bs, bs) == 0)
		e2pf_plan_block(&plan, twice, block[1], bytes);
	free(bytes);
}

/* Request the blocks from index `to` up to `end`. */
static void extend(struct e2pf_journal *j, uint64_t end)
{
	size_t i;

	for (i = 0; i < j->runs && j->to < end; i++) {
		const struct run *r = &j->run[i];
		uint64_t a = j->to, b = r->first + r->count;

		if (b <= a)
			continue;
		if (b > end)
			b = end;
		read_ahead(j, (r->block + (a - r->first)) * j->block_size,
			   (b - a) * j->block_size);
		j->to = b;
	}
}

/* The replay has reached index `place`. */
static void advance(struct e2pf_journal *j, uint64_t place)
{
	uint64_t end, most = MOST_WINDOW / j->block_size;

	/* A step forward over the data of a transaction does not count as a
	 * jump: the replay will come back to that data. */
	if (!j->window || place < j->from || place > j->to + most) {
		j->from = j->to = place;
		j->window = LEAST_WINDOW / j->block_size;
	} else if (place + j->window / 2 < j->to) {
		return;
	} else if (j->window < most) {
		j->window *= 4;
	}
	end = place + j->window;
	extend(j, end < j->blocks ? end : j->blocks);
}

void e2pf_journal_at(struct e2pf_journal *j, uint64_t block)
{
	uint64_t place;

	/* Index 0 is the journal's superblock; the log begins elsewhere. */
	if (!find(j, block, &place) || !place)
		return;
	pthread_mutex_lock(&j->lock);
	advance(j, place);
	pthread_mutex_unlock(&j->lock);
}

uint64_t e2pf_journal_bytes(const struct e2pf_journal *j)
{
	return j->bytes;
}

uint64_t e2pf_journal_requests(const struct e2pf_journal *j)
{
	return j->requests;
}
