/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner compared with libext2fs: on images with many combinations of
 * features, every block that the planner returns, with its class, must be such
 * a block according to libext2fs, and the other way round.  mke2fs and debugfs
 * make the images in a temporary directory; without them the test skips.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "ext4/plan.h"

struct combination {
	const char *name;
	const char *options;		/* of mke2fs */
	const char *size;
	unsigned xattr;			/* bytes of a value; 0: none */
	unsigned deepest;		/* the required number of levels of
					   nodes */
	bool ea_inodes;			/* the image must have some */
};

static const struct combination combinations[] = {
	{ "ext2, 1k, small inodes", "-t ext2 -b 1024 -I 128", "512M",
	  800, 3, false },
	{ "ext2, 4k", "-t ext2 -b 4096 -I 256", "512M", 3000, 2, false },
	{ "ext2, revision 0", "-t ext2 -r 0 -b 4096", "512M", 0, 2, false },
	{ "ext2, no sparse_super", "-t ext2 -b 2048 -O ^sparse_super,^resize_inode",
	  "512M", 1500, 2, false },
	{ "ext3, 1k, bad blocks", "-t ext3 -b 1024 -l bad", "512M",
	  800, 3, false },
	{ "ext4, 1k", "-t ext4 -b 1024 -I 256", "512M", 800, 2, false },
	{ "ext4, 2k", "-t ext4 -b 2048", "512M", 1500, 2, false },
	{ "ext4, 4k", "-t ext4 -b 4096", "512M", 3000, 2, false },
	{ "ext4, 64k", "-t ext4 -b 65536", "1G", 3000, 2, false },
	{ "ext4, 32 bit, no flex_bg",
	  "-t ext4 -b 1024 -O ^64bit,^flex_bg -I 512", "512M",
	  800, 2, false },
	{ "ext4, bad blocks in extents", "-t ext4 -b 4096 -l bad", "512M",
	  3000, 2, false },
	{ "ext4, no checksums",
	  "-t ext4 -b 4096 -O ^metadata_csum,^uninit_bg,^64bit", "512M",
	  3000, 2, false },
	{ "ext4, uninit_bg", "-t ext4 -b 4096 -O ^metadata_csum,uninit_bg",
	  "512M", 3000, 2, false },
	{ "meta_bg", "-t ext4 -b 1024 -O meta_bg,^resize_inode -I 256",
	  "512M", 800, 1, false },
	{ "meta_bg, no flex_bg, block maps",
	  "-t ext3 -b 1024 -O meta_bg,^resize_inode -I 256", "512M",
	  800, 3, false },
	{ "bigalloc, 1k", "-t ext4 -b 1024 -O bigalloc -C 16384 -I 256",
	  "512M", 800, 2, false },
	{ "bigalloc, 1k, meta_bg",
	  "-t ext4 -b 1024 -O bigalloc,meta_bg,^resize_inode -C 4096 -I 256",
	  "512M", 800, 1, false },
	{ "bigalloc, 4k", "-t ext4 -b 4096 -O bigalloc -C 65536", "512M",
	  3000, 2, false },
	{ "sparse_super2", "-t ext4 -b 1024 -O sparse_super2 -I 256", "512M",
	  800, 2, false },
	{ "inline_data, large inodes",
	  "-t ext4 -b 4096 -O inline_data -I 1024", "512M", 3000, 2, false },
	{ "ea_inode", "-t ext4 -b 4096 -O ea_inode", "512M", 9000, 2, true },
	{ "quota", "-t ext4 -b 4096 -O quota,project", "512M",
	  3000, 2, false },
	{ "orphan_file", "-t ext4 -b 4096 -O orphan_file", "512M",
	  3000, 2, false },
	{ "mmp", "-t ext4 -b 4096 -O mmp", "512M", 3000, 2, false },
};

static char directory[] = "/tmp/e2pf-plan-XXXXXX";
static bool made_directory;

