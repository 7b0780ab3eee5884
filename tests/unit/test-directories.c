/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Walks below some directories: the entries of hand-made blocks, and the reads of the
 * source in a small tree; and that unused parts of inode tables are never read.
 */
#include "ext4/directories.h"
#include "numbers.h"
#include "tiny-fs.h"
#include "unit.h"

#define BS 1024u
#define GROUPS 40u
#define INODES 64u		/* of a group: eight blocks of a table */

static const struct ext4_geometry geometry = {
	.inodes = 5000, .inode_size = 256, .block_size = 4096
};

/* The entries that were found. */
static struct {
	unsigned count;
	uint32_t ino[16];
} names;

static void record_name(void *ctx, const struct ext4_entry *entry)
{
	(void)ctx;
	assert_true(names.count < COUNT(names.ino));
	names.ino[names.count++] = entry->ino;
}

/* Write an entry, and return where the next one begins. */
static uint8_t *put_entry(uint8_t *at, uint32_t ino, unsigned length,
			  const char *name, unsigned type)
{
	put32(at, ino);
	put16(at + 4, (uint16_t)length);
	at[6] = (uint8_t)strlen(name);
	at[7] = (uint8_t)type;
	memcpy(at + 8, name, at[6]);
	return at + length;
}

/* The inodes that are found. */
static void finds(const void *bytes, size_t size, unsigned count,
		  const uint32_t *inodes)
{
	unsigned i;

	names.count = 0;
	ext4_plan_entries(&geometry, bytes, size, record_name, NULL);
	assert_int_equal(names.count, count);
	for (i = 0; i < count; i++)
		assert_int_equal(names.ino[i], inodes[i]);
}

TEST(entries)
{
	static uint8_t block[4096];
	uint8_t *at = block;

	at = put_entry(at, 12, 12, ".", EXT2_FT_DIR);
	at = put_entry(at, 2, 12, "..", EXT2_FT_DIR);
	at = put_entry(at, 20, 16, "file", EXT2_FT_REG_FILE);
	at = put_entry(at, 21, 20, "directory", EXT2_FT_DIR);
	at = put_entry(at, 0, 12, "gone", EXT2_FT_DIR);
	at = put_entry(at, 5000, 24, ".hidden", EXT2_FT_UNKNOWN);
	at = put_entry(at, 5001, 12, "far", EXT2_FT_REG_FILE);
	at = put_entry(at, 23, 12, "", EXT2_FT_REG_FILE);
	at = put_entry(at, 24, 12, "...", EXT2_FT_SYMLINK);
	/* The rest, but for a checksum. */
	at = put_entry(at, 0, (unsigned)(block + 4084 - at), "", 0);
	put_entry(at, 0, 12, "", 0xde);
	finds(block, sizeof(block), 4,
	      (const uint32_t[]){ 20, 21, 5000, 24 });
}

/* Lengths of entries that cannot be: nothing after them is believed. */
TEST(entries_that_are_wrong)
{
	static const unsigned lengths[] = { 0, 4, 7, 18, 4096, 65535, 65532 };
	static uint8_t block[4096];
	unsigned i;

	for (i = 0; i < COUNT(lengths); i++) {
		memset(block, 0, sizeof(block));
		put_entry(put_entry(block, 20, 16, "a", EXT2_FT_REG_FILE), 21,
			  lengths[i], "b", EXT2_FT_REG_FILE);
		finds(block, sizeof(block), 1, (const uint32_t[]){ 20 });
	}
	/* A name longer than its entry; an end in the middle of one. */
	put_entry(block, 20, 12, "longer", EXT2_FT_REG_FILE);
	put_entry(block + 12, 21, 12, "b", EXT2_FT_REG_FILE);
	finds(block, 24, 1, (const uint32_t[]){ 21 });
	finds(block, 23, 0, NULL);
	finds(block, 7, 0, NULL);
}

