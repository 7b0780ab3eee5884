/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Readahead for the block map of a journal.  The first thing a check does is walk it.
 * On ext3 that is one indirect block per 4 MiB, and on a disk each costs a turn of the
 * platter.
 *
 * What a replay reads is left to the kernel, for the journal is read in its order: a
 * window ahead of the replay made 240 requests of 300.
 */
#include <stdlib.h>

#include "session.h"

/* The most bytes of a block map: all that a double indirect block of 4 KiB refers to.
 * One of 64 KiB could refer to 1 GiB; the first 4 MiB map 64 GiB of journal. */
#define MAX_BLOCK_MAP (4u << 20)

struct block_map_walk {
	struct pf_device *dev;
	uint64_t left;			/* bytes */
	uint64_t requested;
};

static void read_ahead(struct block_map_walk *w, uint64_t offset, uint64_t len)
{
	const struct pf_device_ops *ops = w->dev->ops;

	while (len) {
		enum pf_residency state;
		uint64_t n = ops->span(w->dev, offset, len, &state);

		if (state == PF_MISSING) {
			ops->willneed(w->dev, offset, n);
			w->requested += n;
		}
		offset += n;
		len -= n;
	}
}

static void read_ref_ahead(void *ctx, const struct pf_ref *ref)
{
	struct block_map_walk *w = ctx;
	uint64_t n = ref->length < w->left ? ref->length : w->left;

	read_ahead(w, ref->offset, n);
	w->left -= n;
}

uint64_t ext4_journal_request(struct pf_device *dev,
			      const struct ext4_geometry *geo,
			      const uint32_t block[3])
{
	const struct ext4_kind twice = {
		.cls = EXT4_FILES, .parse = EXT4_INDIRECT_BLOCK,
		.depth = 2, .data = EXT4_CLASSES
	};
	struct block_map_walk walk = { .dev = dev, .left = MAX_BLOCK_MAP };
	struct ext4_plan plan = {
		.geo = geo, .classes = EXT4_ALL_CLASSES,
		.sink = read_ref_ahead, .ctx = &walk
	};
	uint64_t bs = geo->block_size, blocks = dev->size / bs;
	void *bytes = malloc(bs);
	unsigned i;

	for (i = 0; i < 3; i++)
		if (block[i] && block[i] < blocks)
			read_ahead(&walk, block[i] * bs, bs);
	if (bytes && block[1] && block[1] < blocks &&
	    dev->ops->read(dev, bytes, block[1] * bs, bs) == 0)
		ext4_plan_block(&plan, twice, block[1], bytes);
	free(bytes);
	return walk.requested;
}
