/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: one filesystem, its snapshot, its device and its engine.
 *
 * Puts the parts together.  What the device is comes from the topology, how
 * it is read from the policy, how much may be used from the budget, what there
 * is to read from the source, and the rest is the engine's.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/budget.h"
#include "device/device.h"
#include "device/policy.h"
#include "device/priority.h"
#include "device/share.h"
#include "ext4/ext4_source.h"
#include "ext4/journal.h"
#include "libext2fs/observe.h"
#include "probe_json.h"
#include "session.h"
#include "statistics.h"
#include "summary.h"

struct e2pf_session {
	char *name;
	char *sysroot;
	struct e2pf_settings settings;
	struct e2pf_geometry geo;
	struct e2pf_group *groups;
	unsigned classes;
	uint64_t superblock;		/* block it was opened from */
	struct e2pf_device *dev;
	struct e2pf_ext4 *ext4;
	struct e2pf_topology topo;
	unsigned sharing;		/* checks, when reading began */
	struct e2pf_engine_config cfg;
	struct e2pf_engine *engine;
	struct e2pf_observer *observer;
	struct e2pf_journal *journal;	/* NULL: nobody looks at it */
	uint64_t journal_bytes;		/* of sessions inherited */
	uint64_t journal_requests;
	const char *io_manager;
	struct e2pf_engine_stats past;	/* of sessions inherited */
	struct e2pf_engine_stats last;	/* at the end */
	bool ended;
	const char *const *accelerations;
	size_t acceleration_count;
	const struct e2pf_decisions *decisions;	/* NULL: none but our own */
};

const char *e2pf_version(void)
{
	return PACKAGE_VERSION;
}

static uint64_t available(void *ctx)
{
	const struct e2pf_session *s = ctx;

	return e2pf_idle_share(s->sysroot);
}

static unsigned sharers(void *ctx)
{
	const struct e2pf_session *s = ctx;

	return e2pf_share_count(s->sysroot);
}

static void thread_begins(void *ctx)
{
	const struct e2pf_session *s = ctx;

	e2pf_priority_set(s->settings.io_priority, s->settings.nice);
}

/* What there is for the good of others on this machine. */
static void set_limits(struct e2pf_session *s)
{
	s->cfg.bandwidth = s->settings.bandwidth;
	s->cfg.requests = s->settings.requests;
	s->cfg.sharers = sharers;
	s->cfg.thread_begins = thread_begins;
	s->cfg.ungated = e2pf_priority_is_low(s->settings.io_priority);
}

/* libext2fs holds superblock and descriptors in host order; the planner
 * reads them as they lie on the disk. */
static errcode_t take_geometry(struct e2pf_session *s, ext2_filsys fs)
{
	struct ext2_super_block sb = *fs->super;

#ifdef WORDS_BIGENDIAN
	ext2fs_swap_super(&sb);
#endif
	s->superblock = fs->super->s_first_data_block;
	return e2pf_plan_superblock(&sb, &s->geo) ? EXT2_ET_CORRUPT_SUPERBLOCK :
						    0;
}

static errcode_t take_groups(struct e2pf_session *s, ext2_filsys fs)
{
	struct e2pf_group *groups;
	uint32_t g;

	if (!fs->group_desc || fs->group_desc_count < s->geo.groups)
		return EXT2_ET_CORRUPT_SUPERBLOCK;
	groups = calloc(s->geo.groups, sizeof(*groups));
	if (!groups)
		return EXT2_ET_NO_MEMORY;
	for (g = 0; g < s->geo.groups; g++) {
		char desc[EXT2_MAX_DESC_SIZE];

		memcpy(desc, ext2fs_group_desc(fs, fs->group_desc, g),
		       s->geo.desc_size);
#ifdef WORDS_BIGENDIAN
		ext2fs_swap_group_desc2(fs, (void *)desc);
#endif
		e2pf_plan_descriptor(&s->geo, g, desc, &groups[g]);
	}
	free(s->groups);
	s->groups = groups;
	e2pf_ext4_set_groups(s->ext4, groups);
	return 0;
}

