/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lock.h"
#include "prefetch/blockset.h"
#include "tree.h"
#include "walk.h"

/* Batches that may be ahead, and the largest part of the window that one is to take. */
#define MAX_BATCHES 64u
#define BATCH_PART 4u

/* What of the device is ahead, in two sets of so many bytes of memory, each for half of a
 * window. */
#define MAX_AHEAD_BYTES (8u << 20)

/* The mean size of so many directories that were chosen last decides about the next
 * batch. */
#define LATELY 512u

/* A batch is passed if of so many opens none was of it, and of as many more as there are
 * directories ahead. */
#define PATIENCE 200u

/* The program follows no order if it has opened so many more directories that were not
 * read ahead than others that were: nothing more is read. */
#define MAX_MISSES 500u

/* The directories that are known take three times the window at most, which is an eighth
 * of the budget: 144 bytes each. */
#define DIRECTORY_PART 48u

struct batch {
	struct ext4_directory *first;
	uint32_t left;			/* directories that were not opened */
	uint64_t bytes;			/* 0 when it is passed */
	uint64_t hit;			/* opens when one was opened last */
	pthread_t reader;		/* the thread that reads and parses it, */
	bool parsed;			/* until it takes another one */
	bool used, passed;
	bool postponed;			/* may be read once more */
};

struct ext4_walk {
	pthread_mutex_t lock;
	const struct ext4_geometry *geo;
	ext4_hash_fn *hash;
	uint64_t window, portion;	/* bytes ahead at most, and of a batch */
	struct ext4_tree tree;
	/* What was found in directories of a depth. */
	struct {
		uint64_t read, children;
	} depth[EXT4_TREE_DEPTHS];
	struct batch batch[MAX_BATCHES];
	struct batch *next;		/* the one that is chosen next */
	uint64_t batches, chosen;	/* how many there are, and were chosen */
	uint64_t bytes;			/* ahead */
	uint64_t read_bytes, read;	/* of the last batches: bytes, directories */
	struct pf_blockset ahead[2];	/* blocks; the second is the older */
	uint64_t ahead_bytes;		/* of the first */
	uint64_t opens;
	uint32_t misses;		/* more than hits */
	bool over;			/* no more batches */
	bool looks;			/* the last batch was one of choose_opened() */
	int32_t votes[EXT4_ORDERS];
};

/*
 * Batches.
 */

/* Directories that are parsed must be in the tree. */
static void end_batch(struct ext4_walk *w, struct batch *b)
{
	struct ext4_directory *d, *next;

	b->used = false;
	for (d = b->first; d; d = next) {
		next = d->of_batch;
		if (b->postponed && !d->opened) {
			ext4_tree_set_state(d, EXT4_NAMED);
			continue;
		}
		d->passed = true;
		ext4_tree_remove_passed(&w->tree, d);
	}
}

/* This thread reads no batch any more. */
static void end_batches(struct ext4_walk *w)
{
	struct batch *b;

	for (b = w->batch; b < w->batch + MAX_BATCHES; b++) {
		b->parsed |= b->used && pthread_equal(b->reader, pthread_self());
		if (b->used && b->parsed && b->passed)
			end_batch(w, b);
	}
}

/* NULL if there are too many. */
static struct batch *unused_batch(struct ext4_walk *w)
{
	struct batch *b;

	for (b = w->batch; b < w->batch + MAX_BATCHES; b++)
		if (!b->used)
			return b;
	return NULL;
}

static uint64_t count_ahead(const struct ext4_walk *w)
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < MAX_BATCHES; i++)
		all += w->batch[i].used ? w->batch[i].left : 0;
	return all;
}

static bool has_room(const struct ext4_walk *w)
{
	return w->bytes <= w->window - w->portion;
}

static void pass(struct ext4_walk *w, struct batch *b)
{
	b->passed = true;
	w->bytes -= b->bytes;
	b->bytes = 0;
	if (b->parsed)
		end_batch(w, b);
}

/* The program comes to what was found in directories ahead, for which there is no
 * room: what is farthest from it must make some. */
static void make_room(struct ext4_walk *w)
{
	struct batch *b, *oldest = NULL;

	for (b = w->batch; b < w->batch + MAX_BATCHES; b++)
		if (b->used && b->bytes && (!oldest || b->hit < oldest->hit))
			oldest = b;
	if (!oldest)
		return;
	oldest->postponed = true;
	pass(w, oldest);
}

