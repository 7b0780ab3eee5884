// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of diskmodel, and where the models are found.
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "diskmodel.h"

#ifndef MODELDIR
#define MODELDIR "models"
#endif

/* The folder of parameter files: beside the program, or as built in. */
static void model_folder(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		snprintf(slash, size - (size_t)(slash - path), "/models");
		if (!access(path, R_OK))
			return;
	}
	snprintf(path, size, "%s", MODELDIR);
}

/* A name is a file among the models; anything with a / is a path. */
static void model_path(const char *name, char *path, size_t size)
{
	char folder[PATH_MAX - 256];

	model_folder(folder, sizeof(folder));
	if (strchr(name, '/'))
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%s/%.200s.conf", folder, name);
}

static int usage(FILE *f)
{
	fputs("Usage: diskmodel --model=NAME [OPTION]... IMAGE MOUNTPOINT\n"
	      "       diskmodel --model=NAME --simulate=SIZE [--depth=N] <REQUESTS\n"
	      "Serve IMAGE as MOUNTPOINT/disk with the timing of a device.\n\n"
	      "  --model=NAME      a file in models/, or a path\n"
	      "  --set=KEY=VALUE   change a parameter; after --model\n"
	      "  --trace=FILE      write each request to FILE: start in ns,\n"
	      "                    offset, length, r/w/f, latency in ns\n"
	      "  --json=FILE       counters at the end\n"
	      "  --fault=FAULT     eio:OFF+LEN[:DELAY], slow:OFF+LEN:DELAY or\n"
	      "                    eio-after:N; may be repeated\n"
	      "  --compensate=TIME send replies earlier by what FUSE and the\n"
	      "                    loop device add to each request\n"
	      "  --spin=TIME       do not sleep when a reply is due this soon\n"
	      "                    (default: the measured lateness of timers)\n"
	      "  --ready-fd=N      write a byte to descriptor N once mounted\n"
	      "  --follow-parent   exit when the parent process does\n"
	      "  --read-only       open IMAGE for reading only\n"
	      "  --simulate=SIZE   serve `NS OFFSET LENGTH' lines on a clock of its\n"
	      "                    own, and print when each ended\n"
	      "  --depth=N         N in flight instead of each at its time\n",
	      f);
	return f == stderr ? 2 : 0;
}

static int load_model(struct dm_params *p, const char *name)
{
	char path[PATH_MAX], err[PATH_MAX + 128];

	model_path(name, path, sizeof(path));
	if (!dm_params_load(p, path, err, sizeof(err)))
		return 0;
	fprintf(stderr, "diskmodel: %s\n", err);
	return -1;
}

enum { OPT_MODEL = 256, OPT_TRACE, OPT_JSON, OPT_FAULT, OPT_COMPENSATE,
       OPT_SPIN, OPT_READY, OPT_RO, OPT_FOLLOW, OPT_SET,
       OPT_SIMULATE, OPT_DEPTH, OPT_HELP };

static const struct option options[] = {
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "fault", required_argument, NULL, OPT_FAULT },
	{ "compensate", required_argument, NULL, OPT_COMPENSATE },
	{ "spin", required_argument, NULL, OPT_SPIN },
	{ "ready-fd", required_argument, NULL, OPT_READY },
	{ "read-only", no_argument, NULL, OPT_RO },
	{ "follow-parent", no_argument, NULL, OPT_FOLLOW },
	{ "simulate", required_argument, NULL, OPT_SIMULATE },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "set", required_argument, NULL, OPT_SET },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* Returns 0, or -1 if @value is invalid for option @c. */
static int take_option(struct dm_serve *s, int c, const char *value)
{
	switch (c) {
	case OPT_MODEL:
		return load_model(&s->params, value);
	case OPT_SET:
		return dm_params_set(&s->params, value);
	case OPT_TRACE:
		s->trace = value;
		return 0;
	case OPT_JSON:
		s->json = value;
		return 0;
	case OPT_FAULT:
		return dm_fault_add(&s->faults, value);
	case OPT_COMPENSATE:
		return dm_parse_number(value, &s->compensate);
	case OPT_SPIN:
		return dm_parse_number(value, &s->spin);
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
	struct dm_serve s = { .ready_fd = -1, .spin = DM_NEVER };
	uint64_t size = 0, depth = 0;
	int ret = 0;
	const char *problem;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == OPT_HELP)
			return usage(stdout);
		if (c == OPT_SIMULATE)
			ret = dm_parse_number(optarg, &size);
		else if (c == OPT_DEPTH)
			ret = dm_parse_number(optarg, &depth);
		else
			ret = take_option(&s, c, optarg);
		if (ret)
			return usage(stderr);
	}
	if (!*s.params.name || argc - optind != (size ? 0 : 2))
		return usage(stderr);
	problem = dm_params_problem(&s.params);
	if (problem) {
		fprintf(stderr, "diskmodel: %s: %s\n", s.params.name, problem);
		return 1;
	}
	if (size)
		return dm_simulate(&s.params, size, depth);
	s.image = argv[optind];
	s.mountpoint = argv[optind + 1];
	return dm_serve(&s);
}
