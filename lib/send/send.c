/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides what is read ahead of a send, in parts, in key order, which is the order
 * of the send.  The nodes of two trees tell which leaves the kernel will compare;
 * their items lead to folders, to the records of extents, and to data.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "btrfs/format.h"
#include "device/thread.h"
#include "send_state.h"

/* Each thread has one request in flight.  With 4, 8, 16 and 32 threads a send took
 * 7.6, 5.5, 4.9 and 4.5 s on one disk, 1.09, 0.89, 0.77 and 1.04 s on a SATA SSD; with
 * 16 and 32 9.2 and 7.1 s on three mirrored disks (doc/timing-send.md). */
#define THREADS 16u
#define HEAD_THREADS 32u
#define HEADS_MOST 2u

static const char *const stage_names[] = { "send" };
typedef unsigned long long big;

static struct send *send_of(struct e2pf_session *session)
{
	return (struct send *)session;
}

/*
 * The functions that the session calls.
 */

static void report(struct e2pf_session *session, struct e2pf_report *r)
{
	const struct send *s = send_of(session);
	struct e2pf_decisions *list = &r->decisions;
	const struct sum *f = &s->sum;
	char text[64];

	r->block_size = send_nodesize(s);
	r->io_manager = "btrfs";
	if (!f->sends)
		return;
	snprintf(text, sizeof(text), "%llu changed leaves", (big)f->changed);
	if (s->parent)
		e2pf_decide(list, "filter", text, "newer than generation %llu "
			    "of the parent's tree %llu",
			    (big)s->parent_root.generation, (big)s->parent);
	else
		e2pf_decide(list, "filter", text, "all: there is no parent");
	snprintf(text, sizeof(text), "%llu leaves, %llu pieces of data",
		 (big)f->leaves, (big)f->pieces);
	e2pf_decide(list, "reads", text, "the changed leaves, and what they "
		    "refer to or are compared with");
	if (f->resident) {
		snprintf(text, sizeof(text), "%llu left out", (big)f->resident);
		e2pf_decide(list, "reads", text,
			    "cached already, judging by samples");
	}
	if (f->early)
		e2pf_decide(list, "prefetch", "ended early",
			    "the send ended before the prefetch was complete");
}

