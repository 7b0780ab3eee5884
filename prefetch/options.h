/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of e2prefetch(8). */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "e2prefetch.h"

/* Exit statuses, those of e2fsck(8) where it has one. */
#define EXIT_INCOMPLETE 4	/* part was left out: errors, or memory */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16

struct options {
	struct e2pf_settings settings;
	const char *device;
	uint64_t offset;		/* bytes before the filesystem */
	int superblock;			/* 0: the first */
	unsigned block_size;		/* with a superblock; 0: find out */
	const char *stats;		/* file, or "-" for stdout */
	bool plan;			/* -n */
	bool json;
	bool quiet;			/* no progress */
	bool verbose;
	char **command;			/* NULL, or what follows "--" */
};

/* Parse.  Returns -1 to go on, or the status to exit with: after --help and
 * --version 0, after a line about what is wrong EXIT_USAGE. */
int parse_options(int argc, char **argv, struct options *o);

/*
 * Add what the administrator has set, to what the command line leaves open:
 * what the environment says, and what the file e2prefetch.conf(5) says and the
 * environment does not.  0; EXIT_USAGE after a line about what is wrong with
 * the environment, EXIT_OPERATIONAL after one about the file.
 */
int configure_options(struct options *o);

#endif
