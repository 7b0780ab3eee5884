/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "cached.h"
#include "piece.h"

/* Samples checked to find out whether everything is cached. */
#define WARM_SAMPLES 48u

bool e2pf_is_cached(struct e2pf_device *dev, uint64_t offset, uint64_t len)
{
	while (len) {
		enum e2pf_residency state;
		uint64_t n = dev->ops->span(dev, offset, len, &state);

		if (state != E2PF_CACHED)
			return false;
		offset += n;
		len -= n;
	}
	return true;
}

/* Are the samples, and what they refer to, cached? */
struct sampling {
	struct e2pf_source *source;
	struct e2pf_device *const *devices;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
};

static void check_ref(void *ctx, const struct e2pf_ref *ref)
{
	struct sampling *s = ctx;

	if (e2pf_is_sound(s->source, ref) && !s->missing)
		s->missing = !e2pf_is_cached(s->devices[ref->device],
					     ref->offset, ref->length);
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