static void close_send(struct e2pf_session *session)
{
	struct send *s = send_of(session);
	size_t i;

	for (i = 0; i < TREES_MOST; i++)
		free(s->wanted[i].ranges.range);
	free(s->files.range);
	free(s->records.range);
	free(s->jobs.job);
	free(s->data.job);
	e2pf_slot_set_free(&s->asked);
	e2pf_slot_set_free(&s->named);
	e2pf_mounted_close(&s->fs);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static const struct e2pf_filesystem sends = {
	.stage_names = stage_names,
	.stages = 1,
	.threads = "each with one request in flight",
	.report = report,
	.close = close_send
};

/* A walk over a tree whose leaves are planned. */
struct send_walk {
	struct e2pf_tree_walk walk;
	struct send *send;
	uint64_t tree;
	bool parse;			/* the leaves' items are needed */
	bool changed;			/* it finds the changed leaves */
	bool named;			/* only leaves that records name */
	uint64_t part;			/* leaves of the next part, at most */
	uint64_t left;			/* of this one */
};

/* For the walk.  After the end of the send, it reads no more nodes. */
static bool read_node(void *ctx, const struct e2pf_btrfs_ptr *ptr, void *block)
{
	struct send *s = ((struct send_walk *)ctx)->send;

	return send_within_limits(s, send_nodesize(s)) &&
	       e2pf_chunk_map_read(&s->fs.map, ptr, block);
}

/* Two windows are ahead of the send, and each takes an eighth of the budget at most:
 * the leaves of this part may take a quarter. */
static bool is_full(const struct send *s)
{
	return s->bytes - s->part_bytes + s->jobs.count * send_nodesize(s) >=
	       s->base.cfg.budget / 4;
}

/* Plan a leaf.  If its items are needed, it is searched even if it was before. */
static bool add_leaf(struct send_walk *w, const struct e2pf_btrfs_node *leaf)
{
	struct send *s = w->send;
	struct e2pf_job job = {
		.tree = w->tree, .keys = leaf->keys, .parse = w->parse
	};
	uint64_t slot = e2pf_chunk_map_slot(&s->fs.map, leaf->ptr.logical);
	struct e2pf_ref ref;
	bool is_new;

	if (w->named && !e2pf_slot_set_has(&s->named, slot))
		return true;
	is_new = slot != UINT64_MAX && e2pf_slot_set_add(&s->asked, slot);
	if (w->named && is_new)
		s->unfound--;
	if (!(is_new || w->parse) ||
	    !e2pf_chunk_map_find(&s->fs.map, leaf->ptr.logical, &ref))
		return true;
	job.device = ref.device;
	job.offset = ref.offset;
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
	return add_leaf(w, leaf) &&
	       (!w->changed || (e2pf_ranges_add(&s->files, &files) &&
				e2pf_ranges_add(&s->records, &record))) &&
	       w->left && !s->stop;
}

/* Walk over what is newer than a generation in the tree with this root and has keys
 * in these ranges (NULL: all). */
static struct send_walk walk_of(struct send *s, uint64_t tree,
				uint64_t generation,
				const struct e2pf_ranges *ranges)
{
	return (struct send_walk) {
		.walk = {
			.super = &s->fs.map.super, .read = read_node,
			.leaf = take_leaf, .generation = generation,
			.ranges = ranges
		},
		.send = s, .tree = tree, .left = UINT64_MAX
	};
}

/* Plan the leaves of a tree that have keys in these ranges, which are sorted: all, or
 * those that records name. */
static void add_leaves(struct send *s, uint64_t tree,
		       const struct e2pf_ranges *ranges, bool parse, bool named)
{
	struct send_walk w = walk_of(s, tree, 0, ranges);
	struct e2pf_btrfs_ptr root;

	w.walk.ctx = &w;
	w.parse = parse;
	w.named = named;
	if (!s->stop && ranges->count &&
	    !e2pf_mounted_root(&s->fs, tree, &root))
		e2pf_tree_walk(&w.walk, &root);
}

/* Changed leaves in a part.  A full send begins to read data at once, so its first part
 * is small.  The next one is twice as large unless leaves have many pieces of data. */
#define PART_LEAVES_MOST 8192u
#define PART_LEAVES_FULL 256u
#define PART_LEAVES_FIRST 2048u
#define PART_LEAVES_LEAST 16u
#define PART_PIECES 32768u

/* Plan the next changed leaves.  Returns false if there are none. */
static bool plan_changed(struct send_walk *w, const struct e2pf_btrfs_ptr *root)
{
	struct send *s = w->send;
	uint64_t most = s->base.cfg.budget / 8 / send_nodesize(s);
	size_t i;

	if (!w->part)
		w->part = s->parent ? PART_LEAVES_FIRST : PART_LEAVES_FULL;
	else if (s->data.count < PART_PIECES && w->part < PART_LEAVES_MOST)
		w->part *= 2;
	if (most < PART_LEAVES_LEAST)
		most = PART_LEAVES_LEAST;
	if (most > w->part)
		most = w->part;
	s->jobs.count = s->data.count = 0;
	s->files.count = s->records.count = 0;
	s->unfound = s->inline_bytes = 0;
	for (i = 0; i < TREES_MOST; i++)
		s->wanted[i].tree = s->wanted[i].ranges.count = 0;
	w->left = most;
	e2pf_tree_walk(&w->walk, root);
	s->sum.changed += most - w->left;
	return w->left < most;
}

/* Plan the leaves of the parent that contain the same files. */
static void plan_compared(struct send *s, uint64_t older)
{
	e2pf_ranges_finish(&s->files);
	if (older)
		add_leaves(s, older, &s->files, older == s->tree, false);
}

/* Plan the records of the data that was found, which name its other uses. */
static void plan_records(struct send *s)
{
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < s->data.count; i++)
		e2pf_ranges_add(&s->records, &s->data.job[i].keys);
	e2pf_ranges_finish(&s->records);
	add_leaves(s, BTRFS_EXTENT_TREE_OBJECTID, &s->records, true, false);
}

