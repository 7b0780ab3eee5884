/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A small checker that works like a parallel e2fsck: the filesystem's structure
 * is copied for each thread, with a channel opened again by the first one's
 * manager; maps are copied and assigned to the copy; and each thread scans its
 * own groups.  Then the results of the threads are merged, and the directory
 * list and the bitmaps are read.
 *
 *	parallel-check [-fn] [-x] -m THREADS IMAGE
 *
 * With -x the first thread ends the process while the others scan, as an error
 * that cannot be repaired does in a thread of e2fsck.
 *
 * Prints its results, which are the same for any number of threads.  Repairs
 * nothing.  Exits with 8 and a message if something is not as this needs it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ext2fs/ext2fs.h>

#define THREADS_MOST 64

/* The members with which every map of libext2fs begins. */
struct map_head {
	errcode_t magic;
	ext2_filsys fs;
};

struct part {
	pthread_t thread;
	struct struct_ext2_filsys fs;
	ext2fs_inode_bitmap used;
	ext2_dblist list;
	dgrp_t first, end;
	bool exits;			/* with -x */
	unsigned long inodes, blocks;
	unsigned long long sum;		/* hash of what was read */
};

static void need(bool as_it_has_to_be, const char *what)
{
	if (as_it_has_to_be)
		return;
	fprintf(stderr, "parallel-check: %s\n", what);
	exit(8);
}

/* The map must be libext2fs's; it belongs to `to` from now on. */
static void hand_map(void *map, ext2_filsys from, ext2_filsys to)
{
	struct map_head *head = map;

	need(head->fs == from, "a map that is not libext2fs's");
	head->fs = to;
}

static void copy(struct part *p, ext2_filsys fs)
{
	io_manager manager = unix_io_manager;

	p->fs = *fs;
	p->fs.icache = NULL;
	p->fs.inode_map = NULL;
	p->fs.block_map = NULL;
	need(!manager->open(fs->device_name, 0, &p->fs.io), "no channel");
	io_channel_set_blksize(p->fs.io, fs->io->block_size);
	p->fs.image_io = p->fs.io;
	p->fs.io->app_data = &p->fs;
	need(p->fs.io->manager == fs->io->manager,
	     "the channel's manager is not the one it was opened by");
	need(!strcmp(p->fs.io->name, fs->io->name), "another name");
	need(!ext2fs_allocate_inode_bitmap(fs, "used", &p->used), "no map");
	hand_map(p->used, fs, &p->fs);
	need(!ext2fs_init_dblist(&p->fs, &p->list), "no list");
}

struct visit {
	struct part *part;
	ext2_ino_t directory;		/* or 0 */
};

static int count_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		       blk64_t parent, int offset, void *data)
{
	const struct visit *v = data;
	struct part *p = v->part;

	(void)fs, (void)parent, (void)offset;
	p->blocks++;
	p->sum += *block * (unsigned long long)(count + 9);
	return v->directory && count >= 0 &&
	       ext2fs_add_dir_block2(p->list, v->directory, *block,
				     (int)count) ? BLOCK_ABORT : 0;
}

static void look_at(struct part *p, ext2_ino_t ino, struct ext2_inode *inode)
{
	struct visit v = { p, LINUX_S_ISDIR(inode->i_mode) ? ino : 0 };

	p->inodes++;
	ext2fs_mark_inode_bitmap2(p->used, ino);
	if (ext2fs_inode_has_valid_blocks2(&p->fs, inode))
		ext2fs_block_iterate3(&p->fs, ino, BLOCK_FLAG_READ_ONLY, NULL,
				      count_block, &v);
}

static void scan_once(struct part *p)
{
	struct ext2_inode inode;
	ext2_inode_scan scan;
	ext2_ino_t ino = 0, end;

	end = p->end * p->fs.super->s_inodes_per_group;
	need(!ext2fs_open_inode_scan(&p->fs, 8, &scan), "no scan");
	if (p->first)
		need(!ext2fs_inode_scan_goto_blockgroup(scan, (int)p->first),
		     "no group");
	while (!ext2fs_get_next_inode_full(scan, &ino, &inode,
					   sizeof(inode)) &&
	       ino && ino <= end) {
		if (p->exits && !p->first)
			exit(8);
		if (inode.i_links_count)
			look_at(p, ino, &inode);
		/* The scan of the last group would continue beyond this
		 * thread's part. */
		if (ino == end)
			break;
	}
	ext2fs_close_inode_scan(scan);
}

static void *scan_part(void *data)
{
	struct part *p = data;

	do
		scan_once(p);
	while (p->exits);
	return NULL;
}