static int run(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static int run(const char *format, ...)
{
	char command[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	return system(command);
}

/* A file with `length` bytes at each of `count` multiples of `stride`. */
static void make_file(const char *name, size_t length, unsigned count,
		      off_t stride)
{
	char *bytes = malloc(length);
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	unsigned i;

	assert_true(fd >= 0);
	assert_non_null(bytes);
	memset(bytes, 'v', length);
	for (i = 0; i < count; i++)
		assert_int_equal(pwrite(fd, bytes, length, i * stride),
				 length);
	free(bytes);
	close(fd);
}

static void make_link(const char *name, size_t length)
{
	char target[1024];

	memset(target, 't', length);
	target[length] = '\0';
	assert_int_equal(symlink(target, name), 0);
}

static void make_tree(void)
{
	char name[128];
	int i;

	assert_int_equal(mkdir("tree", 0755), 0);
	assert_int_equal(mkdir("tree/large", 0755), 0);
	for (i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "tree/d%d", i);
		assert_int_equal(mkdir(name, 0755), 0);
		snprintf(name, sizeof(name), "tree/d%d/f", i);
		make_file(name, 5000, 1, 0);
	}
	/* More than 12 blocks of 1 KiB, and of 4 KiB. */
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "tree/large/%060d", i);
		make_file(name, 1, 0, 0);
	}
	make_file("tree/fragments", 1, 1000, 8192);
	/* Reaches the triple indirect block with 1 KiB blocks. */
	make_file("tree/distant", 1, 5, 70 << 20);
	make_link("tree/short", 30);
	make_link("tree/fits", 59);
	make_link("tree/too_long", 60);
	make_link("tree/long", 900);
	assert_int_equal(mkfifo("tree/fifo", 0644), 0);
}

static void make_bad_list(void)
{
	FILE *out = fopen("bad", "w");
	int i;

	assert_non_null(out);
	for (i = 0; i < 100; i++)
		fprintf(out, "%d\n", 100000 + 2 * i);
	fclose(out);
}

static int set_up(void **state)
{
	(void)state;
	if (setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1))
		return -1;
	if (run("{ command -v mke2fs && command -v debugfs; } >/dev/null"))
		return 0;
	if (!mkdtemp(directory))
		return -1;
	made_directory = true;
	if (chdir(directory))
		return -1;
	make_tree();
	make_bad_list();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (!made_directory)
		return 0;
	return chdir("/") || run("rm -rf %s", directory);
}

static bool make_image(const struct combination *want)
{
	FILE *script;

	unlink("image");
	if (run("mke2fs -q -F %s -d tree image %s >log 2>&1 </dev/null",
		want->options, want->size))
		return false;
	if (!want->xattr)
		return true;
	make_file("value", want->xattr, 1, 0);
	script = fopen("script", "w");
	assert_non_null(script);
	fprintf(script, "ea_set -f value d1/f user.a\n"
		"ea_set -f value d2 user.a\nea_set d3 user.b little\n"
		"ea_set -f value fifo user.a\nea_set -f value fits user.a\n");
	/* Entries too long for the inode go into a block, values do not. */
	if (want->ea_inodes)
		fprintf(script, "ea_set -f value d4/f user.%0100d\n"
			"ea_set -f value d5/f user.%0100d\n", 1, 2);
	fclose(script);
	return run("debugfs -w -f script image >log 2>&1") == 0;
}

/* The image as the planner alone walks it. */
struct plan_walk {
	const unsigned char *image;
	uint64_t size;			/* of the image, bytes */
	struct e2pf_geometry geo;
	struct e2pf_group *groups;
	uint16_t *classes;		/* per block, 1 << enum e2pf_class */
	unsigned ea_inodes;		/* runs that lead to EA inodes */
	unsigned deepest;		/* levels of nodes below a root */
	unsigned bad;			/* runs outside the filesystem */
};

static const void *block_at(const struct plan_walk *walk, uint64_t block)
{
	uint64_t bs = walk->geo.block_size;

	if ((block + 1) * bs > walk->size)
		return NULL;
	return walk->image + block * bs;
}

static struct e2pf_plan plan_for(const struct plan_walk *walk, e2pf_sink sink,
				 void *ctx)
{
	return (struct e2pf_plan) {
		.geo = &walk->geo, .groups = walk->groups,
		.classes = E2PF_ALL_CLASSES, .sink = sink, .ctx = ctx
	};
}

static void take(void *ctx, const struct e2pf_ref *ref)
{
	struct plan_walk *walk = ctx;
	struct e2pf_kind kind = e2pf_kind_of(ref);
	uint64_t bs = walk->geo.block_size, block = ref->offset / bs;
	uint64_t end = block + ref->length / bs;

	if (!ref->length || ref->offset % bs || ref->length % bs ||
	    end > walk->geo.blocks) {
		walk->bad++;
		return;
	}
	if (ref->cls == E2PF_INODES && !ref->parse)
		walk->ea_inodes++;
	if (ref->parse && kind.depth > walk->deepest)
		walk->deepest = kind.depth;
	for (; block < end; block++) {
		struct e2pf_plan plan = plan_for(walk, take, walk);
		const void *bytes = block_at(walk, block);

		walk->classes[block] |= 1u << ref->cls;
		if (bytes)
			e2pf_plan_block(&plan, kind, block, bytes);
	}
}

