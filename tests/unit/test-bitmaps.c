/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The maps that replace libext2fs's red-black trees, compared with such trees:
 * the same calls must have the same results, errors and messages.
 */
#include <stdio.h>

#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "bitmaps.h"
#include "bitset.h"
#include "numbers.h"

static ext2_filsys fs;
static char said[2][256];	/* the last message for each */
static int turn;

static void keep_message(const char *who, errcode_t code, const char *format,
			 va_list args)
{
	int n = snprintf(said[turn], sizeof(said[0]), "%s %ld ",
			 who ? who : "", (long)code);

	vsnprintf(said[turn] + n, sizeof(said[0]) - (size_t)n, format, args);
}

static void make_fs(uint64_t blocks, unsigned per_group, unsigned cluster_bits)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, blocks);
	sb.s_blocks_per_group = per_group;
	sb.s_first_data_block = cluster_bits ? 0 : 1;
	if (cluster_bits) {
		sb.s_rev_level = EXT2_DYNAMIC_REV;
		sb.s_inodes_count = 8192;
		ext2fs_set_feature_bigalloc(&sb);
		sb.s_log_block_size = 2;
		sb.s_log_cluster_size = 2 + cluster_bits;
	}
	set_com_err_hook(keep_message);
	assert_int_equal(ext2fs_initialize("test", EXT2_FLAG_64BITS, &sb,
					   test_io_manager, &fs), 0);
}

struct step {
	unsigned op, n;
	uint64_t at, end;
	unsigned char in[9000];
};

/* Everything visible of one call. */
struct answer {
	uint64_t value, out;
	unsigned char bytes[9008];	/* no padding: compared as a whole */
};

static void call(ext2fs_block_bitmap m, struct step *s, struct answer *a)
{
	__u64 out = 0;

	memset(a, 0x5a, sizeof(*a));
	a->value = 0;
	switch (s->op) {
	case 0:
	case 1:
	case 2:
		a->value = (uint64_t)!!ext2fs_mark_block_bitmap2(m, s->at);
		break;
	case 3:
	case 4:
		a->value = (uint64_t)!!ext2fs_unmark_block_bitmap2(m, s->at);
		break;
	case 5:
		a->value = (uint64_t)!!ext2fs_test_block_bitmap2(m, s->at);
		break;
	case 6:
		ext2fs_mark_block_bitmap_range2(m, s->at, s->n);
		break;
	case 7:
		ext2fs_unmark_block_bitmap_range2(m, s->at, s->n);
		break;
	case 8:
		a->value = (uint64_t)ext2fs_test_block_bitmap_range2(m, s->at,
								     s->n);
		break;
	case 9:
		a->value = (uint64_t)ext2fs_find_first_zero_block_bitmap2(m,
				s->at, s->end, &out);
		break;
	case 10:
		a->value = (uint64_t)ext2fs_find_first_set_block_bitmap2(m,
				s->at, s->end, &out);
		break;
	case 11:
		a->value = (uint64_t)ext2fs_get_block_bitmap_range2(m, s->at,
				s->n, a->bytes);
		break;
	case 12:
		a->value = (uint64_t)ext2fs_set_block_bitmap_range2(m, s->at,
				s->n, s->in);
		break;
	case 13:
		a->value = (uint64_t)ext2fs_fudge_block_bitmap_end2(m, s->end,
								    &out);
		break;
	case 14:
		ext2fs_set_bitmap_padding(m);
		break;
	case 15:
		a->value = ext2fs_get_block_bitmap_start2(m);
		out = ext2fs_get_block_bitmap_end2(m);
		break;
	case 16:
		a->value = (uint64_t)!!ext2fs_test_generic_bitmap(m,
							(blk_t)s->at);
		break;
	case 17:
		a->value = (uint64_t)!!ext2fs_mark_generic_bitmap(m,
							(blk_t)s->at);
		break;
	case 18:
		ext2fs_clear_block_bitmap(m);
		break;
	}
	a->out = out;
}

/* Where a sequence changes its map, so that it takes it from one form to
 * another there. */
struct area {
	uint64_t first, count;
};

static void choose(struct step *s, uint64_t from, uint64_t end,
		   const struct area *area)
{
	unsigned i, dense = (unsigned)number(3);

	s->op = (unsigned)number(18);
	/* Rarely: these empty or fill the map. */
	if ((s->op == 13 || s->op == 14) && number(20))
		s->op = 0;
	if (!number(200))
		s->op = 18;
	s->at = number(8) ? area->first + number(area->count) :
			    number(end + 20);
	s->n = (unsigned)(number(3) ? number(20) : number(70000)) + 1;
	s->end = number(3) ? s->at + number(60) : number(end + 20);
	if (s->op == 11 || s->op == 12) {
		if (s->n > sizeof(s->in) * 8)
			s->n = sizeof(s->in) * 8;
		if (s->n >= end - from)
			s->n = (unsigned)(end - from - 1);
		if (s->at < from || s->at > end - s->n)
			s->at = from + number(end - from - s->n);
	}
	for (i = 0; i < sizeof(s->in); i++)
		s->in[i] = !dense ? 0x55 : number(4 * dense) ? 0 :
			   (unsigned char)number(256);
}

