/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads ahead of a send.
 *
 * The nodes of two trees tell what the kernel will read for an incremental
 * stream, and there are few of them: it reads the leaves of the newer tree
 * whose generation is above that of the older tree's root, and the leaves of
 * the older tree with the same keys.  Searches for these leaves, in the order
 * in which they lie on the devices, bring them into the kernel's cache.  The
 * items that the searches return lead to the folders of changed files and to
 * changed data.  The leaves with their records, and then the data, are read in
 * the same way.
 *
 * This is done in parts, in key order, which is the order of the send.  A
 * search cannot be interrupted, so each one reads only one leaf.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "device/thread.h"
#include "send_state.h"

/*
 * Each thread has one request in flight.  On one disk with a queue, 4 threads
 * took 7.6 s, 8 took 5.5 s, 16 took 4.9 s and 32 took 4.5 s, and the stock send
 * 48 s: the disk chooses the nearest request in its queue.  On a SATA SSD 1
 * thread took 1.33 s, 16 took 0.77 s and 32 took 1.04 s.  Measured by
 * bench/run --send incremental --checkers ours:threads=1,ours:threads=4.
 */
#define THREADS 16u

static const char *const stage_names[] = { "send" };

typedef unsigned long long big;

static struct send *send_of(struct e2pf_session *session)
{
	return (struct send *)session;
}

/*
 * The functions that the session calls.
 */

static void describe(struct e2pf_session *session, struct e2pf_decisions *list)
{
	const struct send *s = send_of(session);
	const struct sum *f = &s->sum;
	char text[64];

	if (!f->sends)
		return;
	snprintf(text, sizeof(text), "%llu changed leaves", (big)f->changed);
	e2pf_decide(list, "filter", text, "newer than generation %llu of the "
		    "parent's tree %llu", (big)s->parent_root.generation,
		    (big)s->parent);
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
	if (f->unread)
		e2pf_decide(list, "nodes", "left out", "%llu did not match "
			    "their pointers", (big)f->unread);
}

static void report(struct e2pf_session *session, struct e2pf_statistics *to)
{
	const struct send *s = send_of(session);

	to->block_size = send_nodesize(s);
	to->io_manager = "btrfs";
}

static void count(struct e2pf_session *session,
		  struct e2pf_engine_stats *stats)
{
	const struct send *s = send_of(session);

	*stats = (struct e2pf_engine_stats) {
		.threads = session->cfg.threads,
		.planned_bytes = s->sum.planned,
		.prefetched_bytes = s->sum.bytes + (s->running ? s->bytes : 0),
		.prefetched_requests = s->requests,
		.peak_lookahead_bytes = s->sum.peak,
		.errors = s->errors
	};
	stats->stage[0].ns = s->sum.ns +
			     (s->running ? send_now() - s->began : 0);
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
	e2pf_mounted_close(&s->fs);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->part);
	free(s);
}

static const struct e2pf_filesystem sends = {
	.stage_names = stage_names,
	.stages = 1,
	.threads = "each with one request in flight",
	.describe = describe,
	.report = report,
	.count = count,
	.close = close_send
};

/*
 * Throttling.
 */

/* Record where this part ends.  Returns false if memory runs out: then there is
 * no next part. */
static bool end_part(struct send *s)
{
	if (!e2pf_have_room((void **)&s->part, &s->part_room, s->parts, 1,
			    sizeof(*s->part)))
		return false;
	s->part[s->parts].bytes = s->bytes;
	s->part[s->parts++].stream = s->stream;
	return true;
}

/* Bytes read ahead of the send: those of all parts whose end the send has not
 * reached. */
static uint64_t ahead(const struct send *s)
{
	uint64_t out = s->came_out, passed = 0;
	size_t i;

	for (i = 0; i < s->parts && s->part[i].stream <= out; i++)
		passed = s->part[i].bytes;
	return s->bytes - passed;
}

/* Wait until the budget has room for another part. */
static void wait_for_room(struct send *s)
{
	uint64_t bytes = ahead(s);

	if (bytes > s->sum.peak)
		s->sum.peak = bytes;
	pthread_mutex_lock(&s->lock);
	s->waiting = true;
	while (!s->stop && ahead(s) > s->base.cfg.budget / 4)
		pthread_cond_wait(&s->changed, &s->lock);
	s->waiting = false;
	pthread_mutex_unlock(&s->lock);
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
	struct send_walk w;

	s->base.cfg.thread_begins(s->base.cfg.available_ctx);
	send_walk_begin(&w, s, newer->owner, older->generation, NULL, forward);
	while (!s->stop && send_plan_changed(&w, newer)) {
		if (forward && send_is_cached(s))
			continue;
		send_plan_compared(s, older->owner);
		send_sweep_leaves(s);
		send_plan_records(s);
		send_sweep_leaves(s);
		send_plan_wanted(s);
		send_sweep_leaves(s);
		send_sweep_data(s);
		if (!end_part(s))
			break;
		wait_for_room(s);
	}
	s->sum.unread += s->stop ? 0 : w.walk.unread;
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
	static const struct e2pf_hooks hooks = { .paced = true };
	struct send *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (!e2pf_session_init(&s->base, &sends, name, settings, &hooks))
		return &s->base;
	e2pf_close(&s->base);
	return NULL;
}

static const char *open_filesystem(struct send *s, int fd)
{
	struct e2pf_engine_config *cfg = &s->base.cfg;
	const char *why;
	struct stat st;

	if (s->fs.map.devices)
		return NULL;
	why = e2pf_mounted_open(&s->fs, fd);
	if (why)
		return why;
	if (!e2pf_slot_set_init(&s->asked, s->fs.map.slots)) {
		e2pf_mounted_close(&s->fs);
		return "no memory";
	}
	/* Only the statistics use the first device's topology. */
	if (!fstat(s->fs.device[0], &st))
		e2pf_session_add_device(&s->base, NULL, &st);
	e2pf_session_choose(&s->base);
	if (!s->base.settings.threads)
		cfg->threads = THREADS;
	s->rate.bandwidth = cfg->bandwidth;
	s->rate.requests = cfg->requests;
	return NULL;
}

static const char *take_request(struct send *s,
				const struct e2pf_send_request *r)
{
	size_t i;

	s->tree = e2pf_mounted_tree_of(r->fd);
	s->parent = r->parent;
	if (!s->tree || s->tree == s->parent ||
	    !e2pf_mounted_root(&s->fs, s->tree, &s->root) ||
	    !e2pf_mounted_root(&s->fs, s->parent, &s->parent_root))
		return "a subvolume's root item was not found";
	s->clones = 0;
	for (i = 0; i < r->clone_count && s->clones < CLONES_MOST; i++)
		if (r->clones[i] != s->tree && r->clones[i] != s->parent)
			s->clone[s->clones++] = r->clones[i];
	s->no_data = r->no_data;
	s->as_stored = r->as_stored;
	return NULL;
}

const char *e2pf_send_start(struct e2pf_session *session,
			    const struct e2pf_send_request *r)
{
	struct send *s = send_of(session);
	const char *why = "a full send: the kernel reads ahead itself";

	if (s->running)
		return "a worker still waits for a device";
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
	s->sum.ns += send_now() - s->began;
	s->sum.bytes += s->bytes;
	return true;
}
