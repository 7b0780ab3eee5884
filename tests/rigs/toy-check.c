/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The toy filesystem's session and its checker: everything that a filesystem
 * needs in addition to its source (toy-fs.c).
 */
#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"
#include "toy-check.h"

struct toy_session {
	struct e2pf_session base;
	struct toy_fs fs;
};

static void report(struct e2pf_session *session, struct e2pf_report *to)
{
	to->block_size = TOY_BLOCK;
	to->groups = ((struct toy_session *)session)->fs.roots;
	to->io_manager = "toy";
}

static void close_session(struct e2pf_session *session)
{
	free(session);
}

static const char *const stage_names[TOY_STAGES] = { "trees", "list" };

static const struct e2pf_filesystem toy = {
	.stage_names = stage_names, .stages = TOY_STAGES,
	.not_begun = "the check came to no tree", .order = "by tree",
	.report = report, .close = close_session
};

struct e2pf_session *toy_open(const char *const path[2],
			      const struct e2pf_settings *settings)
{
	static const struct e2pf_hooks hooks = { .paced = true };
	struct toy_session *s = calloc(1, sizeof(*s));
	struct e2pf_device *dev;
	struct stat st;
	unsigned i;

	if (!s)
		return NULL;
	toy_new(&s->fs);
	if (e2pf_session_init(&s->base, &toy, path[0], settings, &hooks))
		goto fail;
	for (i = 0; i < 2; i++) {
		if (stat(path[i], &st) || e2pf_device_open(path[i], 0, &dev))
			goto fail;
		e2pf_session_add_device(&s->base, dev, &st);
	}
	if (e2pf_session_add_source(&s->base, &s->fs.source))
		goto fail;
	e2pf_session_choose(&s->base);
	return &s->base;
fail:
	e2pf_close(&s->base);
	return NULL;
}

static void read_block(struct toy_check *c, uint32_t place, void *block)
{
	struct e2pf_engine *engine = c->session ? c->session->engine : NULL;
	struct e2pf_read read = {
		.device = place / TOY_BLOCKS,
		.offset = (uint64_t)(place % TOY_BLOCKS) * TOY_BLOCK,
		.length = TOY_BLOCK
	};
	const uint32_t *word = block;
	unsigned i;

	if (engine)
		e2pf_engine_before_read(engine, &read);
	if (pread(c->fd[read.device], block, TOY_BLOCK,
		  (off_t)read.offset) != TOY_BLOCK)
		abort();
	if (engine)
		e2pf_engine_after_read(engine, &read);
	c->blocks++;
	for (i = 0; i < TOY_BLOCK / sizeof(*word); i++)
		c->verdict = c->verdict * 31 + word[i];
}

/* The source reports a child; the checker reads it at once. */
static void take(void *ctx, const struct e2pf_ref *ref)
{
	uint32_t place = ref->device * TOY_BLOCKS +
			 (uint32_t)(ref->offset / TOY_BLOCK);
	struct toy_check *c = ctx;
	struct toy_block block;

	read_block(c, place, &block);
	if (ref->parse)
		c->fs.source.ops->parse(&c->fs.source, ref, 0, &block,
					TOY_BLOCK, take, c);
}

struct list {
	struct toy_fs *fs;
	const uint32_t *number;
	unsigned count;
};

static void add_list(void *ctx)
{
	const struct list *list = ctx;

	toy_list(list->fs, list->number, list->count);
}

void toy_check(struct toy_check *c, const uint32_t *list, unsigned count)
{
	struct toy_session *s = (struct toy_session *)c->session;
	struct list to = { s ? &s->fs : NULL, list, count };
	struct e2pf_source *source = &c->fs.source;
	struct toy_block block;
	unsigned i;

	if (s)
		e2pf_engine_start(s->base.engine);
	source->ops->seed(source, TOY_READ_MAP, 0, take, c);
	for (i = 0; i < c->fs.roots; i++) {
		if (s)
			e2pf_engine_at(s->base.engine, TOY_READ_TREES, i);
		source->ops->seed(source, TOY_READ_TREES, i, take, c);
	}
	if (s) {
		e2pf_engine_stage(s->base.engine, TOY_STAGE_LIST);
		/* Must come before the phase begins: a phase without units
		 * would end at once. */
		e2pf_engine_add_units(s->base.engine, TOY_READ_LIST, add_list,
				      &to);
		e2pf_engine_begin_phase(s->base.engine, &toy_list_phase);
	}
	for (i = 0; i < count; i++) {
		if (s)
			e2pf_engine_at(s->base.engine, TOY_READ_LIST, i);
		read_block(c, c->fs.place[list[i]], &block);
	}
	if (s)
		e2pf_session_end(&s->base, -1);
}