/* From now on libext2fs's trees are ours, or its own; true. */
static bool use(bool ours)
{
	if (ours)
		bitmaps_begin();
	else
		bitmaps_end();
	return true;
}

/* With each of them: our maps are of turn 0. */
#define FOR_BOTH for (turn = 0; turn < 2 && use(!turn); turn++)

/* A map of ours and a tree. */
struct pair {
	ext2fs_block_bitmap map[2];
};

typedef errcode_t allocate_fn(ext2_filsys fs, const char *description,
			      ext2fs_block_bitmap *map);

static void make_pair(struct pair *p, allocate_fn *allocate)
{
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	FOR_BOTH
		assert_int_equal(allocate(fs, "a", &p->map[turn]), 0);
}

static void free_pair(struct pair *p)
{
	FOR_BOTH
		ext2fs_free_block_bitmap(p->map[turn]);
}

static void copy_pair(struct pair *p)
{
	struct pair copy = { { NULL } };

	FOR_BOTH
		assert_int_equal(ext2fs_copy_bitmap(p->map[turn],
						    &copy.map[turn]), 0);
	free_pair(p);
	*p = copy;
}

static void as_trees(struct pair *p, unsigned steps)
{
	uint64_t from = ext2fs_get_block_bitmap_start2(p->map[1]);
	uint64_t end = ext2fs_get_block_bitmap_end2(p->map[1]);
	struct area area;
	static struct answer a[2];
	static struct step s;
	unsigned i;

	/* An operation may have moved the end; all maps have at least 150 bits. */
	if (end < 150)
		end = 150;
	area.count = 1 + number(number(2) ? 100 : end);
	area.first = number(end - area.count + 1);
	for (i = 0; i < steps; i++) {
		choose(&s, from, end, &area);
		memset(said, 0, sizeof(said));
		/* A tree that was made before is one whatever is in force. */
		for (turn = 0; turn < 2; turn++) {
			use(!turn || number(2));
			call(p->map[turn], &s, &a[turn]);
		}
		if (memcmp(&a[0], &a[1], sizeof(a[0])) ||
		    strcmp(said[0], said[1]))
			fail_msg("step %u, op %u of %llu, %u, to %llu: "
				 "\"%s\" \"%s\"", i, s.op,
				 (unsigned long long)s.at, s.n,
				 (unsigned long long)s.end, said[0], said[1]);
	}
}

/* Random sequences of operations on one map after the other. */
static void sequences(allocate_fn *allocate, unsigned count)
{
	struct pair p;

	while (count) {
		make_pair(&p, allocate);
		for (; count; count--) {
			as_trees(&p, 60);
			if (!number(10))
				copy_pair(&p);
			if (!number(40))
				break;
		}
		free_pair(&p);
		count -= !!count;
	}
}

static errcode_t inodes(ext2_filsys f, const char *description,
			ext2fs_block_bitmap *map)
{
	return ext2fs_allocate_inode_bitmap(f, description, map);
}

/* Maps of blocks, of inodes, and of several nodes of chunks. */
TEST(maps)
{
	make_fs(3 * 8192 + 1000, 8192, 0);
	sequences(ext2fs_allocate_block_bitmap, 400);
	sequences(inodes, 400);
	ext2fs_free(fs);
	make_fs(5000000, 32768, 0);
	sequences(ext2fs_allocate_block_bitmap, 800);
	ext2fs_free(fs);
}

TEST(clusters)
{
	ext2fs_block_bitmap map;
	uint64_t content[2] = { 0, 0 };
	unsigned i;

	make_fs(2000000, 0, 4);
	sequences(ext2fs_allocate_block_bitmap, 200);
	sequences(ext2fs_allocate_subcluster_bitmap, 200);
	/* The map of blocks becomes one of clusters. */
	FOR_BOTH {
		assert_int_equal(ext2fs_allocate_subcluster_bitmap(fs, "s",
								   &map), 0);
		for (i = 3; i < 1900000; i += i / 7 + 1)
			ext2fs_mark_block_bitmap_range2(map, i, i / 50 + 1);
		assert_int_equal(ext2fs_convert_subcluster_bitmap(fs, &map), 0);
		for (i = 0; i < 2000000; i += 16)
			content[turn] = content[turn] * 31 + (uint64_t)
				!!ext2fs_test_block_bitmap2(map, i);
		ext2fs_free_block_bitmap(map);
	}
	assert_true(content[0] == content[1] && content[0]);
	ext2fs_free(fs);
}