/* A leaf is named by its address if a snapshot has kept it when the subvolume wrote
 * a new one.  Snapshots have the numbers around it; this many are looked at. */
#define NEIGHBOURS 8u

/* Plan the folders, and the leaves that share an extent. */
static void plan_wanted(struct send *s)
{
	uint64_t tree = s->tree > NEIGHBOURS ? s->tree - NEIGHBOURS : 0;
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < TREES_MOST && s->wanted[i].tree; i++) {
		e2pf_ranges_finish(&s->wanted[i].ranges);
		add_leaves(s, s->wanted[i].tree, &s->wanted[i].ranges, false,
			   false);
	}
	for (; tree <= s->tree + NEIGHBOURS && s->unfound; tree++)
		if (tree != s->tree && e2pf_btrfs_is_subvolume(tree))
			add_leaves(s, tree, &s->files, false, true);
}

/* The window before this one may be ahead of the send, too: begin the next one when
 * the send has come to this one. */
static void wait_for_room(struct send *s)
{
	uint64_t ahead = s->bytes - s->bytes_before;

	if (ahead > s->base.last.peak_lookahead_bytes)
		s->base.last.peak_lookahead_bytes = ahead;
	pthread_mutex_lock(&s->lock);
	s->waiting = true;
	while (!s->stop && s->came_out < s->part_stream)
		pthread_cond_wait(&s->changed, &s->lock);
	s->waiting = false;
	pthread_mutex_unlock(&s->lock);
	s->bytes_before = s->part_bytes;
	s->part_bytes = s->bytes;
	s->part_stream = s->stream;
}

