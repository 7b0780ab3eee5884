/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: the devices that a check of btrfs has open, and an engine for
 * them.  What a device is comes from the topology, how it is read from the
 * policy, how much may be used from the budget, and what there is to read from
 * the source.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "btrfs_session.h"
#include "btrfs/btrfs_source.h"
#include "device/budget.h"
#include "device/policy.h"
#include "device/priority.h"
#include "device/share.h"
#include "device/topology.h"
#include "btrfs/inflight.h"
#include "statistics.h"
#include "summary.h"

enum btrfs_stage { STAGE_CHECK, STAGES };

static const char *const stage_names[STAGES] = { "check" };

struct e2pf_btrfs_session {
	struct e2pf_settings settings;
	struct e2pf_btrfs_super super;
	unsigned count;
	struct e2pf_device *dev[E2PF_DEVICES];
	struct e2pf_btrfs_member member[E2PF_DEVICES];
	struct stat st[E2PF_DEVICES];
	struct e2pf_btrfs *btrfs;
	struct e2pf_topology topo;	/* of all devices together */
	unsigned sharing;		/* checks, when reading began */
	struct e2pf_engine_config cfg;
	struct e2pf_engine *engine;
	struct e2pf_engine_stats last;	/* at the end */
	bool ended;
};

static uint64_t available(void *ctx)
{
	(void)ctx;
	return e2pf_idle_share("");
}

static unsigned sharers(void *ctx)
{
	(void)ctx;
	return e2pf_share_count("");
}

static void thread_begins(void *ctx)
{
	const struct e2pf_btrfs_session *s = ctx;

	e2pf_priority_set(s->settings.io_priority, s->settings.nice);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
		return a->st_rdev == b->st_rdev;
	return a->st_mode == b->st_mode && a->st_dev == b->st_dev &&
	       a->st_ino == b->st_ino;
}

static const char *read_super(struct e2pf_device *dev,
			      struct e2pf_btrfs_super *super)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];
	uint64_t offset = e2pf_btrfs_super_offset(0);

	if (dev->size < offset + sizeof(bytes) ||
	    dev->ops->read(dev, bytes, offset, sizeof(bytes)))
		return "the superblock cannot be read";
	switch (e2pf_btrfs_plan_super(bytes, offset, super)) {
	case E2PF_BTRFS_OK:
		return NULL;
	case E2PF_BTRFS_TREE_V2:
		return "a filesystem with extent-tree-v2";
	default:
		return "the superblock is damaged";
	}
}

/* The superblock of the filesystem is the newest of its devices; those with
 * another fsid are its seeds. */
static void take_super(struct e2pf_btrfs_session *s,
		       const struct e2pf_btrfs_super *super)
{
	if (!s->count ||
	    (!memcmp(super->fsid, s->super.fsid, E2PF_BTRFS_UUID) &&
	     super->generation > s->super.generation))
		s->super = *super;
}

/* Open one device; NULL, or why nothing can be done with it. */
static const char *add_device(struct e2pf_btrfs_session *s, int fd,
			      const struct stat *st)
{
	struct e2pf_btrfs_member *m = &s->member[s->count];
	struct e2pf_btrfs_super super;
	struct e2pf_device *dev, *settling;
	const char *why;
	char path[32];

	if (fcntl(fd, F_GETFL) & O_DIRECT)
		return "the check reads past the page cache";
	if (s->count == E2PF_DEVICES)
		return "more devices than can be followed";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (e2pf_device_open(path, 0, &dev))
		return "a device cannot be opened once more";
	settling = e2pf_inflight_new(dev);
	why = settling ? read_super(dev, &super) : "no memory";
	if (why) {
		(settling ? settling : dev)->ops->close(settling ? settling :
								  dev);
		return why;
	}
	m->bytes = dev->size;
	m->devid = super.devid;
	memcpy(m->uuid, super.device_uuid, E2PF_BTRFS_UUID);
	memcpy(m->node_fsid, super.node_fsid, E2PF_BTRFS_UUID);
	take_super(s, &super);
	s->st[s->count] = *st;
	s->dev[s->count++] = settling;
	return NULL;
}

/* The first device must do; another is left out, as one that is missing. */
static const char *open_devices(struct e2pf_btrfs_session *s,
				struct e2pf_btrfs_opened *opened,
				unsigned count)
{
	const char *why = "no device was opened";
	struct stat st;
	unsigned i, j;

	for (i = 0; i < count; i++) {
		opened[i].index = -1;
		if (fstat(opened[i].fd, &st))
			continue;
		for (j = 0; j < s->count && !is_same(&st, &s->st[j]); j++)
			;
		if (j == s->count)
			why = add_device(s, opened[i].fd, &st);
		if (j < s->count)
			opened[i].index = (int)j;
		else if (!s->count)
			return why;
	}
	return s->count ? NULL : why;
}