/* The program is in a directory that was not read: what it comes to is not known. */
static bool is_lost(const struct ext4_walk *w)
{
	const struct ext4_directory *d;
	unsigned i;

	for (i = 0; i < EXT4_POSITIONS; i++) {
		d = w->tree.at[i];
		if (d && d->opened && d->state == EXT4_NAMED)
			return true;
	}
	return false;
}

static void pass_batches(struct ext4_walk *w)
{
	uint64_t patience = PATIENCE + count_ahead(w);
	struct batch *b;

	for (b = w->batch; b < w->batch + MAX_BATCHES; b++)
		if (b->used && !b->passed &&
		    (!b->left || w->opens - b->hit > patience))
			pass(w, b);
	if (is_lost(w) && !has_room(w))
		make_room(w);
}

/* A batch is chosen by its reader, when more directories are known. */
static void add_batch(struct ext4_walk *w)
{
	if (w->chosen < w->batches || !w->tree.top.named || w->over ||
	    !(has_room(w) || is_lost(w)))
		return;
	w->next = unused_batch(w);
	w->batches += w->next ? 1 : 0;
}

/*
 * What is in a batch.
 */

static unsigned index_of_depth(const struct ext4_directory *d)
{
	return d->depth < EXT4_TREE_DEPTHS ? d->depth : EXT4_TREE_DEPTHS - 1;
}

/* How many directories each one of a depth stands for: with those in it, to which the
 * program comes before the next one.  As long as none of a depth was read, one of them
 * may stand for any number. */
static void estimate_sizes(const struct ext4_walk *w, double *size)
{
	double below = 1;
	unsigned i;

	for (i = EXT4_TREE_DEPTHS; i--; below = size[i]) {
		size[i] = (double)w->window;
		if (w->depth[i].read)
			size[i] = 1 + (double)w->depth[i].children /
				  (double)w->depth[i].read * below;
	}
}

/* The program has passed it, or is in it: then it is the last one that was opened. */
static bool is_passed(const struct ext4_directory *d)
{
	const struct ext4_directory *next = d->next;

	while (next && next->state != EXT4_NAMED)
		next = next->next;
	return d->opened && next && next->opened;
}

struct reader {
	void (*read)(void *ctx, uint32_t directory);
	void *ctx;
};

static void add_to_batch(struct ext4_walk *w, const struct reader *reader,
			 struct ext4_directory *d)
{
	struct batch *b = w->next;

	ext4_tree_set_state(d, EXT4_CHOSEN);
	d->batch = (uint8_t)(b - w->batch);
	d->of_batch = b->first;
	b->first = d;
	b->left += !d->opened;
	w->read++;
	reader->read(reader->ctx, d->ino);
}

/* Only the directories in which the program is, and those in which they are. */
static void choose_opened(struct ext4_walk *w, const struct reader *reader)
{
	struct ext4_directory *d;
	unsigned i;

	for (i = 0; i < EXT4_POSITIONS; i++)
		for (d = w->tree.at[i]; d; d = d->parent)
			if (d->opened && d->state == EXT4_NAMED)
				add_to_batch(w, reader, d);
}

/* Choose what follows `d`, for so many directories.  Returns for how many it was. */
static double choose_from(struct ext4_walk *w, const struct reader *reader,
			  struct ext4_directory *d, const double *size, double share)
{
	double chosen = 0;

	while (chosen < share && (d = ext4_tree_next(&w->tree, d))) {
		if (is_passed(d)) {
			ext4_tree_set_state(d, EXT4_READ);
			d->passed = true;
			continue;
		}
		chosen += size[index_of_depth(d)];
		add_to_batch(w, reader, d);
	}
	return chosen;
}

/* From each of the program's positions on; if there is only one, all follow it. */
static void choose_next(struct ext4_walk *w, const struct reader *reader)
{
	double size[EXT4_TREE_DEPTHS], left = 1, share;
	unsigned i;

	estimate_sizes(w, size);
	if (w->read_bytes)
		left = (double)w->portion * (double)w->read / (double)w->read_bytes;
	share = left / EXT4_POSITIONS;
	for (i = 0; i < EXT4_POSITIONS && left > 0; i++)
		left -= choose_from(w, reader, w->tree.at[i], size,
				    share < left ? share : left);
}

