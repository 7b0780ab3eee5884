/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Decides how far ahead of its replay a journal is read, and which blocks of
 * its map are. */
#include <stdlib.h>

#include "array.h"
#include "journal.h"

/* The number of runs that a journal may have.  A journal with extents has one
 * per 128 MiB; on ext3 an indirect block follows every 4 MiB. */
#define MOST_RUNS 4096u

/* The readahead window in bytes.  The smallest costs a disk one wasted request
 * if the journal holds little; the largest keeps the queue of a disk or network
 * volume full. */
#define LEAST_WINDOW (512u << 10)
#define MOST_WINDOW (8u << 20)

/* The most bytes of a map: all that a double indirect block of 4 KiB refers to.  One of
 * 64 KiB could refer to 1 GiB; the first 4 MiB map 64 GiB of journal. */
#define MOST_MAP (4u << 20)

/* Adjacent blocks of the filesystem. */
struct e2pf_journal_run {
	uint64_t block;
	uint64_t first;		/* index in the journal of its first block */
	uint64_t count;
};

void e2pf_journal_init(struct e2pf_journal *j, struct e2pf_device *dev,
		       uint32_t block_size)
{
	*j = (struct e2pf_journal) { .dev = dev, .block_size = block_size };
	pthread_mutex_init(&j->lock, NULL);
}

void e2pf_journal_fini(struct e2pf_journal *j)
{
	free(j->run);
}

void e2pf_journal_add(struct e2pf_journal *j, uint64_t block)
{
	struct e2pf_journal_run *last = j->runs ? &j->run[j->runs - 1] : NULL;

	j->full |= block >= j->dev->size / j->block_size;
	if (j->full)
		return;
	if (last && block == last->block + last->count) {
		last->count++;
	} else if (j->runs < MOST_RUNS &&
		   e2pf_have_room((void **)&j->run, &j->room, j->runs, 1,
				  sizeof(*j->run))) {
		j->run[j->runs++] = (struct e2pf_journal_run) {
			block, j->blocks, 1
		};
	} else {
		j->full = true;
	}
	j->blocks += !j->full;
}

static bool find(const struct e2pf_journal *j, uint64_t block, uint64_t *index)
{
	size_t i;

	for (i = 0; i < j->runs; i++) {
		const struct e2pf_journal_run *r = &j->run[i];

		if (block >= r->block && block - r->block < r->count) {
			*index = r->first + (block - r->block);
			return true;
		}
	}
	return false;
}

static void read_ahead(struct e2pf_journal *j, uint64_t offset, uint64_t len)
{
	const struct e2pf_device_ops *ops = j->dev->ops;

	while (len) {
		enum e2pf_residency state;
		uint64_t n = ops->span(j->dev, offset, len, &state);

		if (state == E2PF_MISSING) {
			ops->willneed(j->dev, offset, n);
			j->bytes += n;
		}
		offset += n;
		len -= n;
	}
}

struct map_walk {
	struct e2pf_journal *j;
	uint64_t left;			/* bytes */
};

static void read_ref_ahead(void *ctx, const struct e2pf_ref *ref)
{
	struct map_walk *w = ctx;
	uint64_t n = ref->length < w->left ? ref->length : w->left;

	read_ahead(w->j, ref->offset, n);
	w->left -= n;
}

void e2pf_journal_request_map(struct e2pf_journal *j,
			      const struct e2pf_geometry *geo,
			      const uint32_t block[3])
{
	const struct e2pf_kind twice = {
		.cls = E2PF_FILES, .parse = E2PF_INDIRECT_BLOCK,
		.depth = 2, .data = E2PF_CLASSES
	};
	struct map_walk walk = { .j = j, .left = MOST_MAP };
	struct e2pf_plan plan = {
		.geo = geo, .classes = E2PF_ALL_CLASSES,
		.sink = read_ref_ahead, .ctx = &walk
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
		const struct e2pf_journal_run *r = &j->run[i];
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

/* The replay has reached index `index`. */
static void advance(struct e2pf_journal *j, uint64_t index)
{
	uint64_t end, most = MOST_WINDOW / j->block_size;

	/* A step forward over the data of a transaction does not count as a
	 * jump: the replay will come back to that data. */
	if (!j->window || index < j->from || index > j->to + most) {
		j->from = j->to = index;
		j->window = LEAST_WINDOW / j->block_size;
	} else if (index + j->window / 2 < j->to) {
		return;
	} else if (j->window < most) {
		j->window *= 4;
	}
	end = index + j->window;
	extend(j, end < j->blocks ? end : j->blocks);
}

void e2pf_journal_at(struct e2pf_journal *j, uint64_t block)
{
	uint64_t index;

	/* Index 0 is the journal's superblock; the log begins elsewhere. */
	if (!find(j, block, &index) || !index)
		return;
	pthread_mutex_lock(&j->lock);
	advance(j, index);
	pthread_mutex_unlock(&j->lock);
}
