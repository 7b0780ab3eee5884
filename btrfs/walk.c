/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which leaves a walk of a directory needs.  A walk of a whole subvolume needs
 * all of them.  Below any other directory, each sweep reads the leaves of the inodes that
 * earlier sweeps have found: entries of directories name the next ones.  Nodes are read
 * from the devices, once each, and their checksums are not verified: they only lead to
 * keys that the kernel searches in its own tree, and a wrong key costs one search.
 */
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "format.h"
#include "lib/lock.h"
#include "sweep.h"
#include "walk.h"

/* Leaves that are planned at once: 1 GiB of them, if they have 16 KiB. */
#define MAX_PART_LEAVES (1u << 16)

/* Bytes of leaves with directories that are planned at once.  They have at most 150,000
 * entries; after each part, more files than MAX_FILES are read before the next. */
#define PARSE_BYTES (8u << 20)
#define MAX_FILES (1u << 16)

#define MAX_SUBVOLUMES 65536u
/* Deeper directories are left to the walk; a damaged filesystem may have any depth. */
#define MAX_DEPTH 4096u

/* Nodes that are kept for the next sweep: those of 60,000 leaves, at least. */
#define NODE_BYTES (16u << 20)

/* The filesystem is being written to: how often a tree is walked again from its new root,
 * and the pause before, in which the kernel may write the nodes that it leads to. */
#define TRIES 5u
#define MAX_STALE 1024u
#define TRY_US 100000u

/* Files that are looked up first, in the walk's subvolume and in each below it.  If no
 * byte comes from a device, nothing else of it is read. */
#define SAMPLES 16u
#define SAMPLES_BELOW 4u
#define SAMPLE_DEPTH 16u

struct walk {
	struct pf_session base;
	struct bt_mounted fs;
	struct bt_sweep sweep;
	struct bt_slot_set asked;	/* leaves that were planned */
	bool subvolumes, cached;
	_Atomic(bool) full, serves_both;
	_Atomic(uint64_t) nodes;	/* read */
	uint64_t stale;			/* nodes of this tree that are others by now */
	unsigned stale_trees;		/* that were not read as a whole for it */
	uint64_t budget;		/* bytes, beside the session's own */
	uint64_t tree;			/* that is being read */
	uint64_t directory;		/* where the walk begins */
	uint32_t nodesize;

	/* Trees of subvolumes below, which are read as a whole; the first `done' were. */
	uint64_t *below;
	size_t below_count, below_room;

	/* Directories, by inode: those of this sweep, and all so far. */
	struct bt_ranges now, known;
	/* Found in this sweep: directories and other files.  sweep.lock protects them. */
	struct bt_ranges found, files;

	uint8_t *node[NODE_BYTES / 4096];
};

static struct walk *walk_of(struct pf_session *session)
{
	return (struct walk *)session;
}

/* A walk over a tree whose leaves are planned. */
struct leaves {
	struct bt_tree_walk walk;
	struct walk *w;
	bool parse;
};

/* Nodes are read by one thread. */
static bool read_node(void *ctx, const struct bt_ptr *ptr, void *block)
{
	struct walk *w = ((struct leaves *)ctx)->w;
	const uint32_t size = w->fs.map.super.nodesize;
	const uint64_t slot = bt_chunk_map_slot(&w->fs.map, ptr->logical);
	uint8_t **copy = &w->node[slot % (NODE_BYTES / size)];

	if (w->sweep.stop || w->stale == MAX_STALE)
		return false;
	/* There may be another node at its address by now. */
	if (*copy && bt_fits(&w->fs.map.super, ptr, *copy)) {
		memcpy(block, *copy, size);
		return true;
	}
	w->nodes++;
	if (!bt_chunk_map_read(&w->fs.map, ptr, block)) {
		w->stale++;
		return false;
	}
	if (!*copy)
		*copy = malloc(size);
	if (*copy)
		memcpy(*copy, block, size);
	return true;
}

static bool accept_leaf(void *ctx, const struct bt_node *leaf)
{
	struct leaves *l = ctx;
	struct walk *w = l->w;
	struct bt_job job = {
		.tree = w->tree, .keys = leaf->keys, .parse = l->parse
	};
	const uint64_t slot = bt_chunk_map_slot(&w->fs.map, leaf->ptr.logical);
	struct pf_ref ref;

	/* Extents of one file alone are none of the walk's business. */
	if (leaf->keys.first.type >= BTRFS_EXTENT_DATA_KEY &&
	    leaf->keys.first.objectid == leaf->keys.last.objectid)
		return true;
	/* A leaf is searched again for entries of directories found later. */
	job.again = !bt_slot_set_add(&w->asked, slot);
	if ((!job.again || l->parse) &&
	    bt_chunk_map_find(&w->fs.map, leaf->ptr.logical, &ref)) {
		job.offset = ref.offset;
		if (!bt_jobs_add(&w->sweep.jobs, &job))
			return false;
	}
	return w->sweep.jobs.count < (l->parse ? PARSE_BYTES / w->fs.map.super.nodesize :
				      MAX_PART_LEAVES) && !w->sweep.stop;
}

