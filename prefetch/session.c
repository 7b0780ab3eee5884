/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A session connects the parts, for any filesystem.  The topology describes the device,
 * the single-spindle detector decides how to read it, the budget limits the memory, and
 * the filesystem's source provides the blocks to read.  The engine does the rest.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "budget.h"
#include "device.h"
#include "share.h"
#include "spindle.h"
#include "statistics.h"
#include "lib/sysfile.h"
#include "tasks.h"
#include "session.h"

/* How long to wait for the engine's lock.  A progress report waits less, because the
 * next one comes soon. */
#define STATS_PATIENCE_MS 1000
#define PROGRESS_PATIENCE_MS 100

/* The most bytes that may be ahead when `memory` bytes are left.  With a checker, which
 * needs memory itself, it is half of them; without one, three quarters. */
static uint64_t part_of(const struct pf_session *s, uint64_t memory)
{
	return s->options.has_checker ? memory / 2 : memory / 4 * 3;
}

static uint64_t limit(void *ctx)
{
	const struct pf_session *s = ctx;

	return part_of(s, pf_budget_query_memory(s->sysroot, true));
}

static bool count_disks(void *ctx, struct pf_disk_counters *disks)
{
	const struct pf_session *s = ctx;

	return pf_topology_count(s->sysroot, &s->topo, &disks->busy_ns,
				 &disks->in_flight);
}

void pf_session_interrupt(struct pf_session *s, int milliseconds)
{
	if (s->engine)
		pf_engine_stop(s->engine, milliseconds);
	else
		s->type->stop(s);
}

unsigned pf_session_may_start(struct pf_session *s, unsigned wanted)
{
	unsigned n = 0;

	if (!s->gave_back)
		n = pf_tasks_left(s->sysroot, wanted);
	if (!n)
		s->why_off = "too few tasks left (ulimit -u, TasksMax=)";
	return n;
}

static unsigned may_start(void *ctx, unsigned workers)
{
	return pf_session_may_start(ctx, workers);
}

unsigned pf_session_give_back(struct pf_session *s)
{
	struct pf_engine_stats st = { .threads = 0 };

	if (s->gave_back || s->why_off)
		return 0;
	s->gave_back = true;
	pf_engine_stop(s->engine, -1);
	pf_engine_get_stats(s->engine, STATS_PATIENCE_MS, &st);
	return (unsigned)st.threads;
}

int pf_session_init(struct pf_session *s,
		    const struct pf_filesystem *type, const char *name,
		    const struct pf_settings *settings,
		    const struct pf_options *options)
{
	pf_share_join();
	s->type = type;
	if (settings)
		s->settings = *settings;
	s->name = strdup(name);
	s->sysroot = "";
	if (!s->name)
		return ENOMEM;
	if (options)
		s->options = *options;
	s->options.ctx = s;
	s->options.limit = limit;
	s->options.count_disks = count_disks;
	if (!s->options.before_threads)
		s->options.before_threads = may_start;
	return 0;
}

void pf_session_add_device(struct pf_session *s, struct pf_device *dev,
			   const struct stat *st)
{
	s->dev[s->devices] = dev;
	s->stat[s->devices++] = *st;
}

/* The budget if /sys is missing, because only /sys shows the limit of a cgroup.  In a
 * cgroup of 16 MiB a check takes 1.30 of stock's time without this limit, and 0.67 with
 * it.  Outside a cgroup it takes 0.43 without, and 0.41 with it (extents@1/4 on the
 * network volume). */
#define UNSEEN_BUDGET (8u << 20)

static uint64_t own_budget(const struct pf_session *s)
{
	uint64_t budget = part_of(s, s->available);
	char path[PATH_MAX];

	if (e2pf_path(path, sizeof(path), "%s/sys/fs", s->sysroot) ||
	    !access(path, F_OK) || budget < UNSEEN_BUDGET)
		return budget;
	return UNSEEN_BUDGET;
}

void pf_session_choose(struct pf_session *s)
{
	struct pf_options *o = &s->options;
	unsigned i, max;

	memset(&s->topo, 0, sizeof(s->topo));
	s->why_off = NULL;
	for (i = 0; i < s->devices; i++) {
		max = pf_topology_add(s->sysroot, &s->stat[i], &s->topo);
		if (!s->dev[i])
			continue;
		s->dev[i]->max_readahead = max;
		if (s->dev[i]->unusable)
			pf_session_turn_off(s, s->dev[i]->unusable);
	}
	o->seek_bound = pf_spindle_is_declared_seek_bound(&s->topo,
							  &o->measure);
	o->threads = pf_spindle_choose_threads(&s->topo, false,
					       s->settings.threads);
	o->seek_threads = pf_spindle_choose_threads(&s->topo, true,
						    s->settings.threads);
	s->available = pf_budget_query_memory(s->sysroot, false);
	o->budget = s->settings.memory;
	if (!o->budget)
		o->budget = own_budget(s);
}

void pf_session_limit(struct pf_session *s, uint64_t budget)
{
	if (s->options.budget > budget)
		s->options.budget = budget;
}

void pf_session_turn_off(struct pf_session *s, const char *why)
{
	s->why_off = why;
}

int pf_session_start(struct pf_session *s)
{
	int err = s->why_off ? 0 : pf_engine_start(s->engine, &s->options);

	return s->why_off ? 0 : err;
}

/* Count what was read so far.  Leaves *stats unchanged if the session has stopped or
 * has no engine. */
