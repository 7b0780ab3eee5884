/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides how much memory and how many processors a session may use, from
 * meminfo, the affinity mask and every level of the process's control groups,
 * v1, v2 or both at once.  Does not know what they are used for.  What cannot
 * be read sets no limit.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "budget.h"
#include "sysfile.h"

/* The smallest limit among all levels of the hierarchies. */
struct limits {
	uint64_t memory;		/* bytes */
	uint64_t processors;
	bool idle;			/* memory: do not count pages in use */
};

/*
 * When the kernel reclaims, it moves pages from the active file list until the
 * inactive one has a good part of both: 1/15 with 24 GiB.  So this much can be
 * had whatever the inactive list holds now.
 */
#define IDLE_LEAST 16

/* Called for one control group directory, of version 1 or 2. */
typedef void (*level_fn)(const char *dir, bool v2, struct limits *limits);

static void lower(uint64_t *limit, uint64_t value)
{
	if (value < *limit)
		*limit = value;
}

/*
 * The values of lines "KEY VALUE" of a file, for a table of keys.  If a key is
 * not in the file, its value stays as it was.  A unit at the end is ignored.
 */
struct keyed {
	const char *key;
	uint64_t value;
	bool found;
};

static void read_keyed(const char *dir, const char *name, struct keyed *table,
		       size_t n)
{
	struct e2pf_lines lines;
	char *line;
	size_t i;

	if (e2pf_lines_open(&lines, dir, name))
		return;
	while ((line = e2pf_lines_next(&lines))) {
		char *rest = line;
		char *key = strsep(&rest, " \t");
		char *value = NULL;

		while (rest && !(value && *value))
			value = strsep(&rest, " \t");
		for (i = 0; value && i < n; i++)
			if (!table[i].found && !strcmp(key, table[i].key) &&
			    !e2pf_parse_u64(value, &table[i].value))
				table[i].found = true;
	}
	e2pf_lines_close(&lines);
}

/*
 * Bytes of file pages of the group at `dir` and below that can be dropped
 * without being written: those on the LRU lists minus the dirty ones.  *idle:
 * those of the inactive list alone.  The "file" and "cache" figures would also
 * count tmpfs, which cannot be dropped.
 */
static uint64_t clean_file_bytes(const char *dir, bool v2, uint64_t *idle)
{
	struct keyed v1_table[] = {
		{ .key = "total_inactive_file" }, { .key = "total_active_file" },
		{ .key = "total_dirty" }, { .key = "total_writeback" },
	};
	struct keyed v2_table[] = {
		{ .key = "inactive_file" }, { .key = "active_file" },
		{ .key = "file_dirty" }, { .key = "file_writeback" },
	};
	struct keyed *t = v2 ? v2_table : v1_table;
	uint64_t file, busy;

	*idle = 0;
	read_keyed(dir, "memory.stat", t, 4);
	if (__builtin_add_overflow(t[0].value, t[1].value, &file) ||
	    __builtin_add_overflow(t[2].value, t[3].value, &busy))
		return 0;
	if (t[0].value > busy)
		*idle = t[0].value - busy;
	return file > busy ? file - busy : 0;
}

/* Lower the limit on memory to `all` bytes, of which `idle` are not in use. */
static void lower_memory(struct limits *limits, uint64_t all, uint64_t idle)
{
	if (limits->idle && idle < all)
		all = idle > all / IDLE_LEAST ? idle : all / IDLE_LEAST;
	lower(&limits->memory, all);
}

static void memory_level(const char *dir, bool v2, struct limits *limits)
{
	uint64_t limit = UINT64_MAX, high, used = 0, busy, clean = 0, idle = 0;

	/* "max" is not a number, and means no limit. */
	if (v2) {
		if (e2pf_read_u64(dir, "memory.max", &limit))
			limit = UINT64_MAX;
		/* Above "high" the group is throttled, so it counts as a
		 * limit. */
		if (!e2pf_read_u64(dir, "memory.high", &high))
			lower(&limit, high);
	} else if (e2pf_read_u64(dir, "memory.limit_in_bytes", &limit) ||
		   limit >= INT64_MAX / 2) {
		/* Without a limit the file holds LONG_MAX rounded to pages of
		 * some size. */
		limit = UINT64_MAX;
	}
	if (limit == UINT64_MAX)
		return;
	if (!e2pf_read_u64(dir, v2 ? "memory.current" :
			   "memory.usage_in_bytes", &used))
		clean = clean_file_bytes(dir, v2, &idle);
	busy = used > idle ? used - idle : 0;
	used = used > clean ? used - clean : 0;
	lower_memory(limits, limit > used ? limit - used : 0,
		     limit > busy ? limit - busy : 0);
}

static void cpu_level(const char *dir, bool v2, struct limits *limits)
{
	uint64_t quota, period;
	char text[64], *rest = text, *first;

	if (v2) {
		if (e2pf_read_text(dir, "cpu.max", text, sizeof(text)) < 0)
			return;
		first = strsep(&rest, " ");
		if (!rest || e2pf_parse_u64(first, &quota) ||
		    e2pf_parse_u64(rest, &period))
			return;
	} else if (e2pf_read_u64(dir, "cpu.cfs_quota_us", &quota) ||
		   e2pf_read_u64(dir, "cpu.cfs_period_us", &period)) {
		/* Without a quota the file holds -1, which does not parse. */
		return;
	}
	if (!period || !quota)
		return;
	lower(&limits->processors, quota / period + !!(quota % period));
}