static void merge(struct part *to, struct part *p, ext2_filsys fs)
{
	ext2_ino_t ino;

	for (ino = 1; ino <= fs->super->s_inodes_count; ino++)
		if (ext2fs_test_inode_bitmap2(p->used, ino))
			ext2fs_mark_inode_bitmap2(to->used, ino);
	to->inodes += p->inodes;
	to->blocks += p->blocks;
	to->sum += p->sum;
}

static int read_block(ext2_filsys fs, struct ext2_db_entry2 *entry,
		      void *data)
{
	struct part *all = data;
	char *block = calloc(1, fs->blocksize);

	need(block, "no memory");
	all->blocks++;
	if (!ext2fs_read_dir_block4(fs, entry->blk, block, 0, entry->ino))
		all->sum += (unsigned char)block[0] + entry->ino;
	free(block);
	return 0;
}

static int accept_entry(ext2_filsys fs, struct ext2_db_entry2 *entry, void *data)
{
	(void)fs;
	return ext2fs_add_dir_block2(data, entry->ino, entry->blk,
				     (int)entry->blockcnt) ? DBLIST_ABORT : 0;
}

static void read_directories(ext2_filsys fs, struct part *parts, unsigned n,
			     struct part *all)
{
	unsigned i;

	need(!ext2fs_init_dblist(fs, &all->list), "no list");
	for (i = 0; i < n; i++) {
		need(!ext2fs_dblist_iterate2(parts[i].list, accept_entry,
					     all->list), "no entries");
		ext2fs_free_dblist(parts[i].list);
	}
	ext2fs_dblist_sort2(all->list, NULL);
	need(!ext2fs_dblist_iterate2(all->list, read_block, all), "no walk");
	ext2fs_free_dblist(all->list);
}

static unsigned long compare(ext2_filsys fs, const struct part *all)
{
	unsigned long different = 0;
	ext2_ino_t ino;

	if (ext2fs_read_bitmaps(fs))
		return 0;
	for (ino = EXT2_FIRST_INO(fs->super); ino <= fs->super->s_inodes_count;
	     ino++)
		different += !ext2fs_test_inode_bitmap2(fs->inode_map, ino) !=
			     !ext2fs_test_inode_bitmap2(all->used, ino);
	return different;
}

static void check(ext2_filsys fs, unsigned n, bool exits)
{
	struct part parts[THREADS_MOST], all = { .inodes = 0 };
	dgrp_t each;
	unsigned i;

	need(n && n <= THREADS_MOST, "no group");
	each = fs->group_desc_count / n;
	memset(parts, 0, sizeof(parts));
	for (i = 0; i < n; i++) {
		copy(&parts[i], fs);
		parts[i].exits = exits;
		parts[i].first = each * i;
		parts[i].end = i == n - 1 ? fs->group_desc_count :
			       each * (i + 1);
		need(!pthread_create(&parts[i].thread, NULL, scan_part,
				     &parts[i]), "no thread");
	}
	need(!ext2fs_allocate_inode_bitmap(fs, "all", &all.used), "no map");
	for (i = 0; i < n; i++) {
		pthread_join(parts[i].thread, NULL);
		merge(&all, &parts[i], fs);
		hand_map(parts[i].used, &parts[i].fs, fs);
		ext2fs_free_inode_bitmap(parts[i].used);
		if (parts[i].fs.icache)
			ext2fs_free_inode_cache(parts[i].fs.icache);
		io_channel_close(parts[i].fs.io);
	}
	read_directories(fs, parts, n, &all);
	printf("%lu inodes, %lu blocks, %llu, %lu differ from the bitmap\n",
	       all.inodes, all.blocks, all.sum, compare(fs, &all));
	ext2fs_free_inode_bitmap(all.used);
}

int main(int argc, char **argv)
{
	unsigned n = 1;
	bool exits = false;
	ext2_filsys fs;
	int option;

	while ((option = getopt(argc, argv, "fnxm:")) != -1) {
		if (option == 'm')
			n = (unsigned)atoi(optarg);
		exits |= option == 'x';
	}
	need(optind == argc - 1 && n && n <= THREADS_MOST, "usage");
	need(!ext2fs_open2(argv[optind], NULL, EXT2_FLAG_64BITS, 0, 0,
			   unix_io_manager, &fs), "not opened");
	if (n > fs->group_desc_count)
		n = fs->group_desc_count;
	check(fs, n, exits);
	need(!ext2fs_close_free(&fs), "not closed");
	return 0;
}
