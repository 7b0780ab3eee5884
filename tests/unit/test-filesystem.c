/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How often a filesystem is opened whose superblock is damaged, or is being written.
 */
#include "commands.h"
#include "unit.h"

static errcode_t first;
static unsigned firsts, tries;

errcode_t __wrap_ext2fs_open2(const char *name, const char *io_options, int flags,
			      int superblock, unsigned block_size, io_manager manager,
			      ext2_filsys *fs);
errcode_t __wrap_ext2fs_open2(const char *name, const char *io_options, int flags,
			      int superblock, unsigned block_size, io_manager manager,
			      ext2_filsys *fs)
{
	(void)name, (void)io_options, (void)flags, (void)superblock;
	(void)block_size, (void)manager, (void)fs;
	return tries++ < firsts ? first : EXT2_ET_NO_MEMORY;
}

TEST(opened_again)
{
	static const struct {
		errcode_t first;
		unsigned firsts;
		int superblock;
		unsigned tries;
		errcode_t result;
	} rows[] = {
		{ EXT2_ET_SB_CSUM_INVALID, 1, 0, 2, EXT2_ET_NO_MEMORY },
		{ EXT2_ET_SB_CSUM_INVALID, 3, 0, 4, EXT2_ET_NO_MEMORY },
		{ EXT2_ET_SB_CSUM_INVALID, 9, 0, 4, EXT2_ET_SB_CSUM_INVALID },
		{ EXT2_ET_BAD_MAGIC, 9, 0, 1, EXT2_ET_BAD_MAGIC },
		/* With each size of a block, from 1 to 64 KiB. */
		{ EXT2_ET_BAD_MAGIC, 9, 8193, 7, EXT2_ET_BAD_MAGIC },
	};
	const struct target target = { .device = (char *)"/proc/self/exe" };
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		const struct options o = { .superblock = rows[i].superblock };

		first = rows[i].first;
		firsts = rows[i].firsts;
		tries = 0;
		assert_int_equal(open_session(&o, &target, NULL, NULL), rows[i].result);
		assert_int_equal(tries, rows[i].tries);
	}
}

UNIT_MAIN(NULL, NULL)
