/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Makes filesystems, with the blocks of an old one scattered. */
#include "array.h"
#include "sim-images.h"

#define BLOCK 4096u
#define MIB (UINT64_C(1) << 20)

/*
 * An ext4 filesystem: what each group has that is in use.
 */
struct recipe {
	const char *name;
	uint32_t groups, blocks, inodes;	/* of a group */
	uint32_t every;		/* one group in `every` has inodes */
	unsigned used;		/* inodes, the first ones of the table; among
				   them: */
	unsigned dirs, files, attrs;	/* directories; files with a tree, and
					   with an attribute block */
	unsigned deep;		/* one file in `deep` has a tree of two
				   levels */
	unsigned gap;		/* blocks between one in four of these and the
				   one before it, at most */
	bool indirect;		/* trees are indirect blocks */
	/* Bitmaps and tables of FLEX groups lie side by side, and so do their
	 * directories: in `area` blocks, a prime number, in the order of
	 * inodes; or in another one, each `step` blocks after the last. */
	unsigned area, step;	/* 0: no flex groups */
	unsigned budget;	/* MiB */
};

static const struct recipe recipes[] = {
	{ "fresh", 64, 4096, 1024, .every = 1, .used = 512, .dirs = 40,
	  .files = 4, .deep = 99, .gap = 2, .area = 641, .step = 1,
	  .budget = 64 },
	{ "aged", 16, 16384, 16384, .every = 1, .used = 14000, .dirs = 100,
	  .files = 150, .attrs = 30, .deep = 8, .gap = 60, .area = 3203,
	  .step = 1979, .budget = 64 },
	{ "ext3", 64, 4096, 512, .every = 1, .used = 300, .dirs = 10,
	  .files = 24, .deep = 6, .gap = 120, .indirect = true, .budget = 64 },
	{ "bitmaps", 4096, 64, 256, .every = 16, .used = 20, .dirs = 1,
	  .files = 1, .deep = 99, .gap = 4, .area = 17, .step = 1,
	  .budget = 128 },
	{ "tiny", 4, 2048, 256, .every = 1, .used = 100, .dirs = 5,
	  .files = 5, .deep = 99, .gap = 8, .budget = 64 },
};

#define FLEX 16u
#define FAR_GAP 50u

#define BTRFS "btrfs-aged"

const char *const sim_image_names[] = {
	"fresh", "aged", "ext3", "bitmaps", "tiny", BTRFS, NULL
};

static uint32_t below(struct sim_image *im, uint32_t n)
{
	im->random = im->random * UINT64_C(6364136223846793005) + 1;
	return (uint32_t)(im->random >> 33) % n;
}

#define TURNS 20

/* Later ones come after others; those with the same turn, in this order. */
static void add_step(struct steps *s, uint64_t block, uint32_t count,
		     uint32_t group, uint64_t later)
{
	void *step = s->step;

	if (!e2pf_have_room(&step, &s->room, s->count, 1, sizeof(*s->step)))
		abort();
	s->step = step;
	s->step[s->count] = (struct step){
		block, later << TURNS | s->count, count, group
	};
	s->count++;
}

static int by_turn(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return E2PF_COMPARE(x->turn, y->turn);
}

static void sort_steps(struct steps *s, size_t from)
{
	if (s->count > from)
		qsort(s->step + from, s->count - from, sizeof(*s->step),
		      by_turn);
}

/*
 * ext4.
 */

/* Is the n-th of `all` one of `these`, which are spread evenly? */
static bool is_one_of(unsigned these, unsigned n, unsigned all)
{
	return n * these / all != (n + 1) * these / all;
}

static uint64_t new_block(struct sim_image *im, const struct recipe *r,
			  uint32_t group)
{
	uint64_t *next;

	/* Some are in one of the next groups. */
	if (r->gap >= FAR_GAP && !below(im, 4))
		group = (group + below(im, 4)) % r->groups;
	next = &im->next_free[group];
	*next += 1 + below(im, below(im, 4) ? 8 % (r->gap + 1) + 1 : r->gap);
	return *next - 1;
}

/* The same with a step of the scan. */
static uint64_t new_tree_block(struct sim_image *im, const struct recipe *r,
			       uint32_t group)
{
	uint64_t block = new_block(im, r, group);

	add_step(&im->walk, block, 1, group, im->late);
	return block;
}

