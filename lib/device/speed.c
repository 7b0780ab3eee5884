/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides at which places a device is measured, and how. spindle.h judges the
 * figures, and the engine acts on them.
 */
#include <string.h>

#include "speed.h"
#include "spindle.h"

/* The checker waits for the measurement.  A device that takes longer than this for
 * one read is stuck, and measuring it would tell nothing. */
#define PATIENCE_NS 500000000u

#define PAGE E2PF_SPEED_BYTES
#define PARTS E2PF_SPEED_READS

/* At most TRIES tables are looked at for further places, and between places are at
 * least DISTANCE bytes. */
#define TRIES 64u
#define DISTANCE (64u << 10)

/* The cost of a byte is measured on STRETCH_BYTES, which are on all disks of an array
 * with chunks of 512 KiB, requested in pieces of STRETCH_PIECE; two of them
 * are needed. */
#define STRETCH_BYTES (4u << 20)
#define STRETCH_PIECE (128u << 10)
#define STRETCH_LEAST (2 * STRETCH_PIECE)

struct place {
	uint64_t offset, length;	/* length 0: none */
};

struct survey {
	struct e2pf_device *dev;
	const struct e2pf_speed_places *places;
	uint64_t bytes;
	struct place place[PARTS + 1];	/* mostly one in each part; and */
};

/* one for what a byte costs. */
#define STRETCH PARTS

static uint64_t now(struct e2pf_device *dev)
{
	return dev->ops->now(dev);
}

static bool is_taken(const struct survey *s, uint64_t offset)
{
	const struct place *p = s->place;
	unsigned i;

	for (i = 0; i <= PARTS; i++, p++)
		if (p->length && offset + DISTANCE > p->offset &&
		    offset < p->offset + p->length + DISTANCE)
			return true;
	return false;
}

/* Make this the i-th place if it can be read from the device: none of it is cached or
 * being read, and its beginning is stored. e2fsck requests the first tables itself,
 * which may be all. */
static bool accept_place(struct survey *s, unsigned i, uint64_t at, uint64_t length)
{
	uint64_t first = at / PAGE * PAGE, end = at + length + PAGE - 1;
	struct e2pf_device *dev = s->dev;
	enum e2pf_residency state;

	/* The kernel reads whole pages.  A hole of a file would be read without the device. */
	if (at > s->bytes || length > s->bytes - at ||
	    is_taken(s, at + length / 2) ||
	    (s->places->may_read &&
	     !s->places->may_read(s->places->ctx, first,
				  end / PAGE * PAGE - first)) ||
	    dev->ops->span(dev, at, length, &state) < length ||
	    state != E2PF_MISSING ||
	    (dev->ops->data && dev->ops->data(dev, at) != at))
		return false;
	s->place[i] = (struct place){ at, length };
	return true;
}

/* A place beyond the end of the device has no length: so the sum of an offset and a
 * length does not overflow. */
static uint64_t place_at(const struct survey *s, uint64_t index,
			 uint64_t *offset)
{
	uint64_t length = s->places->at(s->places->ctx, index, offset);

	return *offset < s->bytes && length <= s->bytes - *offset ? length : 0;
}

/* The first of `all` places that is in part `i` of PARTS. */
static uint64_t part_of(uint64_t all, unsigned i)
{
	return all / PARTS * i + all % PARTS * i / PARTS;
}

/* The middle of the first place that is not cached among the i-th eleventh of
 * all places. */
static void find_metadata(struct survey *s, unsigned i)
{
	uint64_t index = part_of(s->places->count, i), length, at;

	for (; index < part_of(s->places->count, i + 1); index++) {
		length = place_at(s, index, &at);
		if (length >= 2 * PAGE &&
		    accept_place(s, i, at + length / 2 / PAGE * PAGE, PAGE))
			return;
	}
}

/* Parts of the device that have no metadata, as in a filesystem that is partly filled,
 * leave their place to others: to tables that are long, at DISTANCE from each other.
 * On a disk these are nearer, but a read still waits for the platter. */
static void find_more_metadata(struct survey *s)
{
	uint64_t count = s->places->count, length, at, into;
	unsigned i = 0, k;

	for (k = 0; k < PARTS * TRIES && count; k++) {
		while (i < PARTS && s->place[i].length)
			i++;
		if (i == PARTS)
			return;
		/* TRIES places, spread over all, and PARTS positions in each. */
		length = place_at(s, count / TRIES * (k % TRIES) +
				     count % TRIES * (k % TRIES) / TRIES, &at);
		into = PAGE + 2 * (uint64_t)DISTANCE * (k / TRIES);
		if (length >= into + PAGE)
			accept_place(s, i, at + into, PAGE);
	}
}

