/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver of seeded corruptions, and what a filesystem brings to it: a table
 * of the kinds of corruption there are.  The driver owns the image, the sequence
 * of numbers that belongs to a seed, the values that are odd in any field, and
 * the line that names what was changed.  It knows no filesystem.
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
	/* Makes one corruption of this kind and prints one line about it. */
	void (*make)(unsigned kind);
};

struct filesystem {
	const struct corruption *kinds;
	unsigned kind_count;
	/* Reads the image and finds the places that can be corrupted. */
	void (*find)(const char *path);
	/* How many places a kind can be made in. */
	size_t (*count)(unsigned kind);
	void (*close)(void);

	/* For swap_blocks().  A place is known by its number. */
	size_t (*pick)(unsigned kind);
	uint64_t (*block)(size_t place);	/* two places may share one */
	void (*read)(size_t place, void *bytes);
	void (*write)(size_t place, const void *bytes);
	void (*print)(size_t place);
};

extern const struct filesystem ext4_filesystem, btrfs_filesystem;

void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...);

/* A buffer of zeros. */
unsigned char *new_buffer(size_t size);
/* The array, with room for one more than `count` elements of `size` bytes. */
void *grown(void *array, size_t count, size_t *room, size_t size);

/*
 * The image.  Bytes behind its end read as zeros.
 */
extern int image_fd;
extern uint64_t image_bytes;

void read_at(uint64_t at, void *bytes, size_t size);
void write_at(uint64_t at, const void *bytes, size_t size);

/*
 * The sequence of the seed.  It is the same on every host, and every number
 * that is taken moves all that follow: the order of calls is part of what a
 * seed means.
 */
uint64_t below(uint64_t limit);

/*
 * Fields and their values.
 */
uint64_t load(const unsigned char *p, uint32_t size, bool big_endian);
void store(unsigned char *p, uint32_t size, bool big_endian, uint64_t value);

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define PICK(fields) (&(fields)[below(COUNT(fields))])

/* Make a field of the structure at `base` the target; `of` is the name that
 * goes in front of its own with `number`, or NULL. */
void set_target(struct target *t, uint32_t base, const struct field *f,
		const char *of, uint32_t number, const char *between);

/* Number `choice` of 16 values: those that are odd in a field of any kind.  The
 * others, 6 to 11 and 13, are a filesystem's own. */
uint64_t odd_value(unsigned choice, uint64_t old, uint32_t size);
/* The value cut to the size of the field, and changed if it is the old one. */
uint64_t other_value(uint64_t value, uint64_t old, uint32_t size);

/* Ends the line that names a corruption. */
void print_change(const struct target *t, uint64_t old, uint64_t value,
		  bool sealed);

/*
 * Corruptions that are alike for all filesystems.
 */

/* Writes a block of `size` bytes over another one, or swaps the two. */
void swap_blocks(const struct filesystem *fs, unsigned kind, size_t size);
/* Cuts the image off. */
void truncate_image(uint64_t size);

#endif