static void count_now(const struct pf_session *s,
		      struct pf_engine_stats *stats)
{
	if (s->type->count)
		s->type->count(s, stats);
	if (s->stopped || !s->engine)
		return;
	pf_engine_get_stats(s->engine, STATS_PATIENCE_MS, stats);
}

void pf_session_get_progress(struct pf_session *s, struct pf_progress *p)
{
	struct pf_engine_stats *engine = &s->shown;

	p->busy = !pf_engine_get_stats(s->engine, PROGRESS_PATIENCE_MS, engine);
	p->device = s->name;
	p->disk = s->topo.disks == 1 ? s->topo.disk[0].name : NULL;
	p->stage = s->type->stage_names[engine->at_stage];
	p->stalled = (double)(engine->stall_ns + engine->reading_ns) / 1e9;
	p->reading = (double)engine->reading_ns / 1e9;
	p->reading_at = (double)engine->reading_at;
	if (s->type->get_progress)
		s->type->get_progress(s, engine, p);
}

bool pf_session_stop(struct pf_session *s, int milliseconds)
{
	if (s->stopped)
		return !s->left_behind;
	if (s->type->stop)
		s->type->stop(s);
	s->left_behind = s->engine && !pf_engine_stop(s->engine, milliseconds);
	count_now(s, &s->last);
	s->stopped = true;
	return !s->left_behind;
}

void pf_session_free(struct pf_session *session)
{
	unsigned i;

	if (!session || !pf_session_stop(session, -1))
		return;
	pf_engine_free(session->engine);
	for (i = 0; i < session->devices; i++)
		if (session->dev[i])
			session->dev[i]->ops->close(session->dev[i]);
	free(session->name);
	session->type->free(session);
	pf_share_leave();
}

void pf_session_count(struct pf_session *s,
		      struct pf_engine_stats *stats)
{
	struct pf_engine_stats now = s->last;

	/* Count into a copy, because two threads may call this at once. */
	count_now(s, &now);
	*stats = s->past;
	pf_statistics_add(stats, &now);
}

/* The words for a device that is not seek-bound, and for one that is. */
static const struct words {
	const char *order;		/* NULL: the report's */
	const char *kind;
	const char *threads;		/* why there are so many */
	const char *declared[3];	/* by the kernel: no spindle, one, several */
} words_of[] = {
	{ NULL, "not seek-bound", "two keep a device busy",
	  { "the kernel reports no spindle", "the kernel reports a single spindle",
	    "the kernel reports several spindles" } },
	{ "in device order", "seek-bound", "one per spindle, at most two",
	  { "the disk is unknown", "the kernel reports a single spindle",
	    "the kernel reports several spindles" } }
};

/* Note the order of reads, which follows from the kernel's declaration if the device
 * was not measured. */
static void add_declared_order(const struct pf_session *s, struct pf_report *r,
			       const struct words *w, const char *order)
{
	unsigned spindles = s->topo.spindles < 2 ? s->topo.spindles : 2;
	const char *unmeasured = r->engine.unmeasured;

	pf_report_note(&r->notes, "order: %s (%s: %s%s%s)", order, w->kind,
		       w->declared[spindles],
		       unmeasured ? "; not measured: " : "",
		       unmeasured ? unmeasured : "");
}

/* Note the number of threads and the order of reads, and what determined them. */
static void add_order(const struct pf_session *s, struct pf_report *r)
{
	const struct pf_speed *speed = &r->engine.speed;
	const struct words *w = &words_of[speed->seek_bound];
	const char *order = w->order ? w->order : r->order;
	const char *threads = r->threads ? r->threads : w->threads;

	if (s->settings.threads)
		threads = "as configured";
	pf_report_note(&r->notes,
		       "threads: %u (%s)", (unsigned)r->engine.threads,
		       threads);
	if (!r->order)
		       return;
	if (!speed->latency_ns) {
		add_declared_order(s, r, w, order);
		return;
	}
	pf_report_note(&r->notes,
		       "order: %s (%s%s: a small read takes %.2f ms, with "
		       "eight in flight %.2f ms each)", order, w->kind,
		       r->single_spindle ? ", single spindle" : "",
		       (double)speed->latency_ns / 1e6,
		       (double)speed->latency_qd8_ns / 1e6);
}

/* Note whether anything was read ahead, and how. */
static void add_notes(const struct pf_session *s, struct pf_report *r)
{
	if (!r->budget)
		return;
	pf_report_note(&r->notes, "memory: at most %llu MiB ahead (%s)",
		       (unsigned long long)r->budget >> 20, s->settings.memory ?
		       "as configured" : "a share of the available memory");
	if (!r->engine.threads) {
		if (s->why_off)
			pf_report_note_off(&r->notes, "off", s->why_off);
		else
			pf_report_note_off(&r->notes, "asleep",
					   "sampled metadata is already cached");
		return;
	}
	add_order(s, r);
	if (s->gave_back)
		pf_report_note(&r->notes, "prefetch: stopped (the program needed the threads)");
	if (s->last.gave_up)
		pf_report_note(&r->notes, "prefetch: gave up (too many reads failed, or "
			       "memory ran out)");
}

void pf_session_report(struct pf_session *s, struct pf_report *r)
{
	r->device = s->name;
	r->budget = s->options.budget;
	r->stage_names = s->type->stage_names;
	r->stages = s->type->stages;
	pf_session_count(s, &r->engine);
	r->single_spindle = pf_spindle_is_single(&s->topo, r->engine.speed.seek_bound);
	s->type->report(s, r);
	add_notes(s, r);
}
