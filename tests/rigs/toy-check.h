/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A check of the toy filesystem, with or without reading ahead of it. */
#ifndef TOY_CHECK_H
#define TOY_CHECK_H

#include "session.h"
#include "toy-fs.h"

struct toy_check {
	int fd[2];			/* of the two devices, open */
	struct e2pf_session *session;	/* NULL: nothing is read ahead */
	struct toy_fs fs;		/* what the check itself has learnt */
	unsigned blocks;		/* read */
	uint64_t verdict;		/* of their bytes */
};

/* Open a session on two files.  NULL where it must stand aside. */
struct e2pf_session *toy_open(const char *const path[2],
			      const struct e2pf_settings *settings);

/* Check: the map, each tree, and data once more by a list of their numbers. */
void toy_check(struct toy_check *check, const uint32_t *list, unsigned count);

#endif