static uint32_t ino_of(const struct recipe *r, uint32_t group, unsigned n)
{
	return group * r->inodes + n + 1;
}

static void make_indirect(struct sim_image *im, const struct recipe *r,
			  uint32_t group, unsigned n, bool deep)
{
	uint32_t ino = ino_of(r, group, n);
	struct ext2_inode *inode = tiny_inode_at(&im->fs, ino);
	uint64_t indirect = im->late = new_block(im, r, group);
	uint64_t double_indirect;
	unsigned i;

	tiny_inode(&im->fs, ino, LINUX_S_IFREG, 0, NULL, 0);
	inode->i_size = htole32(4u << 20);
	inode->i_block[EXT2_IND_BLOCK] = htole32((uint32_t)indirect);
	add_step(&im->walk, indirect, 1, group, im->late);
	if (!deep)
		return;
	double_indirect = new_tree_block(im, r, group);
	inode->i_block[EXT2_DIND_BLOCK] = htole32((uint32_t)double_indirect);
	for (i = 0; i < 8; i++)
		put32((char *)tiny_block(&im->fs, double_indirect) + 4 * i,
		      (uint32_t)new_tree_block(im, r, group));
}

static void make_extents(struct sim_image *im, const struct recipe *r,
			 uint32_t group, unsigned n, bool deep)
{
	uint64_t top = 0, leaf[8], data = 1;
	unsigned i, leaves = deep ? 8 : 1;

	if (deep)
		top = new_tree_block(im, r, group);
	for (i = 0; i < leaves; i++) {
		leaf[i] = new_tree_block(im, r, group);
		tiny_node(&im->fs, leaf[i], 0, &data, 1);
	}
	if (deep)
		tiny_node(&im->fs, top, 1, leaf, leaves);
	tiny_inode(&im->fs, ino_of(r, group, n), LINUX_S_IFREG, deep ? 2 : 1,
		   deep ? &top : leaf, 1);
}

/* Like the kernel, in the first of the flex groups, behind the tables. */
static uint64_t directory_block(struct sim_image *im, const struct recipe *r,
				uint32_t group, unsigned n)
{
	uint32_t number = group % FLEX * r->dirs + n * r->dirs / r->used;

	if (!r->area)
		return new_block(im, r, group);
	return im->dirs_at[group / FLEX] + number * r->step % r->area;
}

static void make_directory(struct sim_image *im, const struct recipe *r,
			   uint32_t group, unsigned n)
{
	uint64_t block = directory_block(im, r, group, n);
	uint32_t ino = ino_of(r, group, n);

	tiny_inode(&im->fs, ino, LINUX_S_IFDIR, 0, &block, !r->indirect);
	if (r->indirect)
		tiny_inode_at(&im->fs, ino)->i_block[0] =
			htole32((uint32_t)block);
	add_step(&im->dirs, block, 1, group, block);
}

static void make_inode(struct sim_image *im, const struct recipe *r,
		       uint32_t group, unsigned n, unsigned *trees)
{
	uint64_t block = 1, attr = 0;
	bool deep;

	if (is_one_of(r->dirs, n, r->used)) {
		make_directory(im, r, group, n);
		return;
	}
	tiny_inode(&im->fs, ino_of(r, group, n), LINUX_S_IFREG, 0, &block, 1);
	im->late = 0;
	if (is_one_of(r->attrs, n, r->used)) {
		attr = im->late = new_block(im, r, group);
		add_step(&im->walk, attr, 1, group, im->late);
	}
	if (is_one_of(r->files, n, r->used)) {
		deep = ++*trees % r->deep == 0;
		(r->indirect ? make_indirect : make_extents)(im, r, group, n,
							     deep);
	}
	tiny_inode_at(&im->fs, ino_of(r, group, n))->i_file_acl =
		htole32((uint32_t)attr);
}

/* As the inode scan: eight blocks of the table, and then what their inodes
 * refer to; but inodes with indirect blocks or an attribute block when the
 * group is over, in the order of these. */
#define SCAN_BLOCKS 8u

