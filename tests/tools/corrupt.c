// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * corrupt: one seeded corruption of a sound ext2, ext3 or ext4 image, and one
 * line that names it.  It finds the structures through libext2fs, picks one,
 * one of its fields and a value by the seed, and writes the bytes itself.  In
 * half of the cases the checksum is made to match again, or a checker would
 * look no further than the checksum.  It knows nothing about what a checker
 * makes of the result.
 *
 *   corrupt IMAGE SEED [KIND]	corrupts IMAGE
 *   corrupt IMAGE		prints the kinds IMAGE has, and how many of each
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ext2fs/ext2fs.h>

#include "corrupt.h"

#define JOURNAL_MAGIC	0xc03b3998u
#define JOURNAL_BLOCKS	64	/* the log of a small image is no longer */
#define SUPER_OFFSET	1024
#define SUPER_SIZE	1024
#define GROUP_CSUM	0x1e	/* of a descriptor, 2 bytes */

enum kind {
	SUPER, GROUP, INODE, EXTENT, INDIRECT, DIRECTORY, HTREE, XATTR, BITMAP,
	JOURNAL, SWAP, ZERO, TRUNCATE, KINDS
};

static const char *const kind_names[KINDS] = {
	"super", "group", "inode", "extent", "indirect", "directory", "htree",
	"xattr", "bitmap", "journal", "swap", "zero", "truncate",
};

/* How the bytes are made to match their checksum again. */
enum seal {
	SEAL_NONE, SEAL_SUPER, SEAL_GROUP, SEAL_INODE, SEAL_EXTENT, SEAL_DIR,
	SEAL_XATTR, SEAL_BITMAP, SEAL_JOURNAL
};

/* One structure; off and len are in bytes from the start of the block. */
struct place {
	enum kind kind;
	enum seal seal;
	uint64_t blk;
	uint32_t off;
	uint32_t len;
	uint32_t ino;		/* of a bitmap: 1 for inodes, 0 for blocks */
	uint32_t number;	/* group, level, block of the journal */
};

/* One field of a place, off in bytes from the place's own start. */
struct target {
	char name[64];
	uint32_t off;
	uint32_t size;
	int big_endian;
};

static const struct field super_fields[] = {
	{ "s_inodes_count", 0x0, 4 }, { "s_blocks_count_lo", 0x4, 4 },
	{ "s_r_blocks_count_lo", 0x8, 4 }, { "s_free_blocks_count_lo", 0xc, 4 },
	{ "s_free_inodes_count", 0x10, 4 }, { "s_first_data_block", 0x14, 4 },
	{ "s_log_block_size", 0x18, 4 }, { "s_log_cluster_size", 0x1c, 4 },
	{ "s_blocks_per_group", 0x20, 4 }, { "s_clusters_per_group", 0x24, 4 },
	{ "s_inodes_per_group", 0x28, 4 }, { "s_mtime", 0x2c, 4 },
	{ "s_wtime", 0x30, 4 }, { "s_mnt_count", 0x34, 2 },
	{ "s_max_mnt_count", 0x36, 2 }, { "s_magic", 0x38, 2 },
	{ "s_state", 0x3a, 2 }, { "s_errors", 0x3c, 2 },
	{ "s_minor_rev_level", 0x3e, 2 }, { "s_lastcheck", 0x40, 4 },
	{ "s_checkinterval", 0x44, 4 }, { "s_creator_os", 0x48, 4 },
	{ "s_rev_level", 0x4c, 4 }, { "s_first_ino", 0x54, 4 },
	{ "s_inode_size", 0x58, 2 }, { "s_block_group_nr", 0x5a, 2 },
	{ "s_feature_compat", 0x5c, 4 }, { "s_feature_incompat", 0x60, 4 },
	{ "s_feature_ro_compat", 0x64, 4 }, { "s_uuid", 0x68, 4 },
	{ "s_reserved_gdt_blocks", 0xce, 2 }, { "s_journal_uuid", 0xd0, 4 },
	{ "s_journal_inum", 0xe0, 4 }, { "s_journal_dev", 0xe4, 4 },
	{ "s_last_orphan", 0xe8, 4 }, { "s_hash_seed", 0xec, 4 },
	{ "s_def_hash_version", 0xfc, 1 }, { "s_jnl_backup_type", 0xfd, 1 },
	{ "s_desc_size", 0xfe, 2 }, { "s_default_mount_opts", 0x100, 4 },
	{ "s_first_meta_bg", 0x104, 4 }, { "s_mkfs_time", 0x108, 4 },
	{ "s_jnl_blocks[0]", 0x10c, 4 }, { "s_jnl_blocks[5]", 0x120, 4 },
	{ "s_jnl_blocks[16]", 0x14c, 4 }, { "s_blocks_count_hi", 0x150, 4 },
	{ "s_free_blocks_count_hi", 0x158, 4 }, { "s_min_extra_isize", 0x15c, 2 },
	{ "s_want_extra_isize", 0x15e, 2 }, { "s_flags", 0x160, 4 },
	{ "s_raid_stride", 0x164, 2 }, { "s_mmp_interval", 0x166, 2 },
	{ "s_mmp_block", 0x168, 8 }, { "s_raid_stripe_width", 0x170, 4 },
	{ "s_log_groups_per_flex", 0x174, 1 }, { "s_checksum_type", 0x175, 1 },
	{ "s_kbytes_written", 0x178, 8 }, { "s_snapshot_inum", 0x180, 4 },
	{ "s_error_count", 0x194, 4 }, { "s_usr_quota_inum", 0x240, 4 },
	{ "s_grp_quota_inum", 0x244, 4 }, { "s_overhead_clusters", 0x248, 4 },
	{ "s_backup_bgs[0]", 0x24c, 4 }, { "s_backup_bgs[1]", 0x250, 4 },
	{ "s_lpf_ino", 0x268, 4 }, { "s_prj_quota_inum", 0x26c, 4 },
	{ "s_checksum_seed", 0x270, 4 }, { "s_encoding", 0x27c, 2 },
	{ "s_encoding_flags", 0x27e, 2 }, { "s_orphan_file_inum", 0x280, 4 },
	{ "s_checksum", 0x3fc, 4 },
};

