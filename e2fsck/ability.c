/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Decides whether a check can be followed, and whether our accelerations fit. */
#include <string.h>

#include "ability.h"
#include "linkage.h"

bool ability_to_follow(void)
{
	/* These calls show the module where the check is. */
	static const char *const calls[] = {
		"ext2fs_open2", "ext2fs_open_inode_scan",
		"ext2fs_get_next_inode_full", "ext2fs_dblist_iterate2",
		"ext2fs_close_free",
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!linkage_program_refers(calls[i]))
			return false;
	return true;
}

const struct accel *ability_accel(void)
{
	return &e2pf_accel && !strcmp(e2pf_accel.version, PACKAGE_VERSION) ?
	       &e2pf_accel : NULL;
}
