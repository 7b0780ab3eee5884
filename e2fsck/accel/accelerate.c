/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which accelerations this libext2fs, program and machine allow.
 *
 * The self-test checks which functions are called through the dynamic linker,
 * which functions exist, and tries them.  The version number of libext2fs and the
 * names of functions are not enough to trust it.  Ubuntu, for example, links the
 * library so that its internal calls bypass every interposer.
 */
#include "lib/weak.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "preload/interpose.h"
#include "interposers.h"

static const char linked[] = "internal calls of libext2fs cannot be interposed";
static const char absent[] = "libext2fs lacks a required function";
static const char unread[] = "this version of libext2fs has not been reviewed";
static const char unable[] = "not supported by this CPU, or out of memory";

static struct ext2_super_block super;
static struct struct_ext2_filsys fs;

static void make_filesystem(void)
{
	memset(&super, 0, sizeof(super));
	ext2fs_blocks_count_set(&super, TRIAL_BLOCKS);
	super.s_first_data_block = 1;
	super.s_clusters_per_group = super.s_blocks_per_group = 8192;
	super.s_rev_level = EXT2_DYNAMIC_REV;
	ext2fs_set_feature_metadata_csum(&super);
	super.s_checksum_type = EXT2_CRC32C_CHKSUM;
	memset(&fs, 0, sizeof(fs));
	fs.magic = EXT2_ET_MAGIC_EXT2FS_FILSYS;
	fs.super = &super;
	fs.blocksize = TRIAL_BLOCK;
	fs.flags = EXT2_FLAG_64BITS | EXT2_FLAG_RW;
	fs.group_desc_count = TRIAL_BLOCKS / 8192 + 1;
	fs.default_bitmap_type = EXT2FS_BMAP64_RBTREE;
}

static const char *compare(const struct trial *a, const struct trial *b)
{
	return a->seen == b->seen && a->random == b->random ? NULL :
	       "self-test differed from libext2fs";
}

static uint32_t no_checksum(uint32_t crc, const unsigned char *p, size_t len)
{
	(void)crc;
	(void)p;
	(void)len;
	return 0x65327066;
}

/* The library's checksum of the superblock. */
static uint32_t library_checksum(crc32c_fn *fn)
{
	crc32c_begin(fn);
	super.s_checksum = 0;
	ext2fs_superblock_csum_set(&fs, &super);
	crc32c_begin(NULL);
	return super.s_checksum;
}

static struct trial checksums(crc32c_fn *fn)
{
	unsigned char bytes[200];
	struct trial t = { 0, 0 };
	unsigned i;

	trial_record(&t, library_checksum(fn));
	crc32c_begin(fn);
	for (i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (unsigned char)(i * i >> 3);
		trial_record(&t, ext2fs_crc32c_le(i, bytes + i % 9, i - i % 9));
	}
	crc32c_begin(NULL);
	return t;
}

static const char *try_crc32c(void)
{
	crc32c_fn *fn = crc32c_choose();
	struct trial stock, ours;

	if (!dlsym(RTLD_NEXT, "ext2fs_crc32c_le"))
		return absent;
	if (!fn)
		return unable;
	if (library_checksum(no_checksum) == library_checksum(NULL))
		return linked;
	stock = checksums(NULL);
	ours = checksums(fn);
	return compare(&stock, &ours);
}

/* The releases in which every function that uses the table of the trees was
 * reviewed, up to that of configure.ac.  A later one may have further
 * operations, which a trial of the known ones cannot reveal. */
static bool is_read_version(void)
{
	const char *version = "";

	ext2fs_get_library_version(&version, NULL);
	return strverscmp(version, "1.46.2") >= 0 &&
	       strverscmp(version, E2FSPROGS_REVIEWED) <= 0;
}

static const char *try_bitmaps(void)
{
	struct trial stock = { 0, 0 }, ours = stock;

	if (getenv("E2FSPROGS_BITMAP_STATS"))
		return "E2FSPROGS_BITMAP_STATS is set";
	if (!is_read_version())
		return unread;
	if (!bitmaps_layout_is_known(&fs))
		return unread;
	trial_bitmaps(&stock, &fs);
	bitmaps_begin();
	trial_bitmaps(&ours, &fs);
	bitmaps_end();
	return stock.seen ? compare(&stock, &ours) : unable;
}

static const char *try_indirect(void)
{
	struct trial stock = { 0, 0 }, ours = stock;
	REAL(ext2fs_block_iterate3);

	if (!preload_program_refers("ext2fs_block_iterate3"))
		return linked;
	trial_walks(&stock, &fs, real);
	indirect_begin();
	trial_walks(&ours, &fs, indirect_iterate);
	return compare(&stock, &ours);
}

/*
 * Begin one that passed it.
 */

static void begin_crc32c(void)
{
	crc32c_begin(crc32c_choose());
}

static const struct {
	const char *(*try)(void);
	void (*begin)(void);
} all[PF_ACCELERATIONS] = {
	[PF_CRC32C] = { try_crc32c, begin_crc32c },
	[PF_BITMAPS_OF_E2FSCK] = { try_bitmaps, bitmaps_begin },
	[PF_INDIRECT_WALK] = { try_indirect, indirect_begin },
};

static void try_all(void *findings)
{
	struct findings *f = findings;
	bool there = true E2PF_ACCELERATES_WITH(E2PF_IS_THERE);
	unsigned i;

	if (there)
		make_filesystem();
	for (i = 0; i < PF_ACCELERATIONS; i++)
		f->why_not[i] = there ? all[i].try() : absent;
}

static void begin(unsigned which)
{
	all[which].begin();
}

const struct accel e2fsck_accel = {
	PACKAGE_VERSION, try_all, begin, bitmaps_have_claims,
	bitmaps_watch_claims
};
