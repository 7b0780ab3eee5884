/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Decides which blocks are read ahead of a send: a part at a time, in the order of keys,
 * as the send reads them.  The nodes of two trees tell which leaves the kernel will
 * compare; their items lead to directories, to the extent items, and to data. */
#include <stdlib.h>

#include "format.h"
#include "lib/thread.h"
#include "send_state.h"

static struct send *send_of(struct pf_session *session)
{
	return (struct send *)session;
}

static void report(struct pf_session *session, struct pf_report *r)
{
	const struct send *s = send_of(session);

	r->block_size = send_nodesize(s);
	r->threads = "one request in flight each";
	pf_report_note(&r->notes,
		       "filter: %llu changed leaves and what they refer to",
		       s->leaves_changed);
	if (s->leaves_cached)
		pf_report_note(&r->notes, "reads: already cached (%llu leaves, by "
			       "samples)", s->leaves_cached);
}

static void free_send(struct pf_session *session)
{
	struct send *s = send_of(session);
	size_t i;

	for (i = 0; i < MAX_TREES; i++)
		free(s->wanted[i].ranges.range);
	free(s->files.range);
	free(s->records.range);
	free(s->data.job);
	bt_slot_set_free(&s->asked);
	bt_slot_set_free(&s->named);
	bt_mounted_close(&s->fs);
	pthread_cond_destroy(&s->changed);
	bt_sweep_free(&s->sweep);
	free(s);
}

static const struct pf_filesystem sends = {
	.report = report,
	.free = free_send
};

/* A walk over a tree whose leaves are planned. */
struct send_walk {
	struct bt_tree_walk walk;
	struct send *send;
	uint64_t tree;
	bool parse;			/* the leaves' items are needed */
	bool changed;			/* it finds the changed leaves */
	bool named;			/* only leaves that records name */
	uint64_t part;			/* leaves of a part, at most */
	uint64_t left;			/* of this one */
};

/* Called by the walk, which reads no more nodes after the end of the send. */
static bool read_node(void *ctx, const struct bt_ptr *ptr, void *block)
{
	struct send *s = ((struct send_walk *)ctx)->send;

	return !s->sweep.stop && bt_chunk_map_read(&s->fs.map, ptr, block);
}

/* Plan a leaf.  If its items are needed, it is searched even if it was before. */
static bool add_leaf(struct send_walk *w, const struct bt_node *leaf)
{
	struct send *s = w->send;
	struct bt_job job = {
		.tree = w->tree, .keys = leaf->keys, .parse = w->parse
	};
	uint64_t slot = bt_chunk_map_slot(&s->fs.map, leaf->ptr.logical);
	struct pf_ref ref;
	bool is_new;

	if (w->named && !bt_slot_set_has(&s->named, slot))
		return true;
	is_new = bt_slot_set_add(&s->asked, slot);
	if (w->named && is_new)
		s->unfound--;
	if (!(is_new || w->parse) ||
	    !bt_chunk_map_find(&s->fs.map, leaf->ptr.logical, &ref))
		return true;
	job.offset = ref.offset;
	return bt_jobs_add(&s->sweep.jobs, &job);
}

/* Called by the walk.  Two windows are ahead of the send, each of at most an eighth of
 * the budget.  The leaves of this part may take a quarter of the budget, the changed
 * leaves half of that. */
static bool accept_leaf(void *ctx, const struct bt_node *leaf)
{
	struct send_walk *w = ctx;
	struct send *s = w->send;
	const uint64_t max = s->base.options.budget / (w->changed ? 8 : 4);
	const struct bt_range files = bt_keys_of(
		leaf->keys.first.objectid, leaf->keys.last.objectid);

	return add_leaf(w, leaf) &&
	       (!w->changed || bt_ranges_add(&s->files, &files)) &&
	       --w->left && !s->sweep.stop && s->sweep.bytes - s->part_bytes +
	       s->sweep.jobs.count * send_nodesize(s) < max;
}

static void walk(struct send_walk *w, const struct bt_ptr *root)
{
	w->walk.super = &w->send->fs.map.super;
	w->walk.read = read_node;
	w->walk.leaf = accept_leaf;
	w->walk.ctx = w;
	bt_tree_walk(&w->walk, root);
}

