// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Corruptions of ext2, ext3 and ext4.  libext2fs finds the structures; this
 * file changes the bytes itself, because libext2fs writes only valid
 * structures.
 */
#include <ext2fs/ext2fs.h>

#include "corrupt.h"

#define JOURNAL_MAGIC	0xc03b3998u
#define JOURNAL_BLOCKS	64	/* the log of a small image is not longer */
#define HEADER		48	/* bytes; the longest, of an inode, has 40 */
#define SUPER_OFFSET	1024
#define SUPER_SIZE	1024
#define GROUP_CSUM	0x1e	/* offset in a descriptor; 2 bytes */

enum kind {
	SUPER, GROUP, INODE, EXTENT, INDIRECT, DIRECTORY, HTREE, XATTR, BITMAP,
	JOURNAL, SWAP, ZERO, TRUNCATE, KINDS
};

/* How the checksum is recomputed to match. */
enum seal {
	SEAL_NONE, SEAL_SUPER, SEAL_GROUP, SEAL_INODE, SEAL_EXTENT, SEAL_DIR,
	SEAL_XATTR, SEAL_BITMAP, SEAL_JOURNAL
};

/* A structure; off and len are in bytes from the start of its block. */
struct place {
	enum kind kind;
	enum seal seal;
	uint64_t blk;
	uint32_t off;
	uint32_t len;
	uint32_t ino;		/* for a bitmap: 1 inodes, 0 blocks */
	uint32_t number;	/* group, level, or journal block */
};

static const struct corruption kinds[KINDS];
static ext2_filsys fs;
static uint32_t bs;
static struct place *places;
static size_t place_count, place_room;

static uint32_t le16(const unsigned char *p) { return load(p, 2, 0); }
static uint32_t le32(const unsigned char *p) { return load(p, 4, 0); }
static uint32_t be32(const unsigned char *p) { return load(p, 4, 1); }

/*
 * Finding the structures in the image.
 */
static void add_place(struct place place)
{
	places = grown(places, place_count, &place_room, sizeof(*places));
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
	/* An interior node of an htree begins with one unused entry that fills
	 * the block. */
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

/* Only those blocks of the log that the journal code interprets. */
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
 * Choosing a field: a word of the structure.  A third of them are among the first,
 * where headers are, a third are in use, which means not zero, and a third are any.
 */
static void pick_target(const struct place *pl, const unsigned char *p,
			struct target *t)
{
	static const uint8_t sizes[] = { 1, 2, 2, 4, 4, 4 };
	uint32_t size = pl->kind == BITMAP ? 1 : *PICK(sizes), tries;
	uint32_t count = pl->len / size, from = below(3);

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
}

/*
 * Choosing a value.
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

/* The CRC-16 of uninit_bg, bit by bit: libext2fs does not export its own. */
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

/* A bitmap's checksum is in its group's descriptor. */
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

	/* A structure too damaged for libext2fs keeps its old checksum. */
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
static bool has_kind(size_t place, unsigned kind)
{
	return kind >= SWAP || places[place].kind == kind;
}

static size_t count_kind(unsigned kind)
{
	size_t count = 0, i;

	for (i = 0; i < place_count; i++)
		count += has_kind(i, kind);
	return count;
}

static size_t pick_place(unsigned kind)
{
	size_t count = count_kind(kind), n, i;

	if (!count)
		die("no %s here", kinds[kind].name);
	n = below(count);
	for (i = 0;; i++)
		if (has_kind(i, kind) && !n--)
			return i;
}

static uint64_t block_of(size_t place)
{
	return places[place].blk;
}

static void read_place(size_t place, void *block)
{
	read_at(block_of(place) * bs, block, bs);
}

static void write_place(size_t place, const void *block)
{
	write_at(block_of(place) * bs, block, bs);
}

static void print_place(size_t place)
{
	const struct place *pl = &places[place];

	printf("%s, block %" PRIu64, kinds[pl->kind].name, pl->blk);
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

/* In half of the cases the checksum is recomputed to match. */
static void corrupt_field(unsigned kind)
{
	size_t place = pick_place(kind);
	const struct place *pl = &places[place];
	unsigned char *block = new_buffer(bs), *p = block + pl->off;
	bool seal = below(2) && pl->seal != SEAL_NONE;
	struct target t;
	uint64_t old, value;

	read_place(place, block);
	pick_target(pl, p, &t);
	old = load(p + t.off, t.size, t.big_endian);
	value = pick_value(pl, &t, old);
	store(p + t.off, t.size, t.big_endian, value);
	if (seal)
		seal_place(pl, block);
	write_place(place, block);
	print_place(place);
	fputs(": ", stdout);
	print_change(&t, old, value, seal);
	free(block);
}

static void corrupt_swap(unsigned kind)
{
	swap_blocks(&ext4_filesystem, kind, bs);
}

static void corrupt_zero(unsigned kind)
{
	unsigned char *block = new_buffer(bs);
	size_t place;

	/* Each kind is chosen as often as any other, however many places it
	 * has. */
	do
		kind = below(SWAP);
	while (!count_kind(kind));
	place = pick_place(kind);
	read_place(place, block);
	print_place(place);
	if (below(3)) {
		memset(block, 0, bs);
		puts(": block zeroed");
	} else {
		memset(block + places[place].off, 0, places[place].len);
		printf(": %" PRIu32 " bytes zeroed\n", places[place].len);
	}
	write_place(place, block);
	free(block);
}

static void corrupt_truncate(unsigned kind)
{
	uint64_t old = image_bytes, size;

	switch (below(6)) {
	case 0: size = old - 1 - below(bs); break;
	case 1: size = old - bs; break;
	case 2: size = below(8) * bs; size += below(bs); break;
	case 3: size = block_of(pick_place(kind)) * bs; break;
	case 4: size = block_of(pick_place(kind)) * bs;
		size += below(bs); break;
	default: size = below(old); break;
	}
	truncate_image(size);
}

static const struct corruption kinds[KINDS] = {
	[SUPER] = { "super", corrupt_field },
	[GROUP] = { "group", corrupt_field },
	[INODE] = { "inode", corrupt_field },
	[EXTENT] = { "extent", corrupt_field },
	[INDIRECT] = { "indirect", corrupt_field },
	[DIRECTORY] = { "directory", corrupt_field },
	[HTREE] = { "htree", corrupt_field },
	[XATTR] = { "xattr", corrupt_field },
	[BITMAP] = { "bitmap", corrupt_field },
	[JOURNAL] = { "journal", corrupt_field },
	[SWAP] = { "swap", corrupt_swap },
	[ZERO] = { "zero", corrupt_zero },
	[TRUNCATE] = { "truncate", corrupt_truncate },
};

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

const struct filesystem ext4_filesystem = {
	.kinds = kinds,
	.kind_count = KINDS,
	.find = find_places,
	.count = count_kind,
	.pick = pick_place,
	.block = block_of,
	.read = read_place,
	.write = write_place,
	.print = print_place,
};