TEST(entries_of_64k)
{
	static const unsigned whole[] = { 0, 65535 };
	static uint8_t block[65536];
	unsigned i;

	for (i = 0; i < COUNT(whole); i++) {
		put_entry(block, 20, whole[i], "a", EXT2_FT_REG_FILE);
		finds(block, sizeof(block), 1, (const uint32_t[]){ 20 });
	}
	put_entry(put_entry(block, 20, 65520, "a", EXT2_FT_REG_FILE), 21, 16, "b",
		  EXT2_FT_REG_FILE);
	finds(block, sizeof(block), 2, (const uint32_t[]){ 20, 21 });
}

/* A directory of 256 bytes that is its inode: i_block, and then an attribute. */
TEST(entries_in_the_inode)
{
	union {
		struct ext2_inode_large inode;
		uint8_t bytes[256];
	} u = { .bytes = { 0 } };
	struct ext2_ext_attr_entry *attr;
	uint8_t *tail = u.bytes + 128 + 32 + 4;

	u.inode.i_mode = htole16(LINUX_S_IFDIR);
	u.inode.i_flags = htole32(EXT4_INLINE_DATA_FL);
	u.inode.i_extra_isize = htole16(32);
	put_entry(put_entry((uint8_t *)u.inode.i_block + 4, 20, 16, "a",
			    EXT2_FT_REG_FILE), 21, 40, "b", EXT2_FT_DIR);
	put32(tail - 4, EXT2_EXT_ATTR_MAGIC);
	attr = (struct ext2_ext_attr_entry *)tail;
	attr->e_name_index = 1;
	attr[1].e_name_index = 7;
	attr[1].e_name_len = 4;
	memcpy(attr + 2, "data", 4);
	attr[1].e_value_offs = htole16(64);
	attr[1].e_value_size = htole32(28);
	put_entry(put_entry(tail + 64, 22, 12, "c", EXT2_FT_REG_FILE), 23, 16,
		  "d", EXT2_FT_REG_FILE);
	names.count = 0;
	ext4_plan_inline_entries(&geometry, u.bytes, record_name, NULL);
	assert_int_equal(names.count, 4);
	assert_int_equal(names.ino[1], 21);
	assert_int_equal(names.ino[3], 23);
	/* A value elsewhere; one that does not fit; no attributes; another kind of
	 * directory.
	   */
	attr[1].e_value_inum = htole32(30);
	names.count = 2;
	ext4_plan_inline_entries(&geometry, u.bytes, record_name, NULL);
	assert_int_equal(names.count, 4);
	attr[1].e_value_inum = 0;
	attr[1].e_value_size = htole32(29);
	ext4_plan_inline_entries(&geometry, u.bytes, record_name, NULL);
	assert_int_equal(names.count, 6);
	u.inode.i_extra_isize = htole16(92);
	ext4_plan_inline_entries(&geometry, u.bytes, record_name, NULL);
	assert_int_equal(names.count, 8);
	u.inode.i_flags = 0;
	ext4_plan_inline_entries(&geometry, u.bytes, record_name, NULL);
	assert_int_equal(names.count, 8);
	/* A file, whatever its bytes are. */
	u.inode.i_flags = htole32(EXT4_INLINE_DATA_FL);
	u.inode.i_mode = htole16(LINUX_S_IFREG);
	ext4_plan_inline_entries(&geometry, u.bytes, record_name, NULL);
	assert_int_equal(names.count, 8);
}

/*
 * The source.  Its inodes are numbered through the groups; directory i has its block in
 * the group of its inode.
 */

#define REFS 4096

static struct {
	struct tiny_fs fs;
	struct pf_source *source;
	struct pf_ref ref[REFS];
	unsigned refs, next, parsed, units;
	bool seek_bound;
} t;

static void make_fs(unsigned groups, unsigned inodes)
{
	unsigned g;

	memset(&t, 0, sizeof(t));
	tiny_new(&t.fs, groups, 256, inodes, BS);
	for (g = 0; g < groups; g++)
		t.fs.groups[g].inodes_allocated = inodes;
	t.source = tiny_source(&t.fs, EXT4_ALL_CLASSES & ~(1u << EXT4_BITMAPS));
}

FIXTURE(set_up)
{
	make_fs(GROUPS, INODES);
	return 0;
}

