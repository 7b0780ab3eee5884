// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * The command line of diskmodel.
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "diskmodel.h"

static int usage(void)
{
	fputs("Usage: diskmodel [OPTION]... IMAGE MOUNTPOINT\n"
	      "       diskmodel [OPTION]... --simulate=SIZE [--depth=N] <REQUESTS\n"
	      "Serve IMAGE as MOUNTPOINT/disk with the timing of a device.\n\n"
	      "  --set=KEY=VALUE   a parameter, as in models/ (none: no delay)\n"
	      "  --fault=KIND:OFF+LEN[:DELAY]\n"
	      "                    what touches these bytes fails (KIND eio) or is\n"
	      "                    read (slow; reset: before anything that comes\n"
	      "                    later) after this time; may be repeated\n"
	      "  --compensate=TIME send replies earlier by what FUSE and the\n"
	      "                    loop device add to each request\n"
	      "  --ready-fd=N      write a byte to descriptor N once mounted\n"
	      "  --follow-parent   exit when the parent process does\n"
	      "  --read-only       open IMAGE for reading only\n"
	      "  --simulate=SIZE   serve `NS OFFSET LENGTH' lines on a clock of its\n"
	      "                    own, and print when each ended\n"
	      "  --depth=N         N in flight instead of each at its time\n",
	      stderr);
	return 2;
}

static int add_fault(struct dm_serve *s, const char *text)
{
	struct dm_range *r = &s->bad[s->nr_bad];
	char kind[8], off[32], len[32], delay[32] = "0";

	if (s->nr_bad == sizeof(s->bad) / sizeof(s->bad[0]) ||
	    sscanf(text, "%7[^:]:%31[^+]+%31[^:]:%31s", kind, off, len,
		   delay) < 3 ||
	    (strcmp(kind, "eio") && strcmp(kind, "slow") &&
	     strcmp(kind, "reset")) ||
	    dm_parse_number(off, &r->off) || dm_parse_number(len, &r->len) ||
	    dm_parse_number(delay, &r->delay))
		return -1;
	r->readable = !!strcmp(kind, "eio");
	/* A disk serves nothing else in any case. */
	r->stops = !strcmp(kind, "reset") && s->params.kind != DM_DISK;
	s->nr_bad++;
	return 0;
}

enum { OPT_FAULT = 256, OPT_COMPENSATE, OPT_READY, OPT_RO, OPT_FOLLOW,
       OPT_SET, OPT_SIMULATE, OPT_DEPTH };

static const struct option options[] = {
	{ "fault", required_argument, NULL, OPT_FAULT },
	{ "compensate", required_argument, NULL, OPT_COMPENSATE },
	{ "ready-fd", required_argument, NULL, OPT_READY },
	{ "read-only", no_argument, NULL, OPT_RO },
	{ "follow-parent", no_argument, NULL, OPT_FOLLOW },
	{ "simulate", required_argument, NULL, OPT_SIMULATE },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "set", required_argument, NULL, OPT_SET },
	{ NULL, 0, NULL, 0 },
};

/* Returns 0, or -1 if @value is invalid for option @c. */
static int parse_option(struct dm_serve *s, int c, const char *value)
{
	switch (c) {
	case OPT_SET:
		return dm_params_set(&s->params, value);
	case OPT_FAULT:
		return add_fault(s, value);
	case OPT_COMPENSATE:
		return dm_parse_number(value, &s->compensate);
	case OPT_READY:
		s->ready_fd = atoi(value);
		return 0;
	case OPT_FOLLOW:
		return prctl(PR_SET_PDEATHSIG, SIGTERM);
	case OPT_RO:
		s->read_only = true;
		return 0;
	default:
		return -1;
	}
}

int main(int argc, char **argv)
{
	struct dm_serve s = { .ready_fd = -1 };
	uint64_t size = 0, depth = 0;
	int ret = 0;
	const char *problem;
	int c;

	dm_params_default(&s.params);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == OPT_SIMULATE)
			ret = dm_parse_number(optarg, &size);
		else if (c == OPT_DEPTH)
			ret = dm_parse_number(optarg, &depth);
		else
			ret = parse_option(&s, c, optarg);
		if (ret)
			return usage();
	}
	if (argc - optind != (size ? 0 : 2))
		return usage();
	if (s.params.write_latency == DM_NEVER)
		s.params.write_latency = s.params.latency;
	problem = dm_params_problem(&s.params);
	if (problem) {
		fprintf(stderr, "diskmodel: %s\n", problem);
		return 1;
	}
	if (size)
		return dm_simulate(&s.params, size, depth);
	s.image = argv[optind];
	s.mountpoint = argv[optind + 1];
	return dm_serve(&s);
}