static const struct field group_fields[] = {
	{ "bg_block_bitmap_lo", 0x0, 4 }, { "bg_inode_bitmap_lo", 0x4, 4 },
	{ "bg_inode_table_lo", 0x8, 4 }, { "bg_free_blocks_count_lo", 0xc, 2 },
	{ "bg_free_inodes_count_lo", 0xe, 2 },
	{ "bg_used_dirs_count_lo", 0x10, 2 }, { "bg_flags", 0x12, 2 },
	{ "bg_block_bitmap_csum_lo", 0x18, 2 },
	{ "bg_inode_bitmap_csum_lo", 0x1a, 2 },
	{ "bg_itable_unused_lo", 0x1c, 2 }, { "bg_checksum", 0x1e, 2 },
	{ "bg_block_bitmap_hi", 0x20, 4 }, { "bg_inode_bitmap_hi", 0x24, 4 },
	{ "bg_inode_table_hi", 0x28, 4 }, { "bg_itable_unused_hi", 0x32, 2 },
};

static const struct field inode_fields[] = {
	{ "i_mode", 0x0, 2 }, { "i_uid", 0x2, 2 }, { "i_size_lo", 0x4, 4 },
	{ "i_atime", 0x8, 4 }, { "i_dtime", 0x14, 4 }, { "i_gid", 0x18, 2 },
	{ "i_links_count", 0x1a, 2 }, { "i_blocks_lo", 0x1c, 4 },
	{ "i_flags", 0x20, 4 }, { "i_flags", 0x20, 4 },
	{ "i_block[0]", 0x28, 4 }, { "i_block[1]", 0x2c, 4 },
	{ "i_block[2]", 0x30, 4 }, { "i_block[3]", 0x34, 4 },
	{ "i_block[4]", 0x38, 4 }, { "i_block[5]", 0x3c, 4 },
	{ "i_block[8]", 0x48, 4 }, { "i_block[11]", 0x54, 4 },
	{ "i_block[12]", 0x58, 4 }, { "i_block[13]", 0x5c, 4 },
	{ "i_block[14]", 0x60, 4 }, { "i_generation", 0x64, 4 },
	{ "i_file_acl_lo", 0x68, 4 }, { "i_size_high", 0x6c, 4 },
	{ "i_faddr", 0x70, 4 }, { "i_blocks_high", 0x74, 2 },
	{ "i_file_acl_high", 0x76, 2 }, { "i_checksum_lo", 0x7c, 2 },
	{ "i_extra_isize", 0x80, 2 }, { "i_checksum_hi", 0x82, 2 },
	{ "i_ctime_extra", 0x84, 4 }, { "i_projid", 0x9c, 4 },
};

