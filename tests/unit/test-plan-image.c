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

#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "ext4/source.h"

struct combination {
	const char *name;
	const char *options;		/* of mke2fs */
	unsigned xattr;			/* bytes of a value; 0: none */
	unsigned deepest;		/* the required number of levels of
					   nodes */
};

static const struct combination combinations[] = {
	{ "ext2, 1k, small inodes", "-t ext2 -b 1024 -I 128", 800, 3 },
	{ "ext2, revision 0", "-t ext2 -r 0 -b 4096", 0, 2 },
	{ "ext2, no sparse_super", "-t ext2 -b 2048 -O ^sparse_super,^resize_inode",
	  1500, 2 },
	{ "ext3, 1k, bad blocks", "-t ext3 -b 1024 -l bad", 800, 3 },
	{ "ext4, 1k", "-t ext4 -b 1024 -I 256", 800, 2 },
	{ "ext4, 64k", "-t ext4 -b 65536", 3000, 2 },
	{ "ext4, 32 bit, no flex_bg", "-t ext4 -b 1024 -O ^64bit,^flex_bg -I 512",
	  800, 2 },
	{ "ext4, bad blocks in extents", "-t ext4 -b 4096 -l bad",
	  3000, 2 },
	{ "ext4, no checksums", "-t ext4 -b 4096 -O ^metadata_csum,^uninit_bg,^64bit",
	  3000, 2 },
	{ "ext4, uninit_bg", "-t ext4 -b 4096 -O ^metadata_csum,uninit_bg",
	  3000, 2 },
	{ "meta_bg, no flex_bg, block maps", "-t ext3 -b 1024 -O meta_bg,^resize_inode -I 256",
	  800, 3 },
	{ "bigalloc, 1k, meta_bg", "-t ext4 -b 1024 -O bigalloc,meta_bg,^resize_inode -C 4096 -I 256",
	  800, 1 },
	{ "sparse_super2", "-t ext4 -b 1024 -O sparse_super2 -I 256",
	  800, 2 },
	{ "inline_data, large inodes", "-t ext4 -b 4096 -O inline_data -I 1024",
	  3000, 2 },
	{ "ea_inode", "-t ext4 -b 4096 -O ea_inode", 9000, 2 },
	{ "quota", "-t ext4 -b 4096 -O quota,project", 3000, 2 },
	{ "orphan_file", "-t ext4 -b 4096 -O orphan_file", 3000, 2 },
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

FIXTURE(set_up)
{
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

FIXTURE(tear_down)
{
	if (!made_directory)
		return 0;
	return chdir("/") || run("rm -rf %s", directory);
}

static bool make_image(const struct combination *want)
{
	FILE *script;

	unlink("image");
	if (run("mke2fs -q -F %s -d tree image 512M >log 2>&1 </dev/null",
		want->options))
		return false;
	if (!want->xattr)
		return true;
	make_file("value", want->xattr, 1, 0);
	script = fopen("script", "w");
	assert_non_null(script);
	fprintf(script, "ea_set -f value d1/f user.a\n"
		"ea_set -f value d2 user.a\nea_set d3 user.b little\n"
		"ea_set -f value fifo user.a\nea_set -f value fits user.a\n");
	/* Values too long for a block are inodes; long names go into a block. */
	if (want->xattr > 4096)
		fprintf(script, "ea_set -f value d4/f user.%0100d\n"
			"ea_set -f value d5/f user.%0100d\n", 1, 2);
	fclose(script);
	return run("debugfs -w -f script image >log 2>&1") == 0;
}

/* The image as the source passes it on, without an engine. */
struct planned {
	const unsigned char *image;
	struct ext4_geometry geo;
	struct ext4_source *ext4;
	uint16_t *classes;		/* per block, 1 << enum ext4_class */
	unsigned deepest;		/* levels of nodes below a root */
	unsigned bad;			/* runs outside the filesystem */
};

static void accept_ref(void *ctx, const struct pf_ref *ref)
{
	struct planned *p = ctx;
	struct pf_source *source = &p->ext4->source;
	uint64_t bs = p->geo.block_size, at;
	uint32_t size = 0;

	if (!ref->length || ref->offset % bs || ref->length % bs ||
	    (ref->offset + ref->length) / bs > p->geo.blocks) {
		p->bad++;
		return;
	}
	if (ref->parse && ext4_kind_of(ref).depth > p->deepest)
		p->deepest = ext4_kind_of(ref).depth;
	for (at = 0; at < ref->length; at += bs)
		p->classes[(ref->offset + at) / bs] |= 1u << ref->cls;
	for (at = 0; ref->parse && at < ref->length; at += size) {
		size = source->ops->piece(source, ref, at);
		if (!size)
			return;
		source->ops->parse(source, ref, at, p->image + ref->offset + at,
				   size, accept_ref, p);
	}
}

static void plan_image(struct planned *p, ext2_filsys fs)
{
	const struct pf_options options = { .budget = UINT64_MAX };
	const struct ext4_source_options what = { .classes = EXT4_ALL_CLASSES };
	struct ext4_group *groups;
	uint32_t g;

	assert_int_equal(ext4_plan_superblock(p->image + 1024, &p->geo), 0);
	groups = calloc(p->geo.groups, sizeof(*groups));
	p->classes = calloc(p->geo.blocks, sizeof(*p->classes));
	p->ext4 = ext4_source_new(&p->geo, &what);
	assert_true(groups && p->classes && p->ext4);
	for (g = 0; g < p->geo.groups; g++) {
		char desc[EXT2_MAX_DESC_SIZE];

		memcpy(desc, ext2fs_group_desc(fs, fs->group_desc, g),
		       p->geo.desc_size);
#ifdef WORDS_BIGENDIAN
		ext2fs_swap_group_desc2(fs, (void *)desc);
#endif
		ext4_plan_descriptor(&p->geo, g, desc, &groups[g]);
	}
	p->ext4->groups = groups;
	p->ext4->source.ops->begin(&p->ext4->source, &options, false);
	for (g = 0; g < p->geo.groups; g++)
		p->ext4->source.ops->seed(&p->ext4->source, EXT4_PHASE_TABLES,
					  g,
					  accept_ref, p);
	ext4_source_free(p->ext4);
	free(groups);
}

/* The truth according to libext2fs, block by block. */
struct truth {
	ext2_filsys fs;
	uint16_t *classes;
	enum ext4_class node;		/* of the current inode */
	enum ext4_class data;
};

static void mark(struct truth *truth, uint64_t block, uint64_t count,
		 enum ext4_class cls)
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
			     EXT4_BITMAPS);
		if (csum && ext2fs_bg_flags_test(fs, i, EXT2_BG_INODE_UNINIT))
			continue;
		mark(truth, ext2fs_inode_bitmap_loc(fs, i), 1, EXT4_BITMAPS);
		if (csum)
			inodes -= ext2fs_bg_itable_unused(fs, i);
		mark(truth, ext2fs_inode_table_loc(fs, i),
		     (inodes + per_block - 1) / per_block, EXT4_INODES);
	}
}

