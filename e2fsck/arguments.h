/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The request in e2fsck's arguments. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

struct arguments {
	bool force;		/* a clean filesystem is checked, too; or an
				   option may mean that */
	bool parallel;		/* -m, of Lustre's e2fsck */
};

struct arguments arguments_read(int argc, char *const *argv);

/* Whether e2fsck checks nothing, unless it is forced to: the filesystem is marked
 * as clean.  `now` is the time, in seconds. */
bool arguments_find_clean(const struct ext2_super_block *super, int64_t now);

#endif