static const struct field extent_header[] = {
	{ "eh_magic", 0, 2 }, { "eh_entries", 2, 2 }, { "eh_max", 4, 2 },
	{ "eh_depth", 6, 2 }, { "eh_generation", 8, 4 },
};
static const struct field extent_leaf[] = {
	{ "ee_block", 0, 4 }, { "ee_len", 4, 2 }, { "ee_start_hi", 6, 2 },
	{ "ee_start_lo", 8, 4 },
};
static const struct field extent_index[] = {
	{ "ei_block", 0, 4 }, { "ei_leaf_lo", 4, 4 }, { "ei_leaf_hi", 8, 2 },
};
static const struct field dirent_fields[] = {
	{ "inode", 0, 4 }, { "rec_len", 4, 2 }, { "name_len", 6, 1 },
	{ "file_type", 7, 1 }, { "name[0]", 8, 1 }, { "name[1]", 9, 1 },
};
static const struct field htree_root[] = {
	{ "dot rec_len", 0x4, 2 }, { "dotdot inode", 0xc, 4 },
	{ "dotdot rec_len", 0x10, 2 }, { "reserved_zero", 0x18, 4 },
	{ "hash_version", 0x1c, 1 }, { "info_length", 0x1d, 1 },
	{ "indirect_levels", 0x1e, 1 }, { "unused_flags", 0x1f, 1 },
	{ "limit", 0x20, 2 }, { "count", 0x22, 2 }, { "block 0", 0x24, 4 },
};
static const struct field htree_node[] = {
	{ "fake inode", 0x0, 4 }, { "fake rec_len", 0x4, 2 },
	{ "limit", 0x8, 2 }, { "count", 0xa, 2 }, { "block 0", 0xc, 4 },
};
static const struct field htree_entry[] = {
	{ "hash", 0, 4 }, { "block", 4, 4 },
};
static const struct field xattr_header[] = {
	{ "h_magic", 0, 4 }, { "h_refcount", 4, 4 }, { "h_blocks", 8, 4 },
	{ "h_hash", 12, 4 }, { "h_checksum", 16, 4 },
};
static const struct field xattr_entry[] = {
	{ "e_name_len", 0, 1 }, { "e_name_index", 1, 1 },
	{ "e_value_offs", 2, 2 }, { "e_value_inum", 4, 4 },
	{ "e_value_size", 8, 4 }, { "e_hash", 12, 4 }, { "e_name[0]", 16, 1 },
};
static const struct field journal_super[] = {
	{ "h_magic", 0x0, 4 }, { "h_blocktype", 0x4, 4 },
	{ "h_sequence", 0x8, 4 }, { "s_blocksize", 0xc, 4 },
	{ "s_maxlen", 0x10, 4 }, { "s_first", 0x14, 4 },
	{ "s_sequence", 0x18, 4 }, { "s_start", 0x1c, 4 },
	{ "s_errno", 0x20, 4 }, { "s_feature_compat", 0x24, 4 },
	{ "s_feature_incompat", 0x28, 4 }, { "s_feature_ro_compat", 0x2c, 4 },
	{ "s_uuid", 0x30, 4 }, { "s_nr_users", 0x40, 4 },
	{ "s_checksum_type", 0x50, 1 }, { "s_num_fc_blks", 0x54, 4 },
	{ "s_head", 0x58, 4 }, { "s_checksum", 0xfc, 4 },
};
static const struct field journal_block[] = {
	{ "h_magic", 0, 4 }, { "h_blocktype", 4, 4 }, { "h_sequence", 8, 4 },
	{ "word 3", 12, 4 }, { "word 4", 16, 4 }, { "word 5", 20, 4 },
	{ "word 6", 24, 4 }, { "word 7", 28, 4 }, { "word 8", 32, 4 },
	{ "word 11", 44, 4 },
};

static ext2_filsys fs;
static uint32_t bs;
static struct place *places;
static size_t place_count, place_room;

static uint32_t le16(const unsigned char *p) { return load(p, 2, 0); }
static uint32_t le32(const unsigned char *p) { return load(p, 4, 0); }
static uint32_t be32(const unsigned char *p) { return load(p, 4, 1); }

/*
 * What the image has.
 */
static void add_place(struct place place)
{
	if (place_count == place_room) {
		place_room = place_room ? 2 * place_room : 1024;
		places = realloc(places, place_room * sizeof(*places));
		if (!places)
			die("out of memory");
	}
	places[place_count++] = place;
}

static void read_block(uint64_t blk, unsigned char *buf)
{
	if (io_channel_read_blk64(fs->io, blk, 1, buf))
		die("block %" PRIu64 " cannot be read", blk);
}