/* Read what is planned, as far as the budget allows. */
static void read_planned(struct walk *w)
{
	const uint64_t left = w->base.options.budget > w->sweep.bytes ?
		(w->base.options.budget - w->sweep.bytes) / w->fs.map.super.nodesize : 0;

	if (w->sweep.jobs.count > left) {
		w->sweep.jobs.count = left;
		w->full = true;
	}
	bt_sweep(&w->sweep);
	w->sweep.jobs.count = 0;
}

static void read_files(struct walk *w, const struct bt_ptr *root);

/* Plan, and read a part at a time, all leaves of the tree with keys in these ranges
 * (NULL: all leaves). */
static void read_leaves(struct walk *w, const struct bt_ptr *root,
			const struct bt_ranges *ranges, bool parse)
{
	struct leaves l = {
		.w = w, .parse = parse,
		.walk = {
			.super = &w->fs.map.super, .read = read_node,
			.leaf = accept_leaf, .ctx = &l, .ranges = ranges
		}
	};

	do {
		bt_tree_walk(&l.walk, root);
		/* No job: memory has run out. */
		if (!l.walk.ended || !w->sweep.jobs.count)
			break;
		read_planned(w);
		if (parse && w->files.count > MAX_FILES)
			read_files(w, root);
	} while (!w->sweep.stop && !w->full);
}

/* Plan the leaves of files that were found. */
static void read_files(struct walk *w, const struct bt_ptr *root)
{
	struct bt_ranges files = w->files;

	w->files = (struct bt_ranges) { .count = 0 };
	bt_ranges_finish(&files);
	read_leaves(w, root, &files, false);
	free(files.range);
}

static void add_subvolume(struct walk *w, uint64_t tree)
{
	size_t i;

	for (i = 0; i < w->below_count; i++)
		if (w->below[i] == tree)
			return;
	if (w->below_count < MAX_SUBVOLUMES && tree != w->tree &&
	    bt_is_subvolume(tree) &&
	    e2pf_have_room((void **)&w->below, &w->below_room, w->below_count, 1,
			   sizeof(*w->below)))
		w->below[w->below_count++] = tree;
}

/* The items of leaves with directories of this sweep; on any thread. */
static void accept_entry(void *ctx, const struct bt_item *item)
{
	struct walk *w = ctx;
	const struct btrfs_dir_item *entry = (const void *)item->bytes;
	const struct bt_range keys = { item->key, item->key };
	struct bt_range child;
	struct bt_key key;

	if (item->key.type != BTRFS_DIR_INDEX_KEY || item->size < sizeof(*entry) ||
	    !bt_ranges_meet(&w->now, &keys))
		return;
	key = bt_key_at(item->bytes);
	E2PF_LOCKED(&w->sweep);
	if (key.type == BTRFS_ROOT_ITEM_KEY) {
		if (w->subvolumes)
			add_subvolume(w, key.objectid);
		return;
	}
	/* Inode and attributes, the entries of a directory, the target of a link. */
	child = bt_keys_of(key.objectid, key.objectid);
	child.last.type = entry->type == BTRFS_FT_DIR ? BTRFS_DIR_INDEX_KEY :
			  entry->type == BTRFS_FT_SYMLINK ? BTRFS_EXTENT_DATA_KEY :
							    BTRFS_XATTR_ITEM_KEY;
	if (!bt_ranges_add(entry->type == BTRFS_FT_DIR ? &w->found : &w->files, &child))
		w->full = true;
}

/* Make the directories that were found, and are not known, those of the next sweep. */
static void begin_sweep(struct walk *w)
{
	size_t i;

	w->now.count = 0;
	bt_ranges_finish(&w->found);
	for (i = 0; i < w->found.count; i++)
		if (!bt_ranges_meet(&w->known, &w->found.range[i]))
			bt_ranges_add(&w->now, &w->found.range[i]);
	/* If there are too many, only the depth bounds a loop in a damaged filesystem. */
	for (i = 0; i < w->now.count; i++)
		bt_ranges_add(&w->known, &w->now.range[i]);
	bt_ranges_finish(&w->known);
	w->found.count = 0;
}

