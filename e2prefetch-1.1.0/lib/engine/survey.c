/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the device is measured, and what follows from it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* The probe takes as long as eleven reads, one after the other.  A first level of
 * fewer bytes than this does not lead to many more: then the topology is believed.
 * Image "bigalloc@1/400" of bench/ has 55 KiB of it, and is read ahead with 6
 * requests. */
#define PROBE_WORTH (128u << 10)

/* Size of the reads that measure what a byte costs; a volume takes it as one
 * request.  Places for them are looked for in the first LARGE_SAMPLES samples.
 * If there are none, a byte is assumed to take E2PF_USUAL_BYTE_NS. */
#define LARGE_BYTES (256u << 10)
#define LARGE_SAMPLES 1024u

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
			  ref->length / 2 / E2PF_PROBE_BYTES * E2PF_PROBE_BYTES;

	if (place->found || ref->device || ref->length < E2PF_PROBE_LEAST ||
	    e2pf_is_resident(place->e, 0, middle, E2PF_PROBE_BYTES))
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
	return ns > 0 ? ns : E2PF_USUAL_BYTE_NS;
}

void e2pf_go_by(struct e2pf_engine *e, const struct e2pf_latencies *p)
{
	e->has_head = e2pf_probe_has_head(p);
	e2pf_control_init(&e->control, e->has_head);
	if (e2pf_probe_is_dear(p))
		e2pf_control_set(&e->control,
				 (double)e2pf_probe_request_ns(p),
				 measure_bytes(e, p->latency_ns));
	e2pf_follow_control(e);
}

static bool is_worth_a_probe(struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	uint64_t units, unit, bytes = 0;
	bool more;

	if (e->phases[0].order != E2PF_ORDER_WEIGHED)
		return true;
	units = source->ops->units(source, 0, &more);
	for (unit = 0; unit < units && bytes < PROBE_WORTH; unit++)
		bytes += source->ops->weight(source, 0, unit);
	return bytes >= PROBE_WORTH;
}

void e2pf_probe_engine(struct e2pf_engine *e)
{
	uint64_t offset[E2PF_PROBES];
	uint64_t began = e2pf_now(e);
	struct e2pf_latencies p;

	/* If the checker's first reads have shown that the device is stuck, the
	 * probe would take just as long. */
	if (!e->cfg.probe || e->stats.latency_ns || e->stuck ||
	    !is_worth_a_probe(e) || !probe_offsets(e, offset))
		return;
	if (!e2pf_probe_device(e->cfg.devices[0], offset, &p)) {
		if (e->cfg.paced && e2pf_now(e) - began >= STUCK_NS)
			e->stuck = STUCK_PROOFS;
		return;
	}
	e->stats.latency_ns = p.latency_ns;
	e->stats.deep_latency_ns = p.deep_latency_ns;
	e2pf_go_by(e, &p);
}