static void find_super_and_groups(void)
{
	uint32_t desc = EXT2_DESC_SIZE(fs->super), per_block = bs / desc;
	uint32_t inode_bytes = fs->super->s_inodes_per_group / 8;
	uint32_t block_bytes = fs->super->s_clusters_per_group / 8;
	uint64_t first = fs->super->s_first_data_block, blk;
	dgrp_t g;

	add_place((struct place){ SUPER, SEAL_SUPER, SUPER_OFFSET / bs,
				  SUPER_OFFSET % bs, SUPER_SIZE, 0, 0 });
	for (g = 0; g < fs->group_desc_count; g++) {
		blk = ext2fs_descriptor_block_loc2(fs, first, g / per_block);
		add_place((struct place){ GROUP, SEAL_GROUP, blk,
					  g % per_block * desc, desc, 0, g });
		if (!ext2fs_bg_flags_test(fs, g, EXT2_BG_BLOCK_UNINIT))
			add_place((struct place){ BITMAP, SEAL_BITMAP,
				ext2fs_block_bitmap_loc(fs, g), 0,
				block_bytes < bs ? block_bytes : bs, 0, g });
		if (!ext2fs_bg_flags_test(fs, g, EXT2_BG_INODE_UNINIT))
			add_place((struct place){ BITMAP, SEAL_BITMAP,
				ext2fs_inode_bitmap_loc(fs, g), 0,
				inode_bytes < bs ? inode_bytes : bs, 1, g });
	}
}

struct walk {
	uint32_t ino;
	int extents, directory, index;
	unsigned char *buf;
};

static void add_directory_block(const struct walk *w, uint64_t blk,
				e2_blkcnt_t n)
{
	enum kind kind = DIRECTORY;

	read_block(blk, w->buf);
	/* An interior node begins with one unused entry that fills the block. */
	if (w->index && (n == 0 || (!le32(w->buf) && !w->buf[6] &&
				    (le16(w->buf + 4) == bs ||
				     le16(w->buf + 4) >= 65532))))
		kind = HTREE;
	add_place((struct place){ kind, SEAL_DIR, blk, 0, bs, w->ino, n != 0 });
}

static int visit_block(ext2_filsys f, blk64_t *blk, e2_blkcnt_t n,
		       blk64_t ref, int ref_off, void *private)
{
	const struct walk *w = private;

	(void)f;
	(void)ref;
	(void)ref_off;
	if (n < 0)
		add_place((struct place){ w->extents ? EXTENT : INDIRECT,
			w->extents ? SEAL_EXTENT : SEAL_NONE, *blk, 0, bs,
			w->ino, -n });
	else if (w->directory)
		add_directory_block(w, *blk, n);
	return 0;
}

static void find_in_inode(uint64_t blk, uint32_t off, struct walk *w,
			  const struct ext2_inode_large *inode)
{
	uint32_t size = EXT2_INODE_SIZE(fs->super);
	uint32_t body = 128 + inode->i_extra_isize, eas;

	if (w->extents)
		add_place((struct place){ EXTENT, SEAL_INODE, blk, off + 40,
					  60, w->ino, 0 });
	if (w->directory && (inode->i_flags & EXT4_INLINE_DATA_FL))
		add_place((struct place){ DIRECTORY, SEAL_INODE, blk,
					  off + 44, 56, w->ino, 2 });
	if (size <= 128 || body + 4 >= size)
		return;
	read_block(blk, w->buf);
	eas = le32(w->buf + off + body);
	if (eas == EXT2_EXT_ATTR_MAGIC)
		add_place((struct place){ XATTR, SEAL_INODE, blk,
					  off + body, size - body, w->ino, 0 });
}

static void find_inode(uint32_t ino, struct ext2_inode_large *inode,
		       struct walk *w)
{
	struct ext2_inode *small = (struct ext2_inode *)inode;
	uint32_t size = EXT2_INODE_SIZE(fs->super);
	uint32_t index = (ino - 1) % fs->super->s_inodes_per_group;
	uint64_t byte = (uint64_t)index * size;
	uint64_t blk = ext2fs_inode_table_loc(fs, ext2fs_group_of_ino(fs, ino)) +
		       byte / bs;