/* Read ahead of a walk of a directory that is not the root of its subvolume. */
static void read_directory(struct walk *w, const struct bt_ptr *root)
{
	struct bt_range first = bt_keys_of(w->directory, w->directory);
	unsigned depth;

	first.last.type = BTRFS_DIR_INDEX_KEY;
	bt_ranges_add(&w->found, &first);
	for (depth = 0; depth < MAX_DEPTH; depth++) {
		begin_sweep(w);
		if ((!w->now.count && !w->files.count) || w->sweep.stop || w->full)
			break;
		/* Files of the last sweep are read with the directories of this one. */
		read_files(w, root);
		read_leaves(w, root, &w->now, true);
		read_planned(w);
	}
}

struct found_refs {
	struct walk *w;
	uint64_t next;			/* the number behind the last one's */
};

static void accept_root_ref(void *ctx, const struct bt_item *item)
{
	struct found_refs *f = ctx;

	if (item->key.type == BTRFS_ROOT_REF_KEY)
		add_subvolume(f->w, item->key.offset);
	if (item->key.offset >= f->next)
		f->next = item->key.offset + 1;
}

/* Add the subvolumes below this one.  A search finds some hundreds. */
static void add_subvolumes(struct walk *w)
{
	struct bt_range keys = {
		{ w->tree, 0, BTRFS_ROOT_REF_KEY },
		{ w->tree, UINT64_MAX, BTRFS_ROOT_REF_KEY }
	};
	struct found_refs f = { w, 1 };

	while (w->subvolumes && f.next > keys.first.offset && !w->sweep.stop) {
		keys.first.offset = f.next;
		bt_mounted_search(&w->fs, BTRFS_ROOT_TREE_OBJECTID, &keys,
				  accept_root_ref, &f);
	}
}

/* An entry of a directory, chosen at random. */
struct choice {
	uint32_t random;
	uint32_t seen;
	bool directory;
	uint64_t inode;			/* 0: none */
};

static uint32_t next_random(uint32_t *random)
{
	*random = *random * 1664525u + 1013904223u;
	return *random >> 8;
}

static void choose_entry(void *ctx, const struct bt_item *item)
{
	struct choice *c = ctx;
	const struct btrfs_dir_item *entry = (const void *)item->bytes;
	struct bt_key key;

	if (item->key.type != BTRFS_DIR_INDEX_KEY || item->size < sizeof(*entry))
		return;
	key = bt_key_at(item->bytes);
	if (key.type != BTRFS_INODE_ITEM_KEY || next_random(&c->random) % ++c->seen)
		return;
	c->inode = key.objectid;
	c->directory = entry->type == BTRFS_FT_DIR;
}

/* Look up entries from the walk's directory down to a file, as the walk does.  Returns
 * whether anything was read from a device. */
static bool descent_reads(struct walk *w, uint32_t random)
{
	const uint64_t before = bt_mounted_bytes_read();
	struct choice c = { .random = random, .inode = w->directory, .directory = true };
	unsigned depth;

	for (depth = 0; depth < SAMPLE_DEPTH && c.inode; depth++) {
		struct bt_range keys = {
			{ c.inode, 0, BTRFS_INODE_ITEM_KEY },
			{ c.inode, 0, BTRFS_INODE_ITEM_KEY }
		};

		bt_mounted_search(&w->fs, w->tree, &keys, NULL, NULL);
		if (!c.directory || w->sweep.stop)
			break;
		keys.first.type = keys.last.type = BTRFS_DIR_INDEX_KEY;
		keys.last.offset = UINT64_MAX;
		c.inode = c.seen = 0;
		bt_mounted_search(&w->fs, w->tree, &keys, choose_entry, &c);
	}
	return bt_mounted_bytes_read() != before;
}

/* Whether the leaves of the walk seem to be in memory.  If so, this costs no node. */
static bool seems_cached(struct walk *w, uint32_t samples)
{
	uint32_t i;

	for (i = 0; w->fs.counts_bytes && i < samples && !w->sweep.stop; i++)
		if (descent_reads(w, i))
			return false;
	return w->fs.counts_bytes;
}

/* Open the devices, unless they are open.  Returns false if that is impossible. */
static bool open_devices(struct walk *w)
{
	if (w->fs.map.devices)
		return true;
	w->base.why_off = bt_mounted_open_devices(&w->fs);
	if (w->base.why_off)
		return false;
	/* A set that gets no memory stays empty. */
	bt_slot_set_init(&w->asked, w->fs.map.slots);
	bt_sweep_choose(&w->sweep, &w->base);
	pf_session_limit(&w->base, w->budget);
	w->serves_both = !w->base.options.seek_bound;
	return !w->base.why_off;
}

