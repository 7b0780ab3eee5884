/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: one filesystem, its snapshot, its device and its engine.
 *
 * Puts the parts together; what the device is comes from the topology, how
 * much may be used from the budget, and the rest is the engine's.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "budget.h"
#include "device.h"
#include "journal.h"
#include "observe.h"
#include "session.h"
#include "share.h"
#include "topology.h"

/* Version of the statistics' schema, doc/statistics.md. */
#define STATS_SCHEMA 1

/* Threads wait for the device more than they compute: on a machine of few
 * processors two of them still overlap parsing with reading. */
#define FLASH_THREADS_LEAST 2u

/* And more than this keep no device busier: each has many requests under way,
 * and takes a share of the helper's memory. */
#define FLASH_THREADS_MOST 16u

struct e2pf_session {
	char *name;
	char *sysroot;
	struct e2pf_settings settings;
	struct e2pf_geometry geo;
	struct e2pf_group *groups;
	uint64_t superblock;		/* block it was opened from */
	struct e2pf_device *dev;
	struct e2pf_topology topo;
	unsigned sharing;		/* checks, when reading began */
	struct e2pf_engine_config cfg;
	struct e2pf_engine *engine;
	struct e2pf_observer *observer;
	struct e2pf_journal *journal;	/* NULL: not to be replayed */
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

	return e2pf_memory_share(s->sysroot);
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
	s->cfg.groups = groups;
	return 0;
}

