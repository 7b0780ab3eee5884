/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch probe: prints what a device is, what a check of
 * it would read, and how long that would take.  The library finds it out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "device/spindle.h"
#include "ext4/ext4_probe.h"
#include "report/words.h"

/* The time may be wrong by this factor.  --longer-than: 0 if it is longer,
 * EXIT_INCOMPLETE if the two differ by less than that. */
#define DOUBT 3
#define EXIT_NOT_LONGER 1

static void print_disks(const struct e2pf_topology *topo, const char *device)
{
	unsigned i;

	for (i = 0; i < topo->disks; i++)
		printf("%s%s, declared %s%s\n", i ? "          " :
		       "disk      ", topo->disk[i].name,
		       topo->disk[i].rotational ? "a spindle" : "no spindle",
		       topo->disk[i].one_request ? ", one request at a time" :
		       "");
	if (!topo->disks)
		printf("disk      %s: none found below it\n", device);
	if (topo->unsure)
		printf("          it may not be: virtual, or behind a bridge\n");
}

static void print_measured(const struct e2pf_probe *p)
{
	const struct e2pf_speed *speed = &p->speed;
	char alone[32], deep[32];

	if (!p->measured) {
		printf("measured  nothing: %s\n", p->unmeasured);
		return;
	}
	printf("measured  %s for a small read, %s each with eight in flight,\n"
	       "          ", in_milliseconds((double)speed->latency_ns / 1e9,
					     alone, sizeof(alone)),
	       in_milliseconds((double)speed->deep_latency_ns / 1e9, deep,
			       sizeof(deep)));
	if (speed->byte_ps)
		printf("%.0f MB/s sequential; ", 1e6 / (double)speed->byte_ps);
	printf("it %s%s\n", speed->seeks ? "seeks" : "does not seek",
	       e2pf_single_spindle(&p->topo, speed->seeks) ?
	       ": a single spindle" : "");
}

static const char *runs_in_words(uint64_t runs)
{
	return runs == 1 ? "run" : "runs";
}

static void print_metadata(const struct e2pf_probe *p)
{
	uint64_t bytes = 0, runs = 0;
	unsigned i;

	for (i = 0; i < E2PF_CLASSES; i++) {
		bytes += p->plan[i].bytes;
		runs += p->plan[i].runs;
	}
	printf("metadata  %.1f MiB in %" PRIu64 " %s, %" PRIu64
	       " inodes to check\n", (double)bytes / (1u << 20), runs, runs_in_words(runs),
	       p->inodes);
	for (i = 0; i < E2PF_CLASSES; i++)
		if (p->plan[i].bytes)
			printf("          %-12s %10" PRIu64 " blocks in %"
			       PRIu64 " %s\n", e2pf_class_names[i],
			       p->plan[i].bytes / p->block_size, p->plan[i].runs,
			       runs_in_words(p->plan[i].runs));
	if (p->groups_sampled < p->groups)
		printf("          estimated from %u of %u groups\n",
		       p->groups_sampled, p->groups);
}

/* The one line for those who want no details. */
static void print_time(const struct e2pf_probe *p, const char *device)
{
	const double shown[] = { p->seconds, p->seconds / 60, p->seconds / 3600 };
	static const char *const units[] = { "second", "minute", "hour" };
	unsigned unit = shown[0] < 100 ? 0 : shown[1] < 100 ? 1 : 2;

	if (p->seconds <= 0)
		printf("How long a check of %s takes is not known: %s.\n",
		       device, p->measured ? "the machine is busy, or the device: "
		       "some reads took much longer than others" : p->unmeasured);
	else if (p->seconds < 1)
		printf("A check of %s that prefetches takes about a second or "
		       "less.\n", device);
	else
		printf("A check of %s that prefetches takes some %.0f %s%s.\n",
		       device, shown[unit], units[unit],
		       shown[unit] < 1.5 ? "" : "s");
}

/* 0, or another status: whether a check takes longer than `limit` seconds. */
static int is_longer(const struct e2pf_probe *p, double limit)
{
	if (p->seconds >= limit * DOUBT)
		return 0;
	return p->seconds > 0 && p->seconds <= limit / DOUBT ?
	       EXIT_NOT_LONGER : EXIT_INCOMPLETE;
}

static void print_probe(const struct e2pf_probe *p, const char *device)
{
	print_time(p, device);
	print_disks(&p->topo, device);
	print_measured(p);
	print_metadata(p);
}

int probe_command(int argc, char **argv)
{
	static struct e2pf_probe probe;
	struct targets targets = { .count = 0 };
	struct e2pf_session *session;
	struct options o;
	const char *device;
	errcode_t err;
	int status;

	status = parse_options(argc, argv, &o);
	if (status >= 0)
		return status;
	status = configure_options(&o);
	if (status)
		return status;
	o.classes = E2PF_ALL_CLASSES;
	o.one_filesystem = true;
	status = find_targets(&o, &targets);
	if (status)
		return status;
	targets.item[0].whole = true;
	device = targets.item[0].device;
	err = open_session(&o, &targets.item[0], &session, NULL);
	if (err)
		return fail(device, err);
	err = e2pf_probe(session, &probe);
	e2pf_session_free(session);
	if (err)
		return fail(device, err);
	if (!o.longer_than) {
		print_probe(&probe, device);
		return 0;
	}
	print_time(&probe, device);
	return is_longer(&probe, (double)o.longer_than);
}