static const char *make_engine(struct e2pf_btrfs_session *s)
{
	s->btrfs = e2pf_btrfs_new(&s->super, s->member, s->count);
	if (!s->btrfs)
		return "no memory";
	s->cfg.source = e2pf_btrfs_source(s->btrfs);
	s->cfg.devices = s->dev;
	s->cfg.paced = true;
	s->cfg.exact = s->settings.figures;
	s->cfg.available = available;
	s->cfg.available_ctx = s;
	s->cfg.bandwidth = s->settings.bandwidth;
	s->cfg.requests = s->settings.requests;
	s->cfg.sharers = sharers;
	s->cfg.thread_begins = thread_begins;
	s->cfg.ungated = e2pf_priority_is_low(s->settings.io_priority);
	s->engine = e2pf_engine_new(&s->cfg);
	return s->engine ? NULL : "no memory";
}

struct e2pf_btrfs_session *e2pf_btrfs_session_open(
		struct e2pf_btrfs_opened *opened, unsigned count,
		const struct e2pf_settings *settings, const char **why)
{
	struct e2pf_btrfs_session *s = calloc(1, sizeof(*s));

	*why = "no memory";
	if (!s)
		return NULL;
	e2pf_share_join();
	if (settings)
		s->settings = *settings;
	*why = open_devices(s, opened, count);
	if (!*why)
		*why = make_engine(s);
	if (!*why)
		return s;
	e2pf_btrfs_session_close(s);
	return NULL;
}

bool e2pf_btrfs_session_in_system(const struct e2pf_btrfs_session *session,
				  unsigned device, uint64_t offset)
{
	return e2pf_btrfs_in_system(session->btrfs, device, offset);
}

/* Add the disks of one device to those of all.  One disk may be below
 * several. */
static void add_topology(struct e2pf_topology *all,
			 const struct e2pf_topology *one)
{
	unsigned i, j;

	for (i = 0; i < one->leaves && all->leaves < E2PF_MAX_LEAVES; i++) {
		for (j = 0; j < all->leaves; j++)
			if (!strcmp(all->leaf[j].name, one->leaf[i].name))
				break;
		if (j == all->leaves)
			all->leaf[all->leaves++] = one->leaf[i];
	}
	all->spindles += one->spindles;
}

/* What the devices are, and so how they are read: each disk with a head by an
 * elevator pass of its own. */
static void choose(struct e2pf_btrfs_session *s)
{
	unsigned processors = e2pf_available_processors(""), i;
	struct e2pf_engine_config *cfg = &s->cfg;
	struct e2pf_topology topo;
	struct e2pf_policy policy;
	bool blind = false;

	cfg->probe = true;
	for (i = 0; i < s->count; i++) {
		memset(&topo, 0, sizeof(topo));
		e2pf_topology_probe("", &s->st[i], &topo);
		if (topo.max_readahead)
			s->dev[i]->max_readahead = topo.max_readahead;
		e2pf_policy_choose(&topo, processors, &policy);
		if (policy.threads > cfg->threads)
			cfg->threads = policy.threads;
		cfg->head_threads += policy.has_head ? policy.head_threads : 0;
		cfg->has_head |= policy.has_head;
		cfg->probe &= policy.probe;
		blind |= s->dev[i]->blind;
		add_topology(&s->topo, &topo);
	}
	if (s->settings.threads)
		cfg->threads = cfg->head_threads = s->settings.threads;
	cfg->budget = s->settings.memory;
	if (!cfg->budget)
		cfg->budget = e2pf_memory_share("") / 2;
	/* To wait at the gate takes knowing when the block has come. */
	if (blind)
		cfg->has_head = cfg->probe = false;
	s->sharing = e2pf_share_count("");
}

static int read_block(void *ctx, const struct e2pf_ref *ref, void *bytes)
{
	struct e2pf_device *dev = ((struct e2pf_btrfs_session *)ctx)->
				  dev[ref->device];

	return dev->ops->read(dev, bytes, ref->offset, ref->length);
}

/* Only what is in memory, so that no disk is waited for. */
static int read_resident(void *ctx, const struct e2pf_ref *ref, void *bytes)
{
	struct e2pf_device *dev = ((struct e2pf_btrfs_session *)ctx)->
				  dev[ref->device];
	bool resident = false;

	if (dev->blind || dev->ops->span(dev, ref->offset, ref->length,
					 &resident) < ref->length || !resident)
		return EAGAIN;
	return read_block(ctx, ref, bytes);
}

void e2pf_btrfs_session_start(struct e2pf_btrfs_session *session)
{
	choose(session);
	e2pf_btrfs_learn_chunks(session->btrfs, session->cfg.probe ?
				read_block : read_resident, session);
	e2pf_engine_configure(session->engine, &session->cfg);
	e2pf_engine_stage(session->engine, STAGE_CHECK);
	e2pf_engine_start(session->engine);
}

struct e2pf_engine *e2pf_btrfs_session_engine(
		struct e2pf_btrfs_session *session)
{
	return session->engine;
}

