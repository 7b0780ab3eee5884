/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the device is probed: at the samples of the source. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* The probe takes as long as eleven reads, one after the other.  A first level of
 * fewer bytes than this does not lead to many more: then the topology is believed.
 * Image "bigalloc@1/400" of bench/ has 55 KiB of it, and is read ahead with 6
 * requests. */
#define PROBE_WORTH (128u << 10)

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

static const char *measure(struct e2pf_engine *e, bool any,
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
	uint64_t began = e2pf_now(e);
	struct e2pf_speed speed;

	/* If the checker's first reads have shown that the device is stuck, the
	 * probe would take just as long. */
	if (!e->cfg.probe || e->stats.latency_ns || e->stuck ||
	    !is_worth_a_probe(e))
		return;
	if (measure(e, false, &speed)) {
		if (e->cfg.paced && e2pf_now(e) - began >= STUCK_NS)
			e->stuck = STUCK_PROOFS;
		return;
	}
	e->stats.latency_ns = speed.latency_ns;
	e->stats.deep_latency_ns = speed.deep_latency_ns;
	e->has_head = speed.has_head;
	e2pf_control_init(&e->control, e->has_head);
	if (!speed.has_head && (double)speed.request_ns >= E2PF_DEAR_NS)
		e2pf_control_set(&e->control, (double)speed.request_ns,
				 E2PF_USUAL_BYTE_NS);
	e2pf_follow_control(e);
}

const char *e2pf_engine_measure(struct e2pf_engine *e, struct e2pf_speed *speed)
{
	const char *why;

	e2pf_adopt_config(e);
	e2pf_load_phases(e, UINT64_MAX, true);
	why = measure(e, true, speed);
	e->phases = NULL;
	return why;
}
