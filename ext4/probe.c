/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * ext4_probe(): measures the device, counts the metadata, and says how long a check
 * takes (doc/performance.md, "Estimates").
 */
#include <stdlib.h>
#include <string.h>

#include "session.h"

/* A probe reads at most about PROBE_TABLES bytes of inode tables, so that it is
 * quick; the other tables are estimated from them. */
#define PROBE_TABLES (64u << 20)

/* The time that e2fsck computes, in seconds, with accelerations: 0.12 for 203,000 inodes,
 * 0.1 for 67,000 indirect blocks of 1024 numbers each (make -C bench timing, the CPU
 * bound).  Other processors take half to twice as long. */
#define INODE_SECONDS 0.6e-6
#define NUMBER_SECONDS 1.4e-9

/* The cost of a request that is read ahead, as a part of one of eight in flight: less,
 * because requests are sorted, and more of them are in flight.  A disk's is known; a
 * device that looks like one may serve one request at a time (1): a part in between is
 * wrong by less than 3 for either.  A device that answers late but to many at a time
 * gains by more of them: it was 0.1 with 40 ms and no bound, and is more where few are
 * served at a time. */
#define PART_DISK 0.15
#define PART_LIKE_DISK 0.4
#define PART_FLASH 0.5
#define PART_LATE 0.2

/* Eight reads at once take less than twice as long as one: it is not seek-bound, however
 * long that is. */
#define PARALLEL 2

/* If reads at queue depth 1 of what is not seek-bound differ by more, the machine or the
 * device is too busy to say how long a check takes. */
#define BUSY 4

/* One of the `step` groups from g on.  Files of a kind may lie in each fourth group, and
 * each fourth one alone would show all of them or none. */
static uint32_t choose_sample(uint32_t g, uint32_t step, uint32_t groups)
{
	uint32_t number = g + ((g / step * 2654435761u) >> 16) % step;

	return number < groups ? number : groups - 1;
}

/* Count the metadata of one in `step` groups, and scale the result up to all
 * groups. */
static errcode_t count_metadata(struct ext4_session *s, uint32_t step,
				struct pf_class_count *plan)
{
	struct ext4_group *some = calloc(s->geo.groups, sizeof(*some));
	errcode_t err;
	uint32_t g;
	unsigned i;

	if (!some)
		return EXT2_ET_NO_MEMORY;
	for (g = 0; g < s->geo.groups; g += step) {
		uint32_t number = choose_sample(g, step, s->geo.groups);

		some[number] = ext4_source_group(s->ext4, number);
	}
	s->ext4->groups = some;
	err = pf_survey_count(&s->ext4->source, s->base.dev, plan);
	s->ext4->groups = NULL;
	free(some);
	for (i = 0; i < EXT4_CLASSES; i++)
		if (i != EXT4_FILES) {
			plan[i].bytes *= step;
			plan[i].runs *= step;
		}
	return err;
}

static void measure(struct pf_session *s, struct ext4_probe *p)
{
	struct pf_source *source = &ext4_session_of(s)->ext4->source;

	pf_survey_begin(source);
	p->unmeasured = s->why_off ? s->why_off :
			pf_survey_measure(source, s->dev[0], true, &p->speed);
	if (p->unmeasured || !s->options.measure)
		p->speed.seek_bound = s->options.seek_bound;
}

static double seconds_of(uint64_t ns)
{
	return (double)ns / 1e9;
}

static bool is_parallel(const struct pf_speed *speed)
{
	return speed->latency_qd8_ns * PF_SPEED_READS_QD8 <
	       speed->latency_ns * PARALLEL;
}

static double request_seconds(const struct ext4_probe *p)
{
	const struct pf_topology *topo = &p->topo;
	double latency = seconds_of(p->speed.latency_qd8_ns);
	double min = seconds_of(p->speed.min_latency_ns);

	if (topo->spindles && !topo->unsure)
		return latency * PART_DISK / topo->spindles;
	/* A wait for the processor was part of each of them. */
	if (!p->speed.seek_bound && min < latency)
		latency = min;
	return latency * (!p->speed.seek_bound ? PART_FLASH :
		       is_parallel(&p->speed) ? PART_LATE : PART_LIKE_DISK);
}

double ext4_probe_seconds(const struct ext4_probe *p)
{
	const struct pf_speed *speed = &p->speed;
	double numbers = (double)p->plan[EXT4_INDIRECT].bytes /
			 sizeof(uint32_t);
	uint64_t bytes = 0, requests = 0;
	unsigned i;

	if (p->unmeasured || (!speed->seek_bound &&
			     speed->latency_ns > BUSY * speed->min_latency_ns))
		return 0;
	for (i = 0; i < EXT4_CLASSES; i++) {
		bytes += p->plan[i].bytes;
		requests += p->plan[i].runs;
	}
	return (double)p->inodes * INODE_SECONDS + numbers * NUMBER_SECONDS +
	       (double)bytes * (double)speed->byte_ps / 1e12 +
	       (double)requests * request_seconds(p);
}

errcode_t ext4_probe(struct pf_session *session, struct ext4_probe *p)
{
	struct ext4_session *s = ext4_session_of(session);
	uint64_t tables = ext4_source_table_bytes(s->ext4);
	/* One group in `step` is sampled. */
	uint32_t step = (uint32_t)(tables / PROBE_TABLES) + 1;
	errcode_t err;

	memset(p, 0, sizeof(*p));
	p->topo = session->topo;
	p->block_size = s->geo.block_size;
	p->groups = s->geo.groups;
	p->inodes = tables / s->geo.inode_size;
	p->groups_sampled = (s->geo.groups + step - 1) / step;
	/* Measure before planning: the plan would bring the sampled blocks into
	 * the page cache. */
	measure(session, p);
	err = count_metadata(s, step, p->plan);
	if (err)
		return err;
	p->seconds = ext4_probe_seconds(p);
	return 0;
}