	if (!inode->i_links_count && !inode->i_mode &&
	    (ino > EXT2_GOOD_OLD_FIRST_INO || !inode->i_block[0]))
		return;
	*w = (struct walk){ ino, !!(inode->i_flags & EXT4_EXTENTS_FL),
			    LINUX_S_ISDIR(inode->i_mode),
			    !!(inode->i_flags & EXT2_INDEX_FL), w->buf };
	add_place((struct place){ INODE, SEAL_INODE, blk, byte % bs, size,
				  ino, 0 });
	find_in_inode(blk, byte % bs, w, inode);
	if (ext2fs_file_acl_block(fs, small))
		add_place((struct place){ XATTR, SEAL_XATTR,
			ext2fs_file_acl_block(fs, small), 0, bs, ino, 1 });
	if (ext2fs_inode_has_valid_blocks2(fs, small))
		ext2fs_block_iterate3(fs, ino, BLOCK_FLAG_READ_ONLY, NULL,
				      visit_block, w);
}

static void find_inodes(void)
{
	uint32_t size = EXT2_INODE_SIZE(fs->super);
	struct ext2_inode_large *inode;
	struct walk w = { .buf = new_buffer(bs) };
	ext2_inode_scan scan;
	ext2_ino_t ino;

	inode = calloc(1, size > sizeof(*inode) ? size : sizeof(*inode));
	if (!inode || ext2fs_open_inode_scan(fs, 8, &scan))
		die("inodes cannot be read");
	while (!ext2fs_get_next_inode_full(scan, &ino,
					   (struct ext2_inode *)inode, size) &&
	       ino)
		find_inode(ino, inode, &w);
	ext2fs_close_inode_scan(scan);
	free(inode);
	free(w.buf);
}

/* Only blocks of the log that hold something the journal code reads. */
static void find_journal(void)
{
	unsigned char *buf;
	blk64_t blk;
	uint32_t n;

	if (!fs->super->s_journal_inum)
		return;
	buf = new_buffer(bs);
	for (n = 0; n < JOURNAL_BLOCKS; n++) {
		if (ext2fs_bmap2(fs, fs->super->s_journal_inum, NULL, NULL, 0,
				 n, NULL, &blk) || !blk)
			break;
		read_block(blk, buf);
		if (be32(buf) == JOURNAL_MAGIC)
			add_place((struct place){ JOURNAL,
				n ? SEAL_NONE : SEAL_JOURNAL, blk, 0,
				n ? bs : 1024, fs->super->s_journal_inum, n });
	}
	free(buf);
}

/*
 * Which field of it.
 */
static void name_target(struct target *t, uint32_t off, const struct field *f,
			const char *what, uint32_t n)
{
	if (what)
		snprintf(t->name, sizeof(t->name), "%s %" PRIu32 " %s", what,
			 n, f->name);
	else
		snprintf(t->name, sizeof(t->name), "%s", f->name);
	t->off = off + f->off;
	t->size = f->size;
}

#define PICK(t, off, fields, what, n) \
	name_target(t, off, &(fields)[below(sizeof(fields) / \
		sizeof((fields)[0]))], what, n)

static void pick_extent(const unsigned char *p, uint32_t len,
			struct target *t)
{
	uint32_t entries = le16(p + 2), room = (len - 12) / 12, n;

	if (entries > room)
		entries = room;
	if (!entries || !below(3)) {
		PICK(t, 0, extent_header, NULL, 0);
		return;
	}
	n = below(entries);
	if (le16(p + 6))
		PICK(t, 12 + 12 * n, extent_index, "entry", n);
	else
		PICK(t, 12 + 12 * n, extent_leaf, "entry", n);
}

static void pick_indirect(const unsigned char *p, uint32_t len,
			  struct target *t)
{
	uint32_t n = below(len / 4), tries;

	/* Used entries are few and more interesting. */
	for (tries = 0; tries < len / 4 && !le32(p + 4 * n); tries++)
		n = (n + 1) % (len / 4);
	snprintf(t->name, sizeof(t->name), "entry %" PRIu32, n);
	t->off = 4 * n;
	t->size = 4;
}

static void pick_directory(const unsigned char *p, uint32_t len,
			   struct target *t)
{
	uint32_t pos = 0, count = 0, stop = below(len / 12), last = 0, n = 0;

	/* Twice the same walk: how many there are, then to one of them. */
	for (; pos + 12 <= len && le16(p + pos + 4) >= 12; count++)
		pos += le16(p + pos + 4);
	stop = count ? stop % count : 0;
	for (pos = 0; n < stop; n++) {
		last = pos;
		pos += le16(p + pos + 4);
	}
	PICK(t, pos + 10 <= len ? pos : last, dirent_fields, "entry", n);
}

static void pick_htree(const unsigned char *p, uint32_t len, uint32_t level,
		       struct target *t)
{
	uint32_t start = level ? 8 : 0x18 + p[0x1d], count, n;

