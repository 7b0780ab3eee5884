/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The command line of e2prefetch(8). */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "settings.h"

/* Exit statuses: those of e2fsck(8) if it defines one. */
#define EXIT_INCOMPLETE 4	/* part was not read: errors or memory */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16

struct options {
	struct e2pf_setup given;	/* on the command line: only -t and -m */
	struct e2pf_settings settings;
	const char *device;
	uint64_t offset;		/* bytes before the filesystem */
	int superblock;			/* 0: the first */
	const char *stats;		/* PREFETCH_STATS: a file, "-", NULL */
	bool plan;			/* -n */
	bool hold;			/* the device, open after reading */
	unsigned classes;		/* mask of 1u << enum e2pf_class */
	uint64_t longer_than;		/* seconds, for probe; 0: not asked */
	bool quiet;			/* no progress */
	unsigned verbose;		/* how often -v was given */
	char **command;			/* NULL, or what follows "--" */
};

/* Parse the command line.  Returns -1 to go on, or the exit status: 0 after
 * --help and --version, EXIT_USAGE after an error message. */
int parse_options(int argc, char **argv, struct options *o);

/*
 * Fill in what the command line leaves open: from the environment, then from
 * the file e2prefetch.conf(5).  Returns 0; or EXIT_USAGE after an error message.
 */
int configure_options(struct options *o);

#endif
