/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs share that make one seeded corruption of an image: a sequence
 * of numbers, fields of structures and the values that they get, reads and
 * writes of the image.  Knows no filesystem.
 */
#ifndef CORRUPT_H
#define CORRUPT_H

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct field {
	const char *name;
	uint16_t off;
	uint8_t size;
};

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list ap;

	fputs("corrupt: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/* The image, open for writing. */
static int image_fd;

/* What is behind its end is zero. */
static void read_at(uint64_t at, void *bytes, size_t size)
{
	ssize_t got = pread(image_fd, bytes, size, at);

	if (got < 0)
		die("%s", strerror(errno));
	memset((char *)bytes + got, 0, size - got);
}

static void write_at(uint64_t at, const void *bytes, size_t size)
{
	if (pwrite(image_fd, bytes, size, at) != (ssize_t)size)
		die("%s", strerror(errno));
}

static uint64_t seed_state;

/* splitmix64: a fixed sequence for a seed, the same on every host. */
static uint64_t next_random(void)
{
	uint64_t z = (seed_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t limit)
{
	return limit ? next_random() % limit : 0;
}

static uint64_t load(const unsigned char *p, uint32_t size, int big_endian)
{
	uint64_t value = 0;
	uint32_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)p[i] << 8 * (big_endian ? size - 1 - i : i);
	return value;
}

static void store(unsigned char *p, uint32_t size, int big_endian,
		  uint64_t value)
{
	uint32_t i;

	for (i = 0; i < size; i++)
		p[i] = value >> 8 * (big_endian ? size - 1 - i : i);
}

/* The largest value of a field. */
static uint64_t most_of(uint32_t size)
{
	return size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
}

/* A buffer of zeros. */
static unsigned char *new_buffer(size_t size)
{
	unsigned char *buf = calloc(1, size);

	if (!buf)
		die("out of memory");
	return buf;
}

/* Number `choice` of 16 values: those that are odd in a field of any kind.  The
 * others, 6 to 11 and 13, are a filesystem's own. */
static uint64_t odd_value(unsigned choice, uint64_t old, uint32_t size)
{
	switch (choice) {
	case 0: return 0;
	case 1: return 1;
	case 2: return most_of(size);
	case 3: return most_of(size) / 2 + 1;
	case 4: return old + 1;
	case 5: return old - 1;
	case 12: return below(64);
	case 14: return old ^ (UINT64_C(1) << below(8 * size));
	default: return next_random();
	}
}

/* The value as the field can have it, but never the old one. */
static uint64_t other_value(uint64_t value, uint64_t old, uint32_t size)
{
	value &= most_of(size);
	if (value == old)
		value ^= UINT64_C(1) << below(8 * size);
	return value;
}

#endif
