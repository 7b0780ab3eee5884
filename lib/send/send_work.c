/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The threads that read leaves and data ahead of a send.  Each has one request
 * in flight, and respects the configured limits and priorities.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "btrfs/format.h"
#include "device/thread.h"
#include "send_state.h"

/* Of at least SAMPLED_LEAST changed leaves, SAMPLES are read first.  If none of
 * them is read from a device, the others are left out: of a part of which a tenth
 * is not cached, that happens to 1 in 5, and to 1 in 100 if it is a quarter. */
#define SAMPLES 16u
#define SAMPLED_LEAST 48u

/* Adjacent pieces of data that a worker asks for at once, at most; their bytes are
 * those of the largest one, at most. */
#define BATCH_PIECES 64u

struct worker {
	struct send *send;
	const struct e2pf_job *job;	/* the one that is being searched for */
	uint64_t inode;			/* of the last item */
	bool unchanged;			/* that inode is not newer than the
					   parent */
};

/* Trees beyond TREES_MOST are not prefetched. */
static void want(struct send *s, uint64_t tree,
		 const struct e2pf_btrfs_key *key)
{
	size_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < TREES_MOST; i++) {
		if (s->wanted[i].tree && s->wanted[i].tree != tree)
			continue;
		s->wanted[i].tree = tree;
		e2pf_ranges_add(&s->wanted[i].ranges,
				&(struct e2pf_btrfs_range) { *key, *key });
		break;
	}
	pthread_mutex_unlock(&s->lock);
}

static void take_data(struct send *s, const struct e2pf_btrfs_item *item)
{
	struct e2pf_job data;

	if (!s->no_data)
		s->inline_bytes += e2pf_item_inline(item,
						    s->parent_root.generation);
	if (!e2pf_item_data(item, &data) ||
	    data.generation <= s->parent_root.generation)
		return;
	data.tree = s->tree;
	/* With length 0, only the extent's record is used. */
	if (s->no_data || (data.compressed && s->as_stored))
		data.length = 0;
	pthread_mutex_lock(&s->lock);
	e2pf_jobs_add(&s->data, &data);
	pthread_mutex_unlock(&s->lock);
}

/* Take an item of a changed leaf.  Not all inodes in such a leaf have
 * changed. */
static void take_changed(struct worker *w, const struct e2pf_btrfs_item *item)
{
	struct e2pf_btrfs_key folder = {
		item->key.offset, 0, BTRFS_INODE_ITEM_KEY
	};
	uint64_t changed;

	if (item->key.objectid != w->inode)
		w->unchanged = false;
	w->inode = item->key.objectid;
	if (e2pf_item_inode(item, &changed))
		w->unchanged = changed <= w->send->parent_root.generation;
	if (w->unchanged)
		return;
	/* The folder is a part of the path that is sent. */
	if (item->key.type == BTRFS_INODE_REF_KEY)
		want(w->send, w->job->tree, &folder);
	else
		take_data(w->send, item);
}

/* Another file shares the extent: the kernel searches that file's tree to find
 * out whether it can be cloned from.  Or an old leaf does, which a snapshot still
 * has: it reads that. */
static void take_reference(void *ctx, uint64_t tree,
			   const struct e2pf_btrfs_key *key)
{
	struct send *s = ctx;
	uint64_t slot;

	if (tree) {
		if (tree != s->tree && tree != s->parent &&
		    e2pf_btrfs_is_subvolume(tree))
			want(s, tree, key);
		return;
	}
	slot = e2pf_chunk_map_slot(&s->fs.map, key->objectid);
	if (slot != UINT64_MAX && !e2pf_slot_set_has(&s->asked, slot) &&
	    e2pf_slot_set_add(&s->named, slot))
		s->unfound++;
}

static void take_item(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct worker *w = ctx;
	const struct e2pf_btrfs_range keys = e2pf_btrfs_keys_of(
		item->key.objectid, item->key.objectid);

	if (w->job->tree == w->send->tree)
		take_changed(w, item);
	else if (e2pf_ranges_meet(&w->send->records, &keys))
		e2pf_item_references(item, take_reference, w->send);
}

static bool is_limited(const struct send *s)
{
	return s->rate.bandwidth || s->rate.requests;
}

bool send_within_limits(struct send *s, uint64_t bytes)
{
	uint64_t now, ns;

	if (!is_limited(s))
		return !s->stop;
	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		struct timespec t;

		now = send_now();
		ns = e2pf_rate_take(&s->rate, now, bytes,
				    s->base.cfg.sharers(s->base.cfg.ctx));
		if (!ns)
			break;
		t.tv_sec = (time_t)((now + ns) / 1000000000u);
		t.tv_nsec = (long)((now + ns) % 1000000000u);
		pthread_cond_timedwait(&s->changed, &s->lock, &t);
	}
	pthread_mutex_unlock(&s->lock);
	return !s->stop;
}

static void search(struct worker *w, const struct e2pf_job *job)
{
	struct send *s = w->send;

	if (!send_within_limits(s, send_nodesize(s)))
		return;
	s->requests++;
	w->job = job;
	w->inode = 0;
	w->unchanged = false;
	if (e2pf_mounted_search(&s->fs, job->tree, &job->keys,
				job->parse ? take_item : NULL, w))
		s->errors++;
	else
		s->bytes += send_nodesize(s);
}

/* The whole pages of a piece. */
static uint64_t pages_of(const struct e2pf_job *job, uint64_t *skip)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	*skip = job->from % page;
	return (*skip + job->length + page - 1) / page * page;
}

