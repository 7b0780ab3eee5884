/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the stack of block devices in sysfs. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stack.h"
#include "sysfile.h"

#define SECTOR 512u

struct walk {
	e2pf_stack_sink sink;
	void *ctx;
	unsigned devices;
};

/* What kind of device it is, in a word or two. */
static void name_kind(const char *dir, struct e2pf_stack_device *d)
{
	char text[48];

	d->kind[0] = '\0';
	if (e2pf_exists(dir, "partition"))
		snprintf(d->kind, sizeof(d->kind), "partition");
	else if (e2pf_read_text(dir, "md/level", text, sizeof(text)) > 0)
		snprintf(d->kind, sizeof(d->kind), "md %s", text);
	else if (e2pf_read_text(dir, "dm/uuid", text, sizeof(text)) > 0)
		snprintf(d->kind, sizeof(d->kind), "dm %.*s",
			 (int)strcspn(text, "-"), text);
	else if (e2pf_exists(dir, "loop"))
		snprintf(d->kind, sizeof(d->kind), "loop");
	else if (e2pf_read_text(dir, "device/model", text, sizeof(text)) > 0)
		snprintf(d->kind, sizeof(d->kind), "%s", text);
}

/* A partition has the queue of its disk, which is its parent directory. */
static void describe(const char *dir, struct e2pf_stack_device *d)
{
	const char *base = strrchr(dir, '/');
	bool part = e2pf_exists(dir, "partition");
	uint64_t sectors = 0, rotational = 0, depth = 0;

	snprintf(d->name, sizeof(d->name), "%s", base ? base + 1 : dir);
	e2pf_read_u64(dir, "size", &sectors);
	d->bytes = sectors * SECTOR;
	e2pf_read_u64(dir, part ? "../queue/rotational" : "queue/rotational",
		      &rotational);
	d->rotational = rotational;
	e2pf_read_u64(dir, part ? "../device/queue_depth" :
		      "device/queue_depth", &depth);
	d->queue_depth = (uint32_t)depth;
	name_kind(dir, d);
}

static int is_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void walk_dir(struct walk *w, const char *dir, unsigned level);

/* Walk the devices it consists of, in order of their names. */
static void walk_slaves(struct walk *w, struct dirent **list, int n,
			const char *slaves, unsigned level)
{
	char link[PATH_MAX], path[PATH_MAX];
	int i;

	for (i = 0; i < n; i++) {
		if (!e2pf_path(link, sizeof(link), "%s/%s", slaves,
			       list[i]->d_name) && realpath(link, path))
			walk_dir(w, path, level);
		free(list[i]);
	}
	free(list);
}

static void walk_dir(struct walk *w, const char *dir, unsigned level)
{
	struct e2pf_stack_device d = { .level = level };
	struct dirent **list = NULL;
	char slaves[PATH_MAX], parent[PATH_MAX];
	int n = -1;

	if (level >= E2PF_STACK_LEVELS || w->devices >= E2PF_STACK_DEVICES)
		return;
	w->devices++;
	describe(dir, &d);
	if (!e2pf_path(slaves, sizeof(slaves), "%s/slaves", dir))
		n = scandir(slaves, &list, is_name, alphasort);
	w->sink(w->ctx, &d);
	if (n > 0)
		walk_slaves(w, list, n, slaves, level + 1);
	else
		free(list);
	if (e2pf_exists(dir, "partition") &&
	    !e2pf_path(parent, sizeof(parent), "%s", dir)) {
		*strrchr(parent, '/') = '\0';
		walk_dir(w, parent, level + 1);
	}
}

void e2pf_stack_walk(const char *sysroot, const struct stat *st,
		     e2pf_stack_sink sink, void *ctx)
{
	struct walk w = { .sink = sink, .ctx = ctx };
	dev_t dev = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
	char link[PATH_MAX], path[PATH_MAX];

	if (!e2pf_path(link, sizeof(link), "%s/sys/dev/block/%u:%u", sysroot,
		       major(dev), minor(dev)) && realpath(link, path))
		walk_dir(&w, path, 0);
}
