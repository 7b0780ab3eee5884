/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report about a device, as JSON.  Decides the keys and their order. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <sys/stat.h>

#include "device/stack.h"
#include "ext4/ext4_source.h"
#include "json_put.h"
#include "probe_json.h"

#define PROBE_SCHEMA 1

static void add_device(void *ctx, const struct e2pf_stack_device *d)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "name", d->name);
	put_text(o, "kind", d->kind);
	put_int(o, "level", d->level);
	put_int(o, "bytes", d->bytes);
	put_bool(o, "rotational", d->rotational);
	put_int(o, "queue_depth", d->queue_depth);
	json_object_array_add(ctx, o);
}

static struct json_object *stack_json(const struct e2pf_probe_report *r)
{
	struct json_object *list = json_object_new_array();
	struct stat st;

	if (!fstat(r->fd, &st))
		e2pf_stack_walk(r->sysroot, &st, add_device, list);
	return list;
}

static struct json_object *disks_json(const struct e2pf_topology *topo)
{
	struct json_object *list = json_object_new_array();
	unsigned i;

	for (i = 0; i < topo->leaves; i++) {
		struct json_object *o = json_object_new_object();

		put_text(o, "name", topo->leaf[i].name);
		put_bool(o, "rotational", topo->leaf[i].rotational);
		put_bool(o, "one_request", topo->leaf[i].one_request);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *measured_json(const struct e2pf_facts *f)
{
	struct json_object *o = json_object_new_object();

	put_bool(o, "measured", f->measured);
	put_seconds(o, "latency_seconds", f->latency);
	put_seconds(o, "deep_latency_seconds", f->several);
	put_int(o, "bytes_per_second", (uint64_t)f->bytes_per_second);
	return o;
}

static struct json_object *metadata_json(const struct e2pf_probe_report *r)
{
	struct json_object *all = json_object_new_object();
	unsigned i;

	put_int(all, "inodes_in_use", r->facts.inodes);
	put_int(all, "groups", r->groups);
	put_int(all, "groups_looked_at", r->groups_looked_at);
	for (i = 0; i < E2PF_CLASSES; i++) {
		struct json_object *o = json_object_new_object();

		put_int(o, "blocks", r->facts.plan[i].blocks);
		put_int(o, "runs", r->facts.plan[i].runs);
		json_object_object_add(all, e2pf_ext4_class_names[i], o);
	}
	return all;
}

static struct json_object *check_json(const struct e2pf_probe_report *r)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "threads", r->facts.has_head ? r->cfg->head_threads :
						  r->cfg->threads);
	put_bool(o, "block_order", r->facts.has_head);
	put_int(o, "memory_budget_bytes", r->cfg->budget);
	put_int(o, "requests_in_flight", r->measured->depth);
	put_int(o, "gap_least_bytes", r->measured->least_gap);
	put_int(o, "gap_most_bytes", r->measured->most_gap);
	return o;
}

static struct json_object *range_json(const struct e2pf_range *range)
{
	struct json_object *o = json_object_new_object();

	put_seconds(o, "expected_seconds", range->expected);
	put_seconds(o, "low_seconds", range->low);
	put_seconds(o, "high_seconds", range->high);
	return o;
}

static struct json_object *reasons_json(const struct e2pf_decisions *all)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct json_object *o = json_object_new_object();

		put_text(o, "about", all->item[i].about);
		put_text(o, "decision", all->item[i].decision);
		put_text(o, "reason", all->item[i].reason);
		json_object_array_add(list, o);
	}
	return list;
}

errcode_t e2pf_probe_write(const struct e2pf_probe_report *r, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct e2pf_range stock, prefetch;

	if (!o)
		return EXT2_ET_NO_MEMORY;
	e2pf_estimate_check(&r->facts, &stock, &prefetch);
	put_text(o, "version", PACKAGE_VERSION);
	put_int(o, "probe_schema", PROBE_SCHEMA);
	put_text(o, "device", r->device);
	put_int(o, "block_size", r->facts.block_size);
	json_object_object_add(o, "stack", stack_json(r));
	json_object_object_add(o, "disks", disks_json(r->topo));
	put_bool(o, "virtual", r->topo->virtual_disk);
	json_object_object_add(o, "measured", measured_json(&r->facts));
	json_object_object_add(o, "metadata", metadata_json(r));
	json_object_object_add(o, "check", check_json(r));
	json_object_object_add(o, "decisions", reasons_json(r->decisions));
	json_object_object_add(o, "stock", range_json(&stock));
	json_object_object_add(o, "prefetch", range_json(&prefetch));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	return ferror(out) ? EIO : 0;
}
