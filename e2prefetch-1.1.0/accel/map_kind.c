/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which kind of map replaces a tree: the kind that the self-test
 * allows, if neither the user nor a memory limit rules it out, and if all maps
 * of the filesystem fit into the budget.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "bitset.h"
#include "map_kind.h"

/* Maximum number of maps of each kind that e2fsck has at a time.  Inode maps:
 * nine of pass 1, the filesystem's own, and those of passes 1B and 3.  Block
 * maps: three of pass 1, the filesystem's own, and that of shared blocks. */
#define INODE_MAPS 12u
#define BLOCK_MAPS 5u

static struct {
	enum map_kind kind;
	uint64_t budget;
} self;

/* Does the line begin with "[bitmaps]", with or without blanks? */
static bool names_bitmaps(const char *line)
{
	line += strspn(line, " \t");
	if (*line++ != '[')
		return false;
	line += strspn(line, " \t");
	return !strncmp(line, "bitmaps", 7) && !isalnum((unsigned char)line[7]);
}

/* Whether e2fsck.conf chooses the kind of maps.  Any such section counts, even
 * one that repeats the default, because its values are not parsed here. */
static bool user_chooses(void)
{
	const char *path = getenv("E2FSCK_CONFIG");
	bool found = false;
	char *line = NULL;
	size_t size = 0;
	struct stat st;
	FILE *f;

	if (!path)
		path = "/etc/e2fsck.conf";
	/* A pipe can be read only once, and it is e2fsck's. */
	if (stat(path, &st) || S_ISCHR(st.st_mode))
		return false;
	if (!S_ISREG(st.st_mode))
		return true;
	f = fopen(path, "re");
	if (!f)
		return true;
	while (!found && getline(&line, &size, f) > 0)
		found = names_bitmaps(line);
	if (!feof(f))
		found = true;	/* or it could not be read to its end */
	free(line);
	fclose(f);
	return found;
}

/* True if address space is limited, or counted against the machine's memory
 * before it is used: what our maps take might be what a tree needs later. */
static bool space_is_scarce(void)
{
	char mode[4] = "";
	struct rlimit as, data;
	FILE *f;

	if (getrlimit(RLIMIT_AS, &as) || as.rlim_cur != RLIM_INFINITY ||
	    getrlimit(RLIMIT_DATA, &data) || data.rlim_cur != RLIM_INFINITY)
		return true;
	f = fopen("/proc/sys/vm/overcommit_memory", "re");
	if (!f)
		return true;
	if (!fgets(mode, sizeof(mode), f))
		mode[0] = '2';
	fclose(f);
	return mode[0] == '2';
}

bool map_kind_begin(enum map_kind kind, uint64_t budget, const char **why)
{
	self.kind = MAP_TREE;
	if (getenv("E2FSPROGS_BITMAP_STATS"))
		*why = "E2FSPROGS_BITMAP_STATS asks for statistics of bitmaps";
	else if (user_chooses())
		*why = "e2fsck.conf chooses the kind of bitmaps";
	else if (space_is_scarce())
		*why = "address space is limited or overcommit is off";
	else
		self.kind = kind;
	/* In 32 bits the address space has to hold everything else as well. */
	self.budget = budget < SIZE_MAX / 16 ? budget : SIZE_MAX / 16;
	return self.kind == kind;
}

bool map_kind_is_ours(void)
{
	return self.kind == MAP_OURS;
}

uint64_t map_kind_budget(void)
{
	return self.budget;
}

struct map_shape map_shape_of_inodes(ext2_filsys fs)
{
	return (struct map_shape){
		.start = 1, .end = fs->super->s_inodes_count,
		.real_end = (uint64_t)fs->super->s_inodes_per_group *
			    fs->group_desc_count
	};
}

struct map_shape map_shape_of_blocks(ext2_filsys fs)
{
	uint64_t start = fs->super->s_first_data_block;

	return (struct map_shape){
		.start = start, .end = ext2fs_blocks_count(fs->super) - 1,
		.real_end = (uint64_t)fs->super->s_clusters_per_group *
			    fs->group_desc_count - 1 + start
	};
}

uint64_t map_shape_bits(const struct map_shape *s)
{
	return (s->end > s->real_end ? s->end : s->real_end) - s->start;
}

static uint64_t shape_bytes(const struct map_shape *s)
{
	if (s->end < s->start || s->real_end < s->start)
		return UINT64_MAX;	/* a hostile superblock */
	return bitset_bytes(map_shape_bits(s));
}

/* Inode maps come first: there are more of them, and e2fsck tests each inode
 * number in several of them, even if no inode is in use. */
static bool fits(ext2_filsys fs, bool blocks)
{
	struct map_shape inode = map_shape_of_inodes(fs);
	struct map_shape block = map_shape_of_blocks(fs);
	uint64_t left = self.budget, bytes = shape_bytes(&inode);

	if (bytes > left / INODE_MAPS)
		return false;
	if (!blocks)
		return true;
	left -= bytes * INODE_MAPS;
	return shape_bytes(&block) <= left / BLOCK_MAPS;
}

/* Whether libext2fs would make a tree. */
static bool tree_asked_for(ext2_filsys fs)
{
	ext2_ino_t dirs;

	/* It does if there are few directories. */
	if (fs->default_bitmap_type == EXT2FS_BMAP64_AUTODIR)
		return !ext2fs_get_num_dirs(fs, &dirs) &&
		       dirs <= fs->super->s_inodes_count / 320;
	return fs->default_bitmap_type == EXT2FS_BMAP64_RBTREE;
}

enum map_kind map_kind_for(ext2_filsys fs, bool blocks)
{
	if (self.kind == MAP_TREE || !fs ||
	    fs->magic != EXT2_ET_MAGIC_EXT2FS_FILSYS ||
	    !(fs->flags & EXT2_FLAG_64BITS) || fs->cluster_ratio_bits ||
	    ext2fs_has_feature_journal_dev(fs->super) ||
	    !tree_asked_for(fs) || !fits(fs, blocks))
		return MAP_TREE;
	return self.kind;
}

int map_kind_enter(ext2_filsys fs)
{
	bool array = map_kind_for(fs, true) == MAP_ARRAY;
	int type = fs ? fs->default_bitmap_type : 0;

	if (array)
		fs->default_bitmap_type = EXT2FS_BMAP64_BITARRAY;
	return type;
}

void map_kind_leave(ext2_filsys fs, int type)
{
	if (fs)
		fs->default_bitmap_type = type;
}
