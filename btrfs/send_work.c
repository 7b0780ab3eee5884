/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What the leaves of a send lead to, and whether they are cached. */
#include "format.h"
#include "send_state.h"

/* SAMPLES of at least MIN_SAMPLED changed leaves are read first.  If no byte comes from
 * a device, the others are left out.  This happens to 1 part in 5 if a tenth of it is not
 * cached, to 1 in 100 if a quarter is not. */
#define SAMPLES 16u
#define MIN_SAMPLED 48u

static void add_wanted_key(struct send *s, uint64_t tree,
			   const struct bt_key *key)
{
	size_t i;

	pthread_mutex_lock(&s->sweep.lock);
	for (i = 0; i < MAX_TREES; i++) {
		if (s->wanted[i].tree && s->wanted[i].tree != tree)
			continue;
		s->wanted[i].tree = tree;
		bt_ranges_add(&s->wanted[i].ranges,
			      &(struct bt_range) { *key, *key });
		break;
	}
	pthread_mutex_unlock(&s->sweep.lock);
}

/* A newer kernel's flag: extents are sent as they are stored, past the page cache. */
#define SEND_COMPRESSED 0x10u

static void accept_data(struct send *s, const struct bt_item *item)
{
	const bool no_data = s->flags & BTRFS_SEND_FLAG_NO_FILE_DATA;
	struct bt_job data;

	if (!bt_item_data(item, &data) ||
	    data.generation <= s->parent_root.generation)
		return;
	if (!data.stored) {
		s->inline_bytes += no_data ? 0 : data.sent;
		return;
	}
	data.tree = s->tree;
	/* With length 0, only the extent's record is used. */
	if (no_data || (data.compressed && s->flags & SEND_COMPRESSED))
		data.length = 0;
	pthread_mutex_lock(&s->sweep.lock);
	bt_jobs_add(&s->data, &data);
	pthread_mutex_unlock(&s->sweep.lock);
}

/* To find out whether an extent can be cloned, the kernel searches the trees of
 * the other files that use it, and reads old leaves that a snapshot has kept. */
static void accept_reference(void *ctx, uint64_t tree,
			     const struct bt_key *key)
{
	struct send *s = ctx;
	uint64_t slot;

	if (tree) {
		if (tree != s->tree && tree != s->parent &&
		    bt_is_subvolume(tree))
			add_wanted_key(s, tree, key);
		return;
	}
	slot = bt_chunk_map_slot(&s->fs.map, key->objectid);
	if (!bt_slot_set_has(&s->asked, slot) &&
	    bt_slot_set_add(&s->named, slot))
		s->unfound++;
}

/* The items of a changed leaf, or of a leaf of the extent tree. */
void send_accept_item(void *ctx, const struct bt_item *item)
{
	struct send *s = ctx;
	const struct bt_range keys = bt_keys_of(
		item->key.objectid, item->key.objectid);

	if (item->key.type == BTRFS_EXTENT_DATA_KEY)
		accept_data(s, item);
	else if (item->key.type == BTRFS_INODE_REF_KEY)
		/* The directory is a part of the path that is sent. */
		add_wanted_key(s, s->tree, &(struct bt_key) {
			item->key.offset, 0, BTRFS_INODE_ITEM_KEY
		});
	else if (bt_ranges_meet(&s->records, &keys))
		bt_item_references(item, accept_reference, s);
}

/* Whether something is read for a changed leaf, the one that it is compared with, or the
 * first data that it refers to. */
static bool reads_for_leaf(struct send *s, struct bt_job *leaf)
{
	struct bt_job compared = { .tree = s->parent, .keys = leaf->keys };
	struct bt_job data = { .length = 0 };
	size_t known = s->data.count;

	if (bt_sweep_job(&s->sweep, leaf) ||
	    (s->parent && bt_sweep_job(&s->sweep, &compared)))
		return true;
	if (s->data.count > known)
		data = s->data.job[known];
	if (data.length > BT_MAX_AHEAD)
		data.length = BT_MAX_AHEAD;
	return data.length && bt_sweep_job(&s->sweep, &data);
}

bool send_is_cached(struct send *s)
{
	struct bt_job *job = s->sweep.jobs.job;
	size_t i;

	if (s->sweep.jobs.count < MIN_SAMPLED || !s->fs.counts_bytes)
		return false;
	for (i = 0; i < SAMPLES; i++)
		if (s->sweep.stop ||
		    reads_for_leaf(s, &job[i * s->sweep.jobs.count / SAMPLES]))
			return false;
	s->leaves_cached += s->sweep.jobs.count - SAMPLES;
	return true;
}
