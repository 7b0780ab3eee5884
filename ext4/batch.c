/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "batch.h"
#include "tables.h"

/* With an inode such a part of its table is read, bytes: most of those beside it are in
 * the same directory or in the next ones. */
#define PART (16u << 10)

/* What is parsed: a directory's inode or blocks. */
struct parent {
	const struct ext4_source *ext4;
	struct ext4_walk *walk;
	const struct ext4_plan *plan;	/* to which references are passed on */
	uint32_t ino;
	bool more;			/* there is another batch */
};

/* Pass on the part of the table, of so many bytes, with this inode; of any other use than
 * that of a directory, if it was not read already. */
static void plan_part(const struct parent *p, uint32_t ino, uint32_t bytes, uint8_t parse)
{
	struct ext4_kind kind = {
		.parse = parse, .cls = EXT4_INODES, .data = EXT4_CLASSES
	};
	struct ext4_plan plan = *p->plan;
	struct ext4_table_part part;

	if (!ext4_source_table_part(p->ext4, ino, bytes, &part) ||
	    (parse == EXT4_INODE_TABLE &&
	     !ext4_walk_admit(p->walk, p->ino, part.block, part.blocks)))
		return;
	kind.group = part.group;
	ext4_gather_add(&plan, kind, part.block, part.blocks);
	ext4_gather_flush(&plan);
}

static void plan_directory(void *ctx, uint32_t directory)
{
	plan_part(ctx, directory, 0, EXT4_DIRECTORY_TABLE);
}

void ext4_batch_seed(const struct ext4_source *ext4, struct ext4_walk *walk,
		     const struct ext4_plan *plan)
{
	struct parent parent = { .ext4 = ext4, .walk = walk, .plan = plan };

	ext4_walk_next(walk, plan_directory, &parent);
}

/* A sink, whose `ctx` is the parent: blocks of a directory. */
static void pass_on(void *ctx, const struct pf_ref *found)
{
	const struct parent *p = ctx;
	const struct pf_ref ref = ext4_ref_from(found, p->ino);
	uint32_t size = p->ext4->geo->block_size;

	if (ext4_walk_admit(p->walk, p->ino, ref.offset / size, ref.length / size))
		p->plan->sink(p->plan->ctx, &ref);
}

static void add_entry(void *ctx, const struct ext4_entry *entry)
{
	struct parent *p = ctx;

	plan_part(p, entry->ino, PART, EXT4_INODE_TABLE);
	if (entry->directory)
		p->more |= ext4_walk_add(p->walk, p->ino, entry);
}

static bool take_directory(void *ctx, uint32_t ino)
{
	struct parent *p = ctx;

	p->ino = ino;
	return ext4_walk_takes(p->walk, ino);
}

bool ext4_batch_parse(const struct ext4_source *ext4, struct ext4_walk *walk,
		      const struct ext4_plan *plan, struct ext4_kind kind, uint32_t ino,
		      uint64_t block, const void *bytes, uint32_t size)
{
	struct parent parent = {
		.ext4 = ext4, .walk = walk, .plan = plan, .ino = kind.from_ino
	};
	struct ext4_plan of_directory = *plan, others = *plan;

	of_directory.sink = pass_on;
	of_directory.ctx = &parent;
	others.classes &= ~(1u << EXT4_DIRS);
	if (kind.parse == EXT4_INODE_TABLE)
		ext4_plan_inodes(&others, ino, bytes, size);
	else if (kind.parse == EXT4_DIRECTORY_TABLE)
		ext4_plan_directories(&of_directory, ino, bytes, size, take_directory,
				      add_entry, &parent);
	else if (kind.parse == EXT4_DIRECTORY_BLOCK)
		ext4_plan_entries(ext4->geo, bytes, size, add_entry, &parent);
	else
		ext4_plan_block(&of_directory, kind, block, bytes);
	return parent.more;
}
