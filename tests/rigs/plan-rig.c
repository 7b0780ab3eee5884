/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A valid superblock, and a record of the planner's output. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "plan-rig.h"

void record(void *ctx, const struct e2pf_run *run)
{
	struct found *found = ctx;

	assert_true(found->count < MANY);
	found->run[found->count++] = *run;
}

void assert_ref(const struct found *found, unsigned index,
		uint64_t block, uint32_t count, unsigned cls,
		unsigned parse, unsigned depth, unsigned data)
{
	const struct e2pf_run *run = &found->run[index];

	assert_true(index < found->count);
	assert_true(run->block == block);
	assert_int_equal(run->count, count);
	assert_int_equal(run->cls, cls);
	assert_int_equal(run->parse, parse);
	assert_int_equal(run->depth, depth);
	assert_int_equal(run->data, data);
}

struct ext2_super_block sound_super(void)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	sb.s_magic = htole16(EXT2_SUPER_MAGIC);
	sb.s_rev_level = htole32(1);
	sb.s_log_block_size = sb.s_log_cluster_size = htole32(2);
	sb.s_blocks_per_group = sb.s_clusters_per_group = htole32(32768);
	sb.s_blocks_count = htole32(40 * 32768 - 100);
	sb.s_inodes_per_group = htole32(8192);
	sb.s_inodes_count = htole32(40 * 8192);
	sb.s_inode_size = htole16(256);
	sb.s_first_ino = htole32(11);
	sb.s_desc_size = htole16(64);
	sb.s_feature_compat = htole32(EXT2_FEATURE_COMPAT_EXT_ATTR |
				      EXT3_FEATURE_COMPAT_HAS_JOURNAL);
	sb.s_journal_inum = htole32(8);
	sb.s_feature_incompat = htole32(EXT3_FEATURE_INCOMPAT_EXTENTS |
					EXT4_FEATURE_INCOMPAT_64BIT |
					EXT4_FEATURE_INCOMPAT_EA_INODE);
	sb.s_feature_ro_compat = htole32(EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER |
		EXT4_FEATURE_RO_COMPAT_METADATA_CSUM |
		EXT4_FEATURE_RO_COMPAT_QUOTA);
	sb.s_usr_quota_inum = htole32(3);
	return sb;
}

struct e2pf_geometry sound_geometry(void)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	return geo;
}
