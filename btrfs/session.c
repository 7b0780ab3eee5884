/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The btrfs part of a session: the devices that a check has open, their
 * superblocks, and the source.
 */
#include <stdlib.h>
#include <string.h>

#include "session.h"

static const char *const stage_names[] = { "check" };

struct btrfs_session {
	struct pf_session base;
	struct bt_source btrfs;
};

struct bt_source *bt_session_source(const struct pf_session *session)
{
	return &((struct btrfs_session *)session)->btrfs;
}

static void report(struct pf_session *session, struct pf_report *r)
{
	r->block_size = bt_session_source(session)->map.super.nodesize;
	r->order = "by tree";
}

/* The check reads each tree block once.  How many there are is known when all
 * nodes have been read. */
static void get_progress(struct pf_session *session,
			 const struct pf_engine_stats *engine,
			 struct pf_progress *p)
{
	const struct bt_source *b = bt_session_source(session);
	uint64_t read = engine->checker_bytes / b->map.super.nodesize;

	p->position = (double)read;
	p->positions = read <= b->blocks ? (double)b->blocks : 0;
	p->unit = "tree blocks";
}

static void free_session(struct pf_session *session)
{
	bt_source_fini(bt_session_source(session));
	free(session);
}

static const struct pf_filesystem btrfs = {
	.stage_names = stage_names,
	.stages = 1,
	.report = report,
	.get_progress = get_progress,
	.free = free_session
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_rdev == b->st_rdev &&
	       (a->st_rdev || (a->st_dev == b->st_dev && a->st_ino == b->st_ino));
}

/* Open one device.  Returns NULL, or the reason why it cannot be used. */
static const char *add_device(struct btrfs_session *s, int fd,
			      const struct stat *st)
{
	struct pf_device *dev;
	const char *why;
	char path[32];

	if (s->base.devices == PF_MAX_DEVICES)
		return "too many devices";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pf_device_open(path, 0, &dev))
		return "cannot reopen a device";
	why = bt_chunk_map_add_device(&s->btrfs.map, fd);
	if (why) {
		dev->ops->close(dev);
		return why;
	}
	s->btrfs.bytes[s->base.devices] = dev->size;
	pf_session_add_device(&s->base, dev, st);
	return NULL;
}

/* If the first device cannot be used, neither can the filesystem.  Any other
 * device is left out, like a missing one. */
static const char *open_devices(struct btrfs_session *s,
				struct bt_opened *opened,
				unsigned count)
{
	const char *why = "no device was opened";
	struct stat st;
	unsigned i, j;

	for (i = 0; i < count; i++) {
		opened[i].index = -1;
		if (fstat(opened[i].fd, &st))
			continue;
		for (j = 0; j < s->base.devices; j++)
			if (is_same(&st, &s->base.stat[j]))
				break;
		if (j == s->base.devices)
			why = add_device(s, opened[i].fd, &st);
		if (j < s->base.devices)
			opened[i].index = (int)j;
		else if (!s->base.devices)
			return why;
	}
	return s->base.devices ? NULL : why;
}

static int read_block(void *ctx, const struct pf_ref *ref, void *bytes)
{
	struct pf_device *dev = ((struct pf_session *)ctx)->
				dev[ref->device];

	return dev->ops->read(dev, bytes, ref->offset, ref->length);
}

struct pf_session *bt_session_open(struct bt_opened *opened,
				   unsigned count, const char *name,
				   const struct pf_settings *settings,
				   const char **why)
{
	/* The check drops the page cache of its devices at its end. */
	const struct pf_options options = { .has_checker = true, .drain = true };
	struct btrfs_session *s = calloc(1, sizeof(*s));

	*why = "out of memory";
	if (!s)
		return NULL;
	if (!pf_session_init(&s->base, &btrfs, name, settings, &options))
		*why = open_devices(s, opened, count);
	if (!*why) {
		bt_source_init(&s->btrfs, read_block, &s->base);
		s->base.engine = pf_engine_new(&s->btrfs.source, s->base.dev);
		if (s->base.engine)
			return &s->base;
		*why = "out of memory";
	}
	pf_session_free(&s->base);
	return NULL;
}
