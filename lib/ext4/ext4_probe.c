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
#include "report/estimate.h"

/* A probe reads at most about so many bytes of inode tables, so that it is
 * quick; the other tables are estimated from them. */
#define PROBE_TABLES (64u << 20)

/* Memory for the arrays and strings of struct e2pf_probe. */
struct room {
	struct e2pf_class_plan plan[E2PF_CLASSES];
	struct e2pf_topology topo;
	struct e2pf_probe_disk disk[E2PF_MAX_LEAVES];
	struct e2pf_decisions decisions;
	struct e2pf_probe_decision decision[E2PF_DECISIONS_MOST];
};

static void tell_devices(struct e2pf_session *s, struct room *room,
			 struct e2pf_probe *p)
{
	unsigned i;

	room->topo = s->topo;
	for (i = 0; i < s->topo.leaves; i++)
		room->disk[i] = (struct e2pf_probe_disk) {
			.name = room->topo.leaf[i].name,
			.rotational = s->topo.leaf[i].rotational,
			.one_request = s->topo.leaf[i].one_request
		};
	p->disks = room->disk;
	p->disk_count = s->topo.leaves;
	p->virtual_disk = s->topo.virtual_disk;
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
	err = e2pf_plan(&s->base, plan, E2PF_CLASSES);
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
		    struct e2pf_speed *m)
{
	p->unmeasured = e2pf_engine_measure(s->engine, m);
	p->measured = !p->unmeasured;
	p->block_order = p->measured && s->cfg.probe ? m->has_head :
						      s->cfg.has_head;
	p->threads = p->block_order ? s->cfg.head_threads : s->cfg.threads;
	if (!p->measured)
		return;
	p->metadata_places = m->metadata_places;
	p->latency = (double)m->latency_ns / 1e9;
	p->deep_latency = (double)m->deep_latency_ns / 1e9;
	p->bytes_per_second = UINT64_C(1000000000000) / m->byte_ps;
}

static void decide(struct e2pf_session *s, const struct e2pf_speed *m,
		   struct room *room, struct e2pf_probe *p)
{
	struct e2pf_engine_stats st = {
		.has_head = p->block_order, .threads = p->threads,
		.latency_ns = p->measured ? m->latency_ns : 0,
		.deep_latency_ns = p->measured ? m->deep_latency_ns : 0
	};
	struct e2pf_decisions *list = &room->decisions;
	size_t i;

	e2pf_decide_memory(list, p->memory_budget, s->settings.memory,
			   s->sharing);
	e2pf_decide_limits(list, &s->settings, s->sharing);
	e2pf_decide_threads(list, &st, s->settings.threads, NULL);
	e2pf_decide_order(list, p->block_order ? "in block order" :
			  s->type->order, &st, s->topo.spindles);
	for (i = 0; i < list->count; i++)
		room->decision[i] = (struct e2pf_probe_decision) {
			list->item[i].about, list->item[i].decision,
			list->item[i].reason
		};
	p->decisions = room->decision;
	p->decision_count = (unsigned)list->count;
}

errcode_t e2pf_probe(struct e2pf_session *session, struct e2pf_probe *probe)
{
	struct e2pf_ext4_session *s = e2pf_ext4_of(session);
	struct room *room = calloc(1, sizeof(*room));
	struct e2pf_probe p = {
		.size = sizeof(p), .plan = room ? room->plan : NULL,
		.plan_count = E2PF_CLASSES, .block_size = s->geo.block_size,
		.groups = s->geo.groups, .memory_budget = session->cfg.budget
	};
	struct e2pf_speed measured = { .has_head = false };
	uint32_t step;
	errcode_t err;

	if (!room)
		return EXT2_ET_NO_MEMORY;
	free(s->probe);
	s->probe = room;
	step = probe_step(s, &p.inodes);
	p.groups_sampled = (s->geo.groups + step - 1) / step;
	/* Measure before planning: the plan would bring the sampled blocks into
	 * the page cache. */
	measure(session, &p, &measured);
	err = count_metadata(s, step, room->plan);
	if (err)
		return err;
	/* A session that keeps ahead of a checker gets another share of the
	 * memory than this one. */
	if (!session->settings.memory)
		p.memory_budget = e2pf_engine_budget(
				e2pf_memory_share(session->sysroot), true);
	tell_devices(session, room, &p);
	decide(session, &measured, room, &p);
	e2pf_estimate_check(&p, session->topo.spindles);
	e2pf_hand_out(probe, &p, sizeof(p));
	return 0;
}
