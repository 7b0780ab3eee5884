/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which accelerations are in use: those that were requested, that
 * passed the self-test, and that this machine's memory and settings allow.
 *
 * The self-test checks which functions are called through the dynamic linker,
 * which functions exist, and tries them.  Neither the version number of libext2fs
 * nor the name of a function is enough to trust it.  Ubuntu, for example, links
 * the library so that its internal calls bypass every stand-in.
 */
#include "libext2fs/io_table.h"
#include "libext2fs/weak.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "accelerate.h"
#include "bitmaps.h"
#include "crc32c.h"
#include "indirect.h"
#include "interpose.h"
#include "linkage.h"
#include "trial.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *const reasons[FINDINGS] = {
	[FINDING_UNTRIED] = "no self-test was run",
	[FINDING_WHOLE] = "self-test matched libext2fs",
	[FINDING_LINKED] = "internal calls of libext2fs cannot be interposed",
	[FINDING_ABSENT] = "libext2fs lacks a function that it needs",
	[FINDING_DIFFERS] = "self-test differed from libext2fs",
	[FINDING_UNREAD] = "this version of libext2fs has not been reviewed",
	[FINDING_UNABLE] = "the processor or the memory does not allow it",
	[FINDING_THREADS] = "this e2fsck checks in several threads",
	[FINDING_STATISTICS] =
		"E2FSPROGS_BITMAP_STATS asks for statistics of trees",
	[FINDING_SMALL] = "the filesystem is small",
	[FINDING_CRASHED] = "the self-test crashed or hung",
};

static bool all_there(const char *const *names, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!dlsym(RTLD_NEXT, names[i]))
			return false;
	return true;
}

bool accelerate_sees_progress(void)
{
	/* Without these calls the module cannot see where the check is. */
	static const char *const calls[] = {
		"ext2fs_open2", "ext2fs_open_inode_scan",
		"ext2fs_get_next_inode_full", "ext2fs_dblist_iterate2",
		"ext2fs_read_bitmaps", "ext2fs_close_free",
	};

	return all_there(calls, COUNT(calls)) &&
	       linkage_program_refers(calls, COUNT(calls));
}

/*
 * The self-test of each.
 */

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

static enum finding compare(const struct trial *a, const struct trial *b)
{
	return a->seen == b->seen && a->random == b->random ?
	       FINDING_WHOLE : FINDING_DIFFERS;
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

	trial_keep(&t, library_checksum(fn));
	crc32c_begin(fn);
	for (i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (unsigned char)(i * i >> 3);
		trial_keep(&t, ext2fs_crc32c_le(i, bytes + i % 9, i - i % 9));
	}
	crc32c_begin(NULL);
	return t;
}

static enum finding try_crc32c(void)
{
	static const char *const calls[] = { "ext2fs_crc32c_le" };
	crc32c_fn *fn = crc32c_choose();
	struct trial stock, ours;

	if (!all_there(calls, COUNT(calls)))
		return FINDING_ABSENT;
	if (!fn)
		return FINDING_UNABLE;
	if (library_checksum(no_checksum) == library_checksum(NULL))
		return FINDING_LINKED;
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

static enum finding try_bitmaps(void)
{
	struct trial stock = { 0, 0 }, ours = stock;

	if (getenv("E2FSPROGS_BITMAP_STATS"))
		return FINDING_STATISTICS;
	if (!is_read_version())
		return FINDING_UNREAD;
	/* A parallel e2fsck merges the maps of its threads, which works only
	 * with libext2fs's trees. */
	if (linkage_program_has_threads())
		return FINDING_THREADS;
	if (!bitmaps_layout_is_known(&fs))
		return FINDING_UNREAD;
	trial_maps(&stock, &fs);
	bitmaps_begin();
	trial_maps(&ours, &fs);
	bitmaps_end();
	return stock.seen ? compare(&stock, &ours) : FINDING_UNABLE;
}

/* This one uses an I/O manager of ours.  If libext2fs's table of operations
 * differs from the one we know, it would call other functions of it. */
static enum finding try_indirect(void)
{
	static const char *const calls[] = { "ext2fs_block_iterate3" };
	struct trial stock = { 0, 0 }, ours = stock;
	REAL(ext2fs_block_iterate3);

	if (!e2pf_io_table_is_ours())
		return FINDING_UNREAD;
	if (!all_there(calls, COUNT(calls)))
		return FINDING_ABSENT;
	if (!linkage_program_refers(calls, COUNT(calls)))
		return FINDING_LINKED;
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
	enum finding (*try)(void);
	void (*begin)(void);
} all[E2PF_ACCELERATIONS] = {
	[E2PF_CRC32C] = { try_crc32c, begin_crc32c },
	[E2PF_BITMAPS_OF_E2FSCK] = { try_bitmaps, bitmaps_begin },
	[E2PF_INDIRECT_WALK] = { try_indirect, indirect_begin },
};

void accelerate_try(void *findings)
{
	struct findings *f = findings;
	bool there = true E2PF_ACCELERATES_WITH(E2PF_IS_THERE);
	unsigned i;

	if (there)
		make_filesystem();
	for (i = 0; i < E2PF_ACCELERATIONS; i++)
		f->of[i] = there ? all[i].try() : FINDING_ABSENT;
}

void accelerate(unsigned asked, const struct findings *found,
		struct e2pf_notes *notes)
{
	unsigned i;

	for (i = 0; i < E2PF_ACCELERATIONS; i++) {
		const char *name = e2pf_acceleration_names[i], *why_not = NULL;

		if (!(asked & 1u << i))
			why_not = "excluded by the setting accel";
		else if (found->of[i] != FINDING_WHOLE)
			why_not = reasons[found->of[i]];
		if (!why_not)
			all[i].begin();
		e2pf_note(notes, "%s: %saccelerated (%s)", name, why_not ? "not " :
			  "", why_not ? why_not : reasons[FINDING_WHOLE]);
	}
}
