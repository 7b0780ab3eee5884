/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * e2pf_probe(): measures the device, counts the metadata, and estimates how
 * long a check takes.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "device/share.h"
#include "ext4_session.h"
#include "report/probe.h"

/* A probe reads at most about so many bytes of inode tables, so that it is
 * quick; the other tables are estimated from them. */
#define PROBE_TABLES (64u << 20)

static void add_device(void *ctx, const struct e2pf_stack_device *d)
{
	struct e2pf_probe *p = ctx;

	if (p->stack_count < E2PF_STACK_DEVICES)
		p->stack[p->stack_count++] = *d;
}

/* Returns n to sample one group in n, so that the tables of the sampled groups
 * are about PROBE_TABLES bytes.  *inodes is the number of inodes in use. */
static uint32_t probe_step(const struct e2pf_ext4_session *s, uint64_t *inodes)
{
	uint64_t bytes;
	uint32_t g;

	*inodes = 0;
	for (g = 0; g < s->geo.groups; g++)
		*inodes += s->groups[g].inodes_in_use;
	bytes = *inodes * s->geo.inode_size;
	return (uint32_t)(bytes / PROBE_TABLES) + 1;
}

/* Count the metadata of every `step`th group, and scale the result up to all
 * groups. */
static errcode_t count_metadata(struct e2pf_ext4_session *s, uint32_t step,
				struct e2pf_class_plan *plan)
{
	struct e2pf_group *some = calloc(s->geo.groups, sizeof(*some));
	errcode_t err;
	uint32_t g;
	unsigned i;

	if (!some)
		return EXT2_ET_NO_MEMORY;
	for (g = 0; g < s->geo.groups; g += step)
		some[g] = s->groups[g];
	e2pf_ext4_set_groups(s->ext4, some);
	err = e2pf_plan(&s->base, plan);
	e2pf_ext4_set_groups(s->ext4, s->groups);
	free(some);
	for (i = 0; i < E2PF_CLASSES; i++)
		if (i != E2PF_FILES && i != E2PF_DESCRIPTORS) {
			plan[i].blocks *= step;
			plan[i].runs *= step;
		}
	return err;
}

static void measure(struct e2pf_session *s, struct e2pf_probe *p,
		    struct e2pf_measured *m)
{
	p->unmeasured = e2pf_engine_measure(s->engine, m);
	p->measured = !p->unmeasured;
	p->block_order = p->measured && s->cfg.probe ? m->has_head :
						       s->cfg.has_head;
	if (!p->measured)
		return;
	p->metadata_places = m->metadata_places;
	p->latency = (double)m->latency_ns / 1e9;
	p->deep_latency = (double)m->deep_latency_ns / 1e9;
	p->bytes_per_second = m->bytes_per_second;
}

static void decide(struct e2pf_session *s, const struct e2pf_measured *m,
		   struct e2pf_probe *p)
{
	struct e2pf_engine_stats st = {
		.has_head = p->block_order,
		.threads = p->block_order ? s->cfg.head_threads :
					    s->cfg.threads,
		.latency_ns = p->measured ? m->latency_ns : 0,
		.deep_latency_ns = p->measured ? m->deep_latency_ns : 0
	};
	struct e2pf_decisions *list = &p->decisions;
	uint64_t budget = s->cfg.budget;

	/* A session that keeps ahead of a checker gets another share of the
	 * memory than this one. */
	if (!s->settings.memory)
		budget = e2pf_engine_budget(e2pf_memory_share(s->sysroot),
					    true);
	e2pf_decide_memory(list, budget, s->settings.memory, s->sharing);
	e2pf_decide_limits(list, &s->settings, s->sharing);
	e2pf_decide_threads(list, &st, s->settings.threads, NULL);
	e2pf_decide_order(list, p->block_order ? "in block order" :
			  s->type->order, &st, s->topo.spindles);
	e2pf_decide_requests(list, m);
}

errcode_t e2pf_probe(struct e2pf_session *session, struct e2pf_probe *p)
{
	struct e2pf_ext4_session *s = e2pf_ext4_of(session);
	struct e2pf_measured measured;
	uint32_t step;
	errcode_t err;

	memset(p, 0, sizeof(*p));
	p->block_size = s->geo.block_size;
	p->groups = s->geo.groups;
	step = probe_step(s, &p->inodes);
	p->groups_sampled = (s->geo.groups + step - 1) / step;
	/* Measure before planning: the plan would bring the sampled blocks into
	 * the page cache. */
	measure(session, p, &measured);
	err = count_metadata(s, step, p->plan);
	if (err)
		return err;
	e2pf_stack_walk(session->sysroot, &session->stat[0], add_device, p);
	p->virtual_disk = session->topo.virtual_disk;
	decide(session, &measured, p);
	e2pf_estimate_check(p, session->topo.data_spindles);
	return 0;
}