bool e2pf_btrfs_session_brings(struct e2pf_btrfs_session *session,
			       unsigned *device, uint64_t *offset,
			       uint64_t length)
{
	struct e2pf_ref ref;
	bool planned;

	if (!e2pf_btrfs_copy_read(session->btrfs, *device, *offset, &ref,
				  &planned) || ref.length != length)
		return false;
	*device = ref.device;
	*offset = ref.offset;
	/* Without knowing what is in memory nothing is left out; and to look
	 * for what nobody reads ahead takes as long as the call. */
	return planned && !session->dev[ref.device]->blind &&
	       e2pf_engine_brings(session->engine, &ref, planned);
}

static void close_devices(struct e2pf_btrfs_session *s)
{
	unsigned i;

	for (i = 0; i < s->count; i++) {
		if (s->dev[i])
			s->dev[i]->ops->close(s->dev[i]);
		s->dev[i] = NULL;
	}
}

bool e2pf_btrfs_session_end(struct e2pf_btrfs_session *s, int milliseconds)
{
	bool gone;
	unsigned i;

	if (s->ended)
		return true;
	s->ended = true;
	gone = e2pf_engine_stop(s->engine, milliseconds);
	e2pf_engine_get_stats(s->engine, &s->last);
	if (!gone)
		return false;
	/* Where reads fail, waiting for one may take minutes. */
	for (i = 0; i < s->count && !s->last.errors; i++)
		e2pf_inflight_settle(s->dev[i], milliseconds);
	e2pf_engine_free(s->engine);
	s->engine = NULL;
	close_devices(s);
	return true;
}

void e2pf_btrfs_session_close(struct e2pf_btrfs_session *session)
{
	if (!session)
		return;
	e2pf_engine_free(session->engine);
	close_devices(session);
	e2pf_btrfs_free(session->btrfs);
	free(session);
	e2pf_share_leave();
}

static void describe_engine(const struct e2pf_btrfs_session *s,
			    const struct e2pf_engine_stats *st,
			    struct e2pf_decisions *list)
{
	unsigned long long failed = st->errors + st->failed_ahead;

	e2pf_statistics_threads(list, st, s->settings.threads);
	e2pf_statistics_order(list, st->has_head ? "in block order" :
			      "by tree, from several threads", st,
			      s->topo.spindles);
	if (failed)
		e2pf_decide(list, "errors", "counted", "%llu reads failed",
			    failed);
}

void e2pf_btrfs_session_describe(struct e2pf_btrfs_session *s,
				 struct e2pf_decisions *list)
{
	struct e2pf_engine_stats st = s->last;
	char text[64];

	if (!s->ended)
		e2pf_engine_get_stats(s->engine, &st);
	snprintf(text, sizeof(text), "%u", s->count);
	e2pf_decide(list, "devices", text, "of %llu that the superblock names",
		    (unsigned long long)s->super.devices);
	if (!s->cfg.budget) {
		e2pf_decide(list, "prefetch", "off",
			    "the check came to no tree");
		return;
	}
	e2pf_statistics_limits(list, &s->settings, s->sharing);
	e2pf_statistics_memory(list, s->cfg.budget, s->settings.memory,
			       s->sharing);
	if (e2pf_btrfs_leaves_left(s->btrfs))
		e2pf_decide(list, "leaves", "left to the check",
			    "%llu MiB, more than may be ahead of it",
			    (unsigned long long)
			    e2pf_btrfs_leaves_left(s->btrfs) >> 20);
	describe_engine(s, &st, list);
}

void e2pf_btrfs_session_summarize(struct e2pf_btrfs_session *s,
				  struct e2pf_decisions *list)
{
	struct e2pf_engine_stats st = s->last;

	if (!s->ended)
		e2pf_engine_get_stats(s->engine, &st);
	if (st.threads)
		e2pf_summarize(list, &st, &s->topo, stage_names, STAGES);
}

int e2pf_btrfs_write_stats(struct e2pf_btrfs_session *s, const char *name,
			   const struct e2pf_decisions *decisions, FILE *out)
{
	static const struct e2pf_topology nothing;
	struct e2pf_decisions all = *decisions;
	struct e2pf_engine_stats st = { .threads = 0 };
	struct e2pf_statistics statistics = {
		.device = name,
		.io_manager = "btrfs",
		.decisions = &all,
		.topo = &nothing,
		.engine = &st,
		.stage_names = stage_names,
		.stages = STAGES
	};

	if (s) {
		st = s->last;
		if (!s->ended)
			e2pf_engine_get_stats(s->engine, &st);
		e2pf_btrfs_session_describe(s, &all);
		statistics.block_size = s->super.nodesize;
		statistics.groups = (uint32_t)e2pf_btrfs_chunks(s->btrfs);
		statistics.topo = &s->topo;
		statistics.budget = s->cfg.budget;
		statistics.sharing = s->sharing;
	}
	return (int)e2pf_statistics_write(&statistics, out);
}