void e2pf_send_came_out(struct e2pf_session *session, uint64_t bytes)
{
	struct send *s = send_of(session);

	s->came_out += bytes;
	if (!s->waiting)
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* Bytes of data in a window: two are ahead of the send. */
#define WINDOW_MOST (UINT64_C(256) << 20)

static void sweep_data(struct send *s)
{
	uint64_t most = s->base.cfg.budget / 8, piece;
	size_t next = 0;

	if (most > WINDOW_MOST)
		most = WINDOW_MOST;
	piece = most < PIECE_MOST ? most : PIECE_MOST;
	e2pf_jobs_order_files(&s->data);
	s->stream += s->inline_bytes;
	do {
		s->stream = e2pf_jobs_window(&s->data, &next, &s->jobs, piece,
					     most, s->stream);
		send_sweep(s);
		wait_for_room(s);
	} while (next < s->data.count && !s->stop);
}

/* The thread that directs the workers. */
static void *conduct(void *arg)
{
	struct send *s = arg;
	/* If the parent is newer than the subvolume, start from the parent's
	 * new leaves. */
	bool forward = s->root.generation >= s->parent_root.generation;
	const struct e2pf_btrfs_ptr *newer = forward ? &s->root :
						       &s->parent_root;
	const struct e2pf_btrfs_ptr *older = forward ? &s->parent_root :
						       &s->root;
	struct send_walk w = walk_of(s, newer->owner, older->generation, NULL);

	w.walk.ctx = &w;
	w.parse = forward;
	w.changed = true;
	s->base.cfg.thread_begins(s->base.cfg.ctx);
	while (!s->stop && plan_changed(&w, newer)) {
		if (forward && send_is_cached(s))
			continue;
		plan_compared(s, older->owner);
		send_sweep(s);
		plan_records(s);
		send_sweep(s);
		plan_wanted(s);
		send_sweep(s);
		sweep_data(s);
	}
	s->sum.early |= s->stop;
	pthread_mutex_lock(&s->lock);
	s->gone = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/*
 * Starting and stopping.
 */

struct e2pf_session *e2pf_send_new(const char *name,
				   const struct e2pf_settings *settings)
{
	struct send *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (e2pf_session_init(&s->base, &sends, name, settings)) {
		e2pf_close(&s->base);
		return NULL;
	}
	s->base.cfg.paced = true;
	return &s->base;
}

static const char *open_filesystem(struct send *s, int fd)
{
	struct e2pf_engine_config *cfg = &s->base.cfg;
	struct e2pf_policy policy;
	unsigned heads, i;
	const char *why;
	struct stat st;

	if (s->fs.map.devices)
		return NULL;
	why = e2pf_mounted_open(&s->fs, fd);
	if (why)
		return why;
	if (!e2pf_slot_set_init(&s->asked, s->fs.map.slots) ||
	    !e2pf_slot_set_init(&s->named, s->fs.map.slots)) {
		e2pf_slot_set_free(&s->asked);
		e2pf_mounted_close(&s->fs);
		return "no memory";
	}
	for (i = 0; i < s->fs.map.devices; i++)
		if (!fstat(s->fs.device[i], &st))
			e2pf_session_add_device(&s->base, NULL, &st);
	e2pf_session_choose(&s->base);
	policy = e2pf_policy_choose(&s->base.topo);
	heads = policy.heads < HEADS_MOST ? policy.heads : HEADS_MOST;
	if (!s->base.settings.threads)
		cfg->threads = policy.has_head ? HEAD_THREADS * heads : THREADS;
	s->base.last.threads = cfg->threads;
	s->rate.bandwidth = cfg->bandwidth;
	s->rate.requests = cfg->requests;
	return NULL;
}

/* A flag of newer kernels: extents are sent compressed, as they are stored, past
 * the page cache. */
#define SEND_COMPRESSED 0x10u

static const char *take_request(struct send *s, int fd,
				const struct btrfs_ioctl_send_args *args)
{
	s->tree = e2pf_mounted_tree_of(fd);
	s->parent = args->parent_root;
	/* Without a parent everything is newer than it: generation 0. */
	s->parent_root = (struct e2pf_btrfs_ptr) { .generation = 0 };
	if (!s->tree || s->tree == s->parent ||
	    e2pf_mounted_root(&s->fs, s->tree, &s->root) ||
	    (s->parent &&
	     e2pf_mounted_root(&s->fs, s->parent, &s->parent_root)))
		return "a subvolume's root item was not found";
	s->no_data = args->flags & BTRFS_SEND_FLAG_NO_FILE_DATA;
	s->as_stored = args->flags & SEND_COMPRESSED;
	return NULL;
}

const char *e2pf_send_start(struct e2pf_session *session, int fd,
			    const struct btrfs_ioctl_send_args *args)
{
	struct send *s = send_of(session);
	const char *why;

	if (s->running)
		return "a worker still waits for a device";
	why = open_filesystem(s, fd);
	if (!why)
		why = take_request(s, fd, args);
	if (why)
		return why;
	s->stop = s->gone = false;
	s->came_out = s->bytes = s->requests = s->errors = 0;
	s->stream = s->part_stream = s->part_bytes = s->bytes_before = 0;
	s->began = send_now();
	s->running = !e2pf_thread_start(&s->conductor, conduct, s);
	s->sum.sends += s->running;
	return s->running ? NULL : "a thread cannot be started";
}

bool e2pf_send_stop(struct e2pf_session *session, int milliseconds)
{
	struct send *s = send_of(session);
	uint64_t until = send_now() + (uint64_t)milliseconds * 1000000u;
	struct timespec t = { (time_t)(until / 1000000000u),
			      (long)(until % 1000000000u) };
	struct e2pf_engine_stats *stats = &s->base.last;
	bool gone;

	if (!s->running)
		return true;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->changed);
	while (!s->gone && !pthread_cond_timedwait(&s->changed, &s->lock, &t))
		;
	gone = s->gone;
	pthread_mutex_unlock(&s->lock);
	stats->stage[0].ns += send_now() - s->began;
	stats->prefetched_bytes += s->bytes;
	stats->prefetched_requests += s->requests;
	stats->errors += s->errors;
	if (gone)
		pthread_join(s->conductor, NULL);
	s->running = !gone;
	return gone;
}
