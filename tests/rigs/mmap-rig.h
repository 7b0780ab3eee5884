/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Shared by the tests of the mmap I/O manager: two channels on two copies of
 * one image, driven in step, one by the unix manager and one by ours.
 *
 * A test that fails leaves its channel open, and with it the SIGBUS handler,
 * which cmocka then replaces by its own.  So the tests after it fail as well:
 * look at the first failure.
 */
#ifndef MMAP_RIG_H
#define MMAP_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "libext2fs/mmap_io.h"

/* Two files in a temporary folder of the test. */
extern char path_a[64], path_b[64];
int make_folder(void **unused);
int remove_folder(void **unused);

/* The same sequence of numbers for a seed on every machine. */
void pick_from(uint32_t seed);
uint32_t pick(uint32_t below);
void fill(char *buf, size_t size);
void make_file(const char *path, size_t size, uint32_t seed);
void assert_same_files(void);

#define IMAGE_SIZE (1024 * 1024 + 700)	/* the last block is short */
#define MOST_BYTES (512 * 1024)

/* Callbacks record their arguments here, one record per channel. */
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

/* Two channels driven in step: a uses the unix manager, b uses ours. */
struct pair {
	io_channel a, b;
	struct call call_a, call_b;
	char *buf_a, *buf_b;
	bool cached;
};

/* open_cached() uses the manager's cache, open_pair() does not. */
void open_cached(struct pair *pair, const char *a, const char *b, int flags);
void open_pair(struct pair *pair, const char *a, const char *b, int flags);
void close_pair(struct pair *pair);
void assert_same_calls(struct pair *pair);
errcode_t pair_read(struct pair *pair, unsigned long long block, int count);
errcode_t pair_write(struct pair *pair, unsigned long long block, int count);
void pair_set_blksize(struct pair *pair, int size);
void pair_set_offset(struct pair *pair, uint32_t offset);

/* Attach loop devices to path_a and path_b.  False, after a message, if none
 * are available. */
bool attach_both(int *a, int *b, char *name_a, char *name_b);

/* Skip the test if this user may not use the loop device. */
void need_ioctl(int result);

#endif
