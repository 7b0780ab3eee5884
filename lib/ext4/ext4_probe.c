/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2pf_probe(): measures the device, counts the metadata, and estimates how
 * long a check takes.
 */
#include <stdlib.h>
#include <string.h>

#include "device/budget.h"
#include "ext4_probe.h"

/* A probe reads at most about PROBE_TABLES bytes of inode tables, so that it is
 * quick; the other tables are estimated from them. */
#define PROBE_TABLES (64u << 20)

/* The CPU time of e2fsck in seconds: 0.24 for 203,000 inodes, 0.19 for 67,000
 * indirect blocks of 1024 numbers each (make -C bench timing, the CPU bound).
 * Other processors take half to twice as long. */
#define INODE_SECONDS 1.2e-6
#define NUMBER_SECONDS 2.8e-9

/* Returns n to sample one group in n, so that the tables of the sampled groups
 * are about PROBE_TABLES bytes.  *inodes is the number of inodes in use. */
static uint32_t probe_step(const struct e2pf_ext4_session *s, uint64_t *inodes)
{
	uint64_t bytes;
	uint32_t g;

	*inodes = 0;
	for (g = 0; g < s->geo.groups; g++)
		*inodes += e2pf_ext4_group(s->ext4, g).inodes_in_use;
	bytes = *inodes * s->geo.inode_size;
	return (uint32_t)(bytes / PROBE_TABLES) + 1;
}

/* One of the `step` groups from g on.  Files of a kind may lie in each fourth group, and
 * each fourth one alone would show all of them or none. */
static uint32_t sampled(uint32_t g, uint32_t step, uint32_t groups)
{
	uint32_t number = g + ((g / step * 2654435761u) >> 16) % step;

	return number < groups ? number : groups - 1;
}

/* Count the metadata of one in `step` groups, and scale the result up to all
 * groups. */
static errcode_t count_metadata(struct e2pf_ext4_session *s, uint32_t step,
				struct e2pf_class_count *plan)
{
	struct e2pf_group *some = calloc(s->geo.groups, sizeof(*some));
	errcode_t err;
	uint32_t g;
	unsigned i;

	if (!some)
		return EXT2_ET_NO_MEMORY;
	for (g = 0; g < s->geo.groups; g += step) {
		uint32_t number = sampled(g, step, s->geo.groups);

		some[number] = e2pf_ext4_group(s->ext4, number);
	}
	s->ext4->groups = some;
	err = e2pf_plan(&s->base, plan);
	s->ext4->groups = NULL;
	free(some);
	for (i = 0; i < E2PF_CLASSES; i++)
		if (i != E2PF_FILES && i != E2PF_DESCRIPTORS) {
			plan[i].bytes *= step;
			plan[i].runs *= step;
		}
	return err;
}

static void measure(struct e2pf_session *s, struct e2pf_probe *p)
{
	p->unmeasured = e2pf_engine_measure(s->engine, &p->speed);
	p->measured = !p->unmeasured;
	if (!p->measured || !s->cfg.measure)
		p->speed.has_head = s->cfg.has_head;
}

static void decide(struct e2pf_session *s, struct e2pf_probe *p)
{
	bool has_head = p->speed.has_head;
	struct e2pf_report *r = &p->report;

	r->engine.has_head = has_head;
	r->engine.threads = has_head ? s->cfg.head_threads : s->cfg.threads;
	r->engine.latency_ns = p->speed.latency_ns;
	r->engine.deep_latency_ns = p->speed.deep_latency_ns;
	r->engine.unmeasured = p->unmeasured;
	r->settings = &s->settings;
	r->sharing = s->sharing;
	r->order = s->type->order;
	/* A session that keeps ahead of a checker gets another share of the
	 * memory than this one. */
	r->budget = s->settings.memory ? s->settings.memory :
		    e2pf_engine_budget(e2pf_memory_share(s->sysroot, false),
				       true);
	e2pf_report_limits(r);
	e2pf_report_order(r);
}

static double computing(const struct e2pf_probe *p)
{
	double numbers = (double)p->plan[E2PF_INDIRECT].bytes /
			 sizeof(uint32_t);

	return (double)p->inodes * INODE_SECONDS + numbers * NUMBER_SECONDS;
}

void e2pf_probe_estimate(struct e2pf_probe *p)
{
	const struct e2pf_reading reading = {
		.count = p->plan, .windows = e2pf_ext4_windows,
		.classes = E2PF_CLASSES, .block_size = p->report.block_size
	};

	p->stock = p->prefetch = (struct e2pf_estimate) { 0, 0, 0 };
	if (p->measured)
		e2pf_estimate_check(&reading, &p->speed,
				    p->report.topo.spindles, computing(p),
				    &p->stock, &p->prefetch);
}

errcode_t e2pf_probe(struct e2pf_session *session, struct e2pf_probe *p)
{
	struct e2pf_ext4_session *s = e2pf_ext4_of(session);
	uint32_t step;
	errcode_t err;

	memset(p, 0, sizeof(*p));
	p->report.topo = session->topo;
	p->report.block_size = s->geo.block_size;
	p->report.groups = s->geo.groups;
	step = probe_step(s, &p->inodes);
	p->groups_sampled = (s->geo.groups + step - 1) / step;
	/* Measure before planning: the plan would bring the sampled blocks into
	 * the page cache. */
	measure(session, p);
	err = count_metadata(s, step, p->plan);
	if (err)
		return err;
	decide(session, p);
	e2pf_probe_estimate(p);
	return 0;
}
