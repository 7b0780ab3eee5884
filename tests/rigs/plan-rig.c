/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A valid superblock, and a record of the planner's output. */
#include <endian.h>

#include "unit.h"
#include "plan-rig.h"

static void record(void *ctx, const struct e2pf_ref *ref)
{
	struct found *found = ctx;

	assert_true(found->count < MANY);
	found->ref[found->count++] = *ref;
}

struct e2pf_plan *into(struct found *found, const struct e2pf_geometry *geo,
		       const struct e2pf_group *groups)
{
	found->block_size = geo->block_size;
	found->plan = (struct e2pf_plan) {
		.geo = geo, .groups = groups, .classes = E2PF_ALL_CLASSES,
		.sink = record, .ctx = found
	};
	return &found->plan;
}

void assert_ref(const struct found *found, unsigned index,
		uint64_t block, uint32_t count, unsigned cls,
		unsigned parse, unsigned depth, unsigned data)
{
	const struct e2pf_ref *ref = &found->ref[index];
	struct e2pf_kind kind = e2pf_kind_of(ref);

	assert_true(index < found->count);
	assert_true(ref->offset == block * found->block_size);
	assert_true(ref->length == (uint64_t)count * found->block_size);
	assert_int_equal(ref->cls, cls);
	assert_int_equal(kind.cls, cls);
	assert_int_equal(kind.parse, parse);
	assert_int_equal(ref->parse, parse != E2PF_UNPARSED);
	assert_int_equal(kind.depth, depth);
	assert_int_equal(kind.data, data);
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
