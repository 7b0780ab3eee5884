// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Corruptions of ext2, ext3 and ext4.  libext2fs finds the structures; this
 * file changes the bytes itself, because libext2fs writes only valid
 * structures.
 */
#include <endian.h>
#include <ext2fs/ext2fs.h>

#include "corrupt.h"

#define JOURNAL_MAGIC	0xc03b3998u
#define JOURNAL_BLOCKS	64	/* the log of a small image is not longer */
#define HEADER		48	/* bytes; the longest, of an inode, has 40 */
#define SUPER_OFFSET	1024
#define SUPER_SIZE	1024

enum kind {
	SUPER, GROUP, INODE, EXTENT, INDIRECT, DIRECTORY, HTREE, XATTR, BITMAP,
	JOURNAL, SWAP, ZERO, TRUNCATE, KINDS
};

/* How the checksum is recomputed to match. */
enum seal {
	SEAL_NONE, SEAL_SUPER, SEAL_GROUP, SEAL_INODE, SEAL_EXTENT, SEAL_DIR,
	SEAL_XATTR, SEAL_BITMAP, SEAL_JOURNAL
};

static const char *const kinds[KINDS] = {
	"super", "group", "inode", "extent", "indirect", "directory", "htree",
	"xattr", "bitmap", "journal", "swap", "zero", "truncate"
};

static ext2_filsys fs;
static uint32_t bs;
static unsigned char buf[65536];	/* a block that is looked at */

static uint32_t le16(const unsigned char *p) { return load(p, 2, 0); }
static uint32_t le32(const unsigned char *p) { return load(p, 4, 0); }
static uint32_t be32(const unsigned char *p) { return load(p, 4, 1); }

/*
 * Finding the structures in the image.
 */
static void add(enum kind kind, enum seal seal, uint64_t blk, uint32_t off,
		uint32_t len, uint32_t ino, uint32_t number)
{
	add_location(&(struct location){
		.at = blk * bs, .bytes = bs, .block = blk, .kind = kind,
		.seal = seal, .off = off, .len = len, .ino = ino,
		.number = number
	});
}

/* Where a group's descriptor is, in bytes. */
static uint64_t descriptor_at(dgrp_t group)
{
	uint32_t desc = EXT2_DESC_SIZE(fs->super), per_block = bs / desc;

	return bs * ext2fs_descriptor_block_loc2(fs,
			fs->super->s_first_data_block, group / per_block) +
	       group % per_block * desc;
}

static void find_super_and_groups(void)
{
	uint32_t inode_bytes = fs->super->s_inodes_per_group / 8;
	uint32_t block_bytes = fs->super->s_clusters_per_group / 8;
	uint64_t at;
	dgrp_t g;

	add(SUPER, SEAL_SUPER, SUPER_OFFSET / bs, SUPER_OFFSET % bs,
	    SUPER_SIZE, 0, 0);
	for (g = 0; g < fs->group_desc_count; g++) {
		at = descriptor_at(g);
		add(GROUP, SEAL_GROUP, at / bs, at % bs,
		    EXT2_DESC_SIZE(fs->super), 0, g);
		if (!ext2fs_bg_flags_test(fs, g, EXT2_BG_BLOCK_UNINIT))
			add(BITMAP, SEAL_BITMAP,
			    ext2fs_block_bitmap_loc(fs, g), 0,
			    block_bytes < bs ? block_bytes : bs, 0, g);
		if (!ext2fs_bg_flags_test(fs, g, EXT2_BG_INODE_UNINIT))
			add(BITMAP, SEAL_BITMAP,
			    ext2fs_inode_bitmap_loc(fs, g), 0,
			    inode_bytes < bs ? inode_bytes : bs, 1, g);
	}
}

struct walk {
	uint32_t ino;
	int extents, directory, index;
};

static void add_directory_block(const struct walk *w, uint64_t blk,
				e2_blkcnt_t n)
{
	enum kind kind = DIRECTORY;

	read_at(blk * bs, buf, bs);
	/* An interior node of an htree begins with one unused entry that fills
	 * the block. */
	if (w->index && (n == 0 || (!le32(buf) && !buf[6] &&
				    (le16(buf + 4) == bs ||
				     le16(buf + 4) >= 65532))))
		kind = HTREE;
	add(kind, SEAL_DIR, blk, 0, bs, w->ino, n != 0);
}