/* The longest place, for what a byte costs. */
static void find_stretch(struct survey *s)
{
	const struct place *stretch = &s->place[STRETCH];
	uint64_t index, length, at;

	for (index = 0; index < s->places->count &&
			stretch->length < STRETCH_BYTES; index++) {
		length = place_at(s, index, &at);
		if (length > STRETCH_BYTES)
			length = STRETCH_BYTES;
		if (length > stretch->length && length >= STRETCH_LEAST)
			accept_place(s, STRETCH, at, length);
	}
}

/* Find all places.  Returns NULL, or why there are too few. */
static const char *find_places(struct survey *s, bool bytes)
{
	unsigned i, found = 0;

	if (s->dev->blind)
		return "this user may not see what of it is cached";
	for (i = 0; i < PARTS; i++)
		find_metadata(s, i);
	find_more_metadata(s);
	for (i = 0; i < PARTS; i++)
		found += s->place[i].length != 0;
	if (bytes)
		find_stretch(s);
	return found == PARTS ? NULL :
	       "there is little metadata, or most of it is cached or being read";
}

static bool read_page(struct e2pf_device *dev, uint64_t offset)
{
	char buf[PAGE];

	return dev->ops->read(dev, buf, offset, sizeof(buf)) == 0;
}

/* The median of three, since one may have been delayed by another request. */
static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool measure_requests(struct e2pf_device *dev, const uint64_t *offset,
			     struct e2pf_speed *speed)
{
	uint64_t t[E2PF_SPEED_LONE], all;
	unsigned i;

	for (i = 0; i < E2PF_SPEED_LONE; i++) {
		t[i] = now(dev);
		if (!read_page(dev, offset[i]))
			return false;
		t[i] = now(dev) - t[i];
		if (t[i] >= PATIENCE_NS)
			return false;
	}
	all = now(dev);
	for (i = E2PF_SPEED_LONE; i < E2PF_SPEED_READS; i++)
		dev->ops->willneed(dev, offset[i], PAGE);
	for (i = E2PF_SPEED_LONE; i < E2PF_SPEED_READS; i++)
		if (!read_page(dev, offset[i]))
			return false;
	all = now(dev) - all;
	speed->latency_ns = median(t[0], t[1], t[2]);
	/* The slowest of the deep ones took at most as long as all of them. */
	speed->least_ns = smaller(smaller(t[0], t[1]), smaller(t[2], all));
	speed->deep_latency_ns = all / E2PF_SPEED_DEEP;
	if (all > speed->latency_ns)
		speed->request_ns = (all - speed->latency_ns) /
				    (E2PF_SPEED_DEEP - 1);
	speed->seeks = e2pf_measured_seeks(speed->latency_ns,
					      speed->deep_latency_ns);
	return true;
}

/* Picoseconds per byte of the stretch, or 0 if it cannot be read.  The time begins with
 * the first piece: the latency of a request is no cost of a byte, and the stretch may be
 * short. */
static uint64_t measure_bytes(const struct survey *s)
{
	const struct place *stretch = &s->place[STRETCH];
	uint64_t at = stretch->offset, end = at + stretch->length, ns;
	struct e2pf_device *dev = s->dev;
	uint64_t bytes = stretch->length - STRETCH_PIECE, from;

	for (from = at; from < end; from += STRETCH_PIECE)
		dev->ops->willneed(dev, from, end - from < STRETCH_PIECE ?
				   end - from : STRETCH_PIECE);
	at += STRETCH_PIECE - PAGE;
	for (ns = 0; at + PAGE <= end; at += PAGE) {
		if (!read_page(dev, at))
			return 0;
		if (!ns)
			ns = now(dev);
	}
	ns = now(dev) - ns;
	return ns <= bytes / 1000 ? 1 : ns * 1000 / bytes;
}

const char *e2pf_measure_device(struct e2pf_device *dev,
				const struct e2pf_speed_places *places,
				bool bytes, struct e2pf_speed *speed)
{
	/* In shuffled order. */
	static const unsigned order[PARTS] = {
		5, 0, 8, 2, 10, 4, 7, 1, 9, 3, 6
	};
	struct survey s = { .dev = dev, .places = places };
	struct e2pf_speed measured = { .seeks = false };
	uint64_t offset[PARTS];
	const char *why;
	unsigned i;

	s.bytes = places->bytes < dev->size ? places->bytes : dev->size;
	why = find_places(&s, bytes);
	if (why)
		return why;
	for (i = 0; i < PARTS; i++)
		offset[i] = s.place[order[i]].offset;
	if (!measure_requests(dev, offset, &measured))
		return "a read of it failed, or took more than half a second";
	if (s.place[STRETCH].length) {
		measured.byte_ps = measure_bytes(&s);
		if (!measured.byte_ps)
			return "a read of it failed";
	}
	*speed = measured;
	return NULL;
}
