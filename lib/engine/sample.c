/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "piece.h"
#include "sample.h"

/* Samples checked to find out whether everything is cached. */
#define WARM_SAMPLES 48u

/* Measuring takes as long as eleven reads, one after the other.  A first level of
 * fewer bytes than this does not lead to many more: then the topology is believed.
 * Image "bigalloc@1/400" of bench/ has 55 KiB of it, and is read ahead with 6
 * requests. */
#define WORTH_BYTES (128u << 10)

/* Are the samples, and what they refer to, cached? */
struct sampling {
	struct e2pf_source *source;
	struct e2pf_device *const *devices;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
};

/* Pages that are held count: what the kernel reads of a mounted filesystem for itself
 * is up to date in its buffers, not in their pages. */
static void check_ref(void *ctx, const struct e2pf_ref *ref)
{
	struct sampling *s = ctx;
	struct e2pf_device *dev = s->devices[ref->device];
	enum e2pf_residency state;
	uint64_t at, n;

	if (!e2pf_is_sound(s->source, ref))
		return;
	for (at = 0; at < ref->length && !s->missing; at += n) {
		n = dev->ops->span(dev, ref->offset + at, ref->length - at,
				   &state);
		s->missing = state == E2PF_MISSING;
	}
}

/* A reference itself may be cached only because of the kernel's own readahead: what
 * it leads to is checked, too. */
static void check_sample(void *ctx, const struct e2pf_ref *ref)
{
	struct sampling *s = ctx;
	struct e2pf_piece piece = { .size = 0 };
	uint64_t at;

	if (!e2pf_is_sound(s->source, ref))
		return;
	s->seen = true;
	check_ref(s, ref);
	for (at = 0; ref->parse && at < ref->length && !s->missing;
	     at += piece.size) {
		piece.size = s->source->ops->piece(s->source, ref, at);
		s->missing = e2pf_piece_read(s->devices[ref->device],
					     ref->offset + at, &piece);
		if (!piece.size)
			break;
		if (!s->missing)
			s->source->ops->parse(s->source, ref, at, piece.bytes,
					      piece.size, check_ref, s);
	}
	e2pf_piece_free(&piece);
}

bool e2pf_samples_are_cached(struct e2pf_source *source,
			     struct e2pf_device *const *devices)
{
	struct sampling s = { .source = source, .devices = devices };
	uint64_t i;

	for (i = 0; i < source->samples && !s.missing;
	     i += source->samples / WARM_SAMPLES + 1)
		source->ops->sample(source, i, check_sample, &s);
	return s.seen && !s.missing;
}

bool e2pf_is_worth_measuring(struct e2pf_source *source,
			     const struct e2pf_phase *first)
{
	uint64_t units, unit, bytes = 0;
	bool more;

	if (!source->ops->weight || first->at_once)
		return true;
	units = source->ops->units(source, first->number, &more);
	for (unit = 0; unit < units && bytes < WORTH_BYTES; unit++)
		bytes += source->ops->weight(source, first->number, unit);
	return bytes >= WORTH_BYTES;
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

static bool may_read(void *ctx, uint64_t offset, uint64_t length)
{
	struct e2pf_source *source = ctx;

	return source->ops->may_read(source, offset, length);
}

const char *e2pf_measure(struct e2pf_source *source, struct e2pf_device *dev,
			 bool any, struct e2pf_speed *speed)
{
	struct e2pf_speed_places places = {
		.bytes = source->bytes[0],
		.count = source->ops->sample ? source->samples : 0,
		.at = sample_at, .ctx = source,
		.may_read = source->ops->may_read ? may_read : NULL
	};

	return e2pf_measure_device(dev, &places, any, speed);
}
