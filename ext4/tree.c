/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "tree.h"

/* Each takes 112 bytes, and 32 in the search tree: 75 MiB at most. */
#define MAX_DIRECTORIES (1u << 19)
#define MAX_DEPTH 1000u

static int compare_inodes(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return E2PF_COMPARE(*x, *y);
}

struct ext4_directory *ext4_tree_find(struct ext4_tree *tree, uint32_t ino)
{
	struct ext4_directory **found = tfind(&ino, &tree->by_ino, compare_inodes);

	return found ? *found : NULL;
}

/*
 * The order of siblings.
 */

int ext4_tree_compare(enum ext4_order order, const struct ext4_directory *a,
		      const struct ext4_directory *b)
{
	return order == EXT4_BY_HASH ? E2PF_COMPARE(a->hash, b->hash) :
	       order == EXT4_BY_HASH_REVERSED ? E2PF_COMPARE(b->hash, a->hash) :
	       order == EXT4_BY_NAME ? strcmp(a->name, b->name) :
				       E2PF_COMPARE(a->ino, b->ino);
}

#define DEFINE_COMPARE(function, order) \
static int function(const void *a, const void *b) \
{ \
	return ext4_tree_compare(order, *(struct ext4_directory *const *)a, \
				 *(struct ext4_directory *const *)b); \
}

DEFINE_COMPARE(by_hash, EXT4_BY_HASH)
DEFINE_COMPARE(by_name, EXT4_BY_NAME)
DEFINE_COMPARE(by_inode, EXT4_BY_INODE)
DEFINE_COMPARE(by_hash_reversed, EXT4_BY_HASH_REVERSED)

static void link_first(struct ext4_directory *parent, struct ext4_directory *d)
{
	d->parent = parent;
	d->previous = NULL;
	d->next = parent->child;
	if (parent->child)
		parent->child->previous = d;
	parent->child = d;
}

/* The children stay as they are if memory runs out.  Those of `top` are in the order of
 * the command line. */
static void sort_children(struct ext4_tree *tree, struct ext4_directory *d)
{
	static int (*const compare_by[])(const void *, const void *) = {
		[EXT4_BY_HASH] = by_hash, [EXT4_BY_NAME] = by_name,
		[EXT4_BY_INODE] = by_inode, [EXT4_BY_HASH_REVERSED] = by_hash_reversed
	};
	struct ext4_directory **all, *c;
	size_t n = 0;

	if (d->order == tree->order || d == &tree->top)
		return;
	d->order = (uint8_t)tree->order;
	for (c = d->child; c; c = c->next)
		n++;
	all = n > 1 ? reallocarray(NULL, n, sizeof(struct ext4_directory *)) : NULL;
	if (!all)
		return;
	for (n = 0, c = d->child; c; c = c->next)
		all[n++] = c;
	qsort(all, n, sizeof(struct ext4_directory *), compare_by[tree->order]);
	for (d->child = NULL; n; n--)
		link_first(d, all[n - 1]);
	free(all);
}

/*
 * Which are to be read.
 */

static void count_named(struct ext4_directory *d, int more)
{
	for (; d; d = d->parent)
		d->named += (uint32_t)more;
}

void ext4_tree_set_state(struct ext4_directory *d, enum ext4_directory_state state)
{
	if (d->state == state)
		return;
	count_named(d, (state == EXT4_NAMED) - (d->state == EXT4_NAMED));
	d->state = (uint8_t)state;
}

/* The first one of a directory, which has one, or itself. */
static struct ext4_directory *first_in(struct ext4_tree *tree, struct ext4_directory *d)
{
	struct ext4_directory *c;

	while (d && d->state != EXT4_NAMED) {
		sort_children(tree, d);
		for (c = d->child; c && !c->named; c = c->next)
			;
		d = c;
	}
	return d;
}

struct ext4_directory *ext4_tree_next(struct ext4_tree *tree,
				      struct ext4_directory *from)
{
	struct ext4_directory *d = from, *s;

	if (d && d->named)
		return first_in(tree, d);
	for (; d && d != &tree->top; d = d->parent) {
		sort_children(tree, d->parent);
		for (s = d->next; s; s = s->next)
			if (s->named)
				return first_in(tree, s);
	}
	return tree->top.named ? first_in(tree, &tree->top) : NULL;
}

/*
 * Additions and removals.
 */

void ext4_tree_name(struct ext4_directory *d, const char *name, unsigned length)
{
	memcpy(d->name, name, length < sizeof(d->name) ? length : sizeof(d->name) - 1);
	d->parent->order = EXT4_ORDERS;
}

struct ext4_directory *ext4_tree_add(struct ext4_tree *tree,
				     struct ext4_directory *parent, uint32_t ino)
{
	struct ext4_directory *d = NULL, **known;

	if (tree->count < tree->max && parent->depth < MAX_DEPTH)
		d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->ino = ino;
	known = tsearch(d, &tree->by_ino, compare_inodes);
	if (!known || *known != d) {
		free(d);
		return NULL;
	}
	d->depth = (uint16_t)(parent->depth + 1);
	d->order = parent->order = EXT4_ORDERS;
	d->hash = tree->count++;
	link_first(parent, d);
	count_named(d, 1);
	return d;
}

static void remove_one(struct ext4_tree *tree, struct ext4_directory *d)
{
	unsigned i;

	tdelete(d, &tree->by_ino, compare_inodes);
	tree->count--;
	if (d->previous)
		d->previous->next = d->next;
	else
		d->parent->child = d->next;
	if (d->next)
		d->next->previous = d->previous;
	if (d->parent->visited == d)
		d->parent->visited = NULL;
	for (i = 0; i < EXT4_POSITIONS; i++)
		if (tree->at[i] == d)
			tree->at[i] = d->next ? d->next : d->parent;
	free(d);
}

void ext4_tree_remove_passed(struct ext4_tree *tree, struct ext4_directory *d)
{
	struct ext4_directory *parent;

	for (; d->depth > 1 && d->passed && !d->child; d = parent) {
		parent = d->parent;
		remove_one(tree, d);
	}
}

void ext4_tree_init(struct ext4_tree *tree, uint64_t max)
{
	*tree = (struct ext4_tree) {
		.top = { .state = EXT4_READ },
		.max = max < MAX_DIRECTORIES ? (uint32_t)max : MAX_DIRECTORIES
	};
}

void ext4_tree_free(struct ext4_tree *tree)
{
	tdestroy(tree->by_ino, free);
}
