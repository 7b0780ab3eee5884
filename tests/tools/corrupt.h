/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The driver of seeded corruptions, and its interface to a filesystem: a table
 * of the possible kinds of corruption.  The driver owns the image, the random
 * sequence of a seed, the values that are unusual in any field, and the line
 * that describes the change.  It knows nothing of any filesystem.
 */
#ifndef CORRUPT_H
#define CORRUPT_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
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

/* The field that gets another value; off is in bytes from the start of its
 * structure. */
struct target {
	char name[64];
	uint32_t off;
	uint32_t size;
	bool big_endian;
};

struct corruption {
	const char *name;
	/* Make one corruption of this kind and print one line about it. */
	void (*make)(unsigned kind);
};

struct filesystem {
	const struct corruption *kinds;
	unsigned kind_count;
	/* Read the image and find the places that can be corrupted. */
	void (*find)(const char *path);
	/* Number of places for this kind. */
	size_t (*count)(unsigned kind);

	/* For swap_blocks().  A place is identified by its number. */
	size_t (*pick)(unsigned kind);
	uint64_t (*block)(size_t place);	/* two places may share it */
	void (*read)(size_t place, void *bytes);
	void (*write)(size_t place, const void *bytes);
	void (*print)(size_t place);
};

extern const struct filesystem ext4_filesystem, btrfs_filesystem;

void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...);

/* Allocate a buffer of zeros. */
unsigned char *new_buffer(size_t size);
/* Returns the array with room for one more than `count` elements of `size`
 * bytes. */
void *grown(void *array, size_t count, size_t *room, size_t size);

/*
 * The image.  Bytes beyond its end read as zeros.
 */
extern int image_fd;
extern uint64_t image_bytes;

void read_at(uint64_t at, void *bytes, size_t size);
void write_at(uint64_t at, const void *bytes, size_t size);

/*
 * The seed's random sequence, the same on every host.  Each number taken shifts
 * all following ones, so the order of calls determines what a seed does.
 */
uint64_t below(uint64_t limit);

/*
 * Fields and their values.
 */
uint64_t load(const unsigned char *p, uint32_t size, bool big_endian);
void store(unsigned char *p, uint32_t size, bool big_endian, uint64_t value);

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define PICK(fields) (&(fields)[below(COUNT(fields))])

/* Make a field of the structure at `base` the target.  Its name is preceded by
 * `of` and `number`, unless `of` is NULL. */
void set_target(struct target *t, uint32_t base, const struct field *f,
		const char *of, uint32_t number, const char *between);

/* Value number `choice` of 16: those that are unusual in any kind of field. The
 * others, 6 to 11 and 13, are provided by the filesystem. */
uint64_t odd_value(unsigned choice, uint64_t old, uint32_t size);
/* The value truncated to the field's size, and changed if it equals the old
 * one. */
uint64_t other_value(uint64_t value, uint64_t old, uint32_t size);

/* End the line that describes a corruption. */
void print_change(const struct target *t, uint64_t old, uint64_t value,
		  bool sealed);

/*
 * Corruptions that are the same for all filesystems.
 */

/* Overwrite one block of `size` bytes with another, or swap the two. */
void swap_blocks(const struct filesystem *fs, unsigned kind, size_t size);
/* Truncate the image. */
void truncate_image(uint64_t size);

#endif
