/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast a device is, for e2prefetch probe: at which places it is measured,
 * and what workers would begin with.  A check itself measures nothing here.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "engine_state.h"

#define PAGE E2PF_PROBE_BYTES

/* The filesystem is divided into as many parts as there are places, so that
 * these are far from each other.  A part must have room for a stretch beside
 * its place. */
#define PARTS E2PF_PROBES
#define PART_LEAST (128u << 10)

/* Positions that are tried in a part where no sample can be used. */
#define TRIES 64u

/* Places are at least so far from each other. */
#define DISTANCE (64u << 10)

/* Sequential speed is measured on STRETCH_BYTES, requested in pieces of
 * STRETCH_PIECE; with less than STRETCH_LEAST it would measure latency. */
#define STRETCH_BYTES (1u << 20)
#define STRETCH_PIECE (128u << 10)
#define STRETCH_LEAST (64u << 10)

struct place {
	uint64_t offset, length;	/* length 0: none */
	bool metadata;
};

struct survey {
	struct e2pf_engine *e;
	struct e2pf_device *dev;
	uint64_t part_bytes;
	struct place place[PARTS];	/* mostly one in each part */
	struct place stretch;
	unsigned found;
};

/* True if the range can be read from the device: none of it is cached, and it
 * begins with what is stored.  A hole of a file is read without the device. */
static bool is_cold(const struct survey *s, uint64_t offset, uint64_t length)
{
	bool resident;

	return s->dev->ops->span(s->dev, offset, length, &resident) >= length &&
	       !resident && (!s->dev->ops->data ||
			     s->dev->ops->data(s->dev, offset) == offset);
}

static bool is_near(const struct place *p, uint64_t offset)
{
	return p->length && offset + DISTANCE > p->offset &&
	       offset < p->offset + p->length + DISTANCE;
}

static bool is_taken(const struct survey *s, uint64_t offset)
{
	bool taken = is_near(&s->stretch, offset);
	unsigned i;

	for (i = 0; i < PARTS && !taken; i++)
		taken = is_near(&s->place[i], offset);
	return taken;
}

static void take(struct survey *s, unsigned i, uint64_t offset, bool metadata)
{
	s->place[i] = (struct place){ offset, PAGE, metadata };
	s->found++;
}

/* Metadata is preferred: the middle of a sample, and the longest sample for the
 * sequential speed. */
static void try_sample(void *ctx, const struct e2pf_ref *ref)
{
	uint64_t middle = ref->offset + ref->length / 2 / PAGE * PAGE;
	struct survey *s = ctx;
	uint64_t part = middle / s->part_bytes;

	if (ref->device || part >= PARTS || ref->length < E2PF_PROBE_LEAST)
		return;
	if (!s->place[part].length && is_cold(s, middle, PAGE))
		take(s, (unsigned)part, middle, true);
	else if (ref->length > s->stretch.length && ref->length >= STRETCH_LEAST
		 && s->stretch.length < STRETCH_BYTES &&
		 is_cold(s, ref->offset, PAGE))
		s->stretch = (struct place){
			ref->offset, ref->length < STRETCH_BYTES ?
				     ref->length : STRETCH_BYTES, true
		};
}

/* The next position in this part that is cold for `length` bytes and not near
 * another place.  Returns false if none of those that are tried is. */
static bool find_cold(const struct survey *s, unsigned part, uint64_t length,
		      uint64_t *offset)
{
	uint64_t start = part * s->part_bytes, end = start + s->part_bytes, at;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		at = (start + (2 * i + 1) * (s->part_bytes / (2 * TRIES))) /
		     PAGE * PAGE;
		if (s->dev->ops->data)
			at = s->dev->ops->data(s->dev, at);
		if (at >= end || length > end - at)
			continue;
		if (is_cold(s, at, length) && !is_taken(s, at)) {
			*offset = at;
			return true;
		}
	}
	return false;
}

/* Without a sample in a part any place of it is taken; and if a part has none,
 * then a second one of another. */
static void look_anywhere(struct survey *s)
{
	unsigned i, k;
	uint64_t at;

	for (i = 0; i < PARTS; i++)
		if (!s->place[i].length && find_cold(s, i, PAGE, &at))
			take(s, i, at, false);
	for (i = 0; i < PARTS && s->found; i++)
		for (k = 0; k < PARTS && !s->place[i].length; k++)
			if (find_cold(s, k, PAGE, &at))
				take(s, i, at, false);
}

static void find_stretch(struct survey *s)
{
	uint64_t length = s->part_bytes / 2 / PAGE * PAGE, at;
	unsigned i;

	if (length > STRETCH_BYTES)
		length = STRETCH_BYTES;
	for (i = 0; i < PARTS && s->stretch.length < length; i++)
		if (find_cold(s, i, length, &at))
			s->stretch = (struct place){ at, length, false };
}

