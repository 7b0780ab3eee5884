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
#include "ext4/ext4_probe.h"
#include "report/words.h"

/* Where a check takes fewer seconds there is nothing to gain. */
#define SHORT 0.1

/* --longer-than: 0 if it is longer, EXIT_INCOMPLETE if that is not known. */
#define EXIT_NOT_LONGER 1

static void print_disks(const struct e2pf_topology *topo, const char *device)
{
	unsigned i;

	for (i = 0; i < topo->disks; i++)
		printf("%s%s, declared %s%s\n", i ? "          " :
		       "disk      ", topo->disk[i].name,
		       topo->disk[i].rotational ? "rotational" :
		       "not rotational",
		       topo->disk[i].one_request ? ", one request at a time" :
		       "");
	if (!topo->disks)
		printf("disk      %s: none found below it\n", device);
	if (topo->virtual_disk)
		printf("          virtual: what it declares may be wrong\n");
}

static void print_measured(const struct e2pf_probe *p)
{
	const struct e2pf_speed *speed = &p->speed;
	char alone[32], deep[32];

	if (!p->measured)
		printf("measured  nothing: %s\n", p->unmeasured);
	else
		printf("measured  %s for a small read, %s each with eight in "
		       "flight,\n"
		       "          %.0f MB/s sequential (at 11 places, %u of "
		       "them of metadata)\n",
		       in_milliseconds((double)speed->latency_ns / 1e9, alone,
				       sizeof(alone)),
		       in_milliseconds((double)speed->deep_latency_ns / 1e9,
				       deep, sizeof(deep)),
		       speed->byte_ps ? 1e6 / (double)speed->byte_ps : 0,
		       speed->metadata_places);
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
			       p->plan[i].bytes / p->report.block_size, p->plan[i].runs,
			       runs_in_words(p->plan[i].runs));
	if (p->groups_sampled < p->report.groups)
		printf("          estimated from %u of %u groups\n",
		       p->groups_sampled, p->report.groups);
}

static void print_decisions(const struct e2pf_probe *p)
{
	const struct e2pf_decision *d = p->report.decisions.item;
	size_t i;

	for (i = 0; i < p->report.decisions.count; i++)
		printf("%s%s: %s (%s)\n", i ? "          " : "a check   ",
		       d[i].about, d[i].decision, d[i].reason);
}

/* The one line for those who want no details. */
static void print_time(const struct e2pf_probe *p, const char *device)
{
	char stock[128], prefetch[128];

	if (!p->measured || !p->stock.high)
		printf("How long a check of %s takes is not known: %s.\n",
		       device, p->measured ? "the machine is busy, or the device: "
		       "some reads took much longer than others" : p->unmeasured);
	else if (p->stock.high < SHORT)
		printf("A check of %s takes less than 0.1 s, with prefetching "
		       "or without.\n", device);
	else
		printf("A check of %s takes about %s; with prefetching about "
		       "%s.\n", device,
		       in_range(&p->stock, stock, sizeof(stock)),
		       in_range(&p->prefetch, prefetch, sizeof(prefetch)));
}

static void print_probe(const struct e2pf_probe *p, const char *device)
{
	print_time(p, device);
	print_disks(&p->report.topo, device);
	print_measured(p);
	print_metadata(p);
	print_decisions(p);
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
	e2pf_close(session);
	if (err)
		return fail(device, err);
	if (!o.longer_than) {
		print_probe(&probe, device);
		return 0;
	}
	print_time(&probe, device);
	if (probe.prefetch.low > (double)o.longer_than)
		return 0;
	return probe.stock.high && probe.prefetch.high <= (double)o.longer_than ?
	       EXIT_NOT_LONGER : EXIT_INCOMPLETE;
}