FIXTURE(tear_down)
{
	tiny_free(&t.fs);
	return 0;
}

#define SOURCE_TEST(name) TEST_WITH(name, set_up, tear_down)

static uint32_t inode_of(unsigned group, unsigned index)
{
	return group * INODES + index + 1;
}

/* A directory whose block has one entry. */
static void make_directory_at(uint64_t block, uint32_t ino, uint32_t child,
			   unsigned type)
{
	tiny_inode(&t.fs, ino, LINUX_S_IFDIR, 0, &block, 1);
	put_entry(tiny_block(&t.fs, block), child, BS, "name", type);
}

/* The block is the n-th behind the table of its group. */
static uint64_t make_directory(uint32_t ino, unsigned n, uint32_t child,
			    unsigned type)
{
	uint32_t group = (ino - 1) / t.fs.geo.inodes_per_group;
	uint64_t block = tiny_free_block(&t.fs, group) + n;

	make_directory_at(block, ino, child, type);
	return block;
}

static void accept_ref(void *ctx, const struct pf_ref *ref)
{
	(void)ctx;
	assert_true(t.refs < REFS);
	t.ref[t.refs++] = *ref;
}

static bool is_read(uint64_t block)
{
	unsigned i;

	for (i = 0; i < t.refs; i++)
		if (t.ref[i].offset <= block * BS &&
		    block * BS < t.ref[i].offset + t.ref[i].length)
			return true;
	return false;
}

static bool table_is_read(unsigned group)
{
	return is_read(t.fs.groups[group].inode_table);
}

/* Read all units, and what they lead to. */
static void read_phase(const struct pf_phase *phase)
{
	const struct pf_source_ops *ops = t.source->ops;
	uint32_t at, size;
	bool more;

	t.units = 0;
	while (t.units < ops->units(t.source, phase->number, &more)) {
		ops->weight(t.source, phase->number, t.units);
		ops->seed(t.source, phase->number, t.units++, accept_ref, NULL);
		for (; t.next < t.refs; t.next++) {
			const struct pf_ref ref = t.ref[t.next];

			for (at = 0; ref.parse && at < ref.length; at += size) {
				size = ops->piece(t.source, &ref, at);
				ops->parse(t.source, &ref, at,
					   t.fs.image + ref.offset + at, size,
					   accept_ref, NULL);
				t.parsed++;
			}
		}
	}
}

/* Returns the first phase of a walk below these. */
static const struct pf_phase *begin_below(const uint32_t *inodes,
					  unsigned count)
{
	const struct pf_options start = {
		.budget = UINT64_MAX, .seek_bound = t.seek_bound
	};
	struct ext4_source_options options = t.fs.ext4->options;

	options.below = inodes;
	options.below_count = count;
	ext4_source_free(t.fs.ext4);
	t.fs.ext4 = ext4_directories_new(&t.fs.geo, &options);
	assert_non_null(t.fs.ext4);
	t.fs.ext4->groups = t.fs.groups;
	t.source = &t.fs.ext4->source;
	t.source->ops->begin(t.source, &start, false);
	return t.source->ops->next(t.source, NULL);
}

/* The part, and then everything if that is to be read. */
static void read_all(const uint32_t *inodes, unsigned count)
{
	const struct pf_phase *phase = begin_below(inodes, count);

	assert_int_equal(phase->number, EXT4_DIRECTORIES);
	read_phase(phase);
	phase = t.source->ops->next(t.source, phase);
	if (phase->number == EXT4_PHASE_TABLES)
		read_phase(phase);
}

/* Through three groups, from the last inode of a table, the last directory by an extent
 * node; others beside it are none of them, and one of these lies near. */
