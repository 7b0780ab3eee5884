/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times different ways to read scattered blocks into the page cache, to decide
 * which of them to use.
 *
 *	methods DEVICE METHOD [BLOCKS [THREADS]]
 *
 * METHOD is fadvise, look (mincore(2) first), nowait (preadv2(2) with
 * RWF_NOWAIT, which starts the read of missing blocks), populate, pread or
 * uring.  The blocks have 4 KiB each, at pseudo-random places all over DEVICE,
 * in ascending order as in an elevator pass.  No part of DEVICE should be
 * cached before.  Prints the seconds until all blocks are cached, and the
 * processor time of this process.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_LIBURING
#include <liburing.h>
#endif

#define BLOCK 4096u
#define URING_DEPTH 128u

/* Linux 5.14; installed headers may be older than the running kernel. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

struct task {
	int fd;
	const char *map;
	const uint64_t *offset;
	size_t count;
};

static void do_fadvise(const struct task *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		posix_fadvise(t->fd, (off_t)t->offset[i], BLOCK,
			      POSIX_FADV_WILLNEED);
}

static void do_look(const struct task *t)
{
	unsigned char there;
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (mincore((char *)t->map + t->offset[i], BLOCK, &there))
			err(1, "mincore");
		if (!(there & 1))
			posix_fadvise(t->fd, (off_t)t->offset[i], BLOCK,
				      POSIX_FADV_WILLNEED);
	}
}

#ifdef RWF_NOWAIT	/* musl has preadv2(2) since 1.2.5 */
static void do_nowait(const struct task *t)
{
	char buf[BLOCK];
	const struct iovec iov = { .iov_base = buf, .iov_len = BLOCK };
	size_t i;

	for (i = 0; i < t->count; i++)
		if (preadv2(t->fd, &iov, 1, (off_t)t->offset[i],
			    RWF_NOWAIT) < 0 && errno != EAGAIN)
			err(1, "preadv2");
}
#endif

static void do_populate(const struct task *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (madvise((char *)t->map + t->offset[i], BLOCK,
			    MADV_POPULATE_READ))
			err(1, "MADV_POPULATE_READ");
}

static void do_pread(const struct task *t)
{
	char buf[BLOCK];
	size_t i;

	for (i = 0; i < t->count; i++)
		if (pread(t->fd, buf, BLOCK, (off_t)t->offset[i]) < 0)
			err(1, "pread");
}

static void do_uring(const struct task *t)
{
#ifdef HAVE_LIBURING
	static __thread char bufs[URING_DEPTH][BLOCK];
	struct io_uring ring;
	struct io_uring_cqe *cqe;
	size_t sent = 0, done = 0;

	if (io_uring_queue_init(URING_DEPTH, &ring, 0))
		errx(1, "io_uring is not available");
	while (done < t->count) {
		while (sent < t->count && sent - done < URING_DEPTH) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

			io_uring_prep_read(sqe, t->fd,
					   bufs[sent % URING_DEPTH], BLOCK,
					   t->offset[sent]);
			sent++;
		}
		io_uring_submit_and_wait(&ring, 1);
		while (!io_uring_peek_cqe(&ring, &cqe)) {
			if (cqe->res < 0)
				errx(1, "read: %s", strerror(-cqe->res));
			io_uring_cqe_seen(&ring, cqe);
			done++;
		}
	}
	io_uring_queue_exit(&ring);
#else
	(void)t;
	errx(1, "built without liburing");
#endif
}

static const struct method {
	const char *name;
	void (*run)(const struct task *t);
} methods[] = {
	{ "fadvise", do_fadvise }, { "look", do_look },
#ifdef RWF_NOWAIT
	{ "nowait", do_nowait },
#endif
	{ "populate", do_populate }, { "pread", do_pread },
	{ "uring", do_uring }
};

static const struct method *method;

static void *thread_main(void *task)
{
	method->run(task);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t *places(size_t count, uint64_t size)
{
	uint64_t *offset = calloc(count, sizeof(*offset)), x = 88172645463325252;
	size_t i;

	if (!offset)
		err(1, NULL);
	for (i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		offset[i] = x % (size / BLOCK) * BLOCK;
	}
	qsort(offset, count, sizeof(*offset), by_value);
	return offset;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Each thread takes a part of the list; then wait for all blocks. */
static void run(const struct task *all, unsigned threads)
{
	pthread_t id[64];
	struct task part[64];
	unsigned i;

	for (i = 0; i < threads; i++) {
		size_t from = all->count * i / threads;

		part[i] = *all;
		part[i].offset += from;
		part[i].count = all->count * (i + 1) / threads - from;
		if (pthread_create(&id[i], NULL, thread_main, &part[i]))
			errx(1, "no thread");
	}
	for (i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	do_pread(all);
}

int main(int argc, char **argv)
{
	size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 10000, i;
	unsigned threads = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	struct rusage usage;
	struct task all;
	double began;
	off_t size;

	for (i = 0; argc > 2 && i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(argv[2], methods[i].name))
			method = &methods[i];
	if (!method || !count || threads < 1 || threads > 64)
		errx(2, "usage: methods DEVICE fadvise|look|nowait|populate|pread|"
		     "uring [BLOCKS [THREADS]]");
	all.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (all.fd < 0)
		err(1, "%s", argv[1]);
	size = lseek(all.fd, 0, SEEK_END);
	posix_fadvise(all.fd, 0, 0, POSIX_FADV_RANDOM);
	all.map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, all.fd, 0);
	if (size < (off_t)BLOCK || all.map == MAP_FAILED)
		errx(1, "%s: cannot map it", argv[1]);
	all.offset = places(count, (uint64_t)size);
	all.count = count;
	began = seconds();
	run(&all, threads);
	began = seconds() - began;
	getrusage(RUSAGE_SELF, &usage);
	printf("%-8s %u threads %zu blocks: %.3f s, processor %.3f s\n",
	       method->name, threads, count, began,
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	return 0;
}
