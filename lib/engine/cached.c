/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is cached: a range, and whether everything seems to be; and what the
 * device is like, which is measured where nothing is cached. */
#include <stdlib.h>

#include "array.h"
#include "engine_state.h"

/* Samples checked to find out whether everything is cached. */
#define WARM_SAMPLES 48u

/* The probe takes as long as eleven reads, one after the other.  A first level of
 * fewer bytes than this does not lead to many more: then the topology is believed.
 * Image "bigalloc@1/400" of bench/ has 55 KiB of it, and is read ahead with 6
 * requests. */
#define PROBE_WORTH (128u << 10)

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
struct sampling {
	struct e2pf_engine *e;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
};

static void check_ref(void *ctx, const struct e2pf_ref *ref)
{
	struct sampling *s = ctx;

	if (e2pf_is_sound(s->e->cfg.source, ref) && !s->missing)
		s->missing = !e2pf_is_resident(s->e, ref->device, ref->offset,
					       ref->length);
}

/* A reference itself may be cached only because of the kernel's own readahead: what
 * it leads to is checked, too. */
static void check_sample(void *ctx, const struct e2pf_ref *ref)
{
	struct sampling *s = ctx;
	struct e2pf_source *source = s->e->cfg.source;
	struct e2pf_device *dev;
	void *buf = NULL;
	size_t room = 0;
	uint32_t size;
	uint64_t at;

	if (!e2pf_is_sound(source, ref))
		return;
	dev = s->e->cfg.devices[ref->device];
	s->seen = true;
	check_ref(s, ref);
	for (at = 0; ref->parse && at < ref->length && !s->missing;
	     at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size)
			break;
		s->missing = !e2pf_have_room(&buf, &room, 0, size, 1) ||
			     dev->ops->read(dev, buf, ref->offset + at, size);
		if (!s->missing)
			source->ops->parse(source, ref, at, buf, size,
					   check_ref, s);
	}
	free(buf);
}

bool e2pf_samples_are_cached(struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	struct sampling s = { .e = e };
	uint64_t i;

	for (i = 0; i < source->samples && !s.missing;
	     i += source->samples / WARM_SAMPLES + 1)
		source->ops->sample(source, i, check_sample, &s);
	return s.seen && !s.missing;
}

/* The longest reference of a sample. */
static void choose_longest(void *ctx, const struct e2pf_ref *ref)
{
	struct e2pf_ref *longest = ctx;

	if (!ref->device && ref->length > longest->length)
		*longest = *ref;
}

static uint64_t sample_at(void *ctx, uint64_t index, uint64_t *offset)
{
	struct e2pf_source *source = ctx;
	struct e2pf_ref ref = { .length = 0 };

	source->ops->sample(source, index, choose_longest, &ref);
	*offset = ref.offset;
	return ref.length;
}

static const char *measure_samples(struct e2pf_engine *e, bool any,
			   struct e2pf_speed *speed)
{
	struct e2pf_source *source = e->cfg.source;
	struct e2pf_probe_places places = {
		.bytes = source->bytes[0],
		.count = source->ops->sample ? source->samples : 0,
		.at = sample_at, .ctx = source
	};

	return e2pf_probe_device(e->cfg.devices[0], &places, any, speed);
}

static bool is_worth_a_probe(struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	unsigned phase = e->first_phase->number;
	uint64_t units, unit, bytes = 0;
	bool more;

	if (!source->ops->weight || e->first_phase->at_once)
		return true;
	units = source->ops->units(source, phase, &more);
	for (unit = 0; unit < units && bytes < PROBE_WORTH; unit++)
		bytes += source->ops->weight(source, phase, unit);
	return bytes >= PROBE_WORTH;
}

void e2pf_probe_engine(struct e2pf_engine *e)
{
	uint64_t began = e2pf_now(e);

	/* If the checker's first reads have shown that the device is stuck, the
	 * probe would take just as long. */
	if (!e->cfg.probe || e->speed.latency_ns || e->stuck ||
	    !is_worth_a_probe(e))
		return;
	if (measure_samples(e, false, &e->speed) && e->cfg.paced &&
	    e2pf_now(e) - began >= STUCK_NS)
		e->stuck = STUCK_PROOFS;
}

const char *e2pf_engine_measure(struct e2pf_engine *e, struct e2pf_speed *speed)
{
	e2pf_begin_walk(e);
	return measure_samples(e, true, speed);
}
