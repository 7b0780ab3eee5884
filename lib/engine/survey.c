/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the device is measured, and what follows from it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "engine_state.h"

/* A sample's reference is used for the probe if it has at least PROBE_LEAST
 * bytes: the kernel's own readahead from its start does not reach the
 * middle. */
#define PROBE_LEAST 8192u
#define PROBE_BYTES 4096u

/* Sequential speed is measured on STRETCH_BYTES of the longest of STRETCH_SAMPLES
 * samples, requested in pieces of STRETCH_PIECE; with less than STRETCH_LEAST it would measure latency. */
#define STRETCH_SAMPLES 48u
#define STRETCH_BYTES (1u << 20)
#define STRETCH_PIECE (128u << 10)
#define STRETCH_LEAST (64u << 10)

/* Size of the reads that measure what a byte costs; a volume takes it as one
 * request.  Places for them are looked for in the first LARGE_SAMPLES samples.
 * If there are none, a byte is assumed to take USUAL_BYTE_NS: 125 MB/s. */
#define LARGE_BYTES (256u << 10)
#define LARGE_SAMPLES 1024u
#define USUAL_BYTE_NS 8.0

/* A place on the first device that is not cached. */
struct probe_place {
	struct e2pf_engine *e;
	uint32_t length;	/* wanted, for a large read */
	uint64_t offset;
	bool found;
};

static void try_place(void *ctx, const struct e2pf_ref *ref)
{
	struct probe_place *place = ctx;
	uint64_t middle = ref->offset +
			  ref->length / 2 / PROBE_BYTES * PROBE_BYTES;

	if (place->found || ref->device || ref->length < PROBE_LEAST ||
	    e2pf_is_resident(place->e, 0, middle, PROBE_BYTES))
		return;
	place->offset = middle;
	place->found = true;
}

/* Find places far from each other that are not cached: the middle of samples,
 * which will be read anyway, in shuffled order.  False when there are not
 * enough. */
static bool probe_offsets(struct e2pf_engine *e, uint64_t *offset)
{
	/* Elevenths of the samples, shuffled. */
	static const unsigned part[E2PF_PROBES] = {
		5, 0, 8, 2, 10, 4, 7, 1, 9, 3, 6
	};
	struct e2pf_source *source = e->cfg.source;
	unsigned i;

	for (i = 0; i < E2PF_PROBES; i++) {
		uint64_t s = source->samples * part[i] / E2PF_PROBES;
		uint64_t end = source->samples * (part[i] + 1) / E2PF_PROBES;
		struct probe_place place = { .e = e };

		for (; s < end && !place.found; s++)
			source->ops->sample(source, s, try_place, &place);
		if (!place.found)
			return false;
		offset[i] = place.offset;
	}
	return true;
}

/* Accept a reference that has room for a large read from its start on and of
 * which nothing is cached. */
static void try_large_place(void *ctx, const struct e2pf_ref *ref)
{
	struct probe_place *place = ctx;
	struct e2pf_device *dev = place->e->cfg.devices[0];
	bool resident;

	if (place->found || ref->device || ref->length < place->length ||
	    dev->ops->span(dev, ref->offset, place->length, &resident) <
	    place->length || resident)
		return;
	place->offset = ref->offset;
	place->found = true;
}

/* Cost of a byte, without that of a request, from large reads of the first
 * samples: the checker needs these next. */
static double measure_bytes(struct e2pf_engine *e, uint64_t latency_ns)
{
	struct e2pf_source *source = e->cfg.source;
	struct e2pf_device *dev = e->cfg.devices[0];
	uint32_t length = dev->max_readahead < LARGE_BYTES ?
			  dev->max_readahead : LARGE_BYTES;
	uint64_t offset[E2PF_PROBE_DEEP], s;
	unsigned n = 0;
	double ns = 0;

	for (s = 0; s < source->samples && s < LARGE_SAMPLES &&
	     n < E2PF_PROBE_DEEP; s++) {
		struct probe_place place = { .e = e, .length = length };

		source->ops->sample(source, s, try_large_place, &place);
		if (place.found)
			offset[n++] = place.offset;
	}
	if (n == E2PF_PROBE_DEEP)
		ns = e2pf_probe_byte_ns(dev, offset, length, latency_ns);
	return ns > 0 ? ns : USUAL_BYTE_NS;
}