static void make_group(struct sim_image *im, const struct recipe *r,
		       uint32_t group)
{
	const unsigned per_block = BLOCK / sizeof(struct ext2_inode);
	const unsigned at_once = SCAN_BLOCKS * per_block;
	unsigned n, trees = 0, left;
	size_t from = im->walk.count;

	for (n = 0; n < r->used; n++) {
		left = (r->used - n + per_block - 1) / per_block;
		if (n % at_once == 0)
			add_step(&im->walk, im->fs.groups[group].inode_table +
				 n / per_block,
				 left < SCAN_BLOCKS ? left : SCAN_BLOCKS,
				 group, 0);
		make_inode(im, r, group, n, &trees);
	}
	sort_steps(&im->walk, from);
}

static void place_groups(struct sim_image *im, const struct recipe *r)
{
	uint64_t table = r->inodes * sizeof(struct ext2_inode) / BLOCK, first;
	struct e2pf_group *group = im->fs.groups;
	uint32_t g, n;

	for (g = 0; g < r->groups; g++) {
		group[g].inodes_in_use = g % r->every ? 0 : r->used;
		im->next_free[g] = tiny_free_block(&im->fs, g);
		if (!r->area)
			continue;
		n = g % FLEX;
		first = (uint64_t)(g - n) * r->blocks + 1;
		group[g].block_bitmap = first + n;
		group[g].inode_bitmap = first + FLEX + n;
		group[g].inode_table = first + 2 * FLEX + n * table;
		im->dirs_at[g / FLEX] = first + (2 + table) * FLEX;
		im->next_free[g] = n ? (uint64_t)g * r->blocks :
				       im->dirs_at[g / FLEX] + r->area;
	}
}

static void make_ext4(struct sim_image *im, const struct recipe *r)
{
	uint32_t g;

	tiny_new(&im->fs, r->groups, r->blocks, r->inodes, BLOCK);
	im->next_free = calloc(r->groups, sizeof(*im->next_free));
	im->dirs_at = calloc(r->groups, sizeof(*im->dirs_at));
	if (!im->next_free || !im->dirs_at)
		abort();
	place_groups(im, r);
	for (g = 0; g < r->groups; g += r->every)
		make_group(im, r, g);
	for (g = 0; g < r->groups; g += r->every)
		if (im->next_free[g] > (uint64_t)(g + r->every) * r->blocks)
			abort();
	/* Pass 2 is in the order of blocks. */
	sort_steps(&im->dirs, 0);
	im->budget = r->budget * MIB;
	im->bytes = im->fs.image;
	im->size = im->fs.size;
}

/*
 * btrfs: a chunk for the chunk tree, and one for all other trees; each of these but
 * the root tree has a root, nodes and leaves.
 */

#define SIZE (1024 * MIB)
#define SYS MIB
#define META (2048 * MIB)		/* logical address, and */
#define META_PLACE (128 * MIB)		/* place on the device */
#define META_BYTES (768 * MIB)
#define SLOTS (META_BYTES / FS_NODE)
#define CHILDREN 100u
#define SNAPSHOTS 6u

/* Leaves of a tree. */
#define EXTENT_LEAVES 1200u
#define FILE_LEAVES 1500u
#define CSUM_LEAVES 600u

struct forest {
	struct sim_image *im;
	uint8_t *roots;			/* the root tree, a leaf */
	char used[SLOTS], seen[SLOTS];
	uint64_t at;			/* the last slot used */
	struct steps tops;		/* roots, read before all others */
	struct steps nodes;
};

static uint64_t logical_of(uint64_t slot)
{
	return META + slot * FS_NODE;
}

static uint8_t *block_at(struct sim_image *im, uint64_t slot)
{
	return im->memory + META_PLACE + slot * FS_NODE;
}

/* The next of a tree is near, or one in eight anywhere. */
static uint64_t new_slot(struct forest *f)
{
	do
		f->at = below(f->im, 8) ? (f->at + 1 + below(f->im, 12)) %
					  SLOTS : below(f->im, SLOTS);
	while (f->used[f->at]);
	f->used[f->at] = 1;
	return f->at;
}

static void walk_once(struct forest *f, struct steps *to, uint64_t slot)
{
	if (f->seen[slot])
		return;
	f->seen[slot] = 1;
	add_step(to, (META_PLACE + slot * FS_NODE) / BLOCK, 1, 0, slot);
}