SOURCE_TEST(below_a_directory)
{
	uint32_t first = inode_of(5, INODES - 1), second = inode_of(9, 3);
	uint32_t third = inode_of(7, 1);
	uint64_t node, leaf, far = tiny_free_block(&t.fs, 30), near;

	make_directory(first, 0, second, EXT2_FT_DIR);
	make_directory(second, 0, third, EXT2_FT_UNKNOWN);
	node = tiny_free_block(&t.fs, 7);
	leaf = node + 5;
	tiny_inode(&t.fs, third, LINUX_S_IFDIR, 1, &node, 1);
	tiny_node(&t.fs, node, 0, &leaf, 1);
	put_entry(tiny_block(&t.fs, leaf), inode_of(11, 0), BS, "f",
		  EXT2_FT_REG_FILE);
	make_directory_at(far, inode_of(7, 2), inode_of(20, 0), EXT2_FT_DIR);
	near = make_directory(inode_of(7, 3), 9, inode_of(21, 0), EXT2_FT_DIR);
	read_all(&first, 1);
	assert_true(table_is_read(5) && table_is_read(9) && table_is_read(7) &&
		    table_is_read(11));
	assert_true(is_read(node) && is_read(leaf) && is_read(near));
	assert_false(is_read(far) || table_is_read(0) || table_is_read(6));
	assert_false(table_is_read(20) || table_is_read(21));
}

/* Each in the one before, in one group, and the last names files: the sweep that reads
 * the first one's block reads those of all. */
SOURCE_TEST(directories_side_by_side)
{
	uint32_t first = inode_of(5, 0);
	unsigned i;

	for (i = 0; i < 10; i++)
		make_directory(inode_of(5, i), 10 - i, inode_of(5, i + 1),
			    EXT2_FT_DIR);
	make_directory(inode_of(5, 10), 0, inode_of(20, 0), EXT2_FT_REG_FILE);
	read_all(&first, 1);
	assert_true(table_is_read(20));
	/* The table, the blocks, the file's table. */
	assert_int_equal(t.units, 3);
}

/* Two that contain each other, and ".." that leads up: each is followed once. */
SOURCE_TEST(in_a_circle)
{
	uint32_t one = inode_of(5, 0), two = inode_of(5, 1);
	uint8_t *block;

	make_directory(one, 0, two, EXT2_FT_DIR);
	block = tiny_block(&t.fs, make_directory(two, 1, one, EXT2_FT_DIR));
	put_entry(put_entry(block, one, 512, "name", EXT2_FT_DIR),
		  inode_of(20, 0), 512, "..", EXT2_FT_DIR);
	read_all((const uint32_t[]){ one, two, one }, 3);
	assert_false(table_is_read(20));
	/* The table, and the block of each. */
	assert_int_equal(t.parsed, 1 + 2);
}

/* A directory, one in it, and so many files in that, each in a group of its own; all that
 * is read of a table lies in one block. */
static void make_mailbox(unsigned files)
{
	uint32_t first = inode_of(5, 0), second = inode_of(9, 0);
	uint8_t *at = tiny_block(&t.fs, make_directory(second, 0, 0, 0));
	unsigned i;

	t.seek_bound = true;
	make_directory(first, 0, second, EXT2_FT_DIR);
	make_directory(inode_of(5, 1), 1, inode_of(20, 0), EXT2_FT_DIR);
	for (i = 0; i < files; i++)
		at = put_entry(at, inode_of(10 + i % 20, i / 20), 12, "f",
			       EXT2_FT_REG_FILE);
	read_all(&first, 1);
}

/* On a disk a program that reads names alone gains nothing by inodes. */
SOURCE_TEST(few_names)
{
	unsigned i;

	make_mailbox(60);
	assert_true(table_is_read(5) && table_is_read(9));
	assert_true(is_read(tiny_free_block(&t.fs, 9)));
	assert_false(is_read(t.fs.groups[9].inode_table + 1) ||
		     is_read(tiny_free_block(&t.fs, 5) + 1));
	for (i = 10; i < 30; i++)
		assert_false(table_is_read(i));
}

SOURCE_TEST(more_names)
{
	unsigned i;

	make_mailbox(64);
	for (i = 10; i < 30; i++)
		assert_true(table_is_read(i));
	assert_true(is_read(t.fs.groups[9].inode_table + 1) &&
		    is_read(tiny_free_block(&t.fs, 5) + 1));
}

/* A directory that came into being after the filesystem was opened is not looked at: its
 * table may not have been initialized there. */
