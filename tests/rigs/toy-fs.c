/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The toy filesystem as a source of work, with everything that a source must
 * provide. */
#include <pthread.h>
#include <string.h>

#include "toy-fs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void pass(uint32_t place, uint32_t cls, e2pf_sink sink, void *ctx)
{
	const struct e2pf_ref ref = {
		.device = (uint8_t)(place / TOY_BLOCKS),
		.offset = (uint64_t)(place % TOY_BLOCKS) * TOY_BLOCK,
		.length = TOY_BLOCK, .cls = (uint8_t)cls,
		.parse = cls != TOY_DATA
	};

	sink(ctx, &ref);
}

static void toy_begin(struct e2pf_source *source,
		      const struct e2pf_start *start)
{
	(void)source, (void)start;
}

/* The checker passes its list when it begins that phase. */
const struct e2pf_phase toy_list_phase = {
	.number = TOY_READ_LIST, .followed = true, .gated = true
};

static const struct e2pf_phase *toy_next(struct e2pf_source *source,
					 const struct e2pf_phase *after)
{
	static const struct e2pf_phase map = {
		.number = TOY_READ_MAP, .gated = true, .at_once = 1
	}, trees = {
		.number = TOY_READ_TREES, .followed = true, .gated = true,
		.later = 1u << TOY_DATA, .deferred = 1u << TOY_DATA
	};

	(void)source;
	return !after ? &map : after == &map ? &trees : NULL;
}

static uint64_t toy_units(struct e2pf_source *source, unsigned phase,
			  bool *more)
{
	uint64_t units;

	/* The list comes at once.  If the checker passed it in parts, *more
	 * would be true until the last one: see lib/ext4/ext4_source.c. */
	*more = false;
	pthread_mutex_lock(&lock);
	units = phase == TOY_READ_MAP ? 1 : phase == TOY_READ_LIST ?
		((struct toy_fs *)source)->listed :
		((struct toy_fs *)source)->roots;
	pthread_mutex_unlock(&lock);
	return units;
}

static uint64_t toy_weight(struct e2pf_source *source, unsigned phase,
			   uint64_t unit)
{
	(void)source, (void)phase, (void)unit;
	return TOY_BLOCK;
}

static void toy_seed(struct e2pf_source *source, unsigned phase,
		     uint64_t unit, e2pf_sink sink, void *ctx)
{
	struct toy_fs *fs = (struct toy_fs *)source;

	if (phase == TOY_READ_MAP)
		pass(0, TOY_MAP, sink, ctx);
	else if (phase == TOY_READ_LIST)
		pass(fs->place[fs->list[unit]], TOY_DATA, sink, ctx);
	else if (fs->place[fs->root[unit]])
		pass(fs->place[fs->root[unit]], TOY_NODE, sink, ctx);
}

static uint32_t toy_piece(struct e2pf_source *source,
			  const struct e2pf_ref *ref, uint64_t at)
{
	(void)source, (void)ref, (void)at;
	return TOY_BLOCK;
}

static bool toy_parse(struct e2pf_source *source, const struct e2pf_ref *ref,
		      uint64_t at, const void *bytes, uint32_t size,
		      e2pf_sink sink, void *ctx)
{
	struct toy_fs *fs = (struct toy_fs *)source;
	const struct toy_block *block = bytes;
	bool added = false;
	uint32_t i;

	(void)at, (void)size;
	for (i = 0; i < block->count && i < TOY_ENTRIES; i++) {
		struct toy_entry e = block->entry[i];

		e.value %= TOY_NODES;
		if (e.cls == TOY_MAP && ref->cls == TOY_MAP) {
			pass(e.value, TOY_MAP, sink, ctx);
		} else if (ref->cls == TOY_MAP) {
			fs->place[(block->first % TOY_NODES + i) %
				  TOY_NODES] = e.value;
		} else if (e.cls == TOY_ROOT) {
			pthread_mutex_lock(&lock);
			if (fs->roots < TOY_NODES)
				fs->root[fs->roots++] = e.value;
			pthread_mutex_unlock(&lock);
			added = true;
		} else if (fs->place[e.value] &&
			   (e.cls == TOY_NODE || e.cls == TOY_DATA)) {
			pass(fs->place[e.value], e.cls, sink, ctx);
		}
	}
	return added;
}

/* Sample the first part of the map; if it is cached, the engine also samples
 * what it points to. */
static void toy_sample(struct e2pf_source *source, uint64_t index,
		       e2pf_sink sink, void *ctx)
{
	(void)source;
	pass((uint32_t)index, TOY_MAP, sink, ctx);
}

void toy_list(struct toy_fs *fs, const uint32_t *list, unsigned count)
{
	pthread_mutex_lock(&lock);
	memcpy(fs->list, list, count * sizeof(*list));
	fs->listed = count;
	pthread_mutex_unlock(&lock);
}

void toy_new(struct toy_fs *fs)
{
	static const struct e2pf_source_ops ops = {
		.begin = toy_begin, .next = toy_next, .units = toy_units,
		.weight = toy_weight, .seed = toy_seed, .piece = toy_piece,
		.parse = toy_parse, .sample = toy_sample
	};
	static const uint64_t bytes[2] = {
		TOY_BLOCKS * TOY_BLOCK, TOY_BLOCKS * TOY_BLOCK
	};

	memset(fs, 0, sizeof(*fs));
	fs->roots = 1;
	fs->source = (struct e2pf_source) {
		.ops = &ops, .grain = TOY_BLOCK, .devices = 2, .bytes = bytes,
		.classes = TOY_CLASSES, .samples = 1, .parse_limit = TOY_NODES
	};
}