	count = start + 8 <= len ? le16(p + start + 2) : 0;
	if (count > (len - start) / 8)
		count = (len - start) / 8;
	if (count > 1 && below(2)) {
		n = 1 + below(count - 1);
		PICK(t, start + 8 * n, htree_entry, "entry", n);
	} else if (level) {
		PICK(t, 0, htree_node, NULL, 0);
	} else {
		PICK(t, 0, htree_root, NULL, 0);
	}
}

static void pick_xattr(const unsigned char *p, uint32_t len, int in_block,
		       struct target *t)
{
	uint32_t pos = in_block ? 32 : 4, n = 0, stop = below(4);

	if (!below(4)) {
		/* In an inode the magic is all there is of a header. */
		name_target(t, 0, &xattr_header[in_block ? below(5) : 0],
			    NULL, 0);
		return;
	}
	for (; n < stop && pos + 16 <= len && le32(p + pos); n++) {
		uint32_t next = pos + ((16 + p[pos] + 3) & ~3u);

		if (next + 20 > len || !le32(p + next))
			break;
		pos = next;
	}
	PICK(t, pos + 20 <= len ? pos : 0, xattr_entry, "entry", n);
}

static void pick_target(const struct place *pl, const unsigned char *p,
			struct target *t)
{
	t->big_endian = 0;
	do {
		switch (pl->kind) {
		case SUPER:
			PICK(t, 0, super_fields, NULL, 0);
			break;
		case GROUP:
			PICK(t, 0, group_fields, NULL, 0);
			break;
		case INODE:
			PICK(t, 0, inode_fields, NULL, 0);
			break;
		case EXTENT:
			pick_extent(p, pl->len, t);
			break;
		case INDIRECT:
			pick_indirect(p, pl->len, t);
			break;
		case DIRECTORY:
			pick_directory(p, pl->len, t);
			break;
		case HTREE:
			pick_htree(p, pl->len, pl->number, t);
			break;
		case XATTR:
			pick_xattr(p, pl->len, pl->seal == SEAL_XATTR, t);
			break;
		case JOURNAL:
			if (pl->number)
				PICK(t, 0, journal_block, NULL, 0);
			else
				PICK(t, 0, journal_super, NULL, 0);
			t->big_endian = 1;
			break;
		default:
			t->off = below(pl->len);
			t->size = 1;
			snprintf(t->name, sizeof(t->name), "byte %" PRIu32,
				 t->off);
			break;
		}
	} while (t->off + t->size > pl->len);
}

/*
 * Which value.
 */
static uint64_t pick_value(const struct place *pl, const struct target *t,
			   uint64_t old)
{
	const struct place *other = &places[below(place_count)];
	unsigned choice = below(16);
	uint64_t value;

	switch (choice) {
	case 6: value = other->blk; break;
	case 7: value = other->ino; break;
	case 8: value = ext2fs_blocks_count(fs->super); break;
	case 9: value = ext2fs_blocks_count(fs->super) - 1; break;
	case 10: value = pl->blk; break;
	case 11: value = pl->ino; break;
	case 13: value = fs->super->s_inodes_count + below(2); break;
	default: value = odd_value(choice, old, t->size); break;
	}
	return other_value(value, old, t->size);
}

/*
 * Checksums.
 */
static void seal_super(unsigned char *p)
{
	if (ext2fs_has_feature_metadata_csum(fs->super))
		store(p + 0x3fc, 4, 0, ext2fs_crc32c_le(~0u, p, 0x3fc));
}

/* The CRC-16 of uninit_bg, bit by bit: libext2fs keeps its own to itself. */
static uint32_t crc16(uint32_t crc, const unsigned char *p, size_t len)
{
	int bit;

	for (; len; len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xa001 : 0);
	}
	return crc;
}

static void seal_group(unsigned char *p, uint32_t len, uint32_t group)
{
	unsigned char number[4], zero[2] = { 0, 0 };
	uint32_t rest = GROUP_CSUM + 2, crc;

	store(number, 4, 0, group);
	if (ext2fs_has_feature_metadata_csum(fs->super)) {
		crc = ext2fs_crc32c_le(fs->csum_seed, number, 4);
		crc = ext2fs_crc32c_le(crc, p, GROUP_CSUM);
		crc = ext2fs_crc32c_le(crc, zero, 2);
		crc = ext2fs_crc32c_le(crc, p + rest, len - rest);
	} else if (ext2fs_has_feature_gdt_csum(fs->super)) {
		crc = crc16(0xffff, fs->super->s_uuid, 16);
		crc = crc16(crc, number, 4);
		crc = crc16(crc, p, GROUP_CSUM);
		crc = crc16(crc, p + rest, len - rest);
	} else {
		return;
	}
	store(p + GROUP_CSUM, 2, 0, crc);
}