static int visit_block(ext2_filsys f, blk64_t *blk, e2_blkcnt_t n,
		       blk64_t ref, int ref_off, void *private)
{
	const struct walk *w = private;

	(void)f, (void)ref, (void)ref_off;
	if (n < 0)
		add(w->extents ? EXTENT : INDIRECT,
		    w->extents ? SEAL_EXTENT : SEAL_NONE, *blk, 0, bs,
		    w->ino, -n);
	else if (w->directory)
		add_directory_block(w, *blk, n);
	return 0;
}

static void find_in_inode(uint64_t blk, uint32_t off, const struct walk *w,
			  const struct ext2_inode_large *inode)
{
	uint32_t size = EXT2_INODE_SIZE(fs->super);
	uint32_t body = 128 + inode->i_extra_isize, eas;

	if (w->extents)
		add(EXTENT, SEAL_INODE, blk, off + 40, 60, w->ino, 0);
	if (w->directory && (inode->i_flags & EXT4_INLINE_DATA_FL))
		add(DIRECTORY, SEAL_INODE, blk, off + 44, 56, w->ino, 2);
	if (size <= 128 || body + 4 >= size)
		return;
	read_at(blk * bs, buf, bs);
	eas = le32(buf + off + body);
	if (eas == EXT2_EXT_ATTR_MAGIC)
		add(XATTR, SEAL_INODE, blk, off + body, size - body, w->ino, 0);
}

static void find_inode(uint32_t ino, struct ext2_inode_large *inode)
{
	struct ext2_inode *small = (struct ext2_inode *)inode;
	uint32_t size = EXT2_INODE_SIZE(fs->super);
	uint32_t index = (ino - 1) % fs->super->s_inodes_per_group;
	uint64_t byte = (uint64_t)index * size;
	uint64_t blk = ext2fs_inode_table_loc(fs, ext2fs_group_of_ino(fs, ino)) +
		       byte / bs;
	struct walk w = { ino, !!(inode->i_flags & EXT4_EXTENTS_FL),
			  LINUX_S_ISDIR(inode->i_mode),
			  !!(inode->i_flags & EXT2_INDEX_FL) };

	if (!inode->i_links_count && !inode->i_mode &&
	    (ino > EXT2_GOOD_OLD_FIRST_INO || !inode->i_block[0]))
		return;
	add(INODE, SEAL_INODE, blk, byte % bs, size, ino, 0);
	find_in_inode(blk, byte % bs, &w, inode);
	if (ext2fs_file_acl_block(fs, small))
		add(XATTR, SEAL_XATTR, ext2fs_file_acl_block(fs, small), 0, bs,
		    ino, 1);
	if (ext2fs_inode_has_valid_blocks2(fs, small))
		ext2fs_block_iterate3(fs, ino, BLOCK_FLAG_READ_ONLY, NULL,
				      visit_block, &w);
}

static void find_inodes(void)
{
	uint32_t size = EXT2_INODE_SIZE(fs->super);
	struct ext2_inode_large *inode;
	ext2_inode_scan scan;
	ext2_ino_t ino;

	inode = calloc(1, size > sizeof(*inode) ? size : sizeof(*inode));
	if (!inode || ext2fs_open_inode_scan(fs, 8, &scan))
		die("inodes cannot be read");
	while (!ext2fs_get_next_inode_full(scan, &ino,
					   (struct ext2_inode *)inode, size) &&
	       ino)
		find_inode(ino, inode);
	ext2fs_close_inode_scan(scan);
	free(inode);
}

/* Only those blocks of the log that the journal code interprets. */
static void find_journal(void)
{
	blk64_t blk;
	uint32_t n;

	if (!fs->super->s_journal_inum)
		return;
	for (n = 0; n < JOURNAL_BLOCKS; n++) {
		if (ext2fs_bmap2(fs, fs->super->s_journal_inum, NULL, NULL, 0,
				 n, NULL, &blk) || !blk)
			break;
		read_at(blk * bs, buf, bs);
		if (be32(buf) == JOURNAL_MAGIC)
			add(JOURNAL, n ? SEAL_NONE : SEAL_JOURNAL, blk, 0,
			    n ? bs : 1024, fs->super->s_journal_inum, n);
	}
}

/*
 * Choosing a field: a word of the structure.  A third of them are among the first,
 * where headers are, a third are in use, which means not zero, and a third are any.
 */
