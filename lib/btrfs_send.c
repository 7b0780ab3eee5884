/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading ahead of a send.
 *
 * What the kernel reads for an incremental stream is known from the nodes of
 * two trees, which are few: leaves of the newer one with a generation above
 * that of the older one's root, and leaves of the older one with the same
 * keys.  Searches for these, in the order in which they lie on the devices,
 * bring them into the kernel's memory.  What the searches return tells of the
 * folders of changed files and of changed data; the leaves with their records,
 * and then the data, are read in the same manner.
 *
 * All that in parts, in the order of keys, which is that of the send.  A
 * search cannot be interrupted: each reads one leaf.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "btrfs/format.h"
#include "btrfs/jobs.h"
#include "btrfs/mounted.h"
#include "btrfs/slots.h"
#include "btrfs/tree_walk.h"
#include "btrfs_send.h"
#include "device/budget.h"
#include "device/share.h"
#include "device/topology.h"

/*
 * Each thread has one request under way.  On one disk with a queue 4 threads
 * took 7.6 s, 8 5.5 s, 16 4.9 s and 32 4.5 s, and the stock send 48 s: the disk
 * chooses the nearest of those it knows of.  On a SATA SSD 1 took 1.33 s, 16
 * 0.77 s and 32 1.04 s: bench/send -t 1,2,4,8,32 MODEL.
 */
#define THREADS 16u

/* Changed leaves of a part: 128 MiB of the usual size. */
#define PART_LEAVES_MOST 8192u
#define PART_LEAVES_LEAST 16u

/* Behind this much of an extent the kernel's own read-ahead, of 4 MiB, is at
 * full speed. */
#define DATA_MOST (UINT64_C(1) << 20)

/* A thread's stack: the buffers are on the heap. */
#define STACK_BYTES (256u << 10)

/* What is done in less is in memory: a read takes longer on any disk.  So many
 * are tried of a list that is longer than it is worth while. */
#define RESIDENT_NS 60000u
#define RESIDENT_SAMPLES 32u
#define RESIDENT_SLOW 3u
#define RESIDENT_LEAST 128u

#define CLONES_MOST 64u
#define TREES_MOST 16u

/* Bytes that the stream has of each piece of data that is left out of it. */
#define STREAM_LEAST 64u

/* Keys that are wanted of a tree. */
struct wanted {
	uint64_t tree;
	struct e2pf_btrfs_ranges ranges;
};

struct part {
	uint64_t bytes;			/* asked for, to the end of it */
	uint64_t stream;		/* the send has written, at least, when
					   it has come so far */
};

struct e2pf_send {
	struct e2pf_settings settings;
	struct e2pf_mounted *fs;
	struct e2pf_slots asked;	/* tree blocks */
	bool have_asked;
	/* The request. */
	uint64_t tree, parent;
	uint64_t clone[CLONES_MOST];
	size_t clones;
	bool no_data, as_stored;
	struct e2pf_btrfs_ptr root, parent_root;

	/* The part that is read. */
	struct e2pf_jobs jobs, data;
	struct wanted wanted[TREES_MOST];
	struct e2pf_btrfs_ranges records;	/* of the extent tree */
	struct part *part;
	size_t parts, part_room;
	uint64_t stream;		/* of the parts so far */
	_Atomic(size_t) next;		/* job */

	pthread_mutex_t lock;		/* `data' and `wanted' while workers
					   run, and what follows */
	pthread_cond_t changed;
	bool running, gone;
	pthread_t conductor;

	_Atomic(bool) stop, waiting;
	_Atomic(uint64_t) came_out;	/* bytes */
	_Atomic(uint64_t) bytes;	/* asked for, of this send */
	_Atomic(uint64_t) requests, errors;
	uint64_t began;			/* ns */
	struct e2pf_send_figures sum;	/* of all sends */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Workers.
 */

struct worker {
	struct e2pf_send *send;
	const struct e2pf_jobs *jobs;
	const struct e2pf_job *job;	/* that is searched for */
	uint8_t *room;
	size_t size;
	uint64_t inode;			/* the last that was found, */
	bool unchanged;			/* and that it is */
};

/* Of trees that are more than there is room for nothing is read. */
static void want(struct e2pf_send *s, uint64_t tree,
		 const struct e2pf_btrfs_key *key)
{
	size_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < TREES_MOST; i++) {
		if (s->wanted[i].tree && s->wanted[i].tree != tree)
			continue;
		s->wanted[i].tree = tree;
		e2pf_btrfs_ranges_add(&s->wanted[i].ranges, key, key);
		break;
	}
	pthread_mutex_unlock(&s->lock);
}