void ext4_walk_next(struct ext4_walk *w,
		    void (*read)(void *ctx, uint32_t directory), void *ctx)
{
	const struct reader reader = { read, ctx };
	E2PF_LOCKED(w);

	end_batches(w);
	*w->next = (struct batch) {
		.used = true, .hit = w->opens, .reader = pthread_self()
	};
	w->looks = is_lost(w) && !w->looks;
	if (w->looks)
		choose_opened(w, &reader);
	else
		choose_next(w, &reader);
	w->chosen++;
	/* What was read lately tells more. */
	if (w->read > LATELY) {
		w->read /= 2;
		w->read_bytes /= 2;
	}
}

uint64_t ext4_walk_batches(struct ext4_walk *w, bool *more)
{
	E2PF_LOCKED(w);

	add_batch(w);
	*more = w->tree.top.named && !w->over;
	return w->batches;
}

void ext4_walk_end(struct ext4_walk *w)
{
	E2PF_LOCKED(w);

	w->over = true;
}

bool ext4_walk_is_over(struct ext4_walk *w)
{
	E2PF_LOCKED(w);

	return w->over;
}

/*
 * What is found in a batch.
 */

bool ext4_walk_takes(struct ext4_walk *w, uint32_t directory)
{
	struct ext4_directory *d;
	E2PF_LOCKED(w);

	d = ext4_tree_find(&w->tree, directory);
	if (!d || d->state != EXT4_CHOSEN)
		return false;
	ext4_tree_set_state(d, EXT4_READ);
	w->depth[index_of_depth(d)].read++;
	return true;
}

/* Returns true if the blocks were not recorded before, in the last half of a window or
 * two. */
static bool record_ahead(struct ext4_walk *w, uint64_t block, uint32_t blocks)
{
	bool ahead = pf_blockset_has(&w->ahead[1], block);

	if (!pf_blockset_add(&w->ahead[0], block, blocks))
		return false;
	w->ahead_bytes += (uint64_t)blocks * w->geo->block_size;
	if (w->ahead_bytes > w->window / 2) {
		pf_blockset_reset(&w->ahead[1], 0);
		w->ahead[1] = w->ahead[0];
		w->ahead[0] = (struct pf_blockset) { .entry = NULL };
		pf_blockset_reset(&w->ahead[0], MAX_AHEAD_BYTES);
		w->ahead_bytes = 0;
	}
	return !ahead;
}

bool ext4_walk_admit(struct ext4_walk *w, uint32_t directory, uint64_t block,
		     uint32_t blocks)
{
	uint64_t bytes = (uint64_t)blocks * w->geo->block_size;
	struct ext4_directory *d;
	struct batch *b;
	E2PF_LOCKED(w);

	d = ext4_tree_find(&w->tree, directory);
	if (!d || d->state == EXT4_NAMED)
		return false;
	b = &w->batch[d->batch];
	if (b->bytes > w->window || !record_ahead(w, block, blocks))
		return false;
	w->read_bytes += bytes;
	if (!b->passed) {
		w->bytes += bytes;
		b->bytes += bytes;
	}
	return true;
}

/* Without hashes, names are listed as they lie. */
static void name_directory(const struct ext4_walk *w, struct ext4_directory *d,
			   const struct ext4_entry *entry)
{
	const struct ext4_geometry *geo = w->geo;

	if (geo->feature_compat & EXT2_FEATURE_COMPAT_DIR_INDEX)
		w->hash(geo->hash_version, entry->name, (int)entry->length,
			geo->hash_seed, &d->hash, NULL);
	ext4_tree_name(d, entry->name, entry->length);
}

bool ext4_walk_add(struct ext4_walk *w, uint32_t directory,
		   const struct ext4_entry *entry)
{
	struct ext4_directory *parent, *d;
	E2PF_LOCKED(w);

	parent = ext4_tree_find(&w->tree, directory);
	if (!parent)
		return false;
	d = ext4_tree_find(&w->tree, entry->ino);
	if (d) {
		/* It was opened before it was found. */
		if (d->parent == parent && !d->name[0])
			name_directory(w, d, entry);
		return false;
	}
	d = ext4_tree_add(&w->tree, parent, entry->ino);
	if (!d)
		return false;
	name_directory(w, d, entry);
	w->depth[index_of_depth(parent)].children++;
	return w->batches == w->chosen;
}

