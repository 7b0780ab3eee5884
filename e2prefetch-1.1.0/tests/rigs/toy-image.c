/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds a toy filesystem: a chain of roots, with nodes and data below each. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "toy-image.h"

struct image {
	struct toy_fs *fs;
	unsigned char *cls;
	uint32_t next_number, next_place;
};

static struct toy_block *at(struct image *r, uint32_t place)
{
	return &r->fs->image[place / TOY_BLOCKS][place % TOY_BLOCKS];
}

/* Returns the places 2, 513, 4, 515, ... in shuffled order: every other block
 * of both devices, and never two adjacent ones. */
static uint32_t new_place(struct image *r)
{
	uint32_t i = r->next_place++ * 101 % 509;

	return i % 2 * TOY_BLOCKS + i / 2 * 2 + 2;
}

static void add_entry(struct toy_block *block, uint32_t cls, uint32_t value)
{
	assert(block->count < TOY_ENTRIES);
	block->entry[block->count].cls = cls;
	block->entry[block->count++].value = value;
}

/* A block of this class, referred to by `parent`. */
static uint32_t new_block(struct image *r, uint32_t parent, uint32_t cls)
{
	uint32_t number = r->next_number++, place = new_place(r);

	r->fs->place[number] = place;
	r->cls[place] = cls == TOY_ROOT ? TOY_NODE : (unsigned char)cls;
	if (number)
		add_entry(at(r, r->fs->place[parent]), cls, number);
	return number;
}

/* A chain of roots, each with nodes and data below it. */
static void make_trees(struct image *r)
{
	uint32_t root = 0, node, i, j, k;

	for (i = 0; i < TOY_ROOTS; i++) {
		root = new_block(r, root, TOY_ROOT);
		for (j = 0; j < TOY_NODES_OF_ROOT; j++) {
			node = new_block(r, root, TOY_NODE);
			for (k = 0; k < TOY_DATA_OF_NODE; k++)
				new_block(r, node, TOY_DATA);
		}
	}
}

/* Write all places into the map, then forget them. */
static void make_map(struct image *r)
{
	uint32_t number = 0, place = 0;

	while (number < r->next_number) {
		struct toy_block *part = at(r, place);

		r->cls[place] = TOY_MAP;
		part->first = number;
		while (number < r->next_number && part->count < TOY_ENTRIES - 1)
			add_entry(part, TOY_NODE, r->fs->place[number++]);
		place = new_place(r);
		if (number < r->next_number)
			add_entry(part, TOY_MAP, place);
	}
	memset(r->fs->place, 0, sizeof(r->fs->place));
}

void toy_make(struct toy_fs *fs, unsigned char *cls)
{
	struct image image = { .fs = fs, .cls = cls };

	fs->image[0] = calloc(TOY_BLOCKS, TOY_BLOCK);
	fs->image[1] = calloc(TOY_BLOCKS, TOY_BLOCK);
	assert(fs->image[0] && fs->image[1]);
	memset(cls, TOY_CLASSES, TOY_NODES);
	make_trees(&image);
	make_map(&image);
}
