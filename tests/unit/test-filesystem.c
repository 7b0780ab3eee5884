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
		unsigned firsts, tries;
		errcode_t result;
	} rows[] = {
		{ EXT2_ET_SB_CSUM_INVALID, 1, 2, EXT2_ET_NO_MEMORY },
		{ EXT2_ET_SB_CSUM_INVALID, 3, 4, EXT2_ET_NO_MEMORY },
		{ EXT2_ET_SB_CSUM_INVALID, 9, 4, EXT2_ET_SB_CSUM_INVALID },
		{ EXT2_ET_BAD_MAGIC, 9, 1, EXT2_ET_BAD_MAGIC },
	};
	const struct target target = { .device = (char *)"/proc/self/exe" };
	const struct options o = { .paths = 0 };
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		first = rows[i].first;
		firsts = rows[i].firsts;
		tries = 0;
		assert_int_equal(open_session(&o, &target, NULL), rows[i].result);
		assert_int_equal(tries, rows[i].tries);
	}
}

UNIT_MAIN(NULL, NULL)
