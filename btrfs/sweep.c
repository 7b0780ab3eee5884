/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The threads that read leaves and data of a mounted btrfs, with one request in flight
 * each. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/thread.h"
#include "prefetch/settings.h"
#include "sweep.h"

/* The maximum number of adjacent extents, of BT_MAX_AHEAD bytes in all, that a
 * worker requests at once. */
#define BATCH_EXTENTS 64u

/* With 16, 32 and 64 a send took 10.5, 8.8 and 11.9 s on a disk, another one 0.16, 0.26
 * and 0.21 s on a SATA SSD. */
#define THREADS 16u
#define SEEK_THREADS 32u

void bt_sweep_init(struct bt_sweep *s, const struct bt_mounted *fs, bt_item_sink accept,
		   void *ctx)
{
	s->fs = fs;
	s->accept = accept;
	s->ctx = ctx;
	pthread_mutex_init(&s->lock, NULL);
}

void bt_sweep_free(struct bt_sweep *s)
{
	free(s->jobs.job);
	pthread_mutex_destroy(&s->lock);
}

void bt_sweep_choose(struct bt_sweep *s, struct pf_session *session)
{
	struct stat st;
	unsigned i;

	for (i = 0; i < s->fs->map.devices; i++)
		if (!fstat(s->fs->device[i], &st))
			pf_session_add_device(session, NULL, &st);
	pf_session_choose(session);
	s->threads = session->settings.threads ? session->settings.threads :
		     session->options.seek_bound ? SEEK_THREADS : THREADS;
	s->threads = pf_session_may_start(session, s->threads);
}

static void search(struct bt_sweep *s, const struct bt_job *job)
{
	int err;

	if (s->stop)
		return;
	s->requests++;
	err = bt_mounted_search(s->fs, job->tree, &job->keys,
				job->parse ? s->accept : NULL, s->ctx);
	/* A subvolume may have been deleted. */
	if (err && err != ENOENT)
		s->errors++;
	else if (!err && !job->again)
		s->bytes += s->fs->map.super.nodesize;
}

/* Extents of files that are mapped one after the other, and never accessed. */
struct mapped {
	uint8_t *area;
	size_t bytes;
	int fd;				/* of the last extent's file, or -1 */
	const struct bt_job *last;	/* NULL: none is mapped */
};

/* Returns false if no more can be mapped. */
static bool map_extent(struct bt_sweep *s, struct mapped *m,
		       const struct bt_job *job, size_t page)
{
	size_t skip = job->from % page;
	size_t bytes = (skip + job->length + page - 1) / page * page;
	int fd = s->stop ? -1 : bt_mounted_open_file(s->fs, job->tree,
						     job->inode);

	if (fd < 0)
		return true;
	if (m->fd >= 0)
		close(m->fd);
	m->fd = fd;
	if (mmap(m->area + m->bytes, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
		 fd, (off_t)(job->from - skip)) == MAP_FAILED)
		return false;
	m->last = job;
	m->bytes += bytes;
	s->bytes += job->length;
	return true;
}

static void wait_for_last_page(struct bt_sweep *s, const struct mapped *m)
{
	off_t last = m->last ? (off_t)(m->last->from + m->last->length - 1) : 0;
	char byte;

	if (!s->stop && m->last && pread(m->fd, &byte, 1, last) < 0)
		s->errors++;
}

/*
 * Read adjacent extents of files.  The kernel collects the requests of one system
 * call, and joins those that are adjacent, whatever files they belong to.  The one
 * call for several files is madvise() for a range in which they are mapped.
 */
static void read_data(struct bt_sweep *s, const struct bt_job *job, size_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Each may begin and end within a page. */
	const size_t all = BT_MAX_AHEAD + 2 * page * BATCH_EXTENTS;
	const struct bt_job *const end = job + count;
	struct mapped m = { .fd = -1 };

	m.area = mmap(NULL, all, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m.area == MAP_FAILED)
		return;
	while (job < end && map_extent(s, &m, job, page))
		job++;
	s->requests += m.bytes != 0;
	if (m.bytes && madvise(m.area, m.bytes, MADV_WILLNEED))
		s->errors++;
	munmap(m.area, all);
	if (m.fd < 0)
		return;
	wait_for_last_page(s, &m);
	close(m.fd);
}

bool bt_sweep_job(struct bt_sweep *s, struct bt_job *job)
{
	uint64_t before = bt_mounted_bytes_read();

	if (job->length)
		read_data(s, job, 1);
	else
		search(s, job);
	job->done = true;
	return bt_mounted_bytes_read() != before;
}

/* Take the next job, or several if they are adjacent data.  Returns how many. */
static size_t pop_jobs(struct bt_sweep *s, struct bt_job **first)
{
	uint64_t bytes = 0;
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	*first = &s->jobs.job[s->next];
	for (; s->next < s->jobs.count && n < BATCH_EXTENTS; n++, s->next++) {
		const struct bt_job *job = &s->jobs.job[s->next];

		bytes += job->length;
		if (n && (!job->length || bytes > BT_MAX_AHEAD ||
			  job->offset != job[-1].offset + job[-1].stored))
			break;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void *run_jobs(void *arg)
{
	struct bt_sweep *s = arg;
	struct bt_job *job;
	size_t n;

	while (!s->stop && (n = pop_jobs(s, &job))) {
		if (job->length)
			read_data(s, job, n);
		else if (!job->done)
			bt_sweep_job(s, job);
	}
	return NULL;
}

void bt_sweep(struct bt_sweep *s)
{
	pthread_t thread[PF_MAX_THREADS];
	unsigned n = 0;

	bt_jobs_order(&s->jobs);
	s->next = 0;
	while (n + 1 < s->threads && n + 1 < s->jobs.count &&
	       !e2pf_thread_start(&thread[n], run_jobs, s))
		n++;
	run_jobs(s);
	while (n)
		pthread_join(thread[--n], NULL);
}
