// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a list of byte ranges from a device and does nothing else: how fast could
 * the same blocks have been read?  The list comes on standard input, one `offset
 * length' per line, multiples of 4096, and is read in its order with so many in
 * flight; rig.py sorts and merges.  The kernel's asynchronous I/O is used from one
 * thread: a thread per request would cost more processor time than the requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEPTH 1024

struct range {
	uint64_t off, len;
};

struct slot {
	struct iocb iocb;
	uint64_t start;
	void *buf;
};

/* What is to be read, and the latencies of what was. */
static struct range *list;
static uint64_t *latency;
static size_t nr, done, failed;

__attribute__((noreturn))
static void die(const char *what, int error)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(error));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns the length of the longest range. */
static uint64_t read_list(void)
{
	uint64_t off, len, largest = 4096;
	size_t max = 0;

	while (scanf("%" SCNu64 " %" SCNu64, &off, &len) == 2) {
		if (nr == max) {
			max = max ? 2 * max : 4096;
			list = realloc(list, max * sizeof(*list));
			if (!list)
				die("memory", ENOMEM);
		}
		list[nr++] = (struct range){ off, len };
		if (len > largest)
			largest = len;
	}
	latency = calloc(nr + 1, sizeof(*latency));
	if (!latency)
		die("memory", ENOMEM);
	return largest;
}

static void submit(aio_context_t ctx, struct slot *s, int fd,
		   const struct range *r)
{
	struct iocb *one = &s->iocb;

	*one = (struct iocb){
		.aio_fildes = (uint32_t)fd,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_buf = (uint64_t)(uintptr_t)s->buf,
		.aio_nbytes = r->len,
		.aio_offset = (int64_t)r->off,
		.aio_data = (uint64_t)(uintptr_t)s,
	};
	s->start = now_ns();
	if (syscall(SYS_io_submit, ctx, 1L, &one) != 1)
		die("asynchronous reads", errno);
}

static void pump(aio_context_t ctx, struct slot *slots, size_t depth, int fd)
{
	struct io_event ev[64];
	size_t next = 0, flying;
	long got, i;

	for (; next < nr && next < depth; next++)
		submit(ctx, &slots[next], fd, &list[next]);
	for (flying = next; flying;) {
		got = syscall(SYS_io_getevents, ctx, 1L, 64L, ev, NULL);
		if (got < 0 && errno != EINTR)
			die("asynchronous reads", errno);
		for (i = 0; i < got; i++) {
			struct slot *s = (void *)(uintptr_t)ev[i].data;

			latency[done++] = now_ns() - s->start;
			failed += (uint64_t)ev[i].res != s->iocb.aio_nbytes;
			flying--;
			if (next < nr) {
				submit(ctx, s, fd, &list[next++]);
				flying++;
			}
		}
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t depth = argc > 2 ? strtoul(argv[2], NULL, 10) : 128, i;
	aio_context_t ctx = 0;
	struct slot *slots;
	uint64_t start, largest;
	int fd;

	if (argc < 2 || argc > 3 || !depth || depth > MAX_DEPTH) {
		fputs("Usage: replay DEVICE [DEPTH] <LIST\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die(argv[1], errno);
	largest = read_list();
	slots = calloc(depth, sizeof(*slots));
	if (!slots)
		die("memory", ENOMEM);
	for (i = 0; i < depth; i++)
		if (posix_memalign(&slots[i].buf, 4096, largest))
			die("memory", ENOMEM);
	if (syscall(SYS_io_setup, (unsigned int)depth, &ctx))
		die("asynchronous reads", errno);
	start = now_ns();
	pump(ctx, slots, depth, fd);
	printf("{\"requests\": %zu, \"failed\": %zu, \"seconds\": %.6f", nr,
	       failed, (double)(now_ns() - start) / 1e9);
	syscall(SYS_io_destroy, ctx);
	qsort(latency, done, sizeof(*latency), compare);
	i = done / 2;
	printf(", \"median_us\": %.1f}\n", (double)latency[i] / 1e3);
	for (i = 0; i < depth; i++)
		free(slots[i].buf);
	free(slots);
	free(latency);
	free(list);
	return 0;
}
