/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of the structures of ext2, ext3 and ext4: names and offsets.  A
 * field that is listed twice is chosen twice as often.
 */
#ifndef CORRUPT_EXT4_FIELDS_H
#define CORRUPT_EXT4_FIELDS_H

#include "corrupt.h"

static const struct field super_fields[] = {
	{ "s_inodes_count", 0x0, 4 }, { "s_blocks_count_lo", 0x4, 4 },
	{ "s_r_blocks_count_lo", 0x8, 4 }, { "s_free_blocks_count_lo", 0xc, 4 },
	{ "s_free_inodes_count", 0x10, 4 }, { "s_first_data_block", 0x14, 4 },
	{ "s_log_block_size", 0x18, 4 }, { "s_log_cluster_size", 0x1c, 4 },
	{ "s_blocks_per_group", 0x20, 4 }, { "s_clusters_per_group", 0x24, 4 },
	{ "s_inodes_per_group", 0x28, 4 }, { "s_mtime", 0x2c, 4 },
	{ "s_wtime", 0x30, 4 }, { "s_mnt_count", 0x34, 2 },
	{ "s_max_mnt_count", 0x36, 2 }, { "s_magic", 0x38, 2 },
	{ "s_state", 0x3a, 2 }, { "s_errors", 0x3c, 2 },
	{ "s_minor_rev_level", 0x3e, 2 }, { "s_lastcheck", 0x40, 4 },
	{ "s_checkinterval", 0x44, 4 }, { "s_creator_os", 0x48, 4 },
	{ "s_rev_level", 0x4c, 4 }, { "s_first_ino", 0x54, 4 },
	{ "s_inode_size", 0x58, 2 }, { "s_block_group_nr", 0x5a, 2 },
	{ "s_feature_compat", 0x5c, 4 }, { "s_feature_incompat", 0x60, 4 },
	{ "s_feature_ro_compat", 0x64, 4 }, { "s_uuid", 0x68, 4 },
	{ "s_reserved_gdt_blocks", 0xce, 2 }, { "s_journal_uuid", 0xd0, 4 },
	{ "s_journal_inum", 0xe0, 4 }, { "s_journal_dev", 0xe4, 4 },
	{ "s_last_orphan", 0xe8, 4 }, { "s_hash_seed", 0xec, 4 },
	{ "s_def_hash_version", 0xfc, 1 }, { "s_jnl_backup_type", 0xfd, 1 },
	{ "s_desc_size", 0xfe, 2 }, { "s_default_mount_opts", 0x100, 4 },
	{ "s_first_meta_bg", 0x104, 4 }, { "s_mkfs_time", 0x108, 4 },
	{ "s_jnl_blocks[0]", 0x10c, 4 }, { "s_jnl_blocks[5]", 0x120, 4 },
	{ "s_jnl_blocks[16]", 0x14c, 4 }, { "s_blocks_count_hi", 0x150, 4 },
	{ "s_free_blocks_count_hi", 0x158, 4 }, { "s_min_extra_isize", 0x15c, 2 },
	{ "s_want_extra_isize", 0x15e, 2 }, { "s_flags", 0x160, 4 },
	{ "s_raid_stride", 0x164, 2 }, { "s_mmp_interval", 0x166, 2 },
	{ "s_mmp_block", 0x168, 8 }, { "s_raid_stripe_width", 0x170, 4 },
	{ "s_log_groups_per_flex", 0x174, 1 }, { "s_checksum_type", 0x175, 1 },
	{ "s_kbytes_written", 0x178, 8 }, { "s_snapshot_inum", 0x180, 4 },
	{ "s_error_count", 0x194, 4 }, { "s_usr_quota_inum", 0x240, 4 },
	{ "s_grp_quota_inum", 0x244, 4 }, { "s_overhead_clusters", 0x248, 4 },
	{ "s_backup_bgs[0]", 0x24c, 4 }, { "s_backup_bgs[1]", 0x250, 4 },
	{ "s_lpf_ino", 0x268, 4 }, { "s_prj_quota_inum", 0x26c, 4 },
	{ "s_checksum_seed", 0x270, 4 }, { "s_encoding", 0x27c, 2 },
	{ "s_encoding_flags", 0x27e, 2 }, { "s_orphan_file_inum", 0x280, 4 },
	{ "s_checksum", 0x3fc, 4 },
};

static const struct field group_fields[] = {
	{ "bg_block_bitmap_lo", 0x0, 4 }, { "bg_inode_bitmap_lo", 0x4, 4 },
	{ "bg_inode_table_lo", 0x8, 4 }, { "bg_free_blocks_count_lo", 0xc, 2 },
	{ "bg_free_inodes_count_lo", 0xe, 2 },
	{ "bg_used_dirs_count_lo", 0x10, 2 }, { "bg_flags", 0x12, 2 },
	{ "bg_block_bitmap_csum_lo", 0x18, 2 },
	{ "bg_inode_bitmap_csum_lo", 0x1a, 2 },
	{ "bg_itable_unused_lo", 0x1c, 2 }, { "bg_checksum", 0x1e, 2 },
	{ "bg_block_bitmap_hi", 0x20, 4 }, { "bg_inode_bitmap_hi", 0x24, 4 },
	{ "bg_inode_table_hi", 0x28, 4 }, { "bg_itable_unused_hi", 0x32, 2 },
};

