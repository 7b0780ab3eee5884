// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Direct reads with the kernel's asynchronous I/O, from one thread: a thread
 * per request would cost more processor time than the requests do.  The caller
 * decides what to read.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#define MAX_DEPTH 1024

struct slot {
	struct iocb iocb;
	uint64_t start;
	void *buf;
	uint64_t want;
};

struct load {
	aio_context_t ctx;
	struct slot *slot;
	uint64_t *latency;	/* one for each completed request */
	size_t done;
	unsigned int depth;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int submit(struct load *l, struct slot *s, int fd,
		  const struct load_io *io)
{
	struct iocb *one = &s->iocb;

	memset(one, 0, sizeof(*one));
	one->aio_fildes = (uint32_t)fd;
	one->aio_lio_opcode = IOCB_CMD_PREAD;
	one->aio_buf = (uint64_t)(uintptr_t)s->buf;
	one->aio_nbytes = s->want = io->len;
	one->aio_offset = (int64_t)io->off;
	one->aio_data = (uint64_t)(uintptr_t)s;
	s->start = now_ns();
	return syscall(SYS_io_submit, l->ctx, 1L, &one) == 1 ? 0 : errno;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void summarise(struct load *l, struct load_result *r)
{
	uint64_t sum = 0;
	size_t i;

	if (!l->done)
		return;
	for (i = 0; i < l->done; i++)
		sum += l->latency[i];
	qsort(l->latency, l->done, sizeof(*l->latency), compare);
	r->mean = sum / l->done;
	r->median = l->latency[l->done / 2];
}

static int pump(struct load *l, int fd, const struct load_io *list, size_t n,
		struct load_result *r)
{
	struct io_event ev[64];
	size_t next = 0, flying;
	long got, i;
	int err;

	for (; next < n && next < l->depth; next++) {
		err = submit(l, &l->slot[next], fd, &list[next]);
		if (err)
			return err;
	}
	for (flying = next; flying;) {
		got = syscall(SYS_io_getevents, l->ctx, 1L, 64L, ev, NULL);
		if (got < 0 && errno != EINTR)
			return errno;
		for (i = 0; i < got; i++) {
			struct slot *s = (void *)(uintptr_t)ev[i].data;

			l->latency[l->done++] = now_ns() - s->start;
			if ((uint64_t)ev[i].res == s->want)
				r->bytes += s->want;
			else
				r->failed++;
			flying--;
			if (next < n) {
				err = submit(l, s, fd, &list[next++]);
				if (err)
					return err;
				flying++;
			}
		}
	}
	return 0;
}

static int set_up(struct load *l, const struct load_io *list, size_t n)
{
	uint64_t largest = LOAD_ALIGN;
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].len > largest)
			largest = list[i].len;
	l->latency = calloc(n ? n : 1, sizeof(*l->latency));
	l->slot = calloc(l->depth, sizeof(*l->slot));
	if (!l->latency || !l->slot)
		return ENOMEM;
	for (i = 0; i < l->depth; i++)
		if (posix_memalign(&l->slot[i].buf, LOAD_ALIGN, largest))
			return ENOMEM;
	if (syscall(SYS_io_setup, l->depth, &l->ctx))
		return errno;
	return 0;
}

int load_run(int fd, const struct load_io *list, size_t n,
	     unsigned int depth, struct load_result *result)
{
	struct load l = {
		.depth = depth < 1 ? 1 : depth > MAX_DEPTH ? MAX_DEPTH : depth,
	};
	uint64_t start;
	unsigned int i;
	int err;

	memset(result, 0, sizeof(*result));
	err = set_up(&l, list, n);
	start = now_ns();
	if (!err)
		err = pump(&l, fd, list, n, result);
	result->elapsed = now_ns() - start;
	if (!err)
		summarise(&l, result);
	/* Waits for what is still in flight. */
	if (l.ctx)
		syscall(SYS_io_destroy, l.ctx);
	for (i = 0; l.slot && i < l.depth; i++)
		free(l.slot[i].buf);
	free(l.slot);
	free(l.latency);
	return err;
}