SOURCE_TEST(a_new_directory)
{
	uint32_t first = inode_of(5, 0), second = inode_of(9, INODES / 2);

	make_directory(first, 0, second, EXT2_FT_DIR);
	make_directory(second, 0, inode_of(20, 0), EXT2_FT_DIR);
	t.fs.groups[9].inodes_in_use = INODES / 2;
	read_all(&first, 1);
	assert_true(table_is_read(5));
	assert_false(table_is_read(20) || is_read(t.fs.groups[9].inode_table + 4));
}

/* If only inodes are wanted, blocks of directories are what leads to them. */
SOURCE_TEST(inodes_alone)
{
	uint32_t first = inode_of(5, 0);

	make_directory(first, 0, inode_of(20, 0), EXT2_FT_REG_FILE);
	t.fs.ext4->options.classes = 1u << EXT4_INODES;
	read_all(&first, 1);
	assert_true(table_is_read(20));
}

/* Entries of no directory, and of one that has been removed. */
SOURCE_TEST(no_directories)
{
	uint32_t first = inode_of(5, 0);
	uint64_t block = make_directory(first, 0, inode_of(20, 0), EXT2_FT_DIR);

	tiny_inode_at(&t.fs, first)->i_mode = htole16(LINUX_S_IFREG);
	read_all((const uint32_t[]){ first, 0, UINT32_MAX }, 3);
	assert_true(table_is_read(5));
	assert_false(is_read(block) || table_is_read(20));
}

/* The used part of a table is read, once. */
SOURCE_TEST(a_table_once)
{
	const uint32_t first[] = { inode_of(5, 1), inode_of(5, 20) };
	uint64_t table = t.fs.groups[5].inode_table;
	unsigned i;

	make_directory(first[0], 0, inode_of(5, 2), EXT2_FT_REG_FILE);
	make_directory(first[1], 1, inode_of(5, 3), EXT2_FT_REG_FILE);
	t.fs.groups[5].inodes_in_use = INODES / 8 * 3;
	read_all(first, 2);
	for (i = 0; i < 8; i++)
		assert_int_equal(is_read(table + i), i < 3);
	assert_int_equal(t.refs, 1 + 2);
}

/* A directory with many blocks, all of which lie at the same offset in its group. */
static void make_large_directory(uint32_t ino, uint64_t block, unsigned blocks)
{
	struct ext3_extent *extent;

	tiny_inode(&t.fs, ino, LINUX_S_IFDIR, 0, &block, 1);
	extent = (struct ext3_extent *)tiny_inode_at(&t.fs, ino)->i_block + 1;
	extent->ee_len = htole16((uint16_t)blocks);
}

static void fill_blocks(uint64_t block, unsigned blocks)
{
	uint8_t *at;

	for (; blocks--; block++)
		for (at = tiny_block(&t.fs, block);
		     at + 24 <= (uint8_t *)tiny_block(&t.fs, block) + BS;)
			at = put_entry(at, inode_of(39, 0), 12, "f",
				       EXT2_FT_REG_FILE);
}

/* No more is read than the directories of a sound filesystem take: these share their
 * blocks. */
SOURCE_TEST(half_of_the_blocks)
{
	uint32_t first = inode_of(5, 0);
	uint64_t block = tiny_free_block(&t.fs, 1), bytes = 0;
	uint8_t *at = tiny_block(&t.fs, block);
	unsigned i;

	for (i = 0; i < INODES; i++) {
		make_large_directory(inode_of(5, i), block, 200);
		at = put_entry(at, inode_of(5, i), 12, "f", EXT2_FT_DIR);
	}
	read_all(&first, 1);
	for (i = 0; i < t.refs; i++)
		bytes += t.ref[i].length;
	assert_uint_in_range(bytes, 200 * BS, t.fs.geo.blocks / 2 * BS);
}

/* Beside a directory lie others with more names than are kept in memory: everything is
 * read. */
