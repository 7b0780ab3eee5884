/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See two-files.h. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "two-files.h"

static char folder[] = "/tmp/two-files.XXXXXX";
char path_a[64], path_b[64], path_undo[64];

/* A linear congruential generator: the same numbers on every machine. */
static uint32_t state = 1;

void pick_from(uint32_t seed)
{
	state = seed;
}

uint32_t pick(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)state * below) >> 32);
}

void fill(char *buf, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		buf[i] = (char)pick(256);
}

void make_file(const char *path, size_t size, uint32_t seed)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *buf = malloc(size + 1);

	assert_true(fd >= 0);
	assert_non_null(buf);
	pick_from(seed);
	fill(buf, size);
	assert_int_equal(write(fd, buf, size), size);
	assert_int_equal(fsync(fd), 0);
	free(buf);
	close(fd);
}

void assert_same_files(void)
{
	static char a[65536], b[65536];
	int fa = open(path_a, O_RDONLY), fb = open(path_b, O_RDONLY);
	ssize_t na, nb;

	do {
		na = read(fa, a, sizeof(a));
		nb = read(fb, b, sizeof(b));
		assert_int_equal(na, nb);
		assert_true(na >= 0);
		assert_memory_equal(a, b, (size_t)na);
	} while (na > 0);
	close(fa);
	close(fb);
}

int make_folder(void **unused)
{
	(void)unused;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path_a, sizeof(path_a), "%s/a", folder);
	snprintf(path_b, sizeof(path_b), "%s/b", folder);
	snprintf(path_undo, sizeof(path_undo), "%s/undo", folder);
	return 0;
}

int remove_folder(void **unused)
{
	(void)unused;
	unlink(path_a);
	unlink(path_b);
	unlink(path_undo);
	return rmdir(folder);
}