static void take_group(struct plan_walk *walk, ext2_filsys fs, uint32_t number)
{
	char desc[EXT2_MAX_DESC_SIZE];

	memcpy(desc, ext2fs_group_desc(fs, fs->group_desc, number),
	       walk->geo.desc_size);
#ifdef WORDS_BIGENDIAN
	ext2fs_swap_group_desc2(fs, (void *)desc);
#endif
	e2pf_plan_descriptor(&walk->geo, number, desc, &walk->groups[number]);
}

static void walk_group(struct plan_walk *walk, uint32_t number)
{
	const struct e2pf_geometry *geo = &walk->geo;
	const struct e2pf_group *group = &walk->groups[number];
	uint32_t per_block = geo->block_size / geo->inode_size;
	struct e2pf_plan plan = plan_for(walk, take, walk);
	uint32_t i;

	e2pf_plan_group(&plan, number, group);
	for (i = 0; i < group->inodes_in_use; i += per_block) {
		uint32_t left = group->inodes_in_use - i;
		uint32_t count = left < per_block ? left : per_block;
		const void *bytes = block_at(walk, group->inode_table +
						   i / per_block);

		if (bytes)
			e2pf_plan_inodes(&plan,
				number * geo->inodes_per_group + i + 1,
				bytes, (size_t)count * geo->inode_size);
	}
}

static void plan_image(struct plan_walk *walk, ext2_filsys fs,
		       const void *image, uint64_t size)
{
	uint32_t i;

	memset(walk, 0, sizeof(*walk));
	walk->image = image;
	walk->size = size;
	assert_int_equal(e2pf_plan_superblock(walk->image + 1024, &walk->geo), 0);
	walk->groups = calloc(walk->geo.groups, sizeof(*walk->groups));
	walk->classes = calloc(walk->geo.blocks, sizeof(*walk->classes));
	assert_true(walk->groups && walk->classes);
	for (i = 0; i < walk->geo.groups; i++)
		take_group(walk, fs, i);
	for (i = 0; i < walk->geo.groups; i++)
		walk_group(walk, i);
}

/* The truth according to libext2fs, block by block. */
struct truth {
	ext2_filsys fs;
	uint16_t *classes;
	enum e2pf_class node;		/* of the current inode */
	enum e2pf_class data;
	bool first_only;
};

static void mark(struct truth *truth, uint64_t block, uint64_t count,
		 enum e2pf_class cls)
{
	while (count-- && block < ext2fs_blocks_count(truth->fs->super))
		truth->classes[block++] |= 1u << cls;
}

static void mark_groups(struct truth *truth)
{
	ext2_filsys fs = truth->fs;
	bool csum = ext2fs_has_group_desc_csum(fs);
	uint32_t per_block = fs->blocksize / EXT2_INODE_SIZE(fs->super);
	uint32_t i;

	for (i = 0; i < fs->group_desc_count; i++) {
		uint32_t inodes = fs->super->s_inodes_per_group;

		if (!csum || !ext2fs_bg_flags_test(fs, i,
						   EXT2_BG_BLOCK_UNINIT))
			mark(truth, ext2fs_block_bitmap_loc(fs, i), 1,
			     E2PF_BITMAPS);
		if (csum && ext2fs_bg_flags_test(fs, i, EXT2_BG_INODE_UNINIT))
			continue;
		mark(truth, ext2fs_inode_bitmap_loc(fs, i), 1, E2PF_BITMAPS);
		if (csum)
			inodes -= ext2fs_bg_itable_unused(fs, i);
		mark(truth, ext2fs_inode_table_loc(fs, i),
		     (inodes + per_block - 1) / per_block, E2PF_INODES);
	}
}

static int mark_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t number,
		      blk64_t parent, int offset, void *private)
{
	struct truth *truth = private;

	(void)fs;
	(void)parent;
	(void)offset;
	if (number < 0)
		mark(truth, *block, 1, truth->node);
	else if (truth->data != E2PF_CLASSES &&
		 (number == 0 || !truth->first_only))
		mark(truth, *block, 1, truth->data);
	return 0;
}

static bool is_quota(ext2_filsys fs, ext2_ino_t ino)
{
	return ext2fs_has_feature_quota(fs->super) &&
	       (ino == fs->super->s_usr_quota_inum ||
		ino == fs->super->s_grp_quota_inum ||
		ino == fs->super->s_prj_quota_inum);
}

static void classify(struct truth *truth, ext2_ino_t ino,
		     struct ext2_inode *inode)
{
	ext2_filsys fs = truth->fs;

