/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The tree of the directories that are known, for a walk (walk.h), in the order in which
 * the program is expected to come to them: each before those in it.  Siblings are sorted
 * when the order is asked for.  The caller locks the tree.
 */
#ifndef EXT4_TREE_H
#define EXT4_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Depths that are told apart; what lies deeper has the last one. */
#define EXT4_TREE_DEPTHS 64u

/* Programs come to the directories in one by their hashes, as the kernel lists them; by
 * their names; by their inodes; or to the one first that was listed last. */
enum ext4_order {
	EXT4_BY_HASH, EXT4_BY_NAME, EXT4_BY_INODE, EXT4_BY_HASH_REVERSED, EXT4_ORDERS
};

/* Threads of a program that are followed. */
#define EXT4_POSITIONS 16u

enum ext4_directory_state {
	EXT4_NAMED,			/* to be read */
	EXT4_CHOSEN,			/* in a batch, and its inode was not parsed yet */
	EXT4_READ			/* its inode was parsed, or need not be */
};

struct ext4_directory {
	uint32_t ino;			/* first, for tsearch(3) */
	uint32_t hash;
	struct ext4_directory *parent, *child, *previous, *next;
	struct ext4_directory *of_batch;	/* the next one of its batch */
	struct ext4_directory *visited;	/* the child that was opened last; or NULL */
	uint32_t named;			/* how many are EXT4_NAMED, with those in it */
	uint16_t depth;			/* 1: those at which the walk begins */
	uint8_t batch;			/* its index */
	uint8_t state;			/* enum ext4_directory_state */
	uint8_t order;			/* of its children; EXT4_ORDERS: none */
	bool opened;			/* by the program */
	bool passed;			/* its batch is no longer ahead */
	char name[32];			/* its first bytes: they decide about the order;
					   empty: not known */
};

struct ext4_tree {
	struct ext4_directory top;	/* those at which the walk begins are in this */
	/* Those that were opened last, the newest first, or where those were; or NULL. */
	struct ext4_directory *at[EXT4_POSITIONS];
	uint32_t count, max;		/* of directories */
	enum ext4_order order;
	void *by_ino;			/* of tsearch(3) */
};

/* For so many directories at most, or half a million.  Of those beyond, and of those that
 * lie deeper than 1,000 others, only the program's opens tell. */
void ext4_tree_init(struct ext4_tree *tree, uint64_t max);
void ext4_tree_free(struct ext4_tree *tree);

/* NULL if it is not known. */
struct ext4_directory *ext4_tree_find(struct ext4_tree *tree, uint32_t ino);

/* Add a directory to one, or to `top`; it has no name yet.  Returns NULL if it is known
 * already, the tree is full or too deep, or memory has run out. */
struct ext4_directory *ext4_tree_add(struct ext4_tree *tree,
				     struct ext4_directory *parent, uint32_t ino);
void ext4_tree_name(struct ext4_directory *d, const char *name, unsigned length);

/* Remove this directory if it was passed and has no children, then its parent if that was
 * passed, and so on; but none at which the walk begins. */
void ext4_tree_remove_passed(struct ext4_tree *tree, struct ext4_directory *d);

void ext4_tree_set_state(struct ext4_directory *d, enum ext4_directory_state state);

/* The next directory that is EXT4_NAMED: in `from`, then behind it, then from the
 * beginning on; NULL if there is none.  `from` may be NULL. */
struct ext4_directory *ext4_tree_next(struct ext4_tree *tree,
				      struct ext4_directory *from);

/* Less than 0, 0 or more than 0, as `a` is before or after `b` in this order. */
int ext4_tree_compare(enum ext4_order order, const struct ext4_directory *a,
		      const struct ext4_directory *b);

#endif