/* What the device is, and so how it is read. */
static void choose(struct e2pf_session *s)
{
	const char *root = s->sysroot ? s->sysroot : "";
	unsigned processors = e2pf_available_processors(root);
	uint64_t memory = e2pf_available_memory(root);
	struct stat st;

	if (processors < FLASH_THREADS_LEAST)
		processors = FLASH_THREADS_LEAST;
	if (processors > FLASH_THREADS_MOST)
		processors = FLASH_THREADS_MOST;
	memset(&s->topo, 0, sizeof(s->topo));
	if (fstat(e2pf_device_fd(s->dev), &st) == 0)
		e2pf_topology_probe(root, &st, processors, &s->topo);
	if (s->topo.max_readahead)
		s->dev->max_readahead = s->topo.max_readahead;
	s->sharing = e2pf_share_count(root);
	s->cfg.lanes = processors;
	s->cfg.sweeps = s->topo.block_order ? s->topo.threads : 1;
	s->cfg.block_order = s->topo.block_order;
	/* A disk that says it rotates does; the others have to show. */
	s->cfg.probe = !s->topo.known || s->topo.virtual_disk ||
		       !s->topo.spindles;
	if (s->settings.threads)
		s->cfg.lanes = s->cfg.sweeps = s->settings.threads;
	s->cfg.budget = s->settings.memory;
	if (!s->cfg.budget)
		s->cfg.budget = s->cfg.paced ? memory / 2 : memory / 4 * 3;
	/* Waiting for a sweep takes knowing when the block has come. */
	if (s->dev->blind)
		s->cfg.block_order = s->cfg.probe = false;
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
	s->cfg.geo = &s->geo;
	s->cfg.dev = s->dev;
	s->cfg.paced = paced;
	s->cfg.exact = s->settings.figures;
	s->cfg.available = available;
	s->cfg.available_ctx = s;
	s->cfg.classes = s->settings.classes ? s->settings.classes :
					       E2PF_ALL_CLASSES;
	s->engine = e2pf_engine_new(&s->cfg);
	err = EXT2_ET_NO_MEMORY;
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

static void descriptor_sink(void *ctx, const struct e2pf_ref *ref)
{
	struct e2pf_session *s = ctx;
	uint64_t bs = s->geo.block_size;

	s->dev->ops->willneed(s->dev, ref->block * bs, ref->count * bs);
}

errcode_t e2pf_start(struct e2pf_session *session)
{
	if (session->cfg.classes & 1u << E2PF_DESCRIPTORS)
		e2pf_plan_descriptors(&session->geo, session->superblock,
				      descriptor_sink, session);
	return e2pf_engine_start(session->engine);
}

void e2pf_journal_block(struct e2pf_session *session, uint64_t block)
{
	if (!session->journal)
		session->journal = e2pf_journal_new(session->dev,
						    session->geo.block_size);
	if (!session->journal)
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

static void count_descriptors(void *ctx, const struct e2pf_ref *ref)
{
	struct e2pf_class_plan *plan = ctx;

	plan->blocks += ref->count;
	plan->runs++;
}

errcode_t e2pf_plan(struct e2pf_session *session,
		    struct e2pf_class_plan plan[E2PF_CLASSES])
{
	errcode_t err = e2pf_engine_plan(session->engine, plan);

	if (session->cfg.classes & 1u << E2PF_DESCRIPTORS)
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
	e2pf_journal_free(session->journal);
	if (session->dev)
		session->dev->ops->close(session->dev);
	free(session->groups);
	free(session->name);
	free(session->sysroot);
	free(session);
	e2pf_share_leave();
}

/*
 * Statistics.
 */

static void add_stats(struct e2pf_engine_stats *to,
		      const struct e2pf_engine_stats *from)
{
	unsigned i;

	to->planned_bytes += from->planned_bytes;
	to->prefetched_bytes += from->prefetched_bytes;
	to->prefetched_requests += from->prefetched_requests;
	to->checker_bytes += from->checker_bytes;
	to->wasted_bytes += from->wasted_bytes;
	to->errors += from->errors;
	to->failed_ahead += from->failed_ahead;
	to->gate_waits += from->gate_waits;
	if (from->latency_ns || from->lanes) {
		to->block_order = from->block_order;
		to->latency_ns = from->latency_ns;
		to->deep_latency_ns = from->deep_latency_ns;
		to->gap_bytes = from->gap_bytes;
	}
	if (from->peak_lookahead_bytes > to->peak_lookahead_bytes)
		to->peak_lookahead_bytes = from->peak_lookahead_bytes;
	if (from->lanes > to->lanes)
		to->lanes = from->lanes;
	for (i = 0; i < E2PF_PHASES; i++) {
		to->phase[i].ns += from->phase[i].ns;
		to->phase[i].reads += from->phase[i].reads;
		to->phase[i].hits += from->phase[i].hits;
		to->phase[i].stalls += from->phase[i].stalls;
		to->phase[i].stall_ns += from->phase[i].stall_ns;
	}
}

static void get_stats(struct e2pf_session *s, struct e2pf_engine_stats *stats)
{
	*stats = s->past;
	if (!s->ended)
		e2pf_engine_get_stats(s->engine, &s->last);
	add_stats(stats, &s->last);
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

static const char *const phase_names[E2PF_PHASES] = {
	"open", "pass1", "pass2", "pass3-4", "pass5"
};

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void put_int(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void put_seconds(struct json_object *o, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6f", seconds(ns));
	json_object_object_add(o, key,
			       json_object_new_double_s(seconds(ns), text));
}

static struct json_object *phases_json(const struct e2pf_engine_stats *st)
{
	struct json_object *list = json_object_new_array();
	unsigned i;

	for (i = 0; i < E2PF_PHASES; i++) {
		const struct e2pf_phase_stats *p = &st->phase[i];
		struct json_object *o;

		if (!p->ns && !p->reads)
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "name",
				       json_object_new_string(phase_names[i]));
		put_seconds(o, "seconds", p->ns);
		put_int(o, "reads", p->reads);
		put_int(o, "hits", p->hits);
		put_int(o, "stalls", p->stalls);
		put_seconds(o, "stall_seconds", p->stall_ns);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *topology_json(const struct e2pf_topology *topo)
{
	struct json_object *list = json_object_new_array();
	unsigned i;

	for (i = 0; i < topo->leaves; i++)
		json_object_array_add(list,
			json_object_new_string(topo->leaf[i].name));
	return list;
}

void e2pf_session_accelerations(struct e2pf_session *s,
				const char *const *names, size_t count)
{
	s->accelerations = names;
	s->acceleration_count = count;
}

static struct json_object *accelerations_json(const struct e2pf_session *s)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < s->acceleration_count; i++)
		json_object_array_add(list,
			json_object_new_string(s->accelerations[i]));
	return list;
}

void e2pf_session_decisions(struct e2pf_session *s,
			    const struct e2pf_decisions *list)
{
	s->decisions = list;
}

static void describe_order(const struct e2pf_session *s,
			   const struct e2pf_engine_stats *st,
			   struct e2pf_decisions *list)
{
	const char *order = st->block_order ? "in block order" :
					      "as the checker comes to them";

	if (st->latency_ns)
		e2pf_decide(list, "order", order, "one small read takes "
			    "%.3f ms, each of eight at a time %.3f ms",
			    (double)st->latency_ns / 1e6,
			    (double)st->deep_latency_ns / 1e6);
	else if (s->topo.spindles)
		e2pf_decide(list, "order", order,
			    "the system says of %u disks that they rotate",
			    s->topo.spindles);
	else
		e2pf_decide(list, "order", order,
			    "the system knows of no disk that rotates");
}

void e2pf_session_describe(struct e2pf_session *s,
			   struct e2pf_decisions *list)
{
	struct e2pf_engine_stats st;
	char text[64];

	get_stats(s, &st);
	e2pf_decide(list, "reads", s->io_manager, "%s",
		    !strcmp(s->io_manager, "mmap") ? "TEST_MMAP_IO" :
		    "the I/O manager the filesystem was opened with");
	if (!s->cfg.budget) {
		e2pf_decide(list, "prefetch", "off",
			    "no inode was to be looked at");
		return;
	}
	snprintf(text, sizeof(text), "%llu MiB ahead at most",
		 (unsigned long long)(s->cfg.budget >> 20));
	if (s->settings.memory)
		e2pf_decide(list, "memory", text, "PREFETCH_MEM");
	else
		e2pf_decide(list, "memory", text, "of what is available to "
			    "%u at once", s->sharing);
	if (!st.lanes) {
		e2pf_decide(list, "prefetch", "asleep",
			    "what was looked at is in memory already");
		return;
	}
	snprintf(text, sizeof(text), "%u", st.lanes);
	e2pf_decide(list, "threads", text, "%s", s->settings.threads ?
		    "PREFETCH_THREADS" : st.block_order ?
		    "as many as there are heads to move" :
		    "by the number of processors");
	describe_order(s, &st, list);
	if (e2pf_engine_gave_up(s->engine))
		e2pf_decide(list, "prefetch", "gave up", "%llu reads failed, "
			    "or there was no memory left",
			    (unsigned long long)st.errors);
}

static struct json_object *decisions_json(struct e2pf_session *s)
{
	struct json_object *list = json_object_new_array();
	struct e2pf_decisions all = { .count = 0 };
	size_t i;

	if (s->decisions)
		all = *s->decisions;
	e2pf_session_describe(s, &all);
	for (i = 0; i < all.count; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "about",
			json_object_new_string(all.item[i].about));
		json_object_object_add(o, "decision",
			json_object_new_string(all.item[i].decision));
		json_object_object_add(o, "reason",
			json_object_new_string(all.item[i].reason));
		json_object_array_add(list, o);
	}
	return list;
}

static void put_checker(struct json_object *o,
			const struct e2pf_engine_stats *st)
{
	uint64_t reads = 0, hits = 0, stall = 0;
	unsigned i;

	for (i = 0; i < E2PF_PHASES; i++) {
		reads += st->phase[i].reads;
		hits += st->phase[i].hits;
		stall += st->phase[i].stall_ns;
	}
	put_int(o, "checker_reads", reads);
	put_int(o, "checker_bytes", st->checker_bytes);
	put_int(o, "checker_hits", hits);
	put_seconds(o, "checker_stall_seconds", stall);
}

errcode_t e2pf_write_stats(struct e2pf_session *s, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct e2pf_engine_stats st;

	if (!o)
		return EXT2_ET_NO_MEMORY;
	get_stats(s, &st);
	json_object_object_add(o, "version",
			       json_object_new_string(PACKAGE_VERSION));
	put_int(o, "schema", STATS_SCHEMA);
	json_object_object_add(o, "device", json_object_new_string(s->name));
	put_int(o, "block_size", s->geo.block_size);
	put_int(o, "groups", s->geo.groups);
	json_object_object_add(o, "io_manager",
			       json_object_new_string(s->io_manager));
	json_object_object_add(o, "accelerations", accelerations_json(s));
	json_object_object_add(o, "decisions", decisions_json(s));
	put_int(o, "threads", st.lanes);
	put_int(o, "spindles", s->topo.spindles);
	json_object_object_add(o, "rotational",
			       json_object_new_boolean(s->topo.spindles > 0));
	json_object_object_add(o, "topology", topology_json(&s->topo));
	json_object_object_add(o, "block_order",
			       json_object_new_boolean(st.block_order));
	put_seconds(o, "latency_seconds", st.latency_ns);
	put_seconds(o, "deep_latency_seconds", st.deep_latency_ns);
	put_int(o, "gap_bytes", st.gap_bytes);
	put_int(o, "planned_bytes", st.planned_bytes);
	put_int(o, "prefetched_bytes", st.prefetched_bytes);
	put_int(o, "prefetched_requests", st.prefetched_requests);
	put_int(o, "journal_bytes", journal_bytes(s));
	put_int(o, "journal_requests", journal_requests(s));
	put_checker(o, &st);
	put_int(o, "gate_waits", st.gate_waits);
	put_int(o, "wasted_bytes", st.wasted_bytes);
	put_int(o, "peak_lookahead_bytes", st.peak_lookahead_bytes);
	put_int(o, "memory_budget_bytes", s->cfg.budget);
	put_int(o, "sharing", s->sharing);
	put_int(o, "errors", st.errors);
	put_int(o, "failed_ahead", st.failed_ahead);
	json_object_object_add(o, "phases", phases_json(&st));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	return ferror(out) ? EIO : 0;
}