/* What the device is, and so how it is read. */
static void choose(struct e2pf_session *s)
{
	const char *root = s->sysroot ? s->sysroot : "";
	uint64_t memory = e2pf_available_memory(root);
	struct e2pf_policy policy;
	struct stat st;

	memset(&s->topo, 0, sizeof(s->topo));
	if (fstat(e2pf_device_fd(s->dev), &st) == 0)
		e2pf_topology_probe(root, &st, &s->topo);
	if (s->topo.max_readahead)
		s->dev->max_readahead = s->topo.max_readahead;
	s->sharing = e2pf_share_count(root);
	e2pf_policy_choose(&s->topo, e2pf_available_processors(root), &policy);
	s->cfg.threads = policy.threads;
	s->cfg.head_threads = policy.head_threads;
	s->cfg.has_head = policy.has_head;
	s->cfg.probe = policy.probe;
	if (s->settings.threads)
		s->cfg.threads = s->cfg.head_threads = s->settings.threads;
	s->cfg.budget = s->settings.memory;
	if (!s->cfg.budget)
		s->cfg.budget = s->cfg.paced ? memory / 2 : memory / 4 * 3;
	/* To wait at the gate takes knowing when the block has come. */
	if (s->dev->blind)
		s->cfg.has_head = s->cfg.probe = false;
}

static errcode_t new_session(ext2_filsys fs, const char *device,
			     uint64_t offset,
			     const struct e2pf_settings *settings, bool paced,
			     struct e2pf_session **session)
{
	struct e2pf_session *s = calloc(1, sizeof(*s));
	errcode_t err = EXT2_ET_NO_MEMORY;

	if (!s)
		return err;
	e2pf_share_join();
	if (settings)
		s->settings = *settings;
	s->settings.sysroot = NULL;
	s->name = strdup(device);
	s->sysroot = strdup(settings && settings->sysroot ?
			    settings->sysroot : "");
	if (!s->name || !s->sysroot)
		goto fail;
	err = take_geometry(s, fs);
	if (!err)
		err = e2pf_device_open(device, offset, &s->dev);
	if (err)
		goto fail;
	s->io_manager = e2pf_mmap_io_is_mapped(fs->io) ? "mmap" :
			fs->io->manager == unix_io_manager ? "unix" : "other";
	s->classes = s->settings.classes ? s->settings.classes :
					   E2PF_ALL_CLASSES;
	err = EXT2_ET_NO_MEMORY;
	s->ext4 = e2pf_ext4_new(&s->geo, s->classes);
	if (!s->ext4)
		goto fail;
	s->cfg.source = e2pf_ext4_source(s->ext4);
	s->cfg.devices = &s->dev;
	s->cfg.paced = paced;
	s->cfg.exact = s->settings.figures;
	s->cfg.available = available;
	s->cfg.available_ctx = s;
	set_limits(s);
	s->engine = e2pf_engine_new(&s->cfg);
	if (!s->engine)
		goto fail;
	*session = s;
	return 0;
fail:
	e2pf_close(s);
	return err;
}

errcode_t e2pf_open(ext2_filsys fs, const char *device, uint64_t offset,
		    const struct e2pf_settings *settings,
		    struct e2pf_session **session)
{
	errcode_t err = new_session(fs, device, offset, settings, false,
				    session);

	if (err)
		return err;
	err = take_groups(*session, fs);
	if (err) {
		e2pf_close(*session);
		return err;
	}
	choose(*session);
	e2pf_engine_configure((*session)->engine, &(*session)->cfg);
	return 0;
}

errcode_t e2pf_open_paced(ext2_filsys fs, const char *device, uint64_t offset,
			  const struct e2pf_settings *settings,
			  struct e2pf_observer *observer,
			  struct e2pf_session **session)
{
	errcode_t err = new_session(fs, device, offset, settings, true,
				    session);

	if (err)
		return err;
	(*session)->observer = observer;
	e2pf_observe(observer, fs->io, (*session)->engine);
	return 0;
}

struct e2pf_engine *e2pf_session_engine(struct e2pf_session *session)
{
	return session->engine;
}

struct e2pf_ext4 *e2pf_session_ext4(struct e2pf_session *session)
{
	return session->ext4;
}

