/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Passes on the directories that the command opens. */
#include <endian.h>
#include <string.h>

#include "commands.h"
#include "ext4/directories.h"
#include "ext4/tables.h"

/* The number in the second entry, which is "..", of a directory's first block. */
static uint32_t second_entry(const uint8_t *block)
{
	const struct ext2_dir_entry_2 *entry = (const void *)(block + 12);

	return entry->name_len == 2 && !memcmp(entry->name, "..", 2) ?
	       le32toh(entry->inode) : 0;
}

/* Returns the directory in which this one is, or 0 if that is not known.  Reads blocks
 * that the kernel has read or will read, unless it had them in memory, or the first block
 * of a directory is not the one in which it looks up a name; and single blocks only,
 * unlike ext2fs_lookup(), which reads a directory until it finds the name. */
static uint32_t parent_directory(const struct target *target, uint32_t directory)
{
	static uint8_t block[EXT2_MAX_BLOCK_SIZE] __attribute__((aligned(8)));
	const struct ext4_session *s = ext4_session_of(target->session);
	struct ext4_table_part part;
	struct ext2_inode inode;
	uint32_t parent;
	blk64_t first;

	if (!s->fs || !ext4_source_table_part(s->ext4, directory, 0, &part) ||
	    !ext4_source_may_cache(s->ext4, part.block) ||
	    ext2fs_read_inode(s->fs, directory, &inode) ||
	    !LINUX_S_ISDIR(inode.i_mode))
		return 0;
	if (inode.i_flags & EXT4_INLINE_DATA_FL)
		parent = le32toh(inode.i_block[0]);
	else if (ext2fs_bmap2(s->fs, directory, &inode, NULL, 0, 0, NULL, &first) ||
		 !ext4_block_ok(&s->geo, first) ||
		 !ext4_source_may_cache(s->ext4, first) ||
		 io_channel_read_blk64(s->fs->io, first, 1, block))
		return 0;
	else
		parent = second_entry(block);
	return parent <= s->geo.inodes ? parent : 0;
}

/* More threads keep a device busy that is not seek-bound, or the processors: in a group
 * of 256 MiB, fd with 4 to 16 threads took 1.04 to 1.25 of its time alone on the network
 * volume, SATA and NVMe, with 3 threads 0.96 to 1.05, and with 2 0.71 to 0.83. */
#define MANY_THREADS 3.0

static bool leaves_alone(const struct target *t)
{
	return !t->session->options.seek_bound && opens_at_once() > MANY_THREADS &&
	       ext4_directories_follow(ext4_session_of(t->session)->ext4);
}

/* How far a directory is looked up, and how many that are elsewhere, until one below the
 * target is opened. */
#define MAX_DEPTH 64
#define MAX_ELSEWHERE 200u

/* Find those in which the first directory of the path is, as far as one that is known.
 * Returns how many they are, with itself. */
static unsigned find_path(struct target *t, const struct beside *beside, uint32_t *path)
{
	const struct ext4_source *ext4 = ext4_session_of(t->session)->ext4;
	uint32_t at = path[0];
	unsigned n = 1;

	while (at != EXT2_ROOT_INO && n < MAX_DEPTH && !command_has_ended(beside)) {
		at = parent_directory(t, at);
		if (!at)
			return n;
		path[n++] = at;
		if (ext4_directories_know(ext4, at))
			return n;
	}
	t->elsewhere += at == EXT2_ROOT_INO;
	return n;
}

void follow_open(struct target *t, const struct beside *beside, uint32_t directory)
{
	struct ext4_source *ext4 = ext4_session_of(t->session)->ext4;
	uint32_t path[MAX_DEPTH] = { directory };
	unsigned n = 1;

	if (t->why_left)
		return;
	if (leaves_alone(t)) {
		t->why_left = "the threads of the command keep the device busy";
		ext4_directories_end(ext4, t->session->engine);
		return;
	}
	if (ext4_directories_know(ext4, directory))
		t->elsewhere = 0;
	else if (t->elsewhere < MAX_ELSEWHERE)
		n = find_path(t, beside, path);
	else
		return;
	ext4_directories_open(ext4, t->session->engine, path, n);
}