SOURCE_TEST(too_many_names)
{
	uint32_t first = inode_of(5, 0);
	uint64_t block = tiny_free_block(&t.fs, 5);
	unsigned i;

	tear_down(NULL);
	make_fs(120, INODES);
	t.seek_bound = true;
	make_directory(first, 0, inode_of(7, 0), EXT2_FT_REG_FILE);
	fill_blocks(block, 231);
	for (i = 1; i < INODES; i++)
		make_large_directory(inode_of(5, i), block + 1, 230);
	read_all(&first, 1);
	for (i = 0; i < t.fs.geo.groups; i++)
		assert_true(table_is_read(i));
}

/* On a filesystem of 1 EiB with all the inodes that there can be, the memory is bounded:
 * when a million inodes far from each other are wanted, everything is read. */
TEST(the_largest_filesystem)
{
	static const struct ext4_geometry huge = {
		.blocks = UINT64_C(1) << 48, .block_size = 4096,
		.blocks_per_group = 1u << 20, .inodes_per_group = 16,
		.inode_size = 256, .inodes = UINT32_MAX - 15, .groups = UINT32_MAX / 16
	};
	static uint32_t ino[1u << 20];
	const struct pf_options start = { .seek_bound = false };
	struct ext4_source_options options = { .below = ino };
	const struct pf_phase *phase;
	struct pf_source *source;
	struct ext4_source *ext4;
	unsigned i;

	for (i = 0; i < COUNT(ino); i++)
		ino[i] = UINT32_MAX - 15 - i * 4095;
	for (options.below_count = 1; options.below_count <= COUNT(ino);
	     options.below_count += COUNT(ino) - 1) {
		ext4 = ext4_directories_new(&huge, &options);
		assert_non_null(ext4);
		source = &ext4->source;
		source->ops->begin(source, &start, false);
		phase = source->ops->next(source, NULL);
		assert_int_equal(phase->number, EXT4_DIRECTORIES);
		phase = source->ops->next(source, phase);
		assert_int_equal(phase && phase->number == EXT4_PHASE_TABLES,
				 options.below_count > 1);
		ext4_source_free(ext4);
	}
}

/* A chain of directories whose inodes lie in the other order: each pass over the names,
 * of which others beside them have many, finds one.  That ends, and everything is
 * read. */
SOURCE_TEST(a_long_chain)
{
	uint32_t ino[1201];
	unsigned i;

	tear_down(NULL);
	make_fs(120, INODES);
	t.seek_bound = true;
	for (i = 0; i < COUNT(ino); i++)
		     ino[i] = inode_of(1 + i / 60, 59 - i % 60);
	for (i = 0; i + 1 < COUNT(ino); i++)
		     make_directory(ino[i], i % 60, ino[i + 1], EXT2_FT_DIR);
	for (i = 0; i < 80; i++) {
		uint64_t block = tiny_free_block(&t.fs, 1 + i / 4) + 80;

		fill_blocks(block, 140);
		make_large_directory(inode_of(1 + i / 4, 60 + i % 4), block, 140);
	}
	read_all(ino, 1);
	for (i = 0; i < t.fs.geo.groups; i++)
		assert_true(table_is_read(i));
}

/*
 * Unused parts of inode tables: group g uses g % 9 of its eight blocks or all.
 */

static bool may_read(uint64_t block, unsigned count)
{
	return t.source->ops->may_read(t.source, block * BS,
				       (uint64_t)count * BS);
}

static void use_parts(bool guarded, uint32_t page)
{
	const struct pf_options start = { .budget = UINT64_MAX };
	unsigned g;

	for (g = 0; g < GROUPS; g++)
		t.fs.groups[g].inodes_in_use = g % 9 * (INODES / 8);
	t.fs.ext4->options.guarded = guarded;
	t.fs.ext4->options.page = page;
	t.source->ops->begin(t.source, &start, false);
}

/* What a sample's table leads to is looked at, too: its directories may be missing where
 * the table is cached. */
SOURCE_TEST(samples_of_a_part)
{
	const uint32_t first = inode_of(5, 0);
	uint64_t block = make_directory(first, 0, first, EXT2_FT_DIR);
	struct pf_ref table;

	begin_below(&first, 1);
	t.source->ops->sample(t.source, 5, accept_ref, NULL);
	table = t.ref[t.refs - 1];
	assert_true(table.parse);
	t.source->ops->parse(t.source, &table, 0, t.fs.image + table.offset,
			     t.source->ops->piece(t.source, &table, 0),
			     accept_ref, NULL);
	assert_true(is_read(block));
}

