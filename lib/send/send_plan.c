/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which leaves are read ahead of a send: the changed ones, those of
 * other trees that they are compared with, and those with the records of the
 * extents that the changed leaves refer to.
 */
#include <stdlib.h>

#include "btrfs/format.h"
#include "send_state.h"

/* Changed leaves per part: at most 128 MiB with the usual node size. */
#define PART_LEAVES_MOST 8192u
#define PART_LEAVES_LEAST 16u

/* For the walk.  After the end of the send, it reads no more nodes. */
static bool read_node(void *ctx, const struct e2pf_btrfs_ptr *ptr, void *block)
{
	struct send *s = ((struct send_walk *)ctx)->send;

	return send_within_limits(s, send_nodesize(s)) &&
	       e2pf_mounted_read(&s->fs, ptr, block);
}

/* Whether this part already takes half of the budget.  Data takes a quarter,
 * and what is left of the parts before it another one (wait_for_room()). */
static bool is_full(const struct send *s)
{
	uint64_t before = s->parts ? s->part[s->parts - 1].bytes : 0;

	return s->bytes - before + s->jobs.count * send_nodesize(s) >=
	       s->base.cfg.budget / 2;
}

/* Plan a leaf.  If its items are needed, it is searched even if it was before. */
static bool add_leaf(struct send_walk *w, const struct e2pf_btrfs_node *leaf)
{
	struct send *s = w->send;
	struct e2pf_job job = {
		.tree = w->tree, .keys = leaf->keys, .parse = w->parse
	};
	uint64_t slot = e2pf_chunk_map_slot(&s->fs.map, leaf->ptr.logical);
	struct e2pf_ref part[E2PF_BTRFS_PARTS];
	bool is_new = slot != UINT64_MAX && e2pf_slot_set_add(&s->asked, slot);

	if (!(is_new || w->parse) ||
	    !e2pf_chunk_map_find(&s->fs.map, leaf->ptr.logical, part))
		return true;
	job.device = part[0].device;
	job.offset = part[0].offset;
	return !is_full(s) && e2pf_jobs_add(&s->jobs, &job);
}

/* For the walk. */
static bool take_leaf(void *ctx, const struct e2pf_btrfs_node *leaf)
{
	struct send_walk *w = ctx;
	struct send *s = w->send;
	const struct e2pf_btrfs_range files = e2pf_btrfs_keys_of(
		leaf->keys.first.objectid, leaf->keys.last.objectid);
	/* The record of this block leads from an extent to a root. */
	const struct e2pf_btrfs_range record = e2pf_btrfs_keys_of(
		leaf->ptr.logical, leaf->ptr.logical);

	w->left--;
	if (!add_leaf(w, leaf))
		return false;
	if (w->changed && (!e2pf_ranges_add(&s->files, &files) ||
			   !e2pf_ranges_add(&s->records, &record)))
		return false;
	return w->left && !s->stop;
}

void send_walk_begin(struct send_walk *w, struct send *s, uint64_t tree,
		     uint64_t generation, const struct e2pf_ranges *ranges,
		     bool parse)
{
	*w = (struct send_walk) {
		.walk = {
			.super = &s->fs.map.super, .read = read_node,
			.leaf = take_leaf, .ctx = w,
			.generation = generation, .ranges = ranges
		},
		.send = s, .tree = tree, .parse = parse, .left = UINT64_MAX
	};
}

/* Add the leaves of a tree that have keys in these ranges. */
static void add_leaves(struct send *s, uint64_t tree,
		       struct e2pf_ranges *ranges, bool parse)
{
	struct e2pf_btrfs_ptr root;
	struct send_walk w;

	e2pf_ranges_finish(ranges);
	if (s->stop || !ranges->count ||
	    !e2pf_mounted_root(&s->fs, tree, &root))
		return;
	send_walk_begin(&w, s, tree, 0, ranges, parse);
	e2pf_tree_walk(&w.walk, &root);
	s->sum.unread += s->stop ? 0 : w.walk.unread;
}

static unsigned part_leaves(const struct send *s)
{
	uint64_t n = s->base.cfg.budget / 8 / send_nodesize(s);

	return n < PART_LEAVES_LEAST ? PART_LEAVES_LEAST :
	       n > PART_LEAVES_MOST ? PART_LEAVES_MOST : (unsigned)n;
}

bool send_plan_changed(struct send_walk *w, const struct e2pf_btrfs_ptr *root)
{
	struct send *s = w->send;
	unsigned most = part_leaves(s);
	size_t i;

	s->jobs.count = s->data.count = 0;
	s->files.count = s->records.count = 0;
	for (i = 0; i < TREES_MOST; i++)
		s->wanted[i].tree = s->wanted[i].ranges.count = 0;
	w->changed = true;
	w->left = most;
	e2pf_tree_walk(&w->walk, root);
	s->sum.changed += most - w->left;
	return w->left < most;
}

void send_plan_compared(struct send *s, uint64_t older)
{
	size_t i;

	add_leaves(s, older, &s->files, older == s->tree);
	for (i = 0; i < s->clones; i++)
		add_leaves(s, s->clone[i], &s->files, false);
}

void send_plan_records(struct send *s)
{
	struct e2pf_ranges sums = { .count = 0 };
	const struct e2pf_job *job;
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < s->data.count; i++) {
		struct e2pf_btrfs_key key = {
			BT_EXTENT_CSUM_OBJECTID, 0, BT_EXTENT_CSUM_KEY
		};

		job = &s->data.job[i];
		key.offset = job->offset;
		e2pf_ranges_add(&s->records, &job->keys);
		if (job->length)
			e2pf_ranges_add(&sums, &(struct e2pf_btrfs_range) {
				key, key });
	}
	add_leaves(s, BT_EXTENT_TREE_OBJECTID, &s->records, true);
	add_leaves(s, BT_CSUM_TREE_OBJECTID, &sums, false);
	free(sums.range);
}

void send_plan_wanted(struct send *s)
{
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < TREES_MOST && s->wanted[i].tree; i++)
		add_leaves(s, s->wanted[i].tree, &s->wanted[i].ranges, false);
}
