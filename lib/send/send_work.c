/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads that read leaves and data ahead of a send.  Each has one request
 * in flight, and respects the configured limits and priorities.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "btrfs/format.h"
#include "device/thread.h"
#include "send_state.h"

/* Bytes read ahead of an extent.  After these, the kernel's own readahead, of
 * 4 MiB, is at full speed. */
#define DATA_MOST (UINT64_C(1) << 20)

/* Of at least SAMPLED_LEAST changed leaves, SAMPLES are read first.  If none of
 * them is read from a device, the others are left out: of a part of which a tenth
 * is not cached, that happens to 1 in 5, and to 1 in 100 if it is a quarter. */
#define SAMPLES 16u
#define SAMPLED_LEAST 48u

/* The stream has at least so many bytes for each piece of data, even if its
 * contents are not sent. */
#define STREAM_LEAST 64u

/* The length of a data read if the device does not report its maximum. */
#define USUAL_READ (128u << 10)

/* Jobs, each of which is done by one of the workers. */
struct sweep {
	struct send *send;
	struct e2pf_jobs *jobs;
	_Atomic(size_t) next;		/* index */
};

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
 * out whether it can be cloned from. */
static void take_reference(void *ctx, uint64_t tree,
			   const struct e2pf_btrfs_key *key)
{
	struct send *s = ctx;

	if (tree != s->tree && tree != s->parent &&
	    e2pf_btrfs_is_subvolume(tree))
		want(s, tree, key);
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

bool send_within_limits(struct send *s, uint64_t bytes)
{
	uint64_t now, ns;

	if (!s->rate.bandwidth && !s->rate.requests)
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

/* As the device is going to be asked. */
static void read_pieces(struct send *s, int fd, const struct e2pf_job *job)
{
	uint64_t most = s->base.topo.max_readahead, piece, at, n;

	piece = most ? most : USUAL_READ;
	for (at = 0; at < job->length; at += n) {
		n = job->length - at < piece ? job->length - at : piece;
		if (!send_within_limits(s, n))
			return;
		s->requests++;
		s->bytes += n;
		if (readahead(fd, (off64_t)(job->from + at), (size_t)n))
			s->errors++;
	}
}

static void read_data(struct send *s, const struct e2pf_job *job)
{
	int fd = e2pf_mounted_open_file(&s->fs, job->tree, job->inode);
	char byte;

	/* The file was deleted, or is not a regular file. */
	if (fd < 0)
		return;
	read_pieces(s, fd, job);
	/* readahead() requests the data, pread() waits for it.  If the page
	 * is past the end of the file, pread() returns 0, which is not an
	 * error. */
	if (!s->stop &&
	    pread(fd, &byte, 1, (off_t)(job->from + job->length - 1)) < 0)
		s->errors++;
	close(fd);
}

/* Returns whether something was read from a device. */
static bool do_job(struct worker *w, struct e2pf_job *job)
{
	uint64_t before = e2pf_mounted_bytes_read();

	if (job->length)
		read_data(w->send, job);
	else
		search(w, job);
	job->done = true;
	return e2pf_mounted_bytes_read() != before;
}

static void *work(void *arg)
{
	struct sweep *sweep = arg;
	struct send *s = sweep->send;
	struct worker w = { .send = s };
	size_t i;

	s->base.cfg.thread_begins(s->base.cfg.ctx);
	while (!s->stop) {
		i = sweep->next++;
		if (i >= sweep->jobs->count)
			break;
		if (!sweep->jobs->job[i].done)
			do_job(&w, &sweep->jobs->job[i]);
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
	if (data.length > DATA_MOST)
		data.length = DATA_MOST;
	s->data.job[known].done = true;
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

/* Do all jobs with all workers, one of which is this thread, and wait for
 * them. */
static void sweep(struct send *s, struct e2pf_jobs *jobs)
{
	struct sweep all = { .send = s, .jobs = jobs };
	pthread_t thread[E2PF_MAX_THREADS];
	unsigned n = 0;

	e2pf_jobs_order(jobs);
	while (n + 1 < s->base.cfg.threads && n + 1 < jobs->count &&
	       !e2pf_thread_start(&thread[n], work, &all))
		n++;
	work(&all);
	while (n)
		pthread_join(thread[--n], NULL);
}

void send_sweep_leaves(struct send *s)
{
	s->sum.leaves += s->jobs.count;
	s->base.last.planned_bytes += s->jobs.count * send_nodesize(s);
	sweep(s, &s->jobs);
}

void send_sweep_data(struct send *s)
{
	uint64_t left = s->data.count * STREAM_LEAST, i;

	for (i = 0; i < s->data.count; i++)
		left += s->data.job[i].length;
	s->stream += left;
	s->base.last.planned_bytes += e2pf_jobs_keep_data(&s->data, DATA_MOST,
					      s->base.cfg.budget / 8);
	s->sum.pieces += s->data.count;
	sweep(s, &s->data);
}
