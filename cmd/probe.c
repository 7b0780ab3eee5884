/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch probe: prints the kind of a device, how long a check of it would take, and
 * how much metadata that check would read.  The library finds these out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "prefetch/spindle.h"
#include "ext4/session.h"

/* The time may be wrong by this factor.  --longer-than: 0 if it is longer,
 * EXIT_INCOMPLETE if the two differ by less than that. */
#define DOUBT 3
#define EXIT_NOT_LONGER 1

static void print_disks(const struct pf_topology *topo, const char *device)
{
	unsigned i;

	for (i = 0; i < topo->disks; i++)
		printf("%s%s, %srotational\n", i ? "          " :
		       "disk      ", topo->disk[i].name,
		       topo->disk[i].rotational ? "" : "not ");
	if (!topo->disks)
		printf("disk      none found below %s\n", device);
	if (topo->unsure)
		printf("          unreliable: a virtual disk, or behind a bridge\n");
}

static void print_measured(const struct ext4_probe *p)
{
	const struct pf_speed *speed = &p->speed;

	if (p->unmeasured) {
		printf("measured  nothing: %s\n", p->unmeasured);
		return;
	}
	printf("measured  %.2f ms for a small read, %.2f ms each with eight in "
	       "flight,\n          ", (double)speed->latency_ns / 1e6,
	       (double)speed->latency_qd8_ns / 1e6);
	if (speed->byte_ps)
		printf("%.0f MB/s sequential; ", 1e6 / (double)speed->byte_ps);
	printf("%sseek-bound%s\n", speed->seek_bound ? "" : "not ",
	       pf_spindle_is_single(&p->topo, speed->seek_bound) ?
	       ", single spindle" : "");
}

static void print_class(const char *name, const struct pf_class_count *c,
			uint64_t block_size)
{
	printf("%-12s %12" PRIu64 " %12" PRIu64 " %14" PRIu64 "\n", name,
	       c->bytes / block_size, c->runs, c->bytes / 1024);
}

static void print_plan(const struct pf_class_count *plan, uint64_t block_size)
{
	struct pf_class_count all = { .bytes = 0 };
	unsigned i;

	printf("%-12s %12s %12s %14s\n", "class", "blocks", "runs", "KiB");
	for (i = 0; i < EXT4_CLASSES; i++) {
		print_class(ext4_class_names[i], &plan[i], block_size);
		all.bytes += plan[i].bytes;
		all.runs += plan[i].runs;
	}
	print_class("all", &all, block_size);
}

static void print_metadata(const struct ext4_probe *p)
{
	printf("inodes    %" PRIu64 " to check", p->inodes);
	if (p->groups_sampled < p->groups)
		printf("; estimated, as below, from %u of %u groups",
		       p->groups_sampled, p->groups);
	putchar('\n');
	print_plan(p->plan, p->block_size);
}

/* The one line for those who want no details. */
static void print_time(const struct ext4_probe *p)
{
	bool short_one = p->seconds < 1;
	char text[32];

	if (p->seconds <= 0)
		printf("estimate: unknown (%s)\n", p->unmeasured ? p->unmeasured :
		       "read times vary too much: the machine or the device is busy");
	else
		printf("estimate: %s %s for a prefetched check\n",
		       short_one ? "at most" : "about",
		       pf_report_format_seconds(short_one ? 1 : p->seconds, text,
						sizeof(text)));
}

/* 0, or another status: whether a check takes longer than `limit` seconds. */
static int is_longer(const struct ext4_probe *p, double limit)
{
	if (p->seconds >= limit * DOUBT)
		return 0;
	return p->seconds > 0 && p->seconds <= limit / DOUBT ?
	       EXIT_NOT_LONGER : EXIT_INCOMPLETE;
}

int probe_command(int argc, char **argv)
{
	static struct ext4_probe probe;
	struct targets targets = { .count = 0 };
	struct pf_session *session;
	struct options o;
	const char *device;
	errcode_t err;
	int status;

	status = parse_options(argc - 1, argv + 1, &o);
	if (status >= 0)
		return status;
	status = configure_options(&o);
	if (status)
		return status;
	o.settings.log = false;
	o.classes = EXT4_ALL_CLASSES;
	o.one_filesystem = true;
	status = find_targets(&o, &targets);
	if (status)
		return status;
	targets.item[0].whole = true;
	device = targets.item[0].device;
	if (targets.item[0].btrfs) {
		report(&o, device, "btrfs: no estimate");
		return EXIT_OPERATIONAL;
	}
	status = open_session(&o, &targets.item[0], &session);
	if (status)
		return status;
	err = ext4_probe(session, &probe);
	pf_session_free(session);
	if (err)
		return fail(&o, device, err);
	print_time(&probe);
	if (o.longer_than)
		return is_longer(&probe, (double)o.longer_than);
	print_disks(&probe.topo, device);
	print_measured(&probe);
	print_metadata(&probe);
	return 0;
}