static void descriptor_sink(void *ctx, const struct e2pf_run *run)
{
	struct e2pf_session *s = ctx;
	uint64_t bs = s->geo.block_size;

	s->dev->ops->willneed(s->dev, run->block * bs, run->count * bs);
}

errcode_t e2pf_start(struct e2pf_session *session)
{
	if (session->classes & 1u << E2PF_DESCRIPTORS)
		e2pf_plan_descriptors(&session->geo, session->superblock,
				      descriptor_sink, session);
	return e2pf_engine_start(session->engine);
}

static struct e2pf_journal *journal_of(struct e2pf_session *session)
{
	if (!session->journal)
		session->journal = e2pf_journal_new(session->dev,
						    session->geo.block_size);
	return session->journal;
}

void e2pf_journal_map(struct e2pf_session *session, const uint32_t block[3])
{
	if (journal_of(session))
		e2pf_journal_walk(session->journal, &session->geo, block);
}

void e2pf_journal_block(struct e2pf_session *session, uint64_t block)
{
	if (!journal_of(session))
		return;
	e2pf_journal_add(session->journal, block);
	session->observer->journal = session->journal;
}

errcode_t e2pf_start_paced(struct e2pf_session *session, ext2_filsys fs)
{
	errcode_t err = take_groups(session, fs);

	session->observer->journal = NULL;
	if (err)
		return err;
	choose(session);
	e2pf_engine_configure(session->engine, &session->cfg);
	return e2pf_engine_start(session->engine);
}

bool e2pf_wait(struct e2pf_session *session, int milliseconds)
{
	return e2pf_engine_wait(session->engine, milliseconds);
}

void e2pf_progress(struct e2pf_session *session, uint64_t *done,
		   uint64_t *total)
{
	*done = e2pf_engine_progress(session->engine);
	*total = session->geo.groups;
}

static void count_descriptors(void *ctx, const struct e2pf_run *run)
{
	struct e2pf_class_plan *plan = ctx;

	plan->blocks += run->count;
	plan->runs++;
}

errcode_t e2pf_plan(struct e2pf_session *session,
		    struct e2pf_class_plan plan[E2PF_CLASSES])
{
	struct e2pf_class_count count[E2PF_CLASSES];
	errcode_t err = e2pf_engine_plan(session->engine, count);
	unsigned i;

	for (i = 0; i < E2PF_CLASSES; i++) {
		plan[i].blocks = count[i].bytes / session->geo.block_size;
		plan[i].runs = count[i].runs;
	}
	if (session->classes & 1u << E2PF_DESCRIPTORS)
		e2pf_plan_descriptors(&session->geo, session->superblock,
				      count_descriptors,
				      &plan[E2PF_DESCRIPTORS]);
	return err;
}

void e2pf_stop(struct e2pf_session *session)
{
	e2pf_engine_stop(session->engine, -1);
}

bool e2pf_end(struct e2pf_session *session, int milliseconds)
{
	bool gone;

	if (session->ended)
		return true;
	if (session->observer)
		e2pf_unobserve(session->observer);
	gone = e2pf_engine_stop(session->engine, milliseconds);
	e2pf_engine_get_stats(session->engine, &session->last);
	session->ended = true;
	return gone;
}

void e2pf_close(struct e2pf_session *session)
{
	if (!session)
		return;
	if (session->observer && !session->ended)
		e2pf_unobserve(session->observer);
	e2pf_engine_free(session->engine);
	e2pf_ext4_free(session->ext4);
	e2pf_journal_free(session->journal);
	if (session->dev)
		session->dev->ops->close(session->dev);
	free(session->groups);
	free(session->name);
	free(session->sysroot);
	free(session);
	e2pf_share_leave();
}

static void get_stats(struct e2pf_session *s, struct e2pf_engine_stats *stats)
{
	*stats = s->past;
	if (!s->ended)
		e2pf_engine_get_stats(s->engine, &s->last);
	e2pf_statistics_add(stats, &s->last);
}

