/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The version of libext2fs does not tell how its unix manager caches:
 * distributions carry fixes, and there will be versions that did not exist when
 * this was written.  So the same operations are tried on two managers.
 *
 * Decides which operations those are: a fixed sequence over a few more blocks
 * than the cache holds, some past the end of a file that cannot grow, with and
 * without error callbacks.  Does not know what either manager does.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io_trial.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* Blocks of 1 KiB.  There are twice as many as the cache holds, so that some
 * are found in it and some are not, and a few past the end of the file. */
#define BLOCKS 16u
#define BEYOND 3u
#define BLOCK 1024u
#define SIZE (BLOCKS * BLOCK)

/* The maximum number of blocks in one operation.  Operations on more than four
 * bypass the cache. */
#define MOST 6u

#define STEPS 500u

/* Callbacks get no context argument: they record into the side that is being
 * tested (`at`). */
struct side {
	io_channel channel;
	int fd;
	const unsigned char *map;
	unsigned char buf[MOST * BLOCK];
	uint64_t notes;		/* a hash of the callbacks' arguments */
};

struct step {
	unsigned what;
	unsigned block, count;
	unsigned char fill;
};

static __thread struct side *at;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717) >> 32;
}

static void note(uint64_t value)
{
	at->notes = (at->notes ^ value) * UINT64_C(1099511628211) + 1;
}

static void note_data(const unsigned char *data, size_t size)
{
	note(data != NULL);
	while (data && size--)
		note(*data++);
}

static errcode_t on_read_error(io_channel channel, unsigned long block,
			       int count, void *data, size_t size, int actual,
			       errcode_t error)
{
	(void)channel;
	note(block);
	note((uint64_t)count);
	note(size);
	note((uint64_t)actual);
	note((uint64_t)error);
	note_data(data, size);
	/* Every other error is ignored, as a user may choose to do. */
	return block % 2 ? error : 0;
}

static errcode_t on_write_error(io_channel channel, unsigned long block,
				int count, const void *data, size_t size,
				int actual, errcode_t error)
{
	(void)channel;
	note(block);
	note((uint64_t)count);
	note(size);
	note((uint64_t)actual);
	note((uint64_t)error);
	note_data(data, size);
	return block % 2 ? error : 0;
}