/* Neither table of libext2fs's is the map's. */
static bool is_ours(int type)
{
	ext2fs_block_bitmap m;
	const void *table;

	fs->default_bitmap_type = type;
	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "a", &m), 0);
	table = ((const void **)m)[2];
	ext2fs_free_block_bitmap(m);
	return table != dlsym(RTLD_NEXT, "ext2fs_blkmap64_rbtree") &&
	       table != dlsym(RTLD_NEXT, "ext2fs_blkmap64_bitarray");
}

/* Whose maps are in force must not change while there are any. */
static void free_fs(void)
{
	use(false);
	ext2fs_free(fs);
}

/* A map other than a tree is made as before. */
TEST(when_not)
{
	use(false);
	make_fs(3 * 8192 + 1000, 8192, 0);
	assert_false(bitmaps_are_ours());
	assert_true(bitmaps_layout_is_known(fs));
	assert_false(is_ours(EXT2FS_BMAP64_RBTREE));
	use(true);
	assert_true(bitmaps_are_ours());
	assert_false(bitmaps_layout_is_known(fs));
	assert_true(is_ours(EXT2FS_BMAP64_RBTREE));
	assert_false(is_ours(EXT2FS_BMAP64_BITARRAY));
	/* A tree if few inodes are directories. */
	assert_true(is_ours(EXT2FS_BMAP64_AUTODIR));
	ext2fs_bg_used_dirs_count_set(fs, 0,
				      fs->super->s_inodes_count / 320 + 1);
	assert_false(is_ours(EXT2FS_BMAP64_AUTODIR));
	free_fs();
}

static void count_claimed(void *ctx)
{
	++*(unsigned *)ctx;
}

/* The map of blocks that several files claim is known by its description.  Its
 * watcher is told only of the blocks in it that e2fsck asks for: a check asks for
 * each block of each file. */
TEST(claims)
{
	ext2fs_block_bitmap map, other;
	unsigned told = 0, i;

	use(false);
	make_fs(3 * 8192 + 1000, 8192, 0);
	use(true);
	assert_false(bitmaps_have_claims());
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "other", &other), 0);
	assert_false(bitmaps_have_claims());
	assert_int_equal(ext2fs_allocate_block_bitmap(fs,
			"multiply claimed block map", &map), 0);
	assert_true(bitmaps_have_claims());
	ext2fs_mark_block_bitmap2(map, 700);
	ext2fs_mark_block_bitmap2(other, 701);
	assert_true(ext2fs_test_block_bitmap2(map, 700));
	assert_int_equal(told, 0);
	bitmaps_watch_claims(count_claimed, &told);
	for (i = 1; i < 8192; i++) {
		assert_int_equal(!!ext2fs_test_block_bitmap2(map, i), i == 700);
		assert_int_equal(told, i >= 700);
		ext2fs_test_block_bitmap2(other, i);
	}
	assert_int_equal(told, 1);
	assert_true(ext2fs_test_block_bitmap2(map, 700));
	assert_int_equal(told, 2);
	bitmaps_watch_claims(NULL, NULL);
	assert_true(ext2fs_test_block_bitmap2(map, 700));
	assert_int_equal(told, 2);
	ext2fs_free_block_bitmap(map);
	ext2fs_free_block_bitmap(other);
	assert_false(bitmaps_have_claims());
	free_fs();
}

/* In the place of libext2fs's own, which gives the same results more slowly. */
static unsigned int never_counts(const void *addr, unsigned int nbytes)
{
	(void)addr;
	return nbytes + 10000;
}

void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name)
{
	return strcmp(name, "ext2fs_bitcount") ? __real_dlsym(handle, name) :
						 (void *)(uintptr_t)never_counts;
}

/* At any address, of any length; libext2fs does it where its trees are in use. */
TEST(counts_bits)
{
	static unsigned char bytes[300];
	unsigned at, len, bit, i, count;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37 ^ i >> 3);
	use(false);
	assert_int_equal(ext2fs_bitcount(bytes, 5), 10005);
	use(true);
	for (at = 0; at < 9; at++)
		for (len = 0; len <= sizeof(bytes) - at; len++) {
			count = 0;
			for (bit = 0; bit < len * 8; bit++)
				count += bytes[at + bit / 8] >> bit % 8 & 1;
			assert_int_equal(ext2fs_bitcount(bytes + at, len), count);
		}
}

UNIT_MAIN(NULL, NULL)