static void seal_journal(unsigned char *p)
{
	if (p[0x50]) {
		store(p + 0xfc, 4, 1, 0);
		store(p + 0xfc, 4, 1, ext2fs_crc32c_le(~0u, p, 1024));
	}
}

/* The checksum of a bitmap is in the descriptor of its group. */
static void seal_bitmap(const struct place *pl, const unsigned char *p)
{
	uint32_t desc = EXT2_DESC_SIZE(fs->super), per_block = bs / desc;
	unsigned char *group = new_buffer(bs);
	uint64_t pos;
	uint32_t crc;

	if (ext2fs_has_feature_metadata_csum(fs->super)) {
		pos = bs * ext2fs_descriptor_block_loc2(fs,
				fs->super->s_first_data_block,
				pl->number / per_block) +
		      pl->number % per_block * desc;
		crc = ext2fs_crc32c_le(fs->csum_seed, p, pl->len);
		read_at(pos, group, desc);
		store(group + (pl->ino ? 0x1a : 0x18), 2, 0, crc);
		if (desc >= 64)
			store(group + (pl->ino ? 0x3a : 0x38), 2, 0, crc >> 16);
		seal_group(group, desc, pl->number);
		write_at(pos, group, desc);
	}
	free(group);
}

static void seal_place(const struct place *pl, unsigned char *block)
{
	unsigned char *p = block + pl->off;
	uint32_t size = EXT2_INODE_SIZE(fs->super);

	/* What cannot be sealed any more stays as it is. */
	switch (pl->seal) {
	case SEAL_SUPER: seal_super(p); break;
	case SEAL_GROUP: seal_group(p, pl->len, pl->number); break;
	case SEAL_BITMAP: seal_bitmap(pl, p); break;
	case SEAL_JOURNAL: seal_journal(p); break;
	case SEAL_INODE:
		ext2fs_inode_csum_set(fs, pl->ino, (struct ext2_inode_large *)
				      (block + pl->off / size * size));
		break;
	case SEAL_EXTENT:
		ext2fs_extent_block_csum_set(fs, pl->ino,
				(struct ext3_extent_header *)block);
		break;
	case SEAL_DIR:
		ext2fs_dir_block_csum_set(fs, pl->ino,
					  (struct ext2_dir_entry *)block);
		break;
	case SEAL_XATTR:
		ext2fs_ext_attr_block_csum_set(fs, pl->ino, pl->blk,
				(struct ext2_ext_attr_header *)block);
		break;
	case SEAL_NONE: break;
	}
}

/*
 * The corruptions.
 */
static const struct place *pick_place(enum kind kind)
{
	size_t count = 0, n, i;

	for (i = 0; i < place_count; i++)
		count += kind == KINDS || places[i].kind == kind;
	if (!count)
		die("no %s here", kind == KINDS ? "place" : kind_names[kind]);
	n = below(count);
	for (i = 0;; i++)
		if ((kind == KINDS || places[i].kind == kind) && !n--)
			return &places[i];
}

static int have_kind(enum kind kind, size_t *count)
{
	size_t i;

	*count = 0;
	for (i = 0; i < place_count; i++)
		*count += kind >= SWAP || places[i].kind == kind;
	return *count != 0;
}

static void print_place(const struct place *pl)
{
	printf("%s, block %" PRIu64, kind_names[pl->kind], pl->blk);
	if (pl->off)
		printf("+%" PRIu32, pl->off);
	if (pl->kind == GROUP)
		printf(", group %" PRIu32, pl->number);
	else if (pl->kind == BITMAP)
		printf(" of %s, group %" PRIu32, pl->ino ? "inodes" : "blocks",
		       pl->number);
	else if (pl->ino)
		printf(", inode %" PRIu32, pl->ino);
}

static void corrupt_field(enum kind kind)
{
	const struct place *pl = pick_place(kind);
	unsigned char *block = new_buffer(bs), *p = block + pl->off;
	int seal = below(2) && pl->seal != SEAL_NONE;
	struct target t;
	uint64_t old, value;

	read_at(pl->blk * bs, block, bs);
	pick_target(pl, p, &t);
	old = load(p + t.off, t.size, t.big_endian);
	value = pick_value(pl, &t, old);
	store(p + t.off, t.size, t.big_endian, value);
	if (seal)
		seal_place(pl, block);
	write_at(pl->blk * bs, block, bs);
	print_place(pl);
	printf(": %s 0x%" PRIx64 " -> 0x%" PRIx64 "%s\n", t.name, old, value,
	       seal ? ", checksum made to match" : "");
	free(block);
}