static void take_data(struct worker *w, const struct e2pf_btrfs_item *item)
{
	struct e2pf_send *s = w->send;
	struct e2pf_btrfs_data data;
	struct e2pf_job job = { .tree = s->tree };

	if (!e2pf_btrfs_plan_data(item, &data) ||
	    data.generation <= s->parent_root.generation)
		return;
	job.offset = data.logical;
	job.inode = data.inode;
	job.from = data.offset;
	/* Where length is 0 only the record is of use. */
	if (data.written && !s->no_data && !(data.compressed && s->as_stored))
		job.length = data.length;
	job.first.objectid = job.last.objectid = data.extent;
	job.last.type = UINT8_MAX;
	job.last.offset = UINT64_MAX;
	pthread_mutex_lock(&s->lock);
	e2pf_jobs_add(&s->data, &job);
	pthread_mutex_unlock(&s->lock);
}

/* An item of a changed leaf.  Not all inodes of such a leaf have changed. */
static void take_changed(struct worker *w, const struct e2pf_btrfs_item *item)
{
	struct e2pf_btrfs_key folder = {
		item->key.offset, 0, BT_INODE_ITEM_KEY
	};
	uint64_t changed;

	if (item->key.objectid != w->inode)
		w->unchanged = false;
	w->inode = item->key.objectid;
	if (e2pf_btrfs_plan_inode(item, &changed))
		w->unchanged = changed <= w->send->parent_root.generation;
	if (w->unchanged)
		return;
	/* The folder is in the path that is sent. */
	if (item->key.type == BT_INODE_REF_KEY)
		want(w->send, w->job->tree, &folder);
	else
		take_data(w, item);
}

/* A file that has the same extent: whether it can be cloned from is looked up
 * in its tree. */
static void take_reference(void *ctx, const struct e2pf_btrfs_reference *r)
{
	struct worker *w = ctx;
	struct e2pf_btrfs_key key = {
		r->inode, r->offset <= INT64_MAX ? r->offset : 0,
		BT_EXTENT_DATA_KEY
	};

	if (r->tree != w->send->tree && r->tree != w->send->parent &&
	    e2pf_btrfs_is_subvolume(r->tree))
		want(w->send, r->tree, &key);
}

static void take_item(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct worker *w = ctx;
	struct e2pf_btrfs_key first = { item->key.objectid, 0, 0 };
	struct e2pf_btrfs_key last = { item->key.objectid, UINT64_MAX,
				       UINT8_MAX };

	if (w->job->tree == w->send->tree)
		take_changed(w, item);
	else if (e2pf_btrfs_ranges_meet(&w->send->records, &first, &last))
		e2pf_btrfs_plan_references(item, take_reference, w);
}

static void search(struct worker *w, const struct e2pf_job *job)
{
	struct e2pf_send *s = w->send;
	const void *found;
	uint32_t count;
	size_t bytes;

	s->requests++;
	w->job = job;
	w->inode = 0;
	w->unchanged = false;
	if (e2pf_mounted_search(s->fs, job->tree, &job->first,
				job->parse ? &job->last : &job->first,
				job->parse ? UINT32_MAX : 1, w->room, w->size,
				&found, &bytes, &count)) {
		s->errors++;
		return;
	}
	s->bytes += e2pf_mounted_super(s->fs)->nodesize;
	if (job->parse)
		e2pf_btrfs_plan_found(found, bytes, count, take_item, w);
}

static void read_data(struct e2pf_send *s, const struct e2pf_job *job)
{
	int fd = e2pf_mounted_open_file(s->fs, job->tree, job->inode);
	char byte;

	/* Gone, or not a file. */
	if (fd < 0)
		return;
	s->requests++;
	s->bytes += job->length;
	/* One call asks, the other waits: a page behind the end of the file
	 * has nothing, and is no error. */
	if (readahead(fd, (off64_t)job->from, (size_t)job->length) ||
	    pread(fd, &byte, 1, (off_t)(job->from + job->length - 1)) < 0)
		s->errors++;
	close(fd);
}

static void do_job(struct worker *w, const struct e2pf_job *job)
{
	if (job->length)
		read_data(w->send, job);
	else
		search(w, job);
}

/* For all items of a leaf, each with a header that is longer than its own. */
static size_t room_bytes(const struct e2pf_send *s)
{
	return e2pf_mounted_room +
	       2 * (size_t)e2pf_mounted_super(s->fs)->nodesize;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct e2pf_send *s = w->send;
	size_t i;

	while (!s->stop) {
		i = s->next++;
		if (i >= w->jobs->count)
			break;
		do_job(w, &w->jobs->job[i]);
	}
	return NULL;
}

