/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * btrfs-plan DEVICE...: prints the tree blocks that would be prefetched for a
 * check of the filesystem on these devices, one per line: device index, offset
 * and length in bytes.  Walks the source itself, without an engine.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "btrfs/source.h"

static int fds[PF_MAX_DEVICES];

/* References that have not been parsed yet. */
static struct pf_ref *pending;
static size_t used, room;

__attribute__((noreturn))
static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void accept_ref(void *ctx, const struct pf_ref *ref)
{
	(void)ctx;
	printf("%u %" PRIu64 " %u\n", ref->device, ref->offset, ref->length);
	if (!ref->parse)
		return;
	if (used == room) {
		room = room ? room * 2 : 1024;
		pending = realloc(pending, room * sizeof(*pending));
		if (!pending)
			die("realloc");
	}
	pending[used++] = *ref;
}

static void parse_pending(struct pf_source *source)
{
	char *buf = malloc(65536);

	while (buf && used) {
		struct pf_ref ref = pending[--used];

		if (pread(fds[ref.device], buf, ref.length,
			  (off_t)ref.offset) != (ssize_t)ref.length)
			die("pread");
		source->ops->parse(source, &ref, 0, buf,
				   source->ops->piece(source, &ref, 0), accept_ref,
				   NULL);
	}
	free(buf);
}

static void walk(struct pf_source *source)
{
	const struct pf_options options = { .budget = UINT64_MAX };
	const struct pf_phase *phase;
	uint64_t unit;
	bool more;

	source->ops->begin(source, &options, false);
	for (phase = source->ops->next(source, NULL); phase;
	     phase = source->ops->next(source, phase))
		for (unit = 0; unit < source->ops->units(source, phase->number,
							 &more); unit++) {
			source->ops->seed(source, phase->number, unit, accept_ref,
					  NULL);
			parse_pending(source);
		}
}

/* The blocks of the chunk tree are read when the source is made. */
static int read_chunks(void *ctx, const struct pf_ref *ref, void *bytes)
{
	(void)ctx;
	printf("%u %" PRIu64 " %u\n", ref->device, ref->offset, ref->length);
	return pread(fds[ref->device], bytes, ref->length,
		     (off_t)ref->offset) != (ssize_t)ref->length;
}

int main(int argc, char **argv)
{
	static struct bt_source btrfs;
	unsigned n;

	for (n = 0; n + 1 < (unsigned)argc && n < PF_MAX_DEVICES; n++) {
		fds[n] = open(argv[n + 1], O_RDONLY | O_CLOEXEC);
		if (fds[n] < 0)
			die(argv[n + 1]);
		if (bt_chunk_map_add_device(&btrfs.map, fds[n]))
			return 1;
		btrfs.bytes[n] = (uint64_t)lseek(fds[n], 0, SEEK_END);
	}
	if (!n)
		return 1;
	bt_source_init(&btrfs, read_chunks, NULL);
	walk(&btrfs.source);
	bt_source_fini(&btrfs);
	free(pending);
	return 0;
}