/*
 * The program's opens.
 */

/* Two directories in one were opened one after the other.  Old votes fade. */
static void vote(struct ext4_walk *w, const struct ext4_directory *a,
		 const struct ext4_directory *b)
{
	enum ext4_order order, best = w->tree.order;

	if (!a->name[0] || !b->name[0])
		return;
	for (order = 0; order < EXT4_ORDERS; order++) {
		w->votes[order] += ext4_tree_compare(order, a, b) < 0 ? 1 : -1;
		w->votes[order] -= w->votes[order] / 64;
		if (w->votes[order] > w->votes[best] + 3)
			best = order;
	}
	w->tree.order = best;
}

static void open_known(struct ext4_walk *w, struct ext4_directory *d)
{
	struct batch *b = &w->batch[d->batch];

	memmove(w->tree.at + 1, w->tree.at, sizeof(w->tree.at) - sizeof(w->tree.at[0]));
	w->tree.at[0] = d;
	if (d->opened)
		return;
	d->opened = true;
	if (d->parent->visited && d->parent != &w->tree.top)
		vote(w, d->parent->visited, d);
	d->parent->visited = d;
	if (d->state == EXT4_NAMED || d->passed)
		return;
	b->left--;
	b->hit = w->opens;
}

/* Add the first directory of the path to one that is known, with those between them. */
static struct ext4_directory *add_path(struct ext4_walk *w, const uint32_t *path,
				       unsigned count)
{
	struct ext4_directory *d = NULL;
	unsigned i;

	for (i = 1; i < count && !(d = ext4_tree_find(&w->tree, path[i])); i++)
		;
	while (d && i--) {
		/* One that is in a batch counts there until it is opened itself. */
		d->opened |= d->state == EXT4_NAMED;
		d = ext4_tree_add(&w->tree, d, path[i]);
	}
	return d;
}

bool ext4_walk_knows(struct ext4_walk *w, uint32_t directory)
{
	E2PF_LOCKED(w);

	return ext4_tree_find(&w->tree, directory);
}

bool ext4_walk_open(struct ext4_walk *w, const uint32_t *path, unsigned count)
{
	struct ext4_directory *d;
	E2PF_LOCKED(w);

	d = ext4_tree_find(&w->tree, path[0]);
	if (!d) {
		d = add_path(w, path, count);
		/* The walk does not come to it. */
		if (!d && (count > 1 || path[0] == EXT2_ROOT_INO))
			return false;
	}
	w->opens++;
	if (!d || d->state == EXT4_NAMED)
		w->misses++;
	else if (w->misses)
		w->misses--;
	w->over |= w->misses == MAX_MISSES;
	if (d)
		open_known(w, d);
	pass_batches(w);
	add_batch(w);
	return w->batches > w->chosen || w->over;
}

/*
 * Beginning and end.
 */

struct ext4_walk *ext4_walk_new(const struct ext4_geometry *geo, ext4_hash_fn *hash,
				uint64_t window, uint64_t portion,
				const uint32_t *directories, unsigned count)
{
	struct ext4_walk *w = calloc(1, sizeof(*w));
	unsigned i;

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	w->geo = geo;
	w->hash = hash;
	w->window = window;
	w->portion = portion < window / BATCH_PART ? portion : window / BATCH_PART;
	ext4_tree_init(&w->tree, window / DIRECTORY_PART);
	pf_blockset_reset(&w->ahead[0], MAX_AHEAD_BYTES);
	for (i = count; i; i--)
		if (directories[i - 1] && directories[i - 1] <= geo->inodes)
			ext4_tree_add(&w->tree, &w->tree.top, directories[i - 1]);
	return w;
}

void ext4_walk_free(struct ext4_walk *w)
{
	if (!w)
		return;
	ext4_tree_free(&w->tree);
	pf_blockset_reset(&w->ahead[0], 0);
	pf_blockset_reset(&w->ahead[1], 0);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