static bool start_thread(pthread_t *thread, void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;
	bool done;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	done = !pthread_create(thread, &attr, body, arg);
	pthread_attr_destroy(&attr);
	return done;
}

/* Do some, all over the list, to see whether all are in memory already.  A send
 * from memory is to pay for little more than these; and on a busy machine a few
 * of them take longer for want of a processor. */
static bool look_resident(struct e2pf_send *s, struct e2pf_jobs *jobs)
{
	struct worker w = { .send = s, .jobs = jobs, .size = room_bytes(s) };
	unsigned i, slow = 0;

	w.room = jobs->count < RESIDENT_LEAST ? NULL : malloc(w.size);
	if (!w.room)
		return false;
	for (i = 0; i < RESIDENT_SAMPLES && slow <= RESIDENT_SLOW; i++) {
		uint64_t from = now();

		do_job(&w, &jobs->job[i * jobs->count / RESIDENT_SAMPLES]);
		slow += now() - from > RESIDENT_NS;
	}
	free(w.room);
	return slow <= RESIDENT_SLOW;
}

/* Have all workers do these, this thread among them, and wait for them. */
static void sweep(struct e2pf_send *s, struct e2pf_jobs *jobs)
{
	size_t size = room_bytes(s);
	unsigned wanted = s->sum.threads, n = 0, i;
	struct worker *w;
	pthread_t *thread;

	if (wanted > jobs->count)
		wanted = (unsigned)jobs->count;
	w = calloc(wanted + 1, sizeof(*w));
	thread = calloc(wanted + 1, sizeof(*thread));
	e2pf_jobs_order(jobs);
	s->next = 0;
	for (i = 0; w && thread && i < wanted; i++) {
		w[i].send = s;
		w[i].jobs = jobs;
		w[i].size = size;
		w[i].room = malloc(size);
		if (!w[i].room)
			break;
		if (i + 1 < wanted && start_thread(&thread[n], work, &w[i])) {
			n++;
			continue;
		}
		work(&w[i++]);
		break;
	}
	while (n)
		pthread_join(thread[--n], NULL);
	while (i)
		free(w[--i].room);
	free(thread);
	free(w);
}

/*
 * What there is to read.
 */

/* For a walk: one that the end of the send finds under way reads no more. */
static bool read_node(void *ctx, const struct e2pf_btrfs_ptr *ptr, void *block)
{
	struct e2pf_send *s = ctx;

	return !s->stop && e2pf_mounted_read(s->fs, ptr, block);
}

static bool add_leaf(struct e2pf_send *s, uint64_t tree,
		     const struct e2pf_btrfs_child *leaf, bool parse)
{
	struct e2pf_job job = {
		.tree = tree, .first = leaf->first, .last = leaf->last,
		.parse = parse
	};
	uint64_t slot = e2pf_mounted_slot(s->fs, leaf->ptr.logical);
	bool is_new = slot != UINT64_MAX && e2pf_slots_add(&s->asked, slot);

	/* What is in it must be seen, also where it is in memory. */
	if (!(is_new || parse) ||
	    !e2pf_mounted_place(s->fs, leaf->ptr.logical, &job.device,
				&job.offset))
		return true;
	return e2pf_jobs_add(&s->jobs, &job);
}

/* The leaves of a tree that have some of these keys. */
static void add_leaves(struct e2pf_send *s, uint64_t tree,
		       struct e2pf_btrfs_ranges *ranges, bool parse)
{
	struct e2pf_tree_walk walk = {
		.super = e2pf_mounted_super(s->fs), .read = read_node,
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

static unsigned part_leaves(const struct e2pf_send *s)
{
	uint64_t n = s->sum.budget / 8 / e2pf_mounted_super(s->fs)->nodesize;

	return n < PART_LEAVES_LEAST ? PART_LEAVES_LEAST :
	       n > PART_LEAVES_MOST ? PART_LEAVES_MOST : (unsigned)n;
}

/* The record of a tree block, which leads from an extent to a root. */
static void add_record(struct e2pf_send *s, uint64_t logical)
{
	struct e2pf_btrfs_key first = { logical, 0, 0 };
	struct e2pf_btrfs_key last = { logical, UINT64_MAX, UINT8_MAX };

	e2pf_btrfs_ranges_add(&s->records, &first, &last);
}

/* The next changed leaves, and those of other trees with files that are in
 * them.  False when there are none. */
static bool plan_leaves(struct e2pf_send *s, struct e2pf_tree_walk *walk,
			uint64_t newer, uint64_t older)
{
	struct e2pf_btrfs_ranges files = { .count = 0 };
	struct e2pf_btrfs_child leaf;
	unsigned most = part_leaves(s), n = 0;
	size_t i;

	s->jobs.count = s->data.count = 0;
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
		    !e2pf_btrfs_ranges_add(&files, &first, &last))
			break;
		add_record(s, leaf.ptr.logical);
	}
	s->sum.changed += n;
	add_leaves(s, older, &files, older == s->tree);
	for (i = 0; i < s->clones; i++)
		add_leaves(s, s->clone[i], &files, false);
	e2pf_btrfs_ranges_free(&files);
	return n;
}

