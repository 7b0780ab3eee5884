/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps that replace libext2fs's red-black trees, compared with such trees:
 * the same calls must have the same results, errors and messages.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include <ext2fs/ext2fs.h>

#include "bitmaps.h"
#include "map.h"
#include "map_kind.h"
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

static int make_fs(void **state)
{
	struct ext2_super_block sb;

	(void)state;
	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, 3 * 8192 + 1000);
	sb.s_first_data_block = 1;
	sb.s_blocks_per_group = 8192;
	set_com_err_hook(keep_message);
	return ext2fs_initialize("test", EXT2_FLAG_64BITS, &sb,
				 test_io_manager, &fs) ? -1 : 0;
}

static int end_fs(void **state)
{
	(void)state;
	ext2fs_free(fs);
	return 0;
}

/* If address space is limited or accounted, there are no maps of ours. */
static void need_space(void)
{
	struct rlimit as, data;
	char mode[4] = "2";
	FILE *f = fopen("/proc/sys/vm/overcommit_memory", "re");

	if (f && !fgets(mode, sizeof(mode), f))
		mode[0] = '2';
	if (f)
		fclose(f);
	assert_int_equal(getrlimit(RLIMIT_AS, &as), 0);
	assert_int_equal(getrlimit(RLIMIT_DATA, &data), 0);
	if (mode[0] == '2' || as.rlim_cur != RLIM_INFINITY ||
	    data.rlim_cur != RLIM_INFINITY)
		skip();
}

static bool begin(uint64_t budget)
{
	const char *why = NULL;
	bool done = map_kind_begin(MAP_OURS, budget, &why);

	assert_true(done == !why);
	return done;
}

/* A map of ours and one of libext2fs's. */
struct pair {
	ext2fs_block_bitmap map[2];
};

static void make_pair(struct pair *p, bool blocks)
{
	ext2fs_block_bitmap *m;

	memset(p, 0, sizeof(*p));
	m = p->map;
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	assert_true(begin(UINT64_C(1) << 30));
	assert_int_equal(blocks ? ext2fs_allocate_block_bitmap(fs, "a", m) :
			 ext2fs_allocate_inode_bitmap(fs, "a", m), 0);
	assert_true(begin(0));
	m++;
	assert_int_equal(blocks ? ext2fs_allocate_block_bitmap(fs, "a", m) :
			 ext2fs_allocate_inode_bitmap(fs, "a", m), 0);
	assert_true(p->map[0]->magic != p->map[1]->magic);
	assert_int_equal(p->map[1]->magic, blocks ?
			 EXT2_ET_MAGIC_BLOCK_BITMAP64 :
			 EXT2_ET_MAGIC_INODE_BITMAP64);
}

static void free_pair(struct pair *p)
{
	ext2fs_free_block_bitmap(p->map[0]);
	ext2fs_free_block_bitmap(p->map[1]);
}

struct step {
	unsigned op, n;
	uint64_t at, end;
	unsigned char in[1100];
};