void e2pf_get_totals(struct e2pf_session *session, struct e2pf_totals *totals)
{
	struct e2pf_engine_stats st;

	get_stats(session, &st);
	totals->planned_bytes = st.planned_bytes;
	totals->prefetched_bytes = st.prefetched_bytes;
	totals->requests = st.prefetched_requests;
	totals->errors = st.errors;
	totals->complete = !st.errors &&
			   !e2pf_engine_gave_up(session->engine);
}

static uint64_t journal_bytes(const struct e2pf_session *s)
{
	return s->journal_bytes +
	       (s->journal ? e2pf_journal_bytes(s->journal) : 0);
}

static uint64_t journal_requests(const struct e2pf_session *s)
{
	return s->journal_requests +
	       (s->journal ? e2pf_journal_requests(s->journal) : 0);
}

void e2pf_inherit(struct e2pf_session *session, struct e2pf_session *old)
{
	get_stats(old, &session->past);
	session->journal_bytes = journal_bytes(old);
	session->journal_requests = journal_requests(old);
	e2pf_close(old);
}

void e2pf_session_accelerations(struct e2pf_session *s,
				const char *const *names, size_t count)
{
	s->accelerations = names;
	s->acceleration_count = count;
}

void e2pf_session_decisions(struct e2pf_session *s,
			    const struct e2pf_decisions *list)
{
	s->decisions = list;
}

bool e2pf_session_has_begun(const struct e2pf_session *s)
{
	return s->cfg.budget;
}

void e2pf_session_describe(struct e2pf_session *s,
			   struct e2pf_decisions *list)
{
	struct e2pf_engine_stats st;

	if (!s->cfg.budget) {
		e2pf_decide(list, "prefetch", "off",
			    "no inode was to be looked at");
		return;
	}
	get_stats(s, &st);
	e2pf_decide(list, "reads", s->io_manager, "%s",
		    !strcmp(s->io_manager, "mmap") ? "TEST_MMAP_IO" :
		    "the I/O manager the filesystem was opened with");
	e2pf_statistics_memory(list, s->cfg.budget, s->settings.memory,
			       s->sharing);
	e2pf_statistics_limits(list, &s->settings, s->sharing);
	if (!st.threads) {
		e2pf_decide(list, "prefetch", "asleep",
			    "what was looked at is in memory already");
		return;
	}
	e2pf_statistics_threads(list, &st, s->settings.threads);
	e2pf_statistics_order(list, st.has_head ? "in block order" :
			      "as the checker comes to them", &st,
			      s->topo.spindles);
	if (e2pf_engine_gave_up(s->engine))
		e2pf_decide(list, "prefetch", "gave up", "%llu reads failed, "
			    "or there was no memory left",
			    (unsigned long long)st.errors);
}

bool e2pf_session_summarize(struct e2pf_session *s,
			    struct e2pf_decisions *list)
{
	struct e2pf_engine_stats st;

	get_stats(s, &st);
	if (!st.threads)
		return false;
	e2pf_summarize(list, &st, &s->topo, e2pf_ext4_stage_names,
		       E2PF_EXT4_STAGES);
	e2pf_summarize_alone(list, &st);
	return true;
}

/* So many bytes of inode tables tell enough of the others: a probe is to be
 * quick. */
#define PROBE_TABLES (64u << 20)

/* One group in how many is looked at, so that their tables are that many
 * bytes. */
static uint32_t probe_step(const struct e2pf_session *s, uint64_t *inodes)
{
	uint64_t bytes;
	uint32_t g;

	*inodes = 0;
	for (g = 0; g < s->geo.groups; g++)
		*inodes += s->groups[g].inodes_in_use;
	bytes = *inodes * s->geo.inode_size;
	return (uint32_t)(bytes / PROBE_TABLES) + 1;
}

/* Count what every `step`th group leads to, and as much for the others. */
static errcode_t probe_plan(struct e2pf_session *s, uint32_t step,
			    struct e2pf_class_plan *plan)
{
	struct e2pf_group *some = calloc(s->geo.groups, sizeof(*some));
	errcode_t err;
	uint32_t g;
	unsigned i;