/* Make a memory file that cannot grow, and fill it. */
static int make_file(void)
{
	unsigned char fill[BLOCK];
	unsigned i;
	long fd;

	fd = syscall(SYS_memfd_create, "e2prefetch",
		     MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0)
		fd = syscall(SYS_memfd_create, "e2prefetch",
			     MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	for (i = 0; i < BLOCKS; i++) {
		memset(fill, (int)(0x40 + i), sizeof(fill));
		if (pwrite((int)fd, fill, sizeof(fill), i * BLOCK) !=
		    (ssize_t)sizeof(fill))
			break;
	}
	if (i == BLOCKS &&
	    fcntl((int)fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0)
		return (int)fd;
	close((int)fd);
	return -1;
}

static bool open_side(struct side *s, io_manager manager)
{
	char name[64];
	void *map;

	s->fd = make_file();
	if (s->fd < 0)
		return false;
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, s->fd, 0);
	if (map == MAP_FAILED)
		return false;
	s->map = map;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", s->fd);
	return manager->open(name, IO_FLAG_RW, &s->channel) == 0 &&
	       s->channel->manager->zeroout && s->channel->manager->discard;
}

static void release_side(struct side *s)
{
	if (s->map)
		munmap((void *)s->map, SIZE);
	if (s->fd >= 0)
		close(s->fd);
}

static struct step make_step(uint64_t *state)
{
	struct step st;

	st.what = (unsigned)(random_next(state) % 64);
	st.count = 1 + (unsigned)(random_next(state) % 8);
	/* Like a checker, use one or two blocks more often than more. */
	if (st.count > MOST)
		st.count -= MOST;
	st.block = (unsigned)(random_next(state) % (BLOCKS + BEYOND));
	st.fill = (unsigned char)random_next(state);
	return st;
}

static errcode_t do_bytes(struct side *s, const struct step *st)
{
	struct struct_io_manager *m = s->channel->manager;
	int bytes = 100 + st->fill;

	if (st->what % 2)
		return m->read_blk64(s->channel, st->block, -bytes, s->buf);
	memset(s->buf, st->fill, sizeof(s->buf));
	return m->write_blk64(s->channel, st->block, -bytes, s->buf);
}

static errcode_t do_rare(struct side *s, const struct step *st)
{
	struct struct_io_manager *m = s->channel->manager;
	io_channel c = s->channel;

	switch (st->what) {
	case 0:
		return m->set_blksize(c, st->fill % 2 ? 512 : BLOCK);
	case 1:
		return m->set_option(c, "cache", "off");
	case 2:
	case 3:
		return m->set_option(c, "cache", "on");
	case 4:
		c->flags ^= CHANNEL_FLAGS_WRITETHROUGH;
		return 0;
	case 5:
		c->write_error = c->write_error ? NULL : on_write_error;
		return 0;
	case 6:
		c->read_error = c->read_error ? NULL : on_read_error;
		return 0;
	case 7:
		return m->write_byte(c, st->block * BLOCK + st->fill, 3,
				     "byte");
	case 8:
	case 9:
		return m->flush(c);
	case 10:
		return m->zeroout(c, st->block % (BLOCKS / 2), st->count);
	case 11:
		return m->discard(c, st->block % (BLOCKS / 2), st->count);
	default:
		return do_bytes(s, st);
	}
}

static errcode_t do_step(struct side *s, const struct step *st)
{
	struct struct_io_manager *m = s->channel->manager;

	at = s;
	memset(s->buf, 0, sizeof(s->buf));
	if (st->what < 16)
		return do_rare(s, st);
	if (st->what % 2)
		return m->read_blk64(s->channel, st->block, (int)st->count,
				     s->buf);
	memset(s->buf, st->fill, sizeof(s->buf));
	return m->write_blk64(s->channel, st->block, (int)st->count, s->buf);
}

/* Compare the fields that the managers have; the first member is their
 * number. */
static bool same_stats(struct side *a, struct side *b)
{
	io_stats x = NULL, y = NULL;
	size_t i, head = offsetof(struct struct_io_stats, bytes_read);

	if (a->channel->manager->get_stats(a->channel, &x) ||
	    b->channel->manager->get_stats(b->channel, &y) || !x || !y ||
	    x->num_fields != y->num_fields || x->num_fields < 2 ||
	    x->num_fields > 4)
		return false;
	for (i = 0; i < (size_t)x->num_fields; i++)
		if (memcmp((const char *)x + head + i * 8,
			   (const char *)y + head + i * 8, 8))
			return false;
	return true;
}

/*
 * This range wraps around to the start of the file and cannot be zeroed.  Do
 * both managers conclude the same about later ranges?
 */
static bool same_zeroout(struct side *a, struct side *b)
{
	unsigned long long block[] = { 1, 0, 2 };
	size_t i;

	block[1] = UINT64_MAX / (unsigned)a->channel->block_size;
	for (i = 0; i < 3; i++) {
		at = a;
		if (a->channel->manager->zeroout(a->channel, block[i], 1) !=
		    b->channel->manager->zeroout(b->channel, block[i], 1) ||
		    a->channel->flags != b->channel->flags ||
		    memcmp(a->map, b->map, SIZE))
			return false;
	}
	return true;
}

static bool same_steps(struct side *a, struct side *b)
{
	uint64_t state = 20140801;
	unsigned i;

	for (i = 0; i < STEPS; i++) {
		struct step st = make_step(&state);

		if (do_step(a, &st) != do_step(b, &st) ||
		    a->notes != b->notes ||
		    memcmp(a->buf, b->buf, sizeof(a->buf)) ||
		    memcmp(a->map, b->map, SIZE) ||
		    a->channel->block_size != b->channel->block_size ||
		    a->channel->flags != b->channel->flags)
			return false;
	}
	return same_zeroout(a, b) && same_stats(a, b);
}

/* Closing flushes blocks, which is compared as well. */
static bool same_close(struct side *a, struct side *b)
{
	errcode_t x, y;

	at = a;
	x = a->channel->manager->close(a->channel);
	a->channel = NULL;
	at = b;
	y = b->channel->manager->close(b->channel);
	b->channel = NULL;
	return x == y && a->notes == b->notes && !memcmp(a->map, b->map, SIZE);
}

static bool may_write_files(void)
{
	struct rlimit size;

	return getrlimit(RLIMIT_FSIZE, &size) == 0 &&
	       size.rlim_cur >= 4 * SIZE;
}

bool e2pf_io_alike(io_manager a, io_manager b)
{
	struct side *s = calloc(2, sizeof(*s));
	bool alike = false;

	if (!s || !may_write_files()) {
		free(s);
		return false;
	}
	s[0].fd = s[1].fd = -1;
	if (open_side(&s[0], a) && open_side(&s[1], b))
		alike = same_steps(&s[0], &s[1]) && same_close(&s[0], &s[1]);
	at = &s[0];
	if (s[0].channel)
		s[0].channel->manager->close(s[0].channel);
	at = &s[1];
	if (s[1].channel)
		s[1].channel->manager->close(s[1].channel);
	release_side(&s[0]);
	release_side(&s[1]);
	free(s);
	return alike;
}