/* Everything visible of one call. */
struct answer {
	uint64_t value, out;
	unsigned char bytes[1104];	/* no padding: compared as a whole */
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

static void choose(struct step *s, uint64_t from, uint64_t end)
{
	unsigned i;

	s->op = (unsigned)number(18);
	/* Rarely: these empty or fill the map. */
	if ((s->op == 13 || s->op == 14) && number(20))
		s->op = 0;
	if (!number(200))
		s->op = 18;
	/* Few places, so that neighbours occur; some beyond the ends. */
	s->at = number(4) ? 100 + number(90) : number(end + 20);
	s->n = (unsigned)(number(3) ? number(20) : number(8192));
	s->end = number(3) ? s->at + number(60) : number(end + 20);
	if (s->op == 11 || s->op == 12) {
		if (s->n >= end - from)
			s->n = (unsigned)(end - from - 1);
		s->at = from + number(end - from - s->n);
	}
	for (i = 0; i < sizeof(s->in); i++)
		s->in[i] = number(4) ? 0 : (unsigned char)number(256);
}

static void as_trees(struct pair *p)
{
	uint64_t from = ext2fs_get_block_bitmap_start2(p->map[1]);
	uint64_t end = ext2fs_get_block_bitmap_end2(p->map[1]);
	static struct answer a[2];
	static struct step s;
	unsigned i;

	for (i = 0; i < 60000; i++) {
		choose(&s, from, end);
		memset(said, 0, sizeof(said));
		for (turn = 0; turn < 2; turn++)
			call(p->map[turn], &s, &a[turn]);
		if (memcmp(&a[0], &a[1], sizeof(a[0])) ||
		    strcmp(said[0], said[1]))
			fail_msg("step %u, op %u of %llu, %u, to %llu: "
				 "%llu %llu, %llu %llu, \"%s\" \"%s\"",
				 i, s.op, (unsigned long long)s.at, s.n,
				 (unsigned long long)s.end,
				 (unsigned long long)a[0].value,
				 (unsigned long long)a[1].value,
				 (unsigned long long)a[0].out,
				 (unsigned long long)a[1].out,
				 said[0], said[1]);
	}
}

static void block_maps(void **state)
{
	struct pair p, copy;

	(void)state;
	need_space();
	make_pair(&p, true);
	as_trees(&p);
	for (turn = 0; turn < 2; turn++)
		assert_int_equal(ext2fs_copy_bitmap(p.map[turn],
						    &copy.map[turn]), 0);
	as_trees(&copy);
	free_pair(&copy);
	as_trees(&p);
	free_pair(&p);
}

static void inode_maps(void **state)
{
	struct pair p;

	(void)state;
	need_space();
	make_pair(&p, false);
	as_trees(&p);
	free_pair(&p);
}

/* A copy that exceeds the budget is a tree. */
static void copies_beyond_budget(void **state)
{
	ext2fs_block_bitmap fill[256];
	struct pair p, copy;
	unsigned n, blocks;

	(void)state;
	need_space();
	for (blocks = 0; blocks < 2; blocks++) {
		make_pair(&p, blocks);
		as_trees(&p);
		ext2fs_set_bitmap_padding(p.map[0]);
		ext2fs_set_bitmap_padding(p.map[1]);
		assert_true(begin(1 << 20));
		for (n = 0; n < 256; n++) {
			assert_int_equal(ext2fs_allocate_block_bitmap(fs, NULL,
							&fill[n]), 0);
			if (fill[n]->magic == EXT2_ET_MAGIC_BLOCK_BITMAP64)
				break;
		}
		assert_true(n > 4 && n < 256);
		for (turn = 0; turn < 2; turn++)
			assert_int_equal(ext2fs_copy_bitmap(p.map[turn],
						&copy.map[turn]), 0);
		assert_true(p.map[0]->magic != copy.map[0]->magic);
		assert_int_equal(copy.map[0]->magic, copy.map[1]->magic);
		as_trees(&copy);
		free_pair(&copy);
		free_pair(&p);
		for (; n < 256; n--)	/* until n wraps around */
			ext2fs_free_block_bitmap(fill[n]);
	}
}

static bool is_real(void)
{
	ext2fs_block_bitmap m;
	errcode_t magic;

	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "a", &m), 0);
	magic = m->magic;
	ext2fs_free_block_bitmap(m);
	return magic == EXT2_ET_MAGIC_BLOCK_BITMAP64;
}

/* libext2fs's own maps are used if the caller asks for another kind, and if the
 * budget is too small. */
static void when_not(void **state)
{
	(void)state;
	need_space();
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	assert_true(begin(UINT64_C(1) << 30));
	assert_false(is_real());
	fs->default_bitmap_type = EXT2FS_BMAP64_BITARRAY;
	assert_true(is_real());
	/* A tree if few inodes are directories. */
	fs->default_bitmap_type = EXT2FS_BMAP64_AUTODIR;
	assert_false(is_real());
	ext2fs_bg_used_dirs_count_set(fs, 0, fs->super->s_inodes_count / 320);
	assert_false(is_real());
	ext2fs_bg_used_dirs_count_set(fs, 0,
				      fs->super->s_inodes_count / 320 + 1);
	assert_true(is_real());
	ext2fs_bg_used_dirs_count_set(fs, 0, 0);
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	fs->cluster_ratio_bits = 4;
	assert_true(is_real());
	fs->cluster_ratio_bits = 0;
	assert_true(begin(10000));
	assert_true(is_real());
	setenv("E2FSPROGS_BITMAP_STATS", "1", 1);
	assert_false(begin(UINT64_C(1) << 30));
	unsetenv("E2FSPROGS_BITMAP_STATS");
}