	if (!some)
		return EXT2_ET_NO_MEMORY;
	for (g = 0; g < s->geo.groups; g += step)
		some[g] = s->groups[g];
	e2pf_ext4_set_groups(s->ext4, some);
	err = e2pf_plan(s, plan);
	e2pf_ext4_set_groups(s->ext4, s->groups);
	free(some);
	for (i = 0; i < E2PF_CLASSES; i++)
		if (i != E2PF_FILES && i != E2PF_DESCRIPTORS) {
			plan[i].blocks *= step;
			plan[i].runs *= step;
		}
	return err;
}

static void probe_device(struct e2pf_session *s, struct e2pf_facts *facts,
			 struct e2pf_measured *m)
{
	facts->has_head = s->cfg.has_head;
	facts->heads = s->topo.data_spindles;
	facts->measured = e2pf_engine_measure(s->engine, m) && !s->dev->blind;
	if (!facts->measured)
		return;
	if (s->cfg.probe)
		facts->has_head = m->has_head;
	facts->latency = (double)m->latency_ns / 1e9;
	facts->several = (double)m->deep_ns / 1e9;
	facts->bytes_per_second = (double)m->bytes_per_second;
}

static void probe_decide(struct e2pf_session *s, const struct e2pf_facts *f,
			 const struct e2pf_measured *m,
			 struct e2pf_decisions *list)
{
	struct e2pf_engine_stats st = {
		.has_head = f->has_head,
		.threads = f->has_head ? s->cfg.head_threads : s->cfg.threads,
		.latency_ns = (uint64_t)(f->latency * 1e9),
		.deep_latency_ns = (uint64_t)(f->several * 1e9)
	};

	e2pf_statistics_memory(list, s->cfg.budget, s->settings.memory,
			       s->sharing);
	e2pf_statistics_limits(list, &s->settings, s->sharing);
	e2pf_statistics_threads(list, &st, s->settings.threads);
	e2pf_statistics_order(list, f->has_head ? "in block order" :
			      "as the checker comes to them", &st,
			      s->topo.spindles);
	e2pf_statistics_requests(list, m);
}

errcode_t e2pf_write_probe(struct e2pf_session *s, FILE *out)
{
	struct e2pf_decisions decisions = { .count = 0 };
	struct e2pf_engine_config cfg;
	struct e2pf_measured measured;
	struct e2pf_probe_report report = {
		.device = s->name,
		.sysroot = s->sysroot,
		.fd = e2pf_device_fd(s->dev),
		.groups = s->geo.groups,
		.topo = &s->topo,
		.cfg = &cfg,
		.decisions = &decisions,
		.measured = &measured,
		.facts.block_size = s->geo.block_size
	};
	uint32_t step = probe_step(s, &report.facts.inodes);
	errcode_t err;

	/* Before the plan, which brings into memory what is measured. */
	probe_device(s, &report.facts, &measured);
	report.groups_looked_at = (s->geo.groups + step - 1) / step;
	err = probe_plan(s, step, report.facts.plan);
	if (err)
		return err;
	/* A check that is followed has another part of the memory. */
	if (!s->settings.memory)
		s->cfg.budget = e2pf_memory_share(s->sysroot) / 2;
	cfg = s->cfg;
	probe_decide(s, &report.facts, &measured, &decisions);
	return e2pf_probe_write(&report, out);
}

errcode_t e2pf_write_stats(struct e2pf_session *s, FILE *out)
{
	struct e2pf_decisions decisions = { .count = 0 };
	struct e2pf_engine_stats st;
	const struct e2pf_statistics statistics = {
		.device = s->name,
		.block_size = s->geo.block_size,
		.groups = s->geo.groups,
		.io_manager = s->io_manager,
		.accelerations = s->accelerations,
		.acceleration_count = s->acceleration_count,
		.decisions = &decisions,
		.topo = &s->topo,
		.engine = &st,
		.stage_names = e2pf_ext4_stage_names,
		.stages = E2PF_EXT4_STAGES,
		.journal_bytes = journal_bytes(s),
		.journal_requests = journal_requests(s),
		.budget = s->cfg.budget,
		.sharing = s->sharing
	};

	if (s->decisions)
		decisions = *s->decisions;
	e2pf_session_describe(s, &decisions);
	get_stats(s, &st);
	return e2pf_statistics_write(&statistics, out);
}
