/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Shared by the fuzz targets: takes bytes from the input, in order.  Bytes
 * beyond its end are zero.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *bytes;
	size_t left;
};

/* A separate allocation, so that a sanitizer catches a read beyond its end. */
__attribute__((unused))
static uint8_t *take(struct input *in, size_t size)
{
	uint8_t *copy = calloc(1, size ? size : 1);
	size_t have = in->left < size ? in->left : size;

	if (!copy)
		abort();
	if (have)
		memcpy(copy, in->bytes, have);
	in->bytes += have;
	in->left -= have;
	return copy;
}

__attribute__((unused))
static uint8_t take_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->bytes++;
}

__attribute__((unused))
static uint32_t take_number(struct input *in, unsigned bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | take_byte(in);
	return value;
}

/* The bytes up to a zero byte, which is consumed, or up to the end of the
 * input, as a string. */
__attribute__((unused))
static char *take_string(struct input *in)
{
	const uint8_t *zero = in->left ? memchr(in->bytes, 0, in->left) : NULL;
	size_t len = zero ? (size_t)(zero - in->bytes) : in->left;
	char *copy = malloc(len + 1);

	if (!copy)
		abort();
	if (len)
		memcpy(copy, in->bytes, len);
	copy[len] = '\0';
	in->bytes += len;
	in->left -= len;
	if (zero)
		take_byte(in);
	return copy;
}

#endif