/* No maps of ours if a tree may need the address space later. */
static void limited(void **state)
{
	static const __typeof__(RLIMIT_AS) kind[] = { RLIMIT_AS, RLIMIT_DATA };
	struct rlimit old, limit;
	unsigned i;

	(void)state;
	need_space();
	for (i = 0; i < 2; i++) {
		assert_int_equal(getrlimit(kind[i], &old), 0);
		limit = old;
		limit.rlim_cur = (rlim_t)1 << 30;
		assert_int_equal(setrlimit(kind[i], &limit), 0);
		/* qemu-user ignores such limits. */
		assert_int_equal(getrlimit(kind[i], &limit), 0);
		if (limit.rlim_cur == RLIM_INFINITY)
			skip();
		assert_false(begin(UINT64_C(1) << 30));
		assert_int_equal(setrlimit(kind[i], &old), 0);
		assert_true(begin(UINT64_C(1) << 30));
	}
}

static void configured(const char *text, bool users)
{
	char path[] = "/tmp/test-bitmaps-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	setenv("E2FSCK_CONFIG", path, 1);
	assert_int_equal(begin(UINT64_C(1) << 30), !users);
	setenv("E2FSCK_CONFIG", "/dev/null", 1);
	remove(path);
}

static void configuration(void **state)
{
	(void)state;
	need_space();
	configured("", false);
	configured("[options]\nx = [bitmaps]\n", false);
	configured("[bitmapsize]\n", false);
	configured("[bitmaps]\nall = 2\n", true);
	configured("[options]\n\t[ bitmaps ]\n", true);
	setenv("E2FSCK_CONFIG", "/nowhere/at/all", 1);
	assert_true(begin(UINT64_C(1) << 30));
	setenv("E2FSCK_CONFIG", "/dev/null", 1);
}

/* e2fsck makes and frees a map for each piece of its readahead. */
static void reuses_memory(void **state)
{
	ext2fs_block_bitmap map;
	const void *memory;

	(void)state;
	need_space();
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	assert_true(begin(UINT64_C(1) << 30));
	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "a", &map), 0);
	memory = ((struct map *)map)->set.table;
	ext2fs_mark_block_bitmap_range2(map, 1, 100);
	ext2fs_mark_block_bitmap2(map, 301);
	ext2fs_free_block_bitmap(map);
	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "b", &map), 0);
	assert_ptr_equal(((struct map *)map)->set.table, memory);
	assert_true(bitset_is_empty(&((struct map *)map)->set));
	assert_true(ext2fs_test_block_bitmap_range2(map, 1, 400));
	ext2fs_free_block_bitmap(map);
}

/* At any address, of any length. */
static void counts_bits(void **state)
{
	static unsigned char bytes[300];
	unsigned at, len, bit, i, count;

	(void)state;
	need_space();
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37 ^ i >> 3);
	assert_true(begin(UINT64_C(1) << 30));
	for (at = 0; at < 9; at++)
		for (len = 0; len <= sizeof(bytes) - at; len++) {
			count = 0;
			for (bit = 0; bit < len * 8; bit++)
				count += bytes[at + bit / 8] >> bit % 8 & 1;
			assert_int_equal(ext2fs_bitcount(bytes + at, len), count);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_maps),
		cmocka_unit_test(inode_maps),
		cmocka_unit_test(copies_beyond_budget),
		cmocka_unit_test(when_not),
		cmocka_unit_test(limited),
		cmocka_unit_test(configuration),
		cmocka_unit_test(reuses_memory),
		cmocka_unit_test(counts_bits),
	};

	setenv("E2FSCK_CONFIG", "/dev/null", 1);
	return cmocka_run_group_tests(tests, make_fs, end_fs);
}