static void corrupt_swap(void)
{
	const struct place *a = pick_place(KINDS), *b = pick_place(KINDS);
	unsigned char *block = new_buffer(bs), *other = new_buffer(bs);
	int copy = below(2), tries;

	for (tries = 0; tries < 100 && a->blk == b->blk; tries++)
		b = pick_place(KINDS);
	read_at(a->blk * bs, block, bs);
	read_at(b->blk * bs, other, bs);
	write_at(b->blk * bs, block, bs);
	if (!copy)
		write_at(a->blk * bs, other, bs);
	print_place(a);
	printf(copy ? ": copied over " : ": swapped with ");
	print_place(b);
	putchar('\n');
	free(block);
	free(other);
}

static void corrupt_zero(void)
{
	unsigned char *block = new_buffer(bs);
	const struct place *pl;
	enum kind kind;
	size_t count;

	/* Each kind as often as any other, however many there are of it. */
	do
		kind = below(SWAP);
	while (!have_kind(kind, &count));
	pl = pick_place(kind);
	read_at(pl->blk * bs, block, bs);
	print_place(pl);
	if (below(3)) {
		memset(block, 0, bs);
		puts(": block zeroed");
	} else {
		memset(block + pl->off, 0, pl->len);
		printf(": %" PRIu32 " bytes zeroed\n", pl->len);
	}
	write_at(pl->blk * bs, block, bs);
	free(block);
}

static void corrupt_truncate(void)
{
	uint64_t old = lseek(image_fd, 0, SEEK_END), size;

	switch (below(6)) {
	case 0: size = old - 1 - below(bs); break;
	case 1: size = old - bs; break;
	case 2: size = below(8) * bs + below(bs); break;
	case 3: size = pick_place(KINDS)->blk * bs; break;
	case 4: size = pick_place(KINDS)->blk * bs + below(bs); break;
	default: size = below(old); break;
	}
	if (ftruncate(image_fd, size))
		die("%s", strerror(errno));
	printf("truncate: %" PRIu64 " -> %" PRIu64 " bytes\n", old, size);
}

static enum kind choose_kind(const char *name)
{
	enum kind kind;
	size_t count;

	for (kind = 0; name && kind < KINDS; kind++)
		if (!strcmp(name, kind_names[kind]))
			return kind;
	if (name)
		die("no such kind: %s", name);
	do
		kind = below(KINDS);
	while (!have_kind(kind, &count));
	return kind;
}

static void print_kinds(void)
{
	enum kind kind;
	size_t count;

	for (kind = 0; kind < KINDS; kind++)
		if (have_kind(kind, &count))
			printf("%s %zu\n", kind_names[kind], count);
}

static void find_places(const char *image)
{
	int flags = EXT2_FLAG_64BITS | EXT2_FLAG_SOFTSUPP_FEATURES |
		    EXT2_FLAG_IGNORE_CSUM_ERRORS | EXT2_FLAG_SKIP_MMP |
		    EXT2_FLAG_JOURNAL_DEV_OK;
	errcode_t err;

	err = ext2fs_open(image, flags, 0, 0, unix_io_manager, &fs);
	if (err)
		die("%s: error %ld", image, (long)err);
	bs = fs->blocksize;
	find_super_and_groups();
	find_inodes();
	find_journal();
}

int main(int argc, char **argv)
{
	enum kind kind;
	char *end;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "Usage: corrupt IMAGE [SEED [KIND]]\n");
		return 2;
	}
	find_places(argv[1]);
	if (argc == 2) {
		print_kinds();
		return 0;
	}
	seed_state = strtoull(argv[2], &end, 0);
	if (*end || end == argv[2])
		die("not a number: %s", argv[2]);
	image_fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (image_fd < 0)
		die("%s: %s", argv[1], strerror(errno));
	kind = choose_kind(argv[3]);
	if (kind == SWAP)
		corrupt_swap();
	else if (kind == ZERO)
		corrupt_zero();
	else if (kind == TRUNCATE)
		corrupt_truncate();
	else
		corrupt_field(kind);
	ext2fs_close_free(&fs);
	free(places);
	return close(image_fd) ? 2 : 0;
}