/* The check reads the nodes of a tree, and then its leaves by address. */
static void grow(struct forest *f, uint64_t owner, const uint64_t *leaf,
		 unsigned leaves)
{
	uint64_t top = new_slot(f), slot;
	uint8_t *node = NULL, *root = block_at(f->im, top);
	size_t from;
	unsigned i;

	fs_block(root, logical_of(top), owner, 2);
	fs_add_root(f->roots, owner, logical_of(top), 2);
	walk_once(f, &f->tops, top);
	for (i = 0; i < leaves; i++) {
		if (i % CHILDREN == 0) {
			slot = new_slot(f);
			node = block_at(f->im, slot);
			fs_block(node, logical_of(slot), owner, 1);
			fs_add_ptr(root, logical_of(slot), FS_GENERATION);
			walk_once(f, &f->nodes, slot);
		}
		fs_add_ptr(node, logical_of(leaf[i]), FS_GENERATION);
	}
	from = f->nodes.count;
	for (i = 0; i < leaves; i++)
		walk_once(f, &f->nodes, leaf[i]);
	sort_steps(&f->nodes, from);
}

static int read_block(void *ctx, const struct e2pf_ref *ref, void *bytes)
{
	memcpy(bytes, ((struct sim_image *)ctx)->memory + ref->offset,
	       ref->length);
	return 0;
}

static void grow_new(struct forest *f, uint64_t owner, uint64_t *leaf,
		     unsigned leaves)
{
	unsigned i;

	for (i = 0; i < leaves; i++)
		leaf[i] = new_slot(f);
	grow(f, owner, leaf, leaves);
}

/* In the order of their numbers, as the check walks them.  Each snapshot has
 * the leaves of the one before it, but for one in ten. */
static void make_trees(struct forest *f)
{
	uint64_t file[FILE_LEAVES], other[EXTENT_LEAVES];
	unsigned t, i;

	f->roots = block_at(f->im, 0);
	fs_block(f->roots, META, BTRFS_ROOT_TREE_OBJECTID, 0);
	f->used[0] = 1;
	walk_once(f, &f->tops, 0);
	grow_new(f, BTRFS_EXTENT_TREE_OBJECTID, other, EXTENT_LEAVES);
	grow_new(f, BTRFS_FS_TREE_OBJECTID, file, FILE_LEAVES);
	grow_new(f, BTRFS_CSUM_TREE_OBJECTID, other, CSUM_LEAVES);
	for (t = 0; t < SNAPSHOTS; t++) {
		for (i = 0; i < FILE_LEAVES; i++)
			if (!below(f->im, 10))
				file[i] = new_slot(f);
		grow(f, BTRFS_FIRST_FREE_OBJECTID + t, file, FILE_LEAVES);
	}
}

static void make_btrfs(struct sim_image *im)
{
	uint8_t super[E2PF_BTRFS_SUPER_BYTES];
	struct e2pf_chunk_map *map = &im->btrfs.map;
	struct forest *f = calloc(1, sizeof(*f));
	size_t i;

	im->size = SIZE;
	im->budget = 64 * MIB;
	im->bytes = im->memory = calloc(1, SIZE);
	if (!f || !im->memory)
		abort();
	f->im = im;
	fs_super(super, 1, SYS, META);
	fs_chunk_tree(super, im->memory + SYS, SYS, META, META_BYTES, META_PLACE);
	make_trees(f);
	im->walk = f->tops;
	for (i = 0; i < f->nodes.count; i++)
		add_step(&im->walk, f->nodes.step[i].block, 1, 0, 0);
	free(f->nodes.step);
	free(f);
	if (e2pf_btrfs_plan_super(super, &map->super))
		abort();
	map->devices = 1;
	map->device[0] = map->super.device;
	im->btrfs.bytes[0] = SIZE;
	e2pf_btrfs_init(&im->btrfs, read_block, im);
}

void sim_image_make(struct sim_image *im, const char *name)
{
	size_t i;

	*im = (struct sim_image) { .name = name, .random = 1 };
	for (i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
		if (!strcmp(recipes[i].name, name))
			make_ext4(im, &recipes[i]);
	if (!im->bytes)
		make_btrfs(im);
}

void sim_image_free(struct sim_image *im)
{
	e2pf_btrfs_fini(&im->btrfs);
	free(im->memory);
	free(im->next_free);
	free(im->dirs_at);
	free(im->walk.step);
	free(im->dirs.step);
	if (im->fs.groups)
		tiny_free(&im->fs);
}
