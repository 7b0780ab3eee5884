/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much memory a session may use, from meminfo and every level of
 * the process's cgroups, v1, v2 or both at once.  Its use is the
 * caller's.  A file that cannot be read sets no limit.
 */
#include <stdbool.h>
#include <string.h>

#include "budget.h"
#include "cgroup.h"
#include "share.h"
#include "lib/sysfile.h"

/*
 * When the kernel reclaims, it moves pages from the active file list until the
 * inactive one has a good part of both: 1/15 with 24 GiB.  So this much can be
 * had whatever the inactive list holds now.
 */
#define MIN_IDLE 16

/*
 * A version's names of a group's limit, the one above which it throttles, its
 * use, and in memory.stat the file pages on the LRU lists and those of them
 * that must be written first.  The "file" and "cache" figures would also count
 * tmpfs, which cannot be dropped.
 */
struct version {
	const char *limit, *high, *used, *inactive, *active, *dirty,
		*writeback;
};

static const struct version v1 = {
	"memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
	"total_inactive_file", "total_active_file", "total_dirty",
	"total_writeback"
}, v2 = {
	"memory.max", "memory.high", "memory.current", "inactive_file",
	"active_file", "file_dirty", "file_writeback"
};

/* A line "KEY NUMBER" of a file. */
struct field {
	const char *key;		/* NULL: the last one of an array */
	uint64_t value;		/* stays as it is without such a line */
};

/* The smallest limit among all levels of the hierarchies. */
struct limit {
	const char *sysroot;
	bool idle;		/* do not count pages in use as available */
	uint64_t bytes;
};

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void read_field(void *ctx, char *text)
{
	struct field *f;
	size_t length;

	for (f = ctx; f->key; f++) {
		length = strlen(f->key);
		if (!strncmp(text, f->key, length) && text[length] &&
		    strchr(" \t", text[length])) {
			text += length;
			(void)e2pf_parse_u64(text + strspn(text, " \t"),
					     &f->value);
			return;
		}
	}
}

/* At most `all` bytes are available; `idle` of them are not in use. */
static void lower_limit(struct limit *limit, uint64_t all, uint64_t idle)
{
	if (limit->idle && idle < all)
		all = idle > all / MIN_IDLE ? idle : all / MIN_IDLE;
	if (all < limit->bytes)
		limit->bytes = all;
}

/* One level of a hierarchy. */
static void lower_by_cgroup(void *ctx, const char *dir, int version)
{
	const struct version *v = version == 1 ? &v1 : &v2;
	uint64_t max = UINT64_MAX, high = UINT64_MAX, used = 0, idle, busy;
	struct field stat[] = {
		{ v->inactive, 0 }, { v->active, 0 }, { v->dirty, 0 },
		{ v->writeback, 0 }, { NULL, 0 }
	};
	struct limit *limit = ctx;

	/* "max" is not a number, and means no limit.  In version 1 that is
	 * LONG_MAX rounded to pages of some size. */
	(void)e2pf_read_u64(dir, v->limit, &max);
	if (v->high)
		(void)e2pf_read_u64(dir, v->high, &high);
	if (high < max)
		max = high;
	if (max >= INT64_MAX / 2)
		return;
	(void)e2pf_read_u64(dir, v->used, &used);
	(void)e2pf_read_lines(dir, "memory.stat", read_field, stat);
	idle = stat[0].value;
	busy = plus(stat[2].value, stat[3].value);
	lower_limit(limit, minus(max, minus(used,
					    minus(plus(idle, stat[1].value),
							busy))),
		    minus(max, minus(used, minus(idle, busy))));
}

static uint64_t bytes_of(uint64_t kib)
{
	return kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
}

uint64_t pf_budget_query_memory(const char *sysroot, bool idle)
{
	struct limit limit = { sysroot, idle, UINT64_MAX };
	struct field info[] = {
		{ "MemFree:", UINT64_MAX }, { "Inactive(file):", UINT64_MAX },
		{ "MemAvailable:", UINT64_MAX }, { NULL, 0 }
	};
	uint64_t available, unused;

	(void)e2pf_read_lines(sysroot, "proc/meminfo", read_field, info);
	unused = plus(bytes_of(info[0].value), bytes_of(info[1].value));
	/* Before Linux 3.14 there is no MemAvailable. */
	available = bytes_of(info[2].value);
	lower_limit(&limit, available == UINT64_MAX ? unused : available,
		    unused);
	pf_cgroup_visit(sysroot, "memory", lower_by_cgroup, &limit);
	return limit.bytes == UINT64_MAX ? limit.bytes :
	       limit.bytes / pf_share_count();
}
