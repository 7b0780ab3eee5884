// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a list of byte ranges from a device and does nothing else: how fast
 * could the same blocks have been read?  The list comes on standard input, one
 * `offset length' per line; options choose the order and what is merged.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

struct list {
	struct load_io *io;
	size_t n, max;
};

static void die(const char *what)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void add(struct list *l, uint64_t off, uint64_t len)
{
	if (l->n == l->max) {
		l->max = l->max ? 2 * l->max : 4096;
		l->io = realloc(l->io, l->max * sizeof(*l->io));
		if (!l->io)
			die("memory");
	}
	l->io[l->n++] = (struct load_io){ off, len };
}

static void read_list(struct list *l)
{
	uint64_t off, len, end;

	while (scanf("%" SCNu64 " %" SCNu64, &off, &len) == 2) {
		end = (off + len + LOAD_ALIGN - 1) / LOAD_ALIGN * LOAD_ALIGN;
		off = off / LOAD_ALIGN * LOAD_ALIGN;
		add(l, off, end - off);
	}
}

static void made_up(struct list *l, uint64_t size, size_t n, uint64_t bs,
		    bool random)
{
	uint64_t state = 88172645463325252ULL, at;
	size_t i;

	for (i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		at = random ? state % (size / bs) : i % (size / bs);
		add(l, at * bs, bs);
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct load_io *x = a, *y = b;

	return (x->off > y->off) - (x->off < y->off);
}

/* Merge ranges with gaps of at most @gap, up to @largest bytes. */
static void merge(struct list *l, uint64_t gap, uint64_t largest)
{
	struct load_io *to, *from;
	uint64_t end;

	if (!l->n)
		return;
	to = l->io;
	for (from = l->io + 1; from < l->io + l->n; from++) {
		end = to->off + to->len;
		if (from->off >= to->off && from->off <= end + gap &&
		    from->off + from->len - to->off <= largest) {
			if (from->off + from->len > end)
				to->len = from->off + from->len - to->off;
		} else {
			*++to = *from;
		}
	}
	l->n = (size_t)(to - l->io) + 1;
}

static int usage(FILE *f)
{
	fputs("Usage: replay [OPTION]... DEVICE <LIST\n"
	      "Read ranges, `offset length' per line, and print a report.\n\n"
	      "  --depth=N       reads in flight (128)\n"
	      "  --sorted        read by offset, not in the list's order\n"
	      "  --gap=BYTES     read through gaps up to this size (0)\n"
	      "  --max=BYTES     largest read made by merging (131072)\n"
	      "  --random=N      N random reads instead of a list\n"
	      "  --sequential=N  N reads in sequence instead of a list\n"
	      "  --bs=BYTES      size of these reads (4096)\n", f);
	return f == stderr ? 2 : 0;
}

struct options {
	unsigned long depth, gap, max, random, sequential, bs;
	bool sorted;
};

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
		{ "depth", required_argument, NULL, 'd' },
		{ "sorted", no_argument, NULL, 's' },
		{ "gap", required_argument, NULL, 'g' },
		{ "max", required_argument, NULL, 'm' },
		{ "random", required_argument, NULL, 'r' },
		{ "sequential", required_argument, NULL, 'q' },
		{ "bs", required_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned long v;
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		v = optarg ? strtoul(optarg, NULL, 10) : 0;
		switch (c) {
		case 'd': o->depth = v; break;
		case 's': o->sorted = true; break;
		case 'g': o->gap = v; break;
		case 'm': o->max = v; break;
		case 'r': o->random = v; break;
		case 'q': o->sequential = v; break;
		case 'b': o->bs = v; break;
		default: return -1;
		}
	}
	return optind == argc - 1 && o->bs && o->bs % LOAD_ALIGN == 0 ?
		0 : -1;
}

static void report(const struct list *l, const struct load_result *r)
{
	printf("{\"requests\": %zu, \"bytes\": %" PRIu64
	       ", \"failed\": %" PRIu64 ", \"seconds\": %.6f"
	       ", \"mean_us\": %.1f, \"median_us\": %.1f}\n", l->n, r->bytes,
	       r->failed, (double)r->elapsed / 1e9, (double)r->mean / 1e3,
	       (double)r->median / 1e3);
}

int main(int argc, char **argv)
{
	struct options o = { .depth = 128, .max = 131072, .bs = 4096 };
	struct load_result result;
	struct list l = { .io = NULL };
	off_t size;
	int fd, err;

	if (parse(argc, argv, &o))
		return usage(stderr);
	fd = open(argv[optind], O_RDONLY | O_DIRECT | O_CLOEXEC);
	size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	if (size < (off_t)o.bs)
		die(argv[optind]);
	if (o.random || o.sequential) {
		made_up(&l, (uint64_t)size, o.random ? o.random :
			o.sequential, o.bs, o.random);
	} else {
		read_list(&l);
		if (o.sorted)
			qsort(l.io, l.n, sizeof(*l.io), by_offset);
		merge(&l, o.gap, o.max);
	}
	err = load_run(fd, l.io, l.n, (unsigned int)o.depth, &result);
	if (err) {
		errno = err;
		die("asynchronous reads");
	}
	report(&l, &result);
	free(l.io);
	close(fd);
	return 0;
}
