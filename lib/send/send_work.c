/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The threads that read leaves and data ahead of a send, with one request in flight
 * each. */
#include <sys/mman.h>
#include <unistd.h>

#include "btrfs/format.h"
#include "device/thread.h"
#include "send_state.h"

/* SAMPLES of at least SAMPLED_LEAST changed leaves are read first.  If no byte comes from
 * a device, the others are left out.  This happens to 1 part in 5 if a tenth of it is not
 * cached, to 1 in 100 if a quarter is not. */
#define SAMPLES 16u
#define SAMPLED_LEAST 48u

/* The maximum number of adjacent extents, of AHEAD_MOST bytes in all, that a
 * worker requests at once. */
#define BATCH_EXTENTS 64u

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

/* A newer kernel's flag: extents are sent as they are stored, past the page cache. */
#define SEND_COMPRESSED 0x10u

static void accept_data(struct send *s, const struct e2pf_btrfs_item *item)
{
	const bool no_data = s->flags & BTRFS_SEND_FLAG_NO_FILE_DATA;
	struct e2pf_job data;

	if (!e2pf_item_data(item, &data) ||
	    data.generation <= s->parent_root.generation)
		return;
	if (!data.stored) {
		s->inline_bytes += no_data ? 0 : data.sent;
		return;
	}
	data.tree = s->tree;
	/* With length 0, only the extent's record is used. */
	if (no_data || (data.compressed && s->flags & SEND_COMPRESSED))
		data.length = 0;
	pthread_mutex_lock(&s->lock);
	e2pf_jobs_add(&s->data, &data);
	pthread_mutex_unlock(&s->lock);
}

/* To find out whether an extent can be cloned, the kernel searches the trees of
 * the other files that use it, and reads old leaves that a snapshot has kept. */
static void accept_reference(void *ctx, uint64_t tree,
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
	if (!e2pf_slot_set_has(&s->asked, slot) &&
	    e2pf_slot_set_add(&s->named, slot))
		s->unfound++;
}

/* The items of a changed leaf, or of a leaf of the extent tree. */
static void accept_item(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct send *s = ctx;
	const struct e2pf_btrfs_range keys = e2pf_btrfs_keys_of(
		item->key.objectid, item->key.objectid);

	if (item->key.type == BTRFS_EXTENT_DATA_KEY)
		accept_data(s, item);
	else if (item->key.type == BTRFS_INODE_REF_KEY)
		/* The folder is a part of the path that is sent. */
		want(s, s->tree, &(struct e2pf_btrfs_key) {
			item->key.offset, 0, BTRFS_INODE_ITEM_KEY
		});
	else if (e2pf_ranges_meet(&s->records, &keys))
		e2pf_item_references(item, accept_reference, s);
}

static void search(struct send *s, const struct e2pf_job *job)
{
	if (s->stop)
		return;
	s->requests++;
	if (e2pf_mounted_search(&s->fs, job->tree, &job->keys,
				job->parse ? accept_item : NULL, s))
		s->errors++;
	else
		s->bytes += send_nodesize(s);
}

/*
 * Read adjacent extents of files.  The kernel collects the requests of one system
 * call, and joins those that are adjacent, whatever files they belong to.  The one
 * call for several files is madvise() for a range in which they are mapped.  The
 * mapping is never accessed.
 */
static void read_data(struct send *s, const struct e2pf_job *job, size_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Each may begin and end within a page. */
	const size_t all = AHEAD_MOST + 2 * page * BATCH_EXTENTS;
	const struct e2pf_job *const end = job + count, *last = NULL;
	size_t used = 0;
	int fd = -1;
	uint8_t *area;
	char byte;

	area = mmap(NULL, all, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return;
	for (; job < end; job++) {
		size_t skip = job->from % page;
		size_t pages = (skip + job->length + page - 1) / page * page;
		int next = s->stop ? -1 : e2pf_mounted_open_file(&s->fs,
						job->tree, job->inode);

		if (next < 0)
			continue;
		if (fd >= 0)
			close(fd);
		fd = next;
		if (mmap(area + used, pages, PROT_NONE, MAP_SHARED | MAP_FIXED,
			 fd, (off_t)(job->from - skip)) == MAP_FAILED)
			break;
		last = job;
		used += pages;
		s->bytes += job->length;
	}
	s->requests += used != 0;
	if (used && madvise(area, used, MADV_WILLNEED))
		s->errors++;
	munmap(area, all);
	if (fd < 0)
		return;
	/* Wait for the last page. */
	if (!s->stop && last &&
	    pread(fd, &byte, 1, (off_t)(last->from + last->length - 1)) < 0)
		s->errors++;
	close(fd);
}

/* Whether something was read from a device. */
static bool do_job(struct send *s, struct e2pf_job *job)
{
	uint64_t before = e2pf_mounted_bytes_read();

	if (job->length)
		read_data(s, job, 1);
	else
		search(s, job);
	job->done = true;
	return e2pf_mounted_bytes_read() != before;
}

/* Take the next job, or several if they are adjacent data.  Returns how many. */
static size_t pop_jobs(struct send *s, struct e2pf_job **first)
{
	uint64_t bytes = 0;
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	*first = &s->jobs.job[s->next];
	for (; s->next < s->jobs.count && n < BATCH_EXTENTS; n++, s->next++) {
		const struct e2pf_job *job = &s->jobs.job[s->next];

		bytes += job->length;
		if (n && (!job->length || bytes > AHEAD_MOST ||
			  job->offset != job[-1].offset + job[-1].stored))
			break;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void *work(void *arg)
{
	struct send *s = arg;
	struct e2pf_job *job;
	size_t n;

	while (!s->stop && (n = pop_jobs(s, &job))) {
		if (job->length)
			read_data(s, job, n);
		else if (!job->done)
			do_job(s, job);
	}
	return NULL;
}

/* Whether something is read for a changed leaf, the one that it is compared with, or the
 * first data that it refers to. */
static bool reads_for_leaf(struct send *s, struct e2pf_job *leaf)
{
	struct e2pf_job compared = { .tree = s->parent, .keys = leaf->keys };
	struct e2pf_job data = { .length = 0 };
	size_t known = s->data.count;

	if (do_job(s, leaf) || (s->parent && do_job(s, &compared)))
		return true;
	if (s->data.count > known)
		data = s->data.job[known];
	if (data.length > AHEAD_MOST)
		data.length = AHEAD_MOST;
	return data.length && do_job(s, &data);
}

bool send_is_cached(struct send *s)
{
	struct e2pf_job *job = s->jobs.job;
	size_t i;

	if (s->jobs.count < SAMPLED_LEAST || !s->fs.counts_bytes)
		return false;
	for (i = 0; i < SAMPLES; i++)
		if (s->stop ||
		    reads_for_leaf(s, &job[i * s->jobs.count / SAMPLES]))
			return false;
	s->leaves_cached += s->jobs.count - SAMPLES;
	return true;
}

void send_sweep(struct send *s)
{
	pthread_t thread[E2PF_MAX_THREADS];
	unsigned n = 0;

	e2pf_jobs_order(&s->jobs);
	s->next = 0;
	while (n + 1 < s->threads && n + 1 < s->jobs.count &&
	       !e2pf_thread_start(&thread[n], work, s))
		n++;
	work(s);
	while (n)
		pthread_join(thread[--n], NULL);
}