/* Read what the walk needs of a tree with this root. */
static void read_from(struct walk *w, const struct bt_ptr *root)
{
	w->stale = 0;
	if (w->directory != BTRFS_FIRST_FREE_OBJECTID)
		read_directory(w, root);
	else
		read_leaves(w, root, NULL, false);
	read_planned(w);
}

static void read_tree(struct walk *w, uint64_t tree, uint64_t directory,
		      uint32_t samples)
{
	struct bt_ptr root;
	unsigned i;

	w->tree = tree;
	w->directory = directory;
	if (bt_mounted_root(&w->fs, tree, &root))
		return;
	if (directory == BTRFS_FIRST_FREE_OBJECTID)
		add_subvolumes(w);
	if (!root.level || seems_cached(w, samples))
		return;
	w->cached = false;
	if (!open_devices(w))
		return;
	read_from(w, &root);
	for (i = 1; i < TRIES && w->stale && !w->full && !w->sweep.stop; i++) {
		usleep(TRY_US);
		w->known.count = 0;
		if (bt_mounted_root(&w->fs, tree, &root))
			return;
		read_from(w, &root);
	}
	w->stale_trees += w->stale != 0;
}

static void report(struct pf_session *session, struct pf_report *r)
{
	const struct walk *w = walk_of(session);

	r->block_size = w->nodesize;
	r->threads = "one request in flight each";
	if (w->cached)
		pf_report_note(&r->notes, "reads: already cached (by samples)");
	if (w->full)
		pf_report_note(&r->notes, "reads: memory limit reached");
}

static void count(const struct pf_session *session, struct pf_engine_stats *stats)
{
	const struct walk *w = (const struct walk *)session;

	stats->prefetched_bytes = w->sweep.bytes;
	stats->planned_bytes = w->sweep.bytes + w->nodes * w->nodesize;
	stats->prefetched_requests = w->sweep.requests;
	stats->errors = w->sweep.errors;
	stats->gave_up = w->full;
	stats->threads = w->sweep.threads;
}

static void stop(struct pf_session *session)
{
	walk_of(session)->sweep.stop = true;
}

static void free_walk(struct pf_session *session)
{
	struct walk *w = walk_of(session);
	size_t i;

	for (i = 0; i < NODE_BYTES / 4096; i++)
		free(w->node[i]);
	free(w->below);
	free(w->now.range);
	free(w->known.range);
	free(w->found.range);
	free(w->files.range);
	bt_slot_set_free(&w->asked);
	bt_mounted_close(&w->fs);
	bt_sweep_free(&w->sweep);
	free(w);
}

static const struct pf_filesystem walks = {
	.report = report,
	.count = count,
	.stop = stop,
	.free = free_walk
};

struct pf_session *bt_walk_open(int fd, const char *name, bool subvolumes,
				const struct pf_settings *settings,
				const char **why)
{
	struct walk *w = calloc(1, sizeof(*w));

	*why = "out of memory";
	if (!w)
		return NULL;
	w->subvolumes = subvolumes;
	bt_sweep_init(&w->sweep, &w->fs, accept_entry, w);
	if (!pf_session_init(&w->base, &walks, name, settings, NULL))
		*why = bt_mounted_open(&w->fs, fd, true);
	w->nodesize = w->fs.map.super.nodesize;
	if (!*why)
		return &w->base;
	pf_session_free(&w->base);
	return NULL;
}

bool bt_walk_serves_both(struct pf_session *session)
{
	return walk_of(session)->serves_both;
}

void bt_walk_read(struct pf_session *session, uint64_t budget)
{
	struct walk *w = walk_of(session);
	size_t i;

	w->cached = true;
	w->budget = budget;
	read_tree(w, bt_mounted_tree_of(w->fs.fd), w->fs.inode, SAMPLES);
	for (i = 0; i < w->below_count && !w->full && !w->sweep.stop &&
		    !w->base.why_off; i++)
		read_tree(w, w->below[i], BTRFS_FIRST_FREE_OBJECTID, SAMPLES_BELOW);
	if (w->stale_trees)
		w->base.why_off = "tree nodes are damaged, or were being written";
	/* The command may unmount it. */
	bt_mounted_close(&w->fs);
	w->fs = (struct bt_mounted) { .fd = -1 };
}
