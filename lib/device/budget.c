/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much memory a session may use, from meminfo and every level of
 * the process's control groups, v1, v2 or both at once.  Its use is the
 * caller's.  A file that cannot be read sets no limit.
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "budget.h"
#include "share.h"
#include "sysfile.h"

/*
 * When the kernel reclaims, it moves pages from the active file list until the
 * inactive one has a good part of both: 1/15 with 24 GiB.  So this much can be
 * had whatever the inactive list holds now.
 */
#define IDLE_LEAST 16

/* The files below are a page or two. */
#define TEXT_BYTES 8192

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

/* The number in the first line "KEY NUMBER"; `none` without such a line. */
static uint64_t number_of(const char *text, const char *key, uint64_t none)
{
	size_t length = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, key, length) ||
		    !strchr(" \t", text[length]))
			continue;
		text += length + strspn(text + length, " \t");
		(void)e2pf_parse_u64(text, &none);
		break;
	}
	return none;
}

/* At most `all` bytes are available; `idle` of them are not in use. */
static void lower(struct limit *limit, uint64_t all, uint64_t idle)
{
	if (limit->idle && idle < all)
		all = idle > all / IDLE_LEAST ? idle : all / IDLE_LEAST;
	if (all < limit->bytes)
		limit->bytes = all;
}

/* One level of a hierarchy. */
static void lower_by_group(struct limit *limit, const char *dir,
			   const struct version *v)
{
	uint64_t most = UINT64_MAX, high = UINT64_MAX, used = 0, idle, busy;
	char text[TEXT_BYTES];

	/* "max" is not a number, and means no limit.  In version 1 that is
	 * LONG_MAX rounded to pages of some size. */
	(void)e2pf_read_u64(dir, v->limit, &most);
	if (v->high)
		(void)e2pf_read_u64(dir, v->high, &high);
	if (high < most)
		most = high;
	if (most >= INT64_MAX / 2)
		return;
	(void)e2pf_read_u64(dir, v->used, &used);
	(void)e2pf_read_text(dir, "memory.stat", text, sizeof(text));
	busy = plus(number_of(text, v->dirty, 0),
		    number_of(text, v->writeback, 0));
	idle = number_of(text, v->inactive, 0);
	lower(limit, minus(most, minus(used, minus(plus(idle,
				number_of(text, v->active, 0)), busy))),
	      minus(most, minus(used, minus(idle, busy))));
}

/* The group `path` in the hierarchy at `mount`, and each one above it.  In a
 * container that sees its host's paths only the top exists. */
static void lower_by_path(struct limit *limit, const char *mount,
			  const char *path, const struct version *v)
{
	char dir[PATH_MAX], *slash;
	size_t top;

	if (e2pf_path(dir, sizeof(dir), "%s/sys/fs/cgroup%s", limit->sysroot,
		      mount))
		return;
	top = strlen(dir);
	if (e2pf_path(dir, sizeof(dir), "%s/sys/fs/cgroup%s%s", limit->sysroot,
		      mount, strstr(path, "/..") ? "" : path))
		return;
	for (;;) {
		lower_by_group(limit, dir, v);
		slash = strrchr(dir + top, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* This process's groups: in the v1 hierarchy of memory and in the v2 one, where
 * systemd mounts them. */
static void lower_by_groups(struct limit *limit)
{
	char text[TEXT_BYTES], *rest = text, *path;

	(void)e2pf_read_text(limit->sysroot, "proc/self/cgroup", text,
			     sizeof(text));
	while ((path = strsep(&rest, "\n"))) {
		const char *id = strsep(&path, ":");
		const char *controllers = strsep(&path, ":");

		if (!controllers || !path)
			continue;
		if (!strcmp(controllers, "memory")) {
			lower_by_path(limit, "/memory", path, &v1);
		} else if (!*controllers && !strcmp(id, "0")) {
			lower_by_path(limit, "", path, &v2);
		}
	}
}

static uint64_t kib_of(const char *text, const char *key)
{
	uint64_t kib = number_of(text, key, UINT64_MAX);

	return kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
}

uint64_t e2pf_memory_share(const char *sysroot, bool idle)
{
	struct limit limit = { sysroot, idle, UINT64_MAX };
	uint64_t available, unused;
	char text[TEXT_BYTES];

	(void)e2pf_read_text(sysroot, "proc/meminfo", text, sizeof(text));
	unused = plus(kib_of(text, "MemFree:"),
		      kib_of(text, "Inactive(file):"));
	/* Before Linux 3.14 there is no MemAvailable. */
	available = kib_of(text, "MemAvailable:");
	lower(&limit, available == UINT64_MAX ? unused : available, unused);
	lower_by_groups(&limit);
	return limit.bytes == UINT64_MAX ? limit.bytes :
	       limit.bytes / e2pf_share_count();
}