static void pick_target(const struct location *pl, unsigned char *block,
			unsigned kind, struct target *t)
{
	const unsigned char *p = block + pl->off;
	static const uint8_t sizes[] = { 1, 2, 2, 4, 4, 4 };
	uint32_t size, count, from, tries;

	(void)kind;
	size = pl->kind == BITMAP ? 1 : *PICK(sizes);
	count = pl->len / size;
	from = below(3);
	if (from == 0 && pl->len > HEADER)
		count = HEADER / size;
	t->size = size;
	t->big_endian = pl->kind == JOURNAL;
	t->off = below(count) * size;
	for (tries = 0; from == 1 && tries < count &&
			!load(p + t->off, size, false); tries++)
		t->off = (t->off + size) % (count * size);
	snprintf(t->name, sizeof(t->name), "%" PRIu32 " bytes at %" PRIu32,
		 size, t->off);
	t->off += pl->off;
}

static uint64_t pick_value(unsigned choice, const struct location *pl,
			   const struct location *other, uint64_t old,
			   uint32_t size)
{
	switch (choice) {
	case 6: return other->block;
	case 7: return other->ino;
	case 8: return ext2fs_blocks_count(fs->super);
	case 9: return ext2fs_blocks_count(fs->super) - 1;
	case 10: return pl->block;
	case 11: return pl->ino;
	case 13: return fs->super->s_inodes_count + below(2);
	default: return odd_value(choice, old, size);
	}
}

/*
 * Checksums.
 */

/* libext2fs has descriptors in the order of the host's bytes. */
static void swap_group(struct ext2_group_desc *desc)
{
	if (htole16(1) != 1)
		ext2fs_swap_group_desc2(fs, desc);
}

static void seal_group(unsigned char *p, uint32_t len, dgrp_t group)
{
	struct ext2_group_desc *desc =
		ext2fs_group_desc(fs, fs->group_desc, group);

	memcpy(desc, p, len);
	swap_group(desc);
	ext2fs_group_desc_csum_set(fs, group);
	swap_group(desc);
	memcpy(p, desc, len);
}

static void seal_journal(unsigned char *p)
{
	if (p[0x50]) {
		store(p + 0xfc, 4, 1, 0);
		store(p + 0xfc, 4, 1, ext2fs_crc32c_le(~0u, p, 1024));
	}
}

/* A bitmap's checksum is in its group's descriptor. */
static void seal_bitmap(const struct location *pl, unsigned char *p)
{
	struct ext2_group_desc *desc =
		ext2fs_group_desc(fs, fs->group_desc, pl->number);

	if (!ext2fs_has_feature_metadata_csum(fs->super))
		return;
	(pl->ino ? ext2fs_inode_bitmap_csum_set : ext2fs_block_bitmap_csum_set)
		(fs, pl->number, (char *)p, (int)pl->len);
	ext2fs_group_desc_csum_set(fs, pl->number);
	swap_group(desc);
	write_at(descriptor_at(pl->number), desc, EXT2_DESC_SIZE(fs->super));
}

/* In half of the cases. */
static bool seal_location(const struct location *pl, unsigned char *block)
{
	unsigned char *p = block + pl->off;
	uint32_t size = EXT2_INODE_SIZE(fs->super);

	if (pl->seal == SEAL_NONE || below(2))
		return false;
	/* A structure too damaged for libext2fs keeps its old checksum. */
	switch (pl->seal) {
	case SEAL_SUPER:
		ext2fs_superblock_csum_set(fs, (struct ext2_super_block *)p);
		break;
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
		ext2fs_ext_attr_block_csum_set(fs, pl->ino, pl->block,
				(struct ext2_ext_attr_header *)block);
		break;
	default: break;
	}
	return true;
}

/*
 * The corruptions.
 */
static bool has_kind(const struct location *pl, unsigned kind)
{
	return kind >= SWAP || pl->kind == kind;
}

/* If any structure will do, or the image has none of the kind, each kind is
 * chosen as often as any other, however many locations it has.  Without a
 * superblock little is checked. */
static const struct location *pick(unsigned kind)
{
	while (kind >= SWAP || !count_locations(kind, ANY_TREE))
		kind = GROUP + below(SWAP - GROUP);
	return pick_location(kind, ANY_TREE);
}

static void print_location(const struct location *pl)
{
	bool of_group = pl->kind == GROUP || pl->kind == BITMAP;

	printf("%s, block %" PRIu64 "+%" PRIu32 ", %s %" PRIu32,
	       kinds[pl->kind], pl->block, pl->off,
	       of_group ? "group" : "inode", of_group ? pl->number : pl->ino);
}

static void find_locations(const char *image)
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

const struct filesystem ext4_filesystem = {
	.kinds = kinds,
	.kind_count = KINDS,
	.find = find_locations,
	.has_kind = has_kind,
	.super_at = SUPER_OFFSET,
	.pick = pick,
	.print = print_location,
	.target = pick_target,
	.value = pick_value,
	.seal = seal_location,
};