/* Map a piece of a file at `at`.  Returns the file's descriptor, or -1: it was
 * deleted, or is not a regular file, or a limit keeps us behind what was sent. */
static int map_piece(struct send *s, const struct e2pf_job *job, uint8_t *at)
{
	uint64_t skip, pages = pages_of(job, &skip);
	int fd = is_limited(s) && job->sent <= s->came_out ? -1 :
		e2pf_mounted_open_file(&s->fs, job->tree, job->inode);

	if (fd >= 0 && send_within_limits(s, job->length) &&
	    mmap(at, pages, PROT_NONE, MAP_SHARED | MAP_FIXED, fd,
		 (off_t)(job->from - skip)) != MAP_FAILED)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Read adjacent pieces of files.  The kernel collects the requests of one system
 * call, and joins those that are adjacent, whatever files they belong to.  The one
 * call for several files is madvise() for a range in which they are mapped.  The
 * mapping is never accessed.
 */
static void read_data(struct send *s, const struct e2pf_job *job, size_t count)
{
	const struct e2pf_job *const end = job + count, *last = NULL;
	uint64_t all = 0, used = 0, skip;
	int fd = -1, next;
	uint8_t *area;
	char byte;
	size_t n;

	for (n = 0; n < count; n++)
		all += pages_of(&job[n], &skip);
	area = mmap(NULL, all, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return;
	for (; job < end; job++) {
		next = map_piece(s, job, area + used);
		if (next < 0)
			continue;
		if (fd >= 0)
			close(fd);
		fd = next;
		last = job;
		used += pages_of(job, &skip);
		s->bytes += job->length;
	}
	s->requests += used != 0;
	if (used && madvise(area, used, MADV_WILLNEED))
		s->errors++;
	munmap(area, all);
	if (fd < 0)
		return;
	/* Wait for the last page.  If it is past the end of the file, pread()
	 * returns 0, which is not an error. */
	if (!s->stop &&
	    pread(fd, &byte, 1, (off_t)(last->from + last->length - 1)) < 0)
		s->errors++;
	close(fd);
}

/* Returns whether something was read from a device. */
static bool do_job(struct worker *w, struct e2pf_job *job)
{
	uint64_t before = e2pf_mounted_bytes_read();

	if (job->length)
		read_data(w->send, job, 1);
	else
		search(w, job);
	job->done = true;
	return e2pf_mounted_bytes_read() != before;
}

/* Take the next job, or several if they are adjacent data.  If requests are limited,
 * none waits for those after it.  Returns how many. */
static size_t take(struct send *s, struct e2pf_job **first)
{
	uint64_t bytes = 0;
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	*first = &s->jobs.job[s->next];
	for (; s->next < s->jobs.count && n < BATCH_PIECES; n++, s->next++) {
		const struct e2pf_job *job = &s->jobs.job[s->next];

		bytes += job->length;
		if (n && (!job->length || bytes > PIECE_MOST ||
			  is_limited(s) ||
			  !e2pf_job_follows(job - 1, job)))
			break;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void *work(void *arg)
{
	struct send *s = arg;
	struct worker w = { .send = s };
	struct e2pf_job *job;
	size_t n;

	s->base.cfg.thread_begins(s->base.cfg.ctx);
	while (!s->stop && (n = take(s, &job))) {
		if (job->length)
			read_data(s, job, n);
		else if (!job->done)
			do_job(&w, job);
	}
	return NULL;
}

/* Whether something is read from a device for a changed leaf, the one that it is
 * compared with, or the first data that it refers to. */
static bool reads_for_leaf(struct worker *w, struct e2pf_job *leaf)
{
	struct send *s = w->send;
	struct e2pf_job compared = { .tree = s->parent, .keys = leaf->keys };
	struct e2pf_job data;
	size_t known = s->data.count;

	if (do_job(w, leaf) || (s->parent && do_job(w, &compared)))
		return true;
	if (s->data.count == known)
		return false;
	data = s->data.job[known];
	/* As much as will be read of it later. */
	if (data.length > PIECE_MOST)
		data.length = PIECE_MOST;
	data.sent = UINT64_MAX;
	return data.length && do_job(w, &data);
}

bool send_is_cached(struct send *s)
{
	struct worker w = { .send = s };
	unsigned i = 0;

	if (s->jobs.count < SAMPLED_LEAST || !s->fs.counts_bytes)
		return false;
	while (i < SAMPLES && !s->stop &&
	       !reads_for_leaf(&w, &s->jobs.job[i * s->jobs.count / SAMPLES]))
		i++;
	if (i < SAMPLES)
		return false;
	s->sum.resident += s->jobs.count - SAMPLES;
	return true;
}

void send_sweep(struct send *s)
{
	pthread_t thread[E2PF_MAX_THREADS];
	unsigned n = 0;
	size_t i;

	e2pf_jobs_order(&s->jobs);
	for (i = 0; i < s->jobs.count; i++) {
		uint64_t length = s->jobs.job[i].length;

		*(length ? &s->sum.pieces : &s->sum.leaves) += 1;
		s->base.last.planned_bytes += length ? length : send_nodesize(s);
	}
	s->next = 0;
	while (n + 1 < s->base.cfg.threads && n + 1 < s->jobs.count &&
	       !e2pf_thread_start(&thread[n], work, s))
		n++;
	work(s);
	while (n)
		pthread_join(thread[--n], NULL);
}