/* Find all places.  Returns NULL, or why there are too few. */
static const char *find_places(struct survey *s)
{
	struct e2pf_source *source = s->e->cfg.source;
	uint64_t i, bytes = source->bytes[0] < s->dev->size ?
			    source->bytes[0] : s->dev->size;

	s->part_bytes = bytes / PARTS;
	if (s->dev->blind)
		return "this user may not see what of it is cached";
	if (s->part_bytes < PART_LEAST)
		return "it is too small";
	for (i = 0; i < source->samples && source->ops->sample; i++)
		source->ops->sample(source, i, try_sample, s);
	look_anywhere(s);
	find_stretch(s);
	if (!s->found)
		return "it is cached, or a file that is mostly holes";
	if (s->found < PARTS || !s->stretch.length)
		return "most of it is cached, or it is a file that is mostly "
		       "holes";
	return NULL;
}

/* In shuffled order; those of metadata first, which make the single reads: a
 * volume need not store what was never written. */
static void put_in_order(const struct survey *s, uint64_t *offset)
{
	static const unsigned order[PARTS] = {
		5, 0, 8, 2, 10, 4, 7, 1, 9, 3, 6
	};
	unsigned i, n = 0;
	int metadata;

	for (metadata = 1; metadata >= 0; metadata--)
		for (i = 0; i < PARTS; i++)
			if (s->place[order[i]].metadata == metadata)
				offset[n++] = s->place[order[i]].offset;
}

/* Bytes per second of the stretch, or 0 if it cannot be read. */
static uint64_t measure_transfer(const struct survey *s)
{
	uint64_t length = s->stretch.length, began, at;
	struct e2pf_device *dev = s->dev;
	char buf[PAGE];

	/* The seek to it is not part of the measurement. */
	if (dev->ops->read(dev, buf, s->stretch.offset, sizeof(buf)))
		return 0;
	began = e2pf_now(s->e);
	for (at = sizeof(buf); at < length; at += STRETCH_PIECE)
		dev->ops->willneed(dev, s->stretch.offset + at,
				   length - at < STRETCH_PIECE ? length - at :
								 STRETCH_PIECE);
	for (at = sizeof(buf); at + sizeof(buf) <= length; at += sizeof(buf))
		if (dev->ops->read(dev, buf, s->stretch.offset + at,
				   sizeof(buf)))
			return 0;
	began = e2pf_now(s->e) - began;
	return began ? (length - sizeof(buf)) * 1000000000u / began : 0;
}

/* Nobody needs what is not metadata. */
static void forget(const struct survey *s)
{
	const struct place *p;
	unsigned i;

	for (i = 0; s->dev->ops->forget && i <= PARTS; i++) {
		p = i < PARTS ? &s->place[i] : &s->stretch;
		if (p->length && !p->metadata)
			s->dev->ops->forget(s->dev, p->offset, p->length);
	}
}

/* What the workers would begin with; the next start decides anew. */
static void foresee(struct e2pf_engine *e, const struct e2pf_latencies *p,
		    struct e2pf_measured *m)
{
	struct e2pf_inflight inflight;

	e->has_head = e->cfg.has_head;
	e2pf_control_init(&e->control, e->has_head);
	if (p)
		e2pf_go_by(e, p);
	e2pf_inflight_init(&inflight, p ? p->deep_latency_ns *
					  e2pf_wanted_workers(e) : 0);
	m->depth = inflight.limit;
	m->dear = e->control.dear;
	e2pf_control_gap_range(&e->control, &m->least_gap, &m->most_gap);
}

static const char *measure(const struct survey *s, struct e2pf_latencies *p,
			   struct e2pf_measured *m)
{
	uint64_t offset[PARTS];
	unsigned i;

	put_in_order(s, offset);
	if (!e2pf_probe_device(s->dev, offset, p))
		return "a read of it failed, or took more than half a second";
	m->has_head = e2pf_probe_has_head(p);
	m->latency_ns = p->latency_ns;
	m->deep_latency_ns = p->deep_latency_ns;
	for (i = 0; i < PARTS; i++)
		m->metadata_places += s->place[i].metadata;
	m->bytes_per_second = measure_transfer(s);
	return m->bytes_per_second ? NULL : "a read of it failed";
}

const char *e2pf_engine_measure(struct e2pf_engine *e, struct e2pf_measured *m)
{
	struct survey s = { .e = e, .dev = e->cfg.devices[0] };
	struct e2pf_latencies p;
	const char *why;

	memset(m, 0, sizeof(*m));
	e2pf_adopt_config(e);
	e2pf_load_phases(e, UINT64_MAX, true);
	why = find_places(&s);
	if (!why)
		why = measure(&s, &p, m);
	foresee(e, !why && e->cfg.probe ? &p : NULL, m);
	forget(&s);
	e->phases = NULL;
	return why;
}
