/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A check of the toy filesystem, with or without prefetching. */
#ifndef TOY_CHECK_H
#define TOY_CHECK_H

#include "session.h"
#include "toy-fs.h"

struct toy_check {
	int fd[2];			/* of the two devices, open */
	struct e2pf_session *session;	/* NULL: no prefetching */
	struct toy_fs fs;		/* what the check has learnt */
	unsigned blocks;		/* number of blocks read */
	uint64_t verdict;		/* hash of their bytes */
};

/* Open a session on two files.  NULL if prefetching is not possible. */
struct e2pf_session *toy_open(const char *const path[2],
			      const struct e2pf_settings *settings);

/* Run the check: it reads the map, each tree, and then again the data whose
 * numbers are in `list`. */
void toy_check(struct toy_check *check, const uint32_t *list, unsigned count);

#endif
