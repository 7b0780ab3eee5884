// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * corrupt: makes one seeded corruption in a sound ext2, ext3, ext4 or btrfs
 * image (btrfs on one device only), and prints one line that describes it.  The
 * filesystem's part finds the structures; the seed selects a structure, one of
 * its fields and a value.  In many cases the checksum is recomputed to match,
 * because a checker does not look beyond a wrong checksum.  This program knows
 * nothing about what a checker does with the result.
 *
 *   corrupt IMAGE SEED [KIND]
 */
#include <fcntl.h>
#include <stdarg.h>

#include "corrupt.h"

#define BTRFS_MAGIC_AT	65600
#define BTRFS_MAGIC	"_BHRfS_M"

int image_fd = -1;
uint64_t image_bytes;
struct location *locations;
size_t location_count;
static size_t location_room;
static const struct filesystem *fs;
static bool all_copies;
static uint64_t seed_state;

void die(const char *format, ...)
{
	va_list ap;

	fputs("corrupt: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

void read_at(uint64_t at, void *bytes, size_t size)
{
	ssize_t got = pread(image_fd, bytes, size, at);

	if (got < 0)
		die("%s", strerror(errno));
	memset((char *)bytes + got, 0, size - got);
}

void write_at(uint64_t at, const void *bytes, size_t size)
{
	if (pwrite(image_fd, bytes, size, at) != (ssize_t)size)
		die("%s", strerror(errno));
}

void add_location(const struct location *location)
{
	if (location_count == location_room) {
		location_room = location_room ? 2 * location_room : 1024;
		locations = realloc(locations,
				    location_room * sizeof(*locations));
		if (!locations)
			die("out of memory");
	}
	locations[location_count++] = *location;
}

static bool is_in(const struct location *pl, unsigned kind, uint64_t tree)
{
	return fs->has_kind(pl, kind) && (tree == ANY_TREE || pl->tree == tree);
}

size_t count_locations(unsigned kind, uint64_t tree)
{
	size_t count = 0, i;

	for (i = 0; i < location_count; i++)
		count += is_in(&locations[i], kind, tree);
	return count;
}

const struct location *pick_location(unsigned kind, uint64_t tree)
{
	size_t count = count_locations(kind, tree), n;
	const struct location *pl;

	if (!count)
		die("no %s here", fs->kinds[kind]);
	n = below(count);
	for (pl = locations;; pl++)
		if (is_in(pl, kind, tree) && !n--)
			return pl;
}

unsigned char *read_location(const struct location *pl)
{
	unsigned char *block = malloc(pl->bytes);

	if (!block)
		die("out of memory");
	read_at(pl->at, block, pl->bytes);
	return block;
}

void write_location(const struct location *pl, const void *block)
{
	size_t i;

	write_at(pl->at, block, pl->bytes);
	for (i = 0; all_copies && i < location_count; i++)
		if (locations[i].block == pl->block)
			write_at(locations[i].at, block, pl->bytes);
}

/* splitmix64: a fixed sequence for each seed. */
static uint64_t next_random(void)
{
	uint64_t z = (seed_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t below(uint64_t limit)
{
	return limit ? next_random() % limit : 0;
}

uint64_t load(const unsigned char *p, uint32_t size, bool big_endian)
{
	uint64_t value = 0;
	uint32_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)p[i] << 8 * (big_endian ? size - 1 - i : i);
	return value;
}

void store(unsigned char *p, uint32_t size, bool big_endian, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < size; i++)
		p[i] = value >> 8 * (big_endian ? size - 1 - i : i);
}

/* The largest value that fits into a field. */
static uint64_t max_of(uint32_t size)
{
	return size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
}

uint64_t odd_value(unsigned choice, uint64_t old, uint32_t size)
{
	switch (choice) {
	case 0: return 0;
	case 1: return 1;
	case 2: return max_of(size);
	case 3: return max_of(size) / 2 + 1;
	case 4: return old + 1;
	case 5: return old - 1;
	case 12: return below(64);
	case 14: return old ^ (UINT64_C(1) << below(8 * size));
	default: return next_random();
	}
}

/* Change a field of one location. */
static void change_field(unsigned kind)
{
	const struct location *pl = fs->pick(kind), *other;
	unsigned char *block = read_location(pl);
	struct target t = { .big_endian = false };
	uint64_t old, value;
	unsigned choice;
	bool sealed;

	fs->target(pl, block, kind, &t);
	old = load(block + t.off, t.size, t.big_endian);
	other = &locations[below(location_count)];
	choice = below(16);
	value = fs->value(choice, pl, other, old, t.size) & max_of(t.size);
	if (value == old)
		value ^= UINT64_C(1) << below(8 * t.size);
	store(block + t.off, t.size, t.big_endian, value);
	sealed = fs->seal(pl, block);
	write_location(pl, block);
	fs->print(pl);
	printf(": %s 0x%" PRIx64 " -> 0x%" PRIx64 "%s\n", t.name, old, value,
	       sealed ? ", checksum made to match" : "");
	free(block);
}

/* Overwrite one block with another, or swap the two. */
static void swap_blocks(unsigned kind)
{
	const struct location *a = fs->pick(kind), *b = fs->pick(kind);
	unsigned char *one, *other;
	int copy = below(2), tries;

	for (tries = 0; tries < 100 && a->block == b->block; tries++)
		b = fs->pick(kind);
	one = read_location(a);
	other = read_location(b);
	write_location(b, one);
	if (!copy)
		write_location(a, other);
	fs->print(a);
	fputs(copy ? ": copied over " : ": swapped with ", stdout);
	fs->print(b);
	putchar('\n');
	free(one);
	free(other);
}

/* Zero a block, or the end of its structure. */
static void zero_block(unsigned kind)
{
	const struct location *pl = fs->pick(kind);
	unsigned char *block = read_location(pl);
	uint32_t from = 0, end = pl->bytes;
	bool sealed;

	if (!below(3)) {
		from = pl->off + below(pl->len);
		end = pl->off + pl->len;
	}
	memset(block + from, 0, end - from);
	sealed = from && fs->seal(pl, block);
	write_location(pl, block);
	fs->print(pl);
	printf(": bytes %" PRIu32 " to %" PRIu32 " zeroed%s\n", from, end,
	       sealed ? ", checksum made to match" : "");
	free(block);
}

/* In the last block, near the superblock, at or in another structure, or
 * anywhere. */
static uint64_t pick_length(unsigned kind)
{
	const struct location *pl = fs->pick(kind);

	switch (below(5)) {
	case 0: return image_bytes - 1 - below(pl->bytes);
	case 1: return fs->super_at + below(8192);
	case 2: return pl->at;
	case 3: return pl->at + below(pl->bytes);
	default: return below(image_bytes);
	}
}

static void truncate_image(unsigned kind)
{
	uint64_t size = pick_length(kind);

	if (ftruncate(image_fd, size))
		die("%s", strerror(errno));
	printf("truncate: %" PRIu64 " -> %" PRIu64 " bytes\n", image_bytes,
	       size);
}

static void corrupt(unsigned kind)
{
	all_copies = fs->has_copies && below(2);
	if (all_copies)
		fputs("all copies: ", stdout);
	switch (fs->kind_count - kind) {
	case 1: truncate_image(kind); break;
	case 2: zero_block(kind); break;
	case 3: swap_blocks(kind); break;
	default: change_field(kind); break;
	}
}

static const struct filesystem *filesystem_here(void)
{
	char magic[sizeof(BTRFS_MAGIC) - 1];

	read_at(BTRFS_MAGIC_AT, magic, sizeof(magic));
	return memcmp(magic, BTRFS_MAGIC, sizeof(magic)) ? &ext4_filesystem :
							   &btrfs_filesystem;
}

/* The kind of this name; without a name, one for which the image has a
 * location. */
static unsigned choose_kind(const char *name)
{
	unsigned kind;

	for (kind = 0; name && kind < fs->kind_count; kind++)
		if (!strcmp(name, fs->kinds[kind]))
			return kind;
	if (name)
		die("no such kind: %s", name);
	do
		kind = below(fs->kind_count);
	while (!count_locations(kind, ANY_TREE));
	return kind;
}

int main(int argc, char **argv)
{
	char *end;

	if (argc < 3 || argc > 4)
		die("usage: corrupt IMAGE SEED [KIND]");
	image_fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (image_fd < 0)
		die("%s: %s", argv[1], strerror(errno));
	image_bytes = lseek(image_fd, 0, SEEK_END);
	fs = filesystem_here();
	fs->find(argv[1]);
	seed_state = strtoull(argv[2], &end, 0);
	if (*end || end == argv[2])
		die("not a number: %s", argv[2]);
	corrupt(choose_kind(argv[3]));
	return close(image_fd) ? 2 : 0;
}
