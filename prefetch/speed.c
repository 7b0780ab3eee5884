/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides at which offsets a device is measured, and how.
 */
#include <string.h>

#include "speed.h"
#include "spindle.h"

/* The checker waits for the measurement.  A device that takes longer than this for
 * one read is stalled, and measuring it would tell nothing. */
#define PATIENCE_NS 500000000u

#define PAGE PF_SPEED_BYTES
#define READS PF_SPEED_READS

/* A sample is taken in each of TRIES parts.  STRIDE, which has no factor in common with
 * TRIES, puts those that follow each other far apart on the device.  Between two reads
 * are at least DISTANCE bytes; AWAY, without a factor in common with READS, mixes those
 * in one table. */
#define TRIES 64u
#define STRIDE 25u
#define DISTANCE (64u << 10)
#define AWAY 7u

/* The cost of a byte is measured on STRETCH_BYTES, which are on all disks of an array
 * with chunks of 512 KiB; two requests of REQUEST_BYTES are needed. */
#define STRETCH_BYTES (4u << 20)
#define REQUEST_BYTES (128u << 10)

struct range {
	uint64_t offset, length;	/* length 0: none */
};

struct survey {
	struct pf_device *dev;
	const struct pf_speed_samples *samples;
	uint64_t bytes;			/* that may be read: of the filesystem, on
					   the device */
	struct range read[READS];	/* found so far */
	struct range stretch;		/* for what a byte costs */
};

static uint64_t now(struct pf_device *dev)
{
	return dev->ops->now(dev);
}

static bool is_taken(const struct survey *s, uint64_t offset)
{
	const struct range *p = s->read;
	unsigned i;

	for (i = 0; i < READS; i++, p++)
		if (p->length && offset + DISTANCE > p->offset &&
		    offset < p->offset + p->length + DISTANCE)
			return true;
	return false;
}

/* Accept a range that would be read from the device: none of it is cached or being read,
 * its beginning is stored, and no other read is near its middle, where those in a table
 * are.  e2fsck requests the first tables itself, which may be all. */
static bool accept_range(const struct survey *s, struct range *range,
			 uint64_t at, uint64_t length)
{
	uint64_t first = at / PAGE * PAGE, end = at + length + PAGE - 1;
	struct pf_device *dev = s->dev;
	enum pf_residency state;

	/* The kernel reads whole pages.  A hole of a file would be read without the
	 * device. */
	if (at > s->bytes || length > s->bytes - at ||
	    is_taken(s, at + length / 2) ||
	    (s->samples->may_read &&
	     !s->samples->may_read(s->samples->ctx, first,
				   end / PAGE * PAGE - first)) ||
	    (!dev->asks_by_reading &&
	     (dev->ops->span(dev, at, length, &state) < length ||
	      state != PF_MISSING)) ||
	    (dev->ops->next_data && dev->ops->next_data(dev, at) != at))
		return false;
	*range = (struct range){ at, length };
	return true;
}

/* A sample that ends beyond the device counts as empty: so the sum of an offset and a
 * length does not overflow. */
static uint64_t sample_at(const struct survey *s, uint64_t index,
			  uint64_t *offset)
{
	uint64_t length = s->samples->at(s->samples->ctx, index, offset);

	return *offset < s->bytes && length <= s->bytes - *offset ? length : 0;
}

/* The first sample that is long enough, from the index on and below another; or none. */
static uint64_t find_long(const struct survey *s, uint64_t index, uint64_t below)
{
	uint64_t at;

	while (index < below && sample_at(s, index, &at) < 2 * PAGE)
		index++;
	return index;
}

static uint64_t index_of_part(uint64_t count, unsigned part)
{
	return count / TRIES * part + count % TRIES * part / TRIES;
}

/* Find ranges for the reads: in the middle of tables and, where a filesystem is partly
 * filled and has few of them, in the rest of long ones, where none follows closely behind
 * the one before, since a disk would read on.  Returns how many there are. */
static unsigned find_reads(struct survey *s)
{
	uint64_t count = s->samples->count, index[TRIES], length, at, into;
	unsigned i, part, found = 0;

	for (i = 0; i < READS * TRIES && found < READS && count; i++) {
		part = i * STRIDE % TRIES;
		if (i < TRIES)
			index[part] = find_long(s, index_of_part(count, part),
						index_of_part(count, part + 1));
		length = index[part] < count ?
			 sample_at(s, index[part], &at) : 0;
		if (length < 2 * PAGE)
			continue;
		into = (length / 2 + 2 * (uint64_t)DISTANCE *
			(i / TRIES * AWAY % READS)) % length / PAGE * PAGE;
		if (into + PAGE <= length)
			found += accept_range(s, &s->read[found], at + into,
					      PAGE);
	}
	return found;
}