static const struct field inode_fields[] = {
	{ "i_mode", 0x0, 2 }, { "i_uid", 0x2, 2 }, { "i_size_lo", 0x4, 4 },
	{ "i_atime", 0x8, 4 }, { "i_dtime", 0x14, 4 }, { "i_gid", 0x18, 2 },
	{ "i_links_count", 0x1a, 2 }, { "i_blocks_lo", 0x1c, 4 },
	{ "i_flags", 0x20, 4 }, { "i_flags", 0x20, 4 },
	{ "i_block[0]", 0x28, 4 }, { "i_block[1]", 0x2c, 4 },
	{ "i_block[2]", 0x30, 4 }, { "i_block[3]", 0x34, 4 },
	{ "i_block[4]", 0x38, 4 }, { "i_block[5]", 0x3c, 4 },
	{ "i_block[8]", 0x48, 4 }, { "i_block[11]", 0x54, 4 },
	{ "i_block[12]", 0x58, 4 }, { "i_block[13]", 0x5c, 4 },
	{ "i_block[14]", 0x60, 4 }, { "i_generation", 0x64, 4 },
	{ "i_file_acl_lo", 0x68, 4 }, { "i_size_high", 0x6c, 4 },
	{ "i_faddr", 0x70, 4 }, { "i_blocks_high", 0x74, 2 },
	{ "i_file_acl_high", 0x76, 2 }, { "i_checksum_lo", 0x7c, 2 },
	{ "i_extra_isize", 0x80, 2 }, { "i_checksum_hi", 0x82, 2 },
	{ "i_ctime_extra", 0x84, 4 }, { "i_projid", 0x9c, 4 },
};

static const struct field extent_header[] = {
	{ "eh_magic", 0, 2 }, { "eh_entries", 2, 2 }, { "eh_max", 4, 2 },
	{ "eh_depth", 6, 2 }, { "eh_generation", 8, 4 },
};
static const struct field extent_leaf[] = {
	{ "ee_block", 0, 4 }, { "ee_len", 4, 2 }, { "ee_start_hi", 6, 2 },
	{ "ee_start_lo", 8, 4 },
};
static const struct field extent_index[] = {
	{ "ei_block", 0, 4 }, { "ei_leaf_lo", 4, 4 }, { "ei_leaf_hi", 8, 2 },
};
static const struct field dirent_fields[] = {
	{ "inode", 0, 4 }, { "rec_len", 4, 2 }, { "name_len", 6, 1 },
	{ "file_type", 7, 1 }, { "name[0]", 8, 1 }, { "name[1]", 9, 1 },
};
static const struct field htree_root[] = {
	{ "dot rec_len", 0x4, 2 }, { "dotdot inode", 0xc, 4 },
	{ "dotdot rec_len", 0x10, 2 }, { "reserved_zero", 0x18, 4 },
	{ "hash_version", 0x1c, 1 }, { "info_length", 0x1d, 1 },
	{ "indirect_levels", 0x1e, 1 }, { "unused_flags", 0x1f, 1 },
	{ "limit", 0x20, 2 }, { "count", 0x22, 2 }, { "block 0", 0x24, 4 },
};
static const struct field htree_node[] = {
	{ "fake inode", 0x0, 4 }, { "fake rec_len", 0x4, 2 },
	{ "limit", 0x8, 2 }, { "count", 0xa, 2 }, { "block 0", 0xc, 4 },
};
static const struct field htree_entry[] = {
	{ "hash", 0, 4 }, { "block", 4, 4 },
};
static const struct field xattr_header[] = {
	{ "h_magic", 0, 4 }, { "h_refcount", 4, 4 }, { "h_blocks", 8, 4 },
	{ "h_hash", 12, 4 }, { "h_checksum", 16, 4 },
};
static const struct field xattr_entry[] = {
	{ "e_name_len", 0, 1 }, { "e_name_index", 1, 1 },
	{ "e_value_offs", 2, 2 }, { "e_value_inum", 4, 4 },
	{ "e_value_size", 8, 4 }, { "e_hash", 12, 4 }, { "e_name[0]", 16, 1 },
};
static const struct field journal_super[] = {
	{ "h_magic", 0x0, 4 }, { "h_blocktype", 0x4, 4 },
	{ "h_sequence", 0x8, 4 }, { "s_blocksize", 0xc, 4 },
	{ "s_maxlen", 0x10, 4 }, { "s_first", 0x14, 4 },
	{ "s_sequence", 0x18, 4 }, { "s_start", 0x1c, 4 },
	{ "s_errno", 0x20, 4 }, { "s_feature_compat", 0x24, 4 },
	{ "s_feature_incompat", 0x28, 4 }, { "s_feature_ro_compat", 0x2c, 4 },
	{ "s_uuid", 0x30, 4 }, { "s_nr_users", 0x40, 4 },
	{ "s_checksum_type", 0x50, 1 }, { "s_num_fc_blks", 0x54, 4 },
	{ "s_head", 0x58, 4 }, { "s_checksum", 0xfc, 4 },
};
static const struct field journal_block[] = {
	{ "h_magic", 0, 4 }, { "h_blocktype", 4, 4 }, { "h_sequence", 8, 4 },
	{ "word 3", 12, 4 }, { "word 4", 16, 4 }, { "word 5", 20, 4 },
	{ "word 6", 24, 4 }, { "word 7", 28, 4 }, { "word 8", 32, 4 },
	{ "word 11", 44, 4 },
};

#endif
