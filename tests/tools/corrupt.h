/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The driver of seeded corruptions, and its interface to a filesystem, which
 * finds the locations and has the kinds of corruption.  The driver owns the image,
 * the random sequence of a seed, the values that are unusual in any field, and
 * the line that describes the change.  It knows nothing of any filesystem.
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

/* A structure in the image. */
struct location {
	uint64_t at;		/* offset of its block, bytes */
	uint32_t bytes;		/* length of its block */
	uint64_t block;		/* address of its block; copies have the same */
	uint32_t off, len;	/* bytes, from the start of the block */
	/* For ext4. */
	unsigned kind, seal;
	uint32_t ino;		/* for a bitmap: 1 inodes, 0 blocks */
	uint32_t number;	/* group, level, or journal block */
	/* For btrfs. */
	uint64_t tree, generation;
	uint32_t items;
	uint8_t level;
	bool reached;
};

/* The field that gets another value; off is in bytes from the start of the
 * block. */
struct target {
	char name[64];
	uint32_t off;
	uint32_t size;
	bool big_endian;
};

struct filesystem {
	/* Names of the kinds: a field of some structure, and at the end
	 * "swap", "zero" and "truncate". */
	const char *const *kinds;
	unsigned kind_count;
	/* The seed's first number decides whether all copies of a block are
	 * changed alike, or only one of them. */
	bool has_copies;
	uint64_t super_at;	/* offset of the superblock, bytes */
	/* Read the image and call add_location(). */
	void (*find)(const char *path);
	bool (*has_kind)(const struct location *pl, unsigned kind);
	const struct location *(*pick)(unsigned kind);
	void (*print)(const struct location *pl);
	/* Choose a field of the location in its block. */
	void (*target)(const struct location *pl, unsigned char *block,
		       unsigned kind, struct target *t);
	/* Value number `choice` of 16 for a field.  `other` is any location. */
	uint64_t (*value)(unsigned choice, const struct location *pl,
			  const struct location *other, uint64_t old,
			  uint32_t size);
	/* Recompute the checksum to match, in some cases: true. */
	bool (*seal)(const struct location *pl, unsigned char *block);
};

extern const struct filesystem ext4_filesystem, btrfs_filesystem;

void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...);

/*
 * The image.  Bytes beyond its end read as zeros.
 */
extern int image_fd;
extern uint64_t image_bytes;

void read_at(uint64_t at, void *bytes, size_t size);
void write_at(uint64_t at, const void *bytes, size_t size);

/*
 * The locations.
 */
#define ANY_TREE UINT64_MAX

extern struct location *locations;
extern size_t location_count;

void add_location(const struct location *location);
/* Those of a kind, and of a tree. */
size_t count_locations(unsigned kind, uint64_t tree);
const struct location *pick_location(unsigned kind, uint64_t tree);
/* The block of a location, in a new buffer. */
unsigned char *read_location(const struct location *pl);
/* Write the block, or all its copies. */
void write_location(const struct location *pl, const void *block);

/*
 * The seed's random sequence, the same on every host.  Each number taken shifts
 * all following ones, so the order of calls determines what a seed does.
 */
uint64_t below(uint64_t limit);

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define PICK(array) (&(array)[below(COUNT(array))])

/*
 * Fields and their values.
 */
uint64_t load(const unsigned char *p, uint32_t size, bool big_endian);
void store(unsigned char *p, uint32_t size, bool big_endian, uint64_t value);

/* Value number `choice` of 16: those that are unusual in any kind of field. The
 * others, 6 to 11 and 13, are provided by the filesystem. */
uint64_t odd_value(unsigned choice, uint64_t old, uint32_t size);

#endif