/* A table has more bytes than the filesystem has inodes: valgrind and the address
 * sanitizer see a look at a bit that is not there. */
SOURCE_TEST(more_than_the_inodes)
{
	const uint32_t last = inode_of(GROUPS - 1, 0);
	const uint32_t more = 4096, size = t.fs.geo.inode_size;
	struct ext2_inode *inode = tiny_inode_at(&t.fs, last);
	uint8_t *table = calloc(more, size);
	uint32_t i;

	inode->i_mode = htole16(LINUX_S_IFDIR);
	inode->i_flags = htole32(EXT4_INLINE_DATA_FL);
	put_entry((uint8_t *)inode->i_block + 4, inode_of(3, 0), 56, "name",
		  EXT2_FT_DIR);
	for (i = 0; i < more; i++)
		memcpy(table + i * size, inode, size);
	begin_below(&last, 1);
	t.source->ops->seed(t.source, EXT4_DIRECTORIES, 0, accept_ref, NULL);
	assert_int_equal(t.refs, 1);
	assert_true(t.source->ops->parse(t.source, &t.ref[0], 0, table,
					 more * size, accept_ref, NULL));
	t.source->ops->seed(t.source, EXT4_DIRECTORIES, 1, accept_ref, NULL);
	assert_true(table_is_read(3));
	free(table);
}

SOURCE_TEST(unused_tables)
{
	unsigned g, i, all = ext4_table_blocks(&t.fs.geo, INODES);

	assert_int_equal(all, 8);
	use_parts(true, 0);
	for (g = 0; g < GROUPS; g++) {
		uint64_t table = t.fs.groups[g].inode_table;
		unsigned used = g % 9;

		for (i = 0; i < all; i++)
			assert_int_equal(may_read(table + i, 1), i < used);
		assert_true(may_read(table + all, 20));
		assert_true(may_read(table - 1, 1));
		assert_int_equal(may_read(table - 1, 20), used == all);
		assert_int_equal(may_read(table + all - 1, 1), used == all);
	}
	/* From one table over the next. */
	assert_false(may_read(t.fs.groups[7].inode_table + 8, 256 * 2));
	assert_true(may_read(t.fs.groups[7].inode_table + 8, 256));
	use_parts(false, 0);
	assert_true(may_read(t.fs.groups[5].inode_table, 8));
}

/* Tables in any other order: no gap is read. */
SOURCE_TEST(tables_in_disorder)
{
	uint64_t table = t.fs.groups[20].inode_table;

	t.fs.groups[20].inode_table = t.fs.groups[21].inode_table;
	t.fs.groups[21].inode_table = table;
	use_parts(true, 0);
	assert_false(may_read(t.fs.groups[2].inode_table - 1, 1));
}

/* A page with an unused block is not read: the kernel reads whole pages. */
SOURCE_TEST(whole_pages)
{
	unsigned g, i;

	for (g = 0; g < GROUPS; g++)
		make_directory(inode_of(g, 20), 0, inode_of(g, 1),
			    EXT2_FT_REG_FILE);
	use_parts(true, 4096);
	for (g = 0; g < GROUPS; g++)
		t.source->ops->seed(t.source, 0, g, accept_ref, NULL);
	for (i = 0; i < t.refs; i++)
		if (t.ref[i].parse)
			t.source->ops->parse(t.source, &t.ref[i], 0,
					     t.fs.image + t.ref[i].offset,
					     t.source->ops->piece(t.source,
						&t.ref[i], 0), accept_ref, NULL);
	assert_true(t.refs > GROUPS / 2);
	for (i = 0; i < t.refs; i++) {
		uint64_t from = t.ref[i].offset / 4096 * 4096;
		uint64_t to = (t.ref[i].offset + t.ref[i].length + 4095) / 4096 *
			      4096;

		assert_true(t.source->ops->may_read(t.source, from, to - from));
	}
}

UNIT_MAIN(NULL, NULL)
