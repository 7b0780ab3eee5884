/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which leaves are read ahead of a send: the changed ones, those of
 * other trees that they are compared with, and those with the records of the
 * extents that the changed leaves refer to.
 */
#include "btrfs/format.h"
#include "send_state.h"

/* Changed leaves per part: at most 128 MiB with the usual node size. */
#define PART_LEAVES_MOST 8192u
#define PART_LEAVES_LEAST 16u

bool send_read_node(void *send, const struct e2pf_btrfs_ptr *ptr, void *block)
{
	struct send *s = send;

	return send_within_limits(s, e2pf_mounted_super(s->fs)->nodesize) &&
	       e2pf_mounted_read(s->fs, ptr, block);
}

/* Whether this part already takes half of the budget.  Data takes a quarter,
 * and what is left of the parts before it another one (wait_for_room()). */
static bool is_full(const struct send *s)
{
	uint64_t before = s->parts ? s->part[s->parts - 1].bytes : 0;

	return s->bytes - before + s->jobs.count *
	       e2pf_mounted_super(s->fs)->nodesize >= s->base.cfg.budget / 2;
}

static bool add_leaf(struct send *s, uint64_t tree,
		     const struct e2pf_btrfs_child *leaf, bool parse)
{
	struct e2pf_job job = {
		.tree = tree, .first = leaf->first, .last = leaf->last,
		.parse = parse
	};
	uint64_t slot = e2pf_mounted_slot(s->fs, leaf->ptr.logical);
	bool is_new = slot != UINT64_MAX && e2pf_slot_set_add(&s->asked, slot);

	/* If its items are needed, the leaf is searched even if it was
	 * before. */
	if (!(is_new || parse) ||
	    !e2pf_mounted_place(s->fs, leaf->ptr.logical, &job.device,
				&job.offset))
		return true;
	return !is_full(s) && e2pf_jobs_add(&s->jobs, &job);
}

/* Add the leaves of a tree that have keys in these ranges. */
static void add_leaves(struct send *s, uint64_t tree,
		       struct e2pf_btrfs_ranges *ranges, bool parse)
{
	struct e2pf_tree_walk walk = {
		.super = e2pf_mounted_super(s->fs), .read = send_read_node,
		.ctx = s, .ranges = ranges
	};
	struct e2pf_btrfs_child leaf;
	struct e2pf_btrfs_ptr root;

	e2pf_btrfs_ranges_finish(ranges);
	if (!ranges->count || !e2pf_mounted_root(s->fs, tree, &root))
		return;
	e2pf_tree_walk_begin(&walk, &root);
	while (!s->stop && e2pf_tree_walk_next(&walk, &leaf) &&
	       add_leaf(s, tree, &leaf, parse))
		;
	s->sum.unread += s->stop ? 0 : walk.unread;
	e2pf_tree_walk_free(&walk);
}

static unsigned part_leaves(const struct send *s)
{
	uint64_t n = s->base.cfg.budget / 8 / e2pf_mounted_super(s->fs)->nodesize;

	return n < PART_LEAVES_LEAST ? PART_LEAVES_LEAST :
	       n > PART_LEAVES_MOST ? PART_LEAVES_MOST : (unsigned)n;
}

/* Add the record of a tree block, which leads from an extent to a root. */
static void add_record(struct send *s, uint64_t logical)
{
	struct e2pf_btrfs_key first = { logical, 0, 0 };
	struct e2pf_btrfs_key last = { logical, UINT64_MAX, UINT8_MAX };

	e2pf_btrfs_ranges_add(&s->records, &first, &last);
}

bool send_plan_changed(struct send *s, struct e2pf_tree_walk *walk,
		       uint64_t newer)
{
	struct e2pf_btrfs_child leaf;
	unsigned most = part_leaves(s), n = 0;
	size_t i;

	s->jobs.count = s->data.count = 0;
	e2pf_btrfs_ranges_empty(&s->files);
	e2pf_btrfs_ranges_empty(&s->records);
	for (i = 0; i < TREES_MOST; i++) {
		e2pf_btrfs_ranges_empty(&s->wanted[i].ranges);
		s->wanted[i].tree = 0;
	}
	while (n < most && !s->stop && e2pf_tree_walk_next(walk, &leaf)) {
		struct e2pf_btrfs_key first = { leaf.first.objectid, 0, 0 };
		struct e2pf_btrfs_key last = { leaf.last.objectid, UINT64_MAX,
					       UINT8_MAX };

		n++;
		if (!add_leaf(s, newer, &leaf, newer == s->tree) ||
		    !e2pf_btrfs_ranges_add(&s->files, &first, &last))
			break;
		add_record(s, leaf.ptr.logical);
	}
	s->sum.changed += n;
	return n;
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
	struct e2pf_btrfs_ranges sums = { .count = 0 };
	const struct e2pf_job *job;
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < s->data.count; i++) {
		job = &s->data.job[i];
		e2pf_btrfs_ranges_add(&s->records, &job->first, &job->last);
		if (job->length) {
			struct e2pf_btrfs_key key = {
				BT_EXTENT_CSUM_OBJECTID, job->offset,
				BT_EXTENT_CSUM_KEY
			};

			e2pf_btrfs_ranges_add(&sums, &key, &key);
		}
	}
	add_leaves(s, BT_EXTENT_TREE_OBJECTID, &s->records, true);
	add_leaves(s, BT_CSUM_TREE_OBJECTID, &sums, false);
	e2pf_btrfs_ranges_free(&sums);
}

void send_plan_wanted(struct send *s)
{
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < TREES_MOST && s->wanted[i].tree; i++)
		add_leaves(s, s->wanted[i].tree, &s->wanted[i].ranges, false);
}