/* Plan the leaves of a tree that have keys in these ranges, which are sorted: all, or
 * those that records name. */
static void add_leaves(struct send *s, uint64_t tree,
		       const struct bt_ranges *ranges, bool parse, bool named)
{
	struct send_walk w = {
		.send = s, .tree = tree, .parse = parse, .named = named,
		.left = UINT64_MAX, .walk.ranges = ranges
	};
	struct bt_ptr root;

	if (!s->sweep.stop && ranges->count &&
	    !bt_mounted_root(&s->fs, tree, &root))
		walk(&w, &root);
}

/* Changed leaves in a part.  A full send begins to read data at once, so its first part
 * is small.  The next part is twice as large, unless leaves have many extents. */
#define MAX_PART_LEAVES 8192u
#define PART_LEAVES_FULL 256u
#define PART_LEAVES_FIRST 2048u
#define PART_EXTENTS 32768u

/* Plan the next changed leaves.  Returns false if there are none. */
static bool plan_changed(struct send_walk *w, const struct bt_ptr *root)
{
	struct send *s = w->send;
	size_t i;

	if (s->data.count < PART_EXTENTS && w->part < MAX_PART_LEAVES)
		w->part *= 2;
	s->sweep.jobs.count = s->data.count = 0;
	s->files.count = s->records.count = 0;
	s->unfound = 0;
	s->inline_bytes = 0;
	for (i = 0; i < MAX_TREES; i++)
		s->wanted[i].tree = s->wanted[i].ranges.count = 0;
	w->left = w->part;
	walk(w, root);
	s->leaves_changed += w->part - w->left;
	return w->left < w->part;
}

/* Plan the records of the data that was found, which name its other uses. */
static void plan_records(struct send *s)
{
	size_t i;

	s->sweep.jobs.count = 0;
	for (i = 0; i < s->data.count; i++)
		bt_ranges_add(&s->records, &s->data.job[i].keys);
	bt_ranges_finish(&s->records);
	add_leaves(s, BTRFS_EXTENT_TREE_OBJECTID, &s->records, true, false);
}

/* A leaf is named by its address if a snapshot has kept it when the subvolume wrote a
 * new one.  This many snapshots with the next numbers on each side are looked at. */
#define NEIGHBOURS 8u

/* Plan the directories, and the leaves that share an extent. */
static void plan_wanted(struct send *s)
{
	uint64_t tree = s->tree > NEIGHBOURS ? s->tree - NEIGHBOURS : 0;
	size_t i;

	s->sweep.jobs.count = 0;
	for (i = 0; i < MAX_TREES && s->wanted[i].tree; i++) {
		bt_ranges_finish(&s->wanted[i].ranges);
		add_leaves(s, s->wanted[i].tree, &s->wanted[i].ranges, false,
			   false);
	}
	for (; tree <= s->tree + NEIGHBOURS && s->unfound; tree++)
		if (tree != s->tree && bt_is_subvolume(tree))
			add_leaves(s, tree, &s->files, false, true);
}

/* Two windows may be ahead of the send.  Begin the next one when the send has come to
 * this window. */
static void wait_for_room(struct send *s)
{
	pthread_mutex_lock(&s->sweep.lock);
	s->waiting = true;
	while (!s->sweep.stop && s->came_out < s->part_stream)
		pthread_cond_wait(&s->changed, &s->sweep.lock);
	s->waiting = false;
	pthread_mutex_unlock(&s->sweep.lock);
	s->part_bytes = s->sweep.bytes;
	s->part_stream = s->stream;
}

void bt_send_came_out(struct pf_session *session, uint64_t bytes)
{
	struct send *s = send_of(session);

	s->came_out += bytes;
	if (!s->waiting)
		return;
	pthread_mutex_lock(&s->sweep.lock);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->sweep.lock);
}

/* Two windows of data are ahead of the send. */
static void sweep_data(struct send *s)
{
	const uint64_t max = s->base.options.budget / 8;
	const uint64_t longest = max < BT_MAX_AHEAD ? max : BT_MAX_AHEAD;
	size_t next = 0;

	bt_jobs_order_files(&s->data);
	s->stream += s->inline_bytes;
	do {
		s->stream = bt_jobs_window(&s->data, &next, &s->sweep.jobs, longest,
					   max, s->stream);
		bt_sweep(&s->sweep);
		wait_for_room(s);
	} while (next < s->data.count && !s->sweep.stop);
}