/* The longest sample, as far as it is needed. */
static void find_stretch(struct survey *s)
{
	uint64_t index, length, at;

	for (index = 0; index < s->samples->count &&
			s->stretch.length < STRETCH_BYTES; index++) {
		length = sample_at(s, index, &at);
		if (length > STRETCH_BYTES)
			length = STRETCH_BYTES;
		length -= length % REQUEST_BYTES;
		if (length > s->stretch.length && length > REQUEST_BYTES)
			accept_range(s, &s->stretch, at, length);
	}
}

static bool read_page(struct pf_device *dev, uint64_t offset)
{
	char buf[PAGE];

	return dev->ops->read(dev, buf, offset, sizeof(buf)) == 0;
}

/* Is this page not cached?  Where only a read can tell, it is asked about now, and so its
 * time begins. */
static bool is_missing(struct pf_device *dev, uint64_t offset)
{
	enum pf_residency state = PF_MISSING;

	if (dev->asks_by_reading)
		dev->ops->span(dev, offset, PAGE, &state);
	return state == PF_MISSING;
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

static bool measure_requests(struct pf_device *dev, const struct range *read,
			     struct pf_speed *speed)
{
	uint64_t t[PF_SPEED_READS_QD1], all;
	unsigned i;

	for (i = 0; i < PF_SPEED_READS_QD1; i++) {
		t[i] = now(dev);
		if (!is_missing(dev, read[i].offset) ||
		    !read_page(dev, read[i].offset))
			return false;
		t[i] = now(dev) - t[i];
		if (t[i] >= PATIENCE_NS)
			return false;
	}
	all = now(dev);
	for (i = PF_SPEED_READS_QD1; i < READS; i++) {
		if (!is_missing(dev, read[i].offset))
			return false;
		dev->ops->willneed(dev, read[i].offset, PAGE);
	}
	for (i = PF_SPEED_READS_QD1; i < READS; i++)
		if (!read_page(dev, read[i].offset))
			return false;
	all = now(dev) - all;
	speed->latency_ns = median(t[0], t[1], t[2]);
	/* The slowest of those at queue depth 8 took at most as long as all of them. */
	speed->min_latency_ns = smaller(smaller(t[0], t[1]), smaller(t[2],
								     all));
	speed->latency_qd8_ns = all / PF_SPEED_READS_QD8;
	if (all > speed->latency_ns)
		speed->request_ns = (all - speed->latency_ns) /
				    (PF_SPEED_READS_QD8 - 1);
	speed->seek_bound =
		pf_spindle_is_measured_seek_bound(speed->latency_ns,
						  speed->latency_qd8_ns);
	return true;
}

/* Picoseconds per byte of the stretch, or 0 if it cannot be read.  The time begins with
 * the first request: its latency is no cost of a byte, and the stretch may be short. */
static uint64_t measure_bytes(const struct survey *s)
{
	uint64_t at = s->stretch.offset, end = at + s->stretch.length, ns;
	uint64_t bytes = s->stretch.length - REQUEST_BYTES;
	struct pf_device *dev = s->dev;

	for (; at < end; at += REQUEST_BYTES)
		dev->ops->willneed(dev, at, REQUEST_BYTES);
	at = s->stretch.offset + REQUEST_BYTES - PAGE;
	for (ns = 0; at < end; at += REQUEST_BYTES) {
		if (!read_page(dev, at))
			return 0;
		if (!ns)
			ns = now(dev);
	}
	ns = now(dev) - ns;
	return ns <= bytes / 1000 ? 1 : ns * 1000 / bytes;
}

const char *pf_speed_measure(struct pf_device *dev,
			     const struct pf_speed_samples *samples,
			     bool with_bytes, struct pf_speed *speed)
{
	struct survey s = { .dev = dev, .samples = samples };
	struct pf_speed measured = { .seek_bound = false };

	s.bytes = samples->bytes < dev->size ? samples->bytes : dev->size;
	if (find_reads(&s) < READS)
		return "too little uncached metadata to measure the device";
	if (with_bytes)
		find_stretch(&s);
	if (!measure_requests(dev, s.read, &measured))
		return s.dev->asks_by_reading ?
		       "a read failed, took over 0.5 s, or found cached blocks" :
		       "a read failed or took over 0.5 s";
	if (s.stretch.length) {
		measured.byte_ps = measure_bytes(&s);
		if (!measured.byte_ps)
			return "a read failed";
	}
	*speed = measured;
	return NULL;
}