	truth->node = inode->i_flags & EXT4_EXTENTS_FL ? E2PF_EXTENTS :
							 E2PF_INDIRECT;
	truth->data = E2PF_CLASSES;
	truth->first_only = false;
	if (LINUX_S_ISDIR(inode->i_mode))
		truth->data = E2PF_DIRS;
	if (LINUX_S_ISLNK(inode->i_mode))
		truth->data = E2PF_SYMLINKS;
	if (ino == EXT2_BAD_INO || ino == EXT2_RESIZE_INO)
		truth->node = E2PF_FILES;
	if (is_quota(fs, ino))
		truth->node = truth->data = E2PF_FILES;
#ifdef EXT4_FEATURE_COMPAT_ORPHAN_FILE
	if (ext2fs_has_feature_orphan_file(fs->super) &&
	    ino == fs->super->s_orphan_file_inum)
		truth->node = truth->data = E2PF_FILES;
#endif
	if (ext2fs_has_feature_journal(fs->super) &&
	    ino == fs->super->s_journal_inum) {
		truth->node = truth->data = E2PF_FILES;
		truth->first_only = true;
	}
}

static void mark_inodes(struct truth *truth)
{
	ext2_filsys fs = truth->fs;
	struct ext2_inode inode;
	ext2_inode_scan scan;
	ext2_ino_t ino;

	assert_int_equal(ext2fs_open_inode_scan(fs, 0, &scan), 0);
	for (;;) {
		assert_int_equal(ext2fs_get_next_inode(scan, &ino, &inode), 0);
		if (!ino)
			break;
		if (!inode.i_links_count && ino >= EXT2_FIRST_INO(fs->super))
			continue;
		if (ext2fs_file_acl_block(fs, &inode))
			mark(truth, ext2fs_file_acl_block(fs, &inode), 1,
			     E2PF_XATTRS);
		if (ino != EXT2_BAD_INO &&
		    (ext2fs_is_fast_symlink(&inode) ||
		     !ext2fs_inode_has_valid_blocks2(fs, &inode)))
			continue;
		classify(truth, ino, &inode);
		assert_int_equal(ext2fs_block_iterate3(fs, ino,
				 BLOCK_FLAG_READ_ONLY, NULL, mark_block,
				 truth), 0);
	}
	ext2fs_close_inode_scan(scan);
}

static void compare(const struct combination *want,
		    const struct plan_walk *walk, const struct truth *truth)
{
	unsigned all = 0;
	uint64_t block;

	assert_true(walk->geo.blocks ==
		    ext2fs_blocks_count(truth->fs->super));
	for (block = 0; block < walk->geo.blocks; block++) {
		if (walk->classes[block] != truth->classes[block])
			fail_msg("%s: block %llu is %#x, planned as %#x",
				 want->name, (unsigned long long)block,
				 truth->classes[block], walk->classes[block]);
		all |= truth->classes[block];
	}
	assert_int_equal(walk->bad, 0);
	assert_int_equal(walk->deepest, want->deepest);
	if (want->ea_inodes)
		assert_true(walk->ea_inodes >= 6);
	else
		assert_int_equal(walk->ea_inodes, 0);
	/* The image must have something to compare. */
	assert_true(all & 1u << E2PF_DIRS && all & 1u << E2PF_BITMAPS &&
		    all & 1u << E2PF_INODES &&
		    all & (1u << E2PF_EXTENTS | 1u << E2PF_INDIRECT));
	assert_true(!want->xattr || all & 1u << E2PF_XATTRS);
}

static void check_image(const struct combination *want)
{
	struct truth truth = { .fs = NULL };
	struct plan_walk walk;
	struct stat st;
	void *image;
	int fd;

	assert_int_equal(ext2fs_open("image", EXT2_FLAG_64BITS, 0, 0,
				     unix_io_manager, &truth.fs), 0);
	truth.classes = calloc(ext2fs_blocks_count(truth.fs->super),
			       sizeof(*truth.classes));
	assert_non_null(truth.classes);
	mark_groups(&truth);
	mark_inodes(&truth);

	fd = open("image", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	image = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(image != MAP_FAILED);
	plan_image(&walk, truth.fs, image, st.st_size);
	compare(want, &walk, &truth);
	free(walk.groups);
	free(walk.classes);
	munmap(image, st.st_size);
	close(fd);
	free(truth.classes);
	ext2fs_close_free(&truth.fs);
}

static void image_as_libext2fs_sees_it(void **state)
{
	const struct combination *want = *state;

	if (!made_directory) {
		print_message("# mke2fs or debugfs not found\n");
		skip();
	}
	if (!make_image(want)) {
		print_message("# this mke2fs cannot make: %s\n",
			      want->options);
		skip();
	}
	check_image(want);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(combinations)];
	size_t i;

	memset(tests, 0, sizeof(tests));
	for (i = 0; i < COUNT(combinations); i++) {
		tests[i].name = combinations[i].name;
		tests[i].test_func = image_as_libext2fs_sees_it;
		tests[i].initial_state = (void *)(uintptr_t)&combinations[i];
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