/* Does the comma-separated list contain the word? */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *p;

	for (p = list; p; p = strchr(p, ',')) {
		if (*p == ',')
			p++;
		if (!strncmp(p, word, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

/* Visit the directory of the group `path` in the hierarchy at `mount`, and each
 * one above it up to that.  In a container that sees its host's paths only the
 * top exists. */
static void visit_levels(const char *sysroot, const char *mount,
			 const char *path, bool v2, level_fn visit,
			 struct limits *limits)
{
	char dir[PATH_MAX];
	size_t top, len;

	if (e2pf_path(dir, sizeof(dir), "%s/sys/fs/cgroup%s", sysroot, mount))
		return;
	top = strlen(dir);
	if (e2pf_path(dir, sizeof(dir), "%s/sys/fs/cgroup%s%s", sysroot, mount,
		      strstr(path, "/..") ? "" : path))
		return;
	for (;;) {
		len = strlen(dir);
		while (len > top && dir[len - 1] == '/')
			dir[--len] = '\0';
		visit(dir, v2, limits);
		if (len <= top)
			return;
		while (len > top && dir[len - 1] != '/')
			dir[--len] = '\0';
	}
}

/* Visit every level of this process's groups that can have files of the
 * controller: in its v1 hierarchy and in the v2 one, where systemd mounts
 * them. */
static void visit_groups(const char *sysroot, const char *controller,
			 level_fn visit, struct limits *limits)
{
	struct e2pf_lines lines;
	char *line, mount[NAME_MAX];

	if (e2pf_lines_open(&lines, sysroot, "proc/self/cgroup"))
		return;
	while ((line = e2pf_lines_next(&lines))) {
		char *path = line;
		char *id = strsep(&path, ":");
		char *list = strsep(&path, ":");

		if (!list || !path)
			continue;
		if (!*list && !strcmp(id, "0")) {
			visit_levels(sysroot, "", path, true, visit, limits);
			visit_levels(sysroot, "/unified", path, true, visit,
				     limits);
		} else if (list_has(list, controller) &&
			   !strchr(list, '/') &&
			   !e2pf_path(mount, sizeof(mount), "/%s", list)) {
			visit_levels(sysroot, mount, path, false, visit,
				     limits);
		}
	}
	e2pf_lines_close(&lines);
}

static uint64_t from_kib(uint64_t kib)
{
	return kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
}

/* MemAvailable, or its parts on a kernel older than 3.14. */
static void machine_memory(const char *sysroot, struct limits *limits)
{
	struct keyed t[] = {
		{ .key = "MemAvailable:" }, { .key = "MemFree:" },
		{ .key = "Buffers:" }, { .key = "Cached:" },
		{ .key = "Shmem:" }, { .key = "Inactive(file):" },
	};
	uint64_t kib, idle;

	read_keyed(sysroot, "proc/meminfo", t, sizeof(t) / sizeof(t[0]));
	if (t[0].found) {
		kib = t[0].value;
	} else if (t[1].found) {
		/* Tmpfs pages are part of Cached and cannot be dropped. */
		if (__builtin_add_overflow(t[2].value, t[3].value, &kib))
			return;
		kib = kib > t[4].value ? kib - t[4].value : 0;
		if (__builtin_add_overflow(kib, t[1].value, &kib))
			return;
	} else {
		return;
	}
	if (!t[1].found || !t[5].found ||
	    __builtin_add_overflow(t[1].value, t[5].value, &idle))
		idle = UINT64_MAX;
	lower_memory(limits, from_kib(kib), from_kib(idle));
}

static uint64_t memory(const char *sysroot, bool idle)
{
	struct limits limits = { UINT64_MAX, UINT64_MAX, idle };

	machine_memory(sysroot, &limits);
	visit_groups(sysroot, "memory", memory_level, &limits);
	return limits.memory;
}

uint64_t e2pf_available_memory(const char *sysroot)
{
	return memory(sysroot, false);
}

uint64_t e2pf_idle_memory(const char *sysroot)
{
	return memory(sysroot, true);
}

/* The kernel refuses a mask smaller than its own; no architecture can be
 * configured for more than 8,192. */
static unsigned affinity_count(void)
{
	cpu_set_t set[8192 / CPU_SETSIZE];
	long online;
	int n;

	if (!sched_getaffinity(0, sizeof(set), set)) {
		n = CPU_COUNT_S(sizeof(set), set);
		return n > 0 ? (unsigned)n : 1;
	}
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

unsigned e2pf_available_processors(const char *sysroot)
{
	struct limits limits = { UINT64_MAX, UINT64_MAX, false };

	limits.processors = affinity_count();
	visit_groups(sysroot, "cpu", cpu_level, &limits);
	return limits.processors ? (unsigned)limits.processors : 1;
}