/* The thread that directs the workers. */
static void *direct_workers(void *arg)
{
	struct send *s = arg;
	/* If the parent is newer than the subvolume, start from the parent's
	 * new leaves. */
	const bool forward = s->root.generation >= s->parent_root.generation;
	const struct bt_ptr *root[] = { &s->parent_root, &s->root };
	const struct bt_ptr *newer = root[forward];
	const struct bt_ptr *older = root[!forward];
	struct send_walk w = {
		.send = s, .tree = newer->owner, .parse = forward,
		.changed = true, .walk.generation = older->generation,
		.part = (s->parent ? PART_LEAVES_FIRST : PART_LEAVES_FULL) / 2
	};

	while (!s->sweep.stop && plan_changed(&w, newer)) {
		if (forward && send_is_cached(s))
			continue;
		bt_ranges_finish(&s->files);
		if (older->owner)
			add_leaves(s, older->owner, &s->files, !forward, false);
		bt_sweep(&s->sweep);
		plan_records(s);
		bt_sweep(&s->sweep);
		plan_wanted(s);
		bt_sweep(&s->sweep);
		sweep_data(s);
	}
	s->running = false;
	return NULL;
}

static const char *open_filesystem(struct send *s, int fd)
{
	const char *why = bt_mounted_open(&s->fs, fd, false);

	if (!why)
		why = bt_mounted_open_devices(&s->fs);
	if (why)
		return why;
	/* A set that gets no memory stays empty. */
	bt_slot_set_init(&s->asked, s->fs.map.slots);
	bt_slot_set_init(&s->named, s->fs.map.slots);
	bt_sweep_choose(&s->sweep, &s->base);
	s->base.last.threads = s->sweep.threads;
	return s->base.why_off;
}

struct pf_session *bt_send_open(int fd, const char *name,
				const struct pf_settings *settings,
				const char **why)
{
	const struct pf_options options = { .has_checker = true };
	struct send *s = calloc(1, sizeof(*s));

	*why = "out of memory";
	if (!s)
		return NULL;
	bt_sweep_init(&s->sweep, &s->fs, send_accept_item, s);
	pthread_cond_init(&s->changed, NULL);
	if (!pf_session_init(&s->base, &sends, name, settings, &options))
		*why = open_filesystem(s, fd);
	if (!*why)
		return &s->base;
	pf_session_free(&s->base);
	return NULL;
}

const char *bt_send_start(struct pf_session *session, int fd,
			  const struct btrfs_ioctl_send_args *args)
{
	struct send *s = send_of(session);

	if (s->running)
		return "a thread still waits for a device";
	s->tree = bt_mounted_tree_of(fd);
	s->parent = args->parent_root;
	s->flags = args->flags;
	/* If there is no parent, everything is newer than generation 0. */
	s->parent_root = (struct bt_ptr) { .generation = 0 };
	if (s->tree == s->parent || bt_mounted_root(&s->fs, s->tree, &s->root) ||
	    (s->parent &&
	     bt_mounted_root(&s->fs, s->parent, &s->parent_root)))
		return "the root item of a subvolume is missing";
	s->sweep.stop = false;
	s->came_out = s->sweep.bytes = s->sweep.requests = s->sweep.errors = 0;
	s->stream = s->part_stream = s->part_bytes = 0;
	s->running = true;
	if (!e2pf_thread_start(&s->conductor, direct_workers, s))
		return NULL;
	s->running = false;
	return "cannot start a thread";
}

bool bt_send_stop(struct pf_session *session, int milliseconds)
{
	struct send *s = send_of(session);
	struct pf_engine_stats *stats = &s->base.last;
	bool ended;

	pthread_mutex_lock(&s->sweep.lock);
	s->sweep.stop = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->sweep.lock);
	ended = e2pf_thread_join(s->conductor, milliseconds);
	stats->planned_bytes += s->sweep.bytes;
	stats->prefetched_bytes += s->sweep.bytes;
	stats->prefetched_requests += s->sweep.requests;
	stats->errors += s->sweep.errors;
	return ended;
}
