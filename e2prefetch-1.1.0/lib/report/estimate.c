/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model of the time that a check takes.  doc/estimates.md compares it with
 * real checks on modelled disks, and gives the command that repeats the
 * comparison.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "estimate.h"
#include "probe.h"

/* The CPU time of e2fsck in seconds: 0.24 for 203,000 inodes, 0.19 for 67,000
 * indirect blocks of 1024 numbers each (make -C bench timing, the CPU bound).
 * Other processors take half to twice as long. */
#define INODE_SECONDS 1.2e-6
#define NUMBER_SECONDS 2.8e-9

/* The accelerations halve the CPU time. */
#define ACCELERATED 0.5

/* The windows in which the kernel reads a sequence: 16 KiB at first, 128 KiB
 * for inode tables. */
#define WINDOW_BYTES 16384.0
#define TABLE_WINDOW_BYTES 131072.0

/* The cost of a request that is read ahead, as a fraction of the latency with
 * eight in flight: less, because requests are sorted and many are in flight. */
#define AHEAD_LEAST (1.0 / 8)
#define AHEAD_MOST (1.0 / 2)

/* The speed of a device whose transfer was not measured. */
#define USUAL_BYTES_PER_SECOND 125000000u

/* Seconds.  Of reads that are faster, the processor's part is a good part, and on
 * a busy machine most: a check of SATA flash that takes 2.1 s without prefetching
 * was forecast to take 11. */
#define LEAST_DEEP_LATENCY 0.0002

/* Where the expected time lies between the lowest (0) and the highest (1). */
#define EXPECT_HEAD 0.3
#define EXPECT_FLASH 0.5

struct amounts {
	double runs, bytes;
	double far, near;	/* requests without readahead */
};

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void count(const struct e2pf_probe *p, struct amounts *a)
{
	unsigned i;

	memset(a, 0, sizeof(*a));
	for (i = 0; i < E2PF_CLASSES; i++) {
		double bytes = (double)p->plan[i].blocks * p->block_size;
		double runs = (double)p->plan[i].runs;

		/* A check that replays no journal does not read it. */
		if (i == E2PF_FILES)
			continue;
		a->runs += runs;
		a->bytes += bytes;
		a->near += larger(bytes - runs * p->block_size, 0) /
			   (i == E2PF_INODES ? TABLE_WINDOW_BYTES :
					       WINDOW_BYTES);
	}
	a->far = a->runs;
}

static double computing(const struct e2pf_probe *p)
{
	uint64_t each = p->block_size / sizeof(uint32_t);
	double numbers = (double)(p->plan[E2PF_INDIRECT].blocks * each);

	return (double)p->inodes * INODE_SECONDS + numbers * NUMBER_SECONDS;
}

static void expect(const struct e2pf_probe *p, struct e2pf_estimate *r)
{
	r->expected = r->low + (r->high - r->low) *
		      (p->block_order ? EXPECT_HEAD : EXPECT_FLASH);
}

/* The lowest estimate assumes that half of the far requests are near. */
static void wait_alone(const struct e2pf_probe *p, const struct amounts *a,
		       struct e2pf_estimate *wait)
{
	double transfer = a->bytes / (double)p->bytes_per_second;

	if (p->block_order) {
		wait->low = a->far / 2 * p->deep_latency / 2 + transfer;
		wait->high = a->far * (p->latency + p->deep_latency) +
			     a->near * p->deep_latency / 16 + transfer;
	} else {
		wait->low = (a->far + a->near) * p->latency / 2;
		wait->high = (a->far + a->near) * p->latency + transfer;
	}
}

static void wait_ahead(const struct e2pf_probe *p, unsigned heads,
		       const struct amounts *a,
		       struct e2pf_estimate *wait)
{
	double transfer = a->bytes / (double)p->bytes_per_second;
	double requests = a->runs * p->deep_latency;

	wait->low = requests * AHEAD_LEAST / (heads ? heads : 1) +
		    transfer / 2;
	wait->high = requests * (p->block_order ? AHEAD_MOST : 1) + transfer;
}

void e2pf_estimate_check(struct e2pf_probe *p, unsigned heads)
{
	struct e2pf_estimate alone = { .low = 0 }, ahead = { .low = 0 };
	double cpu = computing(p);
	struct amounts a;

	p->stock = p->prefetch = alone;
	if (!p->measured)
		return;
	count(p, &a);
	wait_alone(p, &a, &alone);
	wait_ahead(p, heads, &a, &ahead);
	p->stock.low = cpu / 2 + alone.low;
	p->stock.high = cpu * 2 + alone.high;
	/* Computing and reading overlap. */
	p->prefetch.low = larger(cpu * ACCELERATED / 2, ahead.low);
	p->prefetch.high = cpu * ACCELERATED * 2 + ahead.high;
	expect(p, &p->stock);
	expect(p, &p->prefetch);
}

double e2pf_estimate_without(const struct e2pf_engine_stats *stats,
			     uint32_t block_size, double seconds)
{
	struct e2pf_probe p = {
		.block_size = block_size, .block_order = stats->has_head,
		.latency = (double)stats->latency_ns / 1e9,
		.deep_latency = (double)stats->deep_latency_ns / 1e9,
		.bytes_per_second = USUAL_BYTES_PER_SECOND
	};
	uint64_t waited_ns = 0, own_ns = stats->own_stall_ns;
	struct e2pf_estimate wait;
	struct amounts a;
	double gain;
	unsigned i;

	if (!stats->latency_ns || p.deep_latency < LEAST_DEEP_LATENCY)
		return 0;
	/* On a head most of the blocks that were read ahead lie not far from the
	 * one that the check reads before: each costs what one of a sorted queue
	 * does, and not what a read at any place does. */
	if (p.block_order && p.latency > p.deep_latency)
		p.latency = p.deep_latency;
	for (i = 0; i < E2PF_CLASSES; i++)
		p.plan[i] = (struct e2pf_class_plan) {
			.blocks = stats->asked[i].bytes / block_size,
			.runs = stats->asked[i].runs
		};
	count(&p, &a);
	wait_alone(&p, &a, &wait);
	expect(&p, &wait);
	for (i = 0; i < E2PF_STAGES; i++)
		waited_ns += stats->stage[i].stall_ns;
	/* It would have waited for the rest just the same. */
	gain = wait.expected;
	if (waited_ns > own_ns)
		gain -= (double)(waited_ns - own_ns) / 1e9;
	return gain > 0 ? seconds + gain : 0;
}