/* The records of the data found: where they are used, and their checksums. */
static void plan_records(struct e2pf_send *s)
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

/* The folders, and the files that share an extent. */
static void plan_wanted(struct e2pf_send *s)
{
	size_t i;

	s->jobs.count = 0;
	for (i = 0; i < TREES_MOST && s->wanted[i].tree; i++)
		add_leaves(s, s->wanted[i].tree, &s->wanted[i].ranges, false);
}

static void sweep_leaves(struct e2pf_send *s)
{
	s->sum.leaves += s->jobs.count;
	s->sum.planned += s->jobs.count * e2pf_mounted_super(s->fs)->nodesize;
	if (look_resident(s, &s->jobs))
		s->sum.resident += e2pf_jobs_keep_parsed(&s->jobs);
	sweep(s, &s->jobs);
}

static void sweep_data(struct e2pf_send *s)
{
	uint64_t left = s->data.count * STREAM_LEAST, i;

	for (i = 0; i < s->data.count; i++)
		left += s->data.job[i].length;
	s->stream += left;
	s->sum.planned += e2pf_jobs_keep_data(&s->data, DATA_MOST, s->sum.budget / 4);
	s->sum.pieces += s->data.count;
	if (look_resident(s, &s->data))
		s->sum.resident += e2pf_jobs_keep_parsed(&s->data);
	sweep(s, &s->data);
}

/*
 * Pacing.
 */

/* Note where this part ends.  Without memory for it there is no next. */
static bool end_part(struct e2pf_send *s)
{
	size_t room = s->part_room ? 2 * s->part_room : 64;
	struct part *grown;

	if (s->parts == s->part_room) {
		grown = realloc(s->part, room * sizeof(*grown));
		if (!grown)
			return false;
		s->part = grown;
		s->part_room = room;
	}
	s->part[s->parts].bytes = s->bytes;
	s->part[s->parts++].stream = s->stream;
	return true;
}

/* Bytes that are ahead of the send: those of the parts that it has not come
 * to the end of. */
static uint64_t ahead(const struct e2pf_send *s)
{
	uint64_t out = s->came_out, passed = 0;
	size_t i;

	for (i = 0; i < s->parts && s->part[i].stream <= out; i++)
		passed = s->part[i].bytes;
	return s->bytes - passed;
}

/* Wait until there is room for a part. */
static void wait_for_room(struct e2pf_send *s)
{
	uint64_t bytes = ahead(s);

	if (bytes > s->sum.peak)
		s->sum.peak = bytes;
	pthread_mutex_lock(&s->lock);
	s->waiting = true;
	while (!s->stop && ahead(s) > s->sum.budget / 2)
		pthread_cond_wait(&s->changed, &s->lock);
	s->waiting = false;
	pthread_mutex_unlock(&s->lock);
}