static int mark_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t number,
		      blk64_t parent, int offset, void *private)
{
	struct truth *truth = private;

	(void)fs, (void)parent, (void)offset;
	if (number < 0)
		mark(truth, *block, 1, truth->node);
	else if (truth->data != EXT4_CLASSES)
		mark(truth, *block, 1, truth->data);
	return 0;
}

static void classify(struct truth *truth, ext2_ino_t ino,
		     struct ext2_inode *inode)
{
	truth->node = inode->i_flags & EXT4_EXTENTS_FL ? EXT4_EXTENTS :
							 EXT4_INDIRECT;
	truth->data = EXT4_CLASSES;
	if (LINUX_S_ISDIR(inode->i_mode))
		truth->data = EXT4_DIRS;
	if (LINUX_S_ISLNK(inode->i_mode))
		truth->data = EXT4_SYMLINKS;
	if (ino < EXT2_FIRST_INO(truth->fs->super) && ino != EXT2_ROOT_INO)
		truth->node = EXT4_FILES;
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
			     EXT4_XATTRS);
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
		    const struct planned *walk, const struct truth *truth)
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
	/* The image must have something to compare. */
	assert_true(all & 1u << EXT4_DIRS && all & 1u << EXT4_BITMAPS &&
		    all & 1u << EXT4_INODES &&
		    all & (1u << EXT4_EXTENTS | 1u << EXT4_INDIRECT));
	assert_true(!want->xattr || all & 1u << EXT4_XATTRS);
}

static void check_image(const struct combination *want)
{
	struct truth truth = { .fs = NULL };
	struct planned walk = { .image = NULL };
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
	walk.image = image;
	plan_image(&walk, truth.fs);
	compare(want, &walk, &truth);
	free(walk.classes);
	munmap(image, st.st_size);
	close(fd);
	free(truth.classes);
	ext2fs_close_free(&truth.fs);
}

static void image_as_libext2fs_sees_it(void **state)
{
	const struct combination *want = *state;

	if (!made_directory)
		SKIP("# mke2fs or debugfs not found\n");
	if (!make_image(want))
		SKIP("# this mke2fs cannot make: %s\n", want->options);
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
