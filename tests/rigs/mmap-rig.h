/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the mmap I/O manager share: two channels of two copies of
 * one image, driven in step, one by the unix manager and one by ours.
 *
 * A test that fails leaves its channel open and with it the SIGBUS handler,
 * which cmocka then covers with its own: the tests after it fail as well.
 * Look at the first failure.
 */
#ifndef MMAP_RIG_H
#define MMAP_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "e2prefetch.h"
#include "two-files.h"

#define IMAGE_SIZE (1024 * 1024 + 700)	/* a short last block of any size */
#define MOST_BYTES (512 * 1024)

/* Callbacks leave what they were given with the channel they belong to. */
struct call {
	int calls;
	unsigned long block;
	int count;
	void *data;
	size_t size;
	int actual;
	errcode_t error;
	errcode_t answer;
};

io_channel open_with(io_manager manager, const char *path, int flags,
		     struct call *call);
io_channel open_mapped(const char *path, int flags, struct call *call);

/* Two channels driven in step: a by the unix manager, b by ours. */
struct pair {
	io_channel a, b;
	struct call call_a, call_b;
	char *buf_a, *buf_b;
	bool cached;
};

/* With the cache of the manager, and without. */
void open_cached(struct pair *pair, const char *a, const char *b, int flags);
void open_pair(struct pair *pair, const char *a, const char *b, int flags);
void close_pair(struct pair *pair);
void assert_same_calls(struct pair *pair);
errcode_t pair_read(struct pair *pair, unsigned long long block, int count);
errcode_t pair_write(struct pair *pair, unsigned long long block, int count);
void pair_set_blksize(struct pair *pair, int size);
void pair_set_offset(struct pair *pair, uint32_t offset);

/* The limit on the size of a file stands for a full disk; `before` is what to
 * set again. */
void fill_disk(struct rlimit *before);

/* Loop devices over path_a and path_b.  False, with a message, where they
 * cannot be had. */
bool attach_both(int *a, int *b, char *name_a, char *name_b);

/* Where libext2fs's own manager is one we do not know, ours steps aside; and
 * finding that out comes before anything is made to fail. */
bool steps_aside(void);

/* Skip where a loop device is not this user's. */
void need_ioctl(int result);

#endif
