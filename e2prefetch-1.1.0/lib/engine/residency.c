/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is cached: a range, and whether everything seems to be. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>

#include "engine_state.h"

/* Samples checked to find out whether everything is cached. */
#define WARM_SAMPLES 48u

bool e2pf_is_resident(struct e2pf_engine *e, unsigned device,
		      uint64_t offset, uint64_t len)
{
	struct e2pf_device *dev = e->cfg.devices[device];

	while (len) {
		bool resident;
		uint64_t n = dev->ops->span(dev, offset, len, &resident);

		if (!resident)
			return false;
		offset += n;
		len -= n;
	}
	return true;
}

/* Are the samples, and what they refer to, cached? */
struct warm_look {
	struct e2pf_engine *e;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
	unsigned char *buf;
	uint32_t buf_size;
};

static void look_at_child(void *ctx, const struct e2pf_ref *ref)
{
	struct warm_look *look = ctx;

	if (!look->missing)
		look->missing = !e2pf_is_resident(look->e, ref->device,
						  ref->offset, ref->length);
}

/* Check what a cached reference leads to.  The reference itself may be cached
 * only because of the kernel's own readahead. */
static bool look_inside(struct warm_look *look, const struct e2pf_ref *ref)
{
	struct e2pf_source *source = look->e->cfg.source;
	struct e2pf_device *dev = look->e->cfg.devices[ref->device];
	uint64_t at;
	uint32_t size;

	for (at = 0; at < ref->length && !look->missing; at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size)
			break;
		if (size > look->buf_size) {
			free(look->buf);
			look->buf = malloc(size);
			look->buf_size = look->buf ? size : 0;
		}
		if (!look->buf ||
		    dev->ops->read(dev, look->buf, ref->offset + at, size))
			return false;
		source->ops->parse(source, ref, at, look->buf, size,
				   look_at_child, look);
	}
	return true;
}

static void look_at_sample(void *ctx, const struct e2pf_ref *ref)
{
	struct warm_look *look = ctx;

	look->seen = true;
	look_at_child(look, ref);
	if (!look->missing && ref->parse && !look_inside(look, ref))
		look->missing = true;
}

bool e2pf_looks_warm(struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	struct warm_look look = { .e = e };
	uint64_t i;

	for (i = 0; i < source->samples && !look.missing;
	     i += source->samples / WARM_SAMPLES + 1)
		source->ops->sample(source, i, look_at_sample, &look);
	free(look.buf);
	return look.seen && !look.missing;
}
