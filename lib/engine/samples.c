/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <stdlib.h>

#include "elevator.h"
#include "samples.h"

/* Samples that are checked, at most, to find out whether everything is cached. */
#define MAX_SAMPLES 48u

/* The samples, and what they refer to. */
struct sampling {
	struct pf_source *source;
	struct e2pf_device *const *devices;
	bool seen;		/* there was something to check */
	bool missing;		/* some of it is not cached */
	void *piece;		/* that is parsed: the program's stack may be small */
};

/* Pages that are held count: what the kernel reads of a mounted filesystem for itself
 * is up to date in its buffers, not in their pages. */
static void check_ref(void *ctx, const struct pf_ref *ref)
{
	struct sampling *s = ctx;

	if (pf_elevator_is_sound(s->source, ref) && !s->missing)
		s->missing = !e2pf_is_cached(s->devices[ref->device],
					     ref->offset, ref->length, true);
}

/* A reference itself may be cached only because of the kernel's own readahead: what
 * it leads to is checked, too. */
static void check_sample(void *ctx, const struct pf_ref *ref)
{
	struct sampling *s = ctx;
	struct pf_source *source = s->source;
	struct e2pf_device *dev;
	uint64_t at;
	uint32_t size;

	if (!pf_elevator_is_sound(source, ref))
		return;
	s->seen = true;
	check_ref(s, ref);
	dev = s->devices[ref->device];
	for (at = 0; ref->parse && at < ref->length && !s->missing; at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size)
			break;
		s->missing = dev->ops->read(dev, s->piece, ref->offset + at, size);
		if (!s->missing)
			source->ops->parse(source, ref, at, s->piece, size,
					   check_ref, s);
	}
}

bool pf_samples_are_cached(struct pf_source *source,
			   struct e2pf_device *const *devices)
{
	struct sampling s = {
		.source = source, .devices = devices,
		.piece = malloc(PF_MAX_PIECE)
	};
	uint64_t i;

	for (i = 0; s.piece && i < source->samples && !s.missing;
	     i += source->samples / MAX_SAMPLES + 1)
		source->ops->sample(source, i, check_sample, &s);
	free(s.piece);
	return s.seen && !s.missing;
}

/* The longest reference of a sample. */
static void choose_longest(void *ctx, const struct pf_ref *ref)
{
	struct pf_ref *longest = ctx;

	if (!ref->device && ref->length > longest->length)
		*longest = *ref;
}

static uint64_t get_sample(void *ctx, uint64_t index, uint64_t *offset)
{
	struct pf_source *source = ctx;
	struct pf_ref ref = { .length = 0 };

	source->ops->sample(source, index, choose_longest, &ref);
	*offset = ref.offset;
	return ref.length;
}

static bool may_read(void *ctx, uint64_t offset, uint64_t length)
{
	struct pf_source *source = ctx;

	return source->ops->may_read(source, offset, length);
}

const char *pf_samples_measure(struct pf_source *source,
			       struct e2pf_device *dev, bool with_bytes,
			       struct e2pf_speed *speed)
{
	struct e2pf_speed_samples samples = {
		.bytes = source->bytes[0],
		.count = source->ops->sample ? source->samples : 0,
		.at = get_sample, .ctx = source,
		.may_read = source->ops->may_read ? may_read : NULL
	};

	return e2pf_measure_device(dev, &samples, with_bytes, speed);
}