void e2pf_send_came_out(struct e2pf_send *s, uint64_t bytes)
{
	s->came_out += bytes;
	if (!s->waiting)
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/*
 * The thread that has the others work.
 */
static void *conduct(void *arg)
{
	struct e2pf_send *s = arg;
	/* Of a parent that is newer, its own new leaves lead. */
	bool forward = s->root.generation >= s->parent_root.generation;
	const struct e2pf_btrfs_ptr *newer = forward ? &s->root :
						       &s->parent_root;
	const struct e2pf_btrfs_ptr *older = forward ? &s->parent_root :
						       &s->root;
	struct e2pf_tree_walk walk = {
		.super = e2pf_mounted_super(s->fs), .read = read_node,
		.ctx = s, .generation = older->generation
	};

	if (e2pf_tree_walk_begin(&walk, newer))
		while (!s->stop && plan_leaves(s, &walk, newer->owner,
					       older->owner)) {
			sweep_leaves(s);
			plan_records(s);
			sweep_leaves(s);
			plan_wanted(s);
			sweep_leaves(s);
			sweep_data(s);
			if (!end_part(s))
				break;
			wait_for_room(s);
		}
	s->sum.unread += s->stop ? 0 : walk.unread;
	s->sum.early |= s->stop;
	e2pf_tree_walk_free(&walk);
	pthread_mutex_lock(&s->lock);
	s->gone = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/*
 * Begin and end.
 */

struct e2pf_send *e2pf_send_new(const struct e2pf_settings *settings)
{
	struct e2pf_send *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	if (settings)
		s->settings = *settings;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

/* What the devices are is for the statistics; see THREADS. */
static void choose(struct e2pf_send *s)
{
	struct stat st;

	if (!fstat(e2pf_mounted_device(s->fs, 0), &st))
		e2pf_topology_probe("", &st, &s->sum.topo);
	s->sum.threads = s->settings.threads ? s->settings.threads : THREADS;
	s->sum.budget = s->settings.memory;
	if (!s->sum.budget)
		s->sum.budget = e2pf_memory_share("") / 2;
	s->sum.sharing = e2pf_share_count("");
}

static const char *open_filesystem(struct e2pf_send *s, int fd)
{
	const char *why;

	if (s->fs)
		return NULL;
	s->fs = e2pf_mounted_open(fd, &why);
	if (!s->fs)
		return why;
	s->have_asked = e2pf_slots_init(&s->asked, e2pf_mounted_slots(s->fs));
	if (!s->have_asked) {
		e2pf_mounted_close(s->fs);
		s->fs = NULL;
		return "no memory";
	}
	choose(s);
	return NULL;
}

static const char *take_request(struct e2pf_send *s,
				const struct e2pf_send_request *r)
{
	size_t i;

	s->tree = e2pf_mounted_tree_of(r->fd);
	s->parent = r->parent;
	if (!s->tree || s->tree == s->parent ||
	    !e2pf_mounted_root(s->fs, s->tree, &s->root) ||
	    !e2pf_mounted_root(s->fs, s->parent, &s->parent_root))
		return "the root of a subvolume is not found";
	s->clones = 0;
	for (i = 0; i < r->clone_count && s->clones < CLONES_MOST; i++)
		if (r->clones[i] != s->tree && r->clones[i] != s->parent)
			s->clone[s->clones++] = r->clones[i];
	s->no_data = r->no_data;
	s->as_stored = r->as_stored;
	return NULL;
}

const char *e2pf_send_start(struct e2pf_send *s,
			    const struct e2pf_send_request *r)
{
	const char *why = "a full send: the kernel reads all of the tree ahead";
	sigset_t all, old;

	if (s->running)
		return "a thread still waits for a device";
	if (r->parent)
		why = open_filesystem(s, r->fd);
	if (!why)
		why = take_request(s, r);
	if (why)
		return why;
	s->stop = s->gone = false;
	s->parts = 0;
	s->stream = 0;
	s->came_out = 0;
	s->bytes = 0;
	s->began = now();
	/* Signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	s->running = start_thread(&s->conductor, conduct, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	s->sum.sends += s->running;
	return s->running ? NULL : "no thread can be started";
}

bool e2pf_send_stop(struct e2pf_send *s, int milliseconds)
{
	uint64_t until = now() + (uint64_t)milliseconds * 1000000u;
	struct timespec t = { (time_t)(until / 1000000000u),
			      (long)(until % 1000000000u) };
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
	if (!gone)
		return false;
	pthread_join(s->conductor, NULL);
	s->running = false;
	s->sum.ns += now() - s->began;
	s->sum.bytes += s->bytes;
	return true;
}

void e2pf_send_get_figures(const struct e2pf_send *s,
			   struct e2pf_send_figures *figures)
{
	*figures = s->sum;
	figures->requests = s->requests;
	figures->errors = s->errors;
	figures->nodesize = s->fs ? e2pf_mounted_super(s->fs)->nodesize : 0;
	figures->tree = s->tree;
	figures->parent = s->parent;
	figures->generation = s->parent_root.generation;
	if (s->running) {
		figures->ns += now() - s->began;
		figures->bytes += s->bytes;
	}
}

void e2pf_send_free(struct e2pf_send *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < TREES_MOST; i++)
		e2pf_btrfs_ranges_free(&s->wanted[i].ranges);
	e2pf_btrfs_ranges_free(&s->records);
	e2pf_jobs_free(&s->jobs);
	e2pf_jobs_free(&s->data);
	if (s->have_asked)
		e2pf_slots_free(&s->asked);
	e2pf_mounted_close(s->fs);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->part);
	free(s);
}