/* What the probe has shown is what is gone by. */
static void go_by(struct e2pf_engine *e, const struct e2pf_latencies *p)
{
	e->has_head = e2pf_probe_has_head(p);
	e->dear = e2pf_probe_is_dear(p);
	if (!e->dear)
		return;
	e->balance.request_ns = (double)e2pf_probe_request_ns(p);
	e->balance.byte_ns = measure_bytes(e, p->latency_ns);
}

void e2pf_probe_engine(struct e2pf_engine *e)
{
	uint64_t offset[E2PF_PROBES];
	uint64_t began = e2pf_now(e);
	struct e2pf_latencies p;

	/* If the checker's first reads have shown that the device is stuck, the
	 * probe would take just as long. */
	if (!e->cfg.probe || e->stats.latency_ns || e->stuck ||
	    !probe_offsets(e, offset))
		return;
	if (!e2pf_probe_device(e->cfg.devices[0], offset, &p)) {
		if (e->cfg.paced && e2pf_now(e) - began >= STUCK_NS)
			e->stuck = STUCK_PROOFS;
		return;
	}
	e->stats.latency_ns = p.latency_ns;
	e->stats.deep_latency_ns = p.deep_latency_ns;
	go_by(e, &p);
}

/* The longest uncached reference found in the samples. */
struct stretch {
	struct e2pf_engine *e;
	struct e2pf_ref ref;
};

static void try_stretch(void *ctx, const struct e2pf_ref *ref)
{
	struct stretch *s = ctx;

	if (!ref->device && ref->length > s->ref.length &&
	    !e2pf_is_resident(s->e, 0, ref->offset, PROBE_BYTES))
		s->ref = *ref;
}

/* Bytes per second, measured on the longest of some samples. */
static uint64_t measure_transfer(struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	struct e2pf_device *dev = e->cfg.devices[0];
	struct stretch s = { .e = e };
	char buf[PROBE_BYTES];
	uint64_t i, length, began, at;

	for (i = 0; i < source->samples && s.ref.length < STRETCH_BYTES;
	     i += source->samples / STRETCH_SAMPLES + 1)
		source->ops->sample(source, i, try_stretch, &s);
	length = s.ref.length < STRETCH_BYTES ? s.ref.length : STRETCH_BYTES;
	/* The seek to it is not part of the measurement. */
	if (length < STRETCH_LEAST ||
	    dev->ops->read(dev, buf, s.ref.offset, sizeof(buf)))
		return 0;
	began = e2pf_now(e);
	for (at = sizeof(buf); at < length; at += STRETCH_PIECE)
		dev->ops->willneed(dev, s.ref.offset + at,
				   length - at < STRETCH_PIECE ? length - at :
								 STRETCH_PIECE);
	for (at = sizeof(buf); at + sizeof(buf) <= length; at += sizeof(buf))
		if (dev->ops->read(dev, buf, s.ref.offset + at, sizeof(buf)))
			return 0;
	began = e2pf_now(e) - began;
	return began ? (length - sizeof(buf)) * 1000000000u / began : 0;
}

/* What the workers would begin with; the next start decides anew. */
static void foresee(struct e2pf_engine *e, const struct e2pf_latencies *p,
		    struct e2pf_measured *m)
{
	struct e2pf_inflight inflight;

	e->has_head = e->cfg.has_head;
	e->dear = false;
	if (p)
		go_by(e, p);
	e2pf_inflight_init(&inflight, p ? p->deep_latency_ns *
					  e2pf_wanted_workers(e) : 0);
	m->depth = inflight.limit;
	m->dear = e->dear;
	e2pf_gap_range(e, &m->least_gap, &m->most_gap);
}

bool e2pf_engine_measure(struct e2pf_engine *e, struct e2pf_measured *m)
{
	uint64_t offset[E2PF_PROBES];
	struct e2pf_latencies p;
	bool found, probed;

	memset(m, 0, sizeof(*m));
	e2pf_adopt_config(e);
	e2pf_load_phases(e, UINT64_MAX, true);
	found = probed = probe_offsets(e, offset) &&
		e2pf_probe_device(e->cfg.devices[0], offset, &p);
	if (found) {
		m->has_head = e2pf_probe_has_head(&p);
		m->latency_ns = p.latency_ns;
		m->deep_latency_ns = p.deep_latency_ns;
		m->bytes_per_second = measure_transfer(e);
		found = m->bytes_per_second;
	}
	foresee(e, probed && e->cfg.probe ? &p : NULL, m);
	e->phases = NULL;
	return found;
}
