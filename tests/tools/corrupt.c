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

unsigned char *new_buffer(size_t size)
{
	unsigned char *buf = calloc(1, size);

	if (!buf)
		die("out of memory");
	return buf;
}

void *grown(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 1024;
	array = realloc(array, *room * size);
	if (!array)
		die("out of memory");
	return array;
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

void set_target(struct target *t, uint32_t base, const struct field *f,
		const char *of, uint32_t number, const char *between)
{
	if (of)
		snprintf(t->name, sizeof(t->name), "%s %" PRIu32 "%s%s", of,
			 number, between, f->name);
	else
		snprintf(t->name, sizeof(t->name), "%s", f->name);
	t->off = base + f->off;
	t->size = f->size;
}

/* The largest value that fits into a field. */
static uint64_t most_of(uint32_t size)
{
	return size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
}

uint64_t odd_value(unsigned choice, uint64_t old, uint32_t size)
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

uint64_t other_value(uint64_t value, uint64_t old, uint32_t size)
{
	value &= most_of(size);
	if (value == old)
		value ^= UINT64_C(1) << below(8 * size);
	return value;
}

void print_change(const struct target *t, uint64_t old, uint64_t value,
		  bool sealed)
{
	printf("%s 0x%" PRIx64 " -> 0x%" PRIx64 "%s\n", t->name, old, value,
	       sealed ? ", checksum made to match" : "");
}

void swap_blocks(const struct filesystem *fs, unsigned kind, size_t size)
{
	unsigned char *one = new_buffer(size), *other = new_buffer(size);
	size_t a = fs->pick(kind), b = fs->pick(kind);
	int copy = below(2), tries;

	for (tries = 0; tries < 100 && fs->block(a) == fs->block(b); tries++)
		b = fs->pick(kind);
	fs->read(a, one);
	fs->read(b, other);
	fs->write(b, one);
	if (!copy)
		fs->write(a, other);
	fs->print(a);
	fputs(copy ? ": copied over " : ": swapped with ", stdout);
	fs->print(b);
	putchar('\n');
	free(one);
	free(other);
}

void truncate_image(uint64_t size)
{
	if (ftruncate(image_fd, size))
		die("%s", strerror(errno));
	printf("truncate: %" PRIu64 " -> %" PRIu64 " bytes\n", image_bytes,
	       size);
}

static const struct filesystem *filesystem_here(void)
{
	char magic[sizeof(BTRFS_MAGIC) - 1];

	read_at(BTRFS_MAGIC_AT, magic, sizeof(magic));
	return memcmp(magic, BTRFS_MAGIC, sizeof(magic)) ? &ext4_filesystem :
							   &btrfs_filesystem;
}

/* The kind of this name; without a name, one for which the image has a
 * place. */
static unsigned choose_kind(const struct filesystem *fs, const char *name)
{
	unsigned kind;

	for (kind = 0; name && kind < fs->kind_count; kind++)
		if (!strcmp(name, fs->kinds[kind].name))
			return kind;
	if (name)
		die("no such kind: %s", name);
	do
		kind = below(fs->kind_count);
	while (!fs->count(kind));
	return kind;
}

int main(int argc, char **argv)
{
	const struct filesystem *fs;
	unsigned kind;
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
	kind = choose_kind(fs, argv[3]);
	fs->kinds[kind].make(kind);
	return close(image_fd) ? 2 : 0;
}
