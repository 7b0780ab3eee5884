// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills a mounted filesystem with the metadata of many files: directories,
 * inodes, extent trees, indirect blocks, extended attributes.  Data blocks are
 * allocated, but their contents do not matter.  The same arguments make the
 * same calls in the same order.  `images' makes and mounts the filesystem.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <linux/fs.h>

#define MAX_TOGETHER	64

static uint64_t state;

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "mkfiles: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Vigna's xorshift64*: good enough to scatter, and the same everywhere. */
static uint64_t rnd(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	if (!below) {
		errno = EINVAL;
		die("number must not be 0");
	}
	return (state * 2685821657736338717ULL >> 16) % below;
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end) {
		fprintf(stderr, "mkfiles: %s is not a number\n", text);
		exit(2);
	}
	return v;
}

static int make_with(const char *path, int flags)
{
	int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | flags, 0644);

	if (fd < 0)
		die(path);
	return fd;
}

static int make(const char *path)
{
	return make_with(path, 0);
}

/* d0012/d0034: with 100 per level the upper directories fit into one block. */
static void dir_path(char *path, size_t size, unsigned long dir)
{
	snprintf(path, size, "d%04lu/d%04lu", dir / 100, dir % 100);
}

/* Fill a file with zeros, which the image need not store. */
static void write_blocks(int fd, unsigned long blocks, off_t bs)
{
	char *data = calloc(blocks, (size_t)bs);

	if (!data || write(fd, data, blocks * (size_t)bs) < 0)
		die("write");
	free(data);
}

static void make_dir(char *path, size_t size, unsigned long dir)
{
	snprintf(path, size, "d%04lu", dir / 100);
	if (dir % 100 == 0 && mkdir(path, 0755) && errno != EEXIST)
		die(path);
	dir_path(path, size, dir);
	if (mkdir(path, 0755))
		die(path);
}

/* dirs FILES-PER-DIR BLOCKS: directories of files of 0 to BLOCKS blocks,
 * written or only allocated. */
static void small(unsigned long dirs, unsigned long files,
		  unsigned long blocks, off_t bs, int written)
{
	char path[64];
	unsigned long d, f, n;
	int fd;

	for (d = 0; d < dirs; d++) {
		make_dir(path, sizeof(path), d);
		n = strlen(path);
		for (f = 0; f < files; f++) {
			snprintf(path + n, sizeof(path) - n,
				 "/file-%05lu.%03lu", f,
				 (unsigned long)rnd(1000));
			fd = make(path);
			if (written)
				write_blocks(fd, 1 + rnd(blocks), bs);
			else if (blocks && fallocate(fd, 0, 0, bs *
						(off_t)(1 + rnd(blocks))))
				die(path);
			close(fd);
		}
	}
}

/*
 * dirs FILES MIN MAX: files of MIN to MAX extents of one block, most of them
 * near MIN.  Only even logical blocks are used, so that extents cannot be
 * merged.  Eight files grow in turns so that their trees interleave.
 */
static void fragmented(unsigned long dirs, unsigned long files,
		       unsigned long min, unsigned long max, off_t bs)
{
	unsigned long f, i, k, want[8], most;
	char path[64];
	int fd[8];

	for (f = 0; f < files; f += 8) {
		most = 0;
		for (k = 0; k < 8 && f + k < files; k++) {
			dir_path(path, sizeof(path), rnd(dirs));
			snprintf(path + strlen(path), 32, "/frag-%06lu",
				 f + k);
			fd[k] = make(path);
			/* The cube of a fraction gives a long tail. */
			i = rnd(1000);
			want[k] = min + (max - min) * (i * i / 1000 * i /
						       1000) / 1000;
			if (want[k] > most)
				most = want[k];
		}
		for (i = 0; i < most; i++)
			for (k = 0; k < 8 && f + k < files; k++)
				if (i < want[k] &&
				    fallocate(fd[k], 0, 2 * bs * (off_t)i, bs))
					die("fallocate");
		for (k = 0; k < 8 && f + k < files; k++)
			close(fd[k]);
	}
}

/*
 * dirs FILES CHUNKS BLOCKS TOGETHER: sparse files with CHUNKS indirect blocks
 * each, and BLOCKS blocks in each of those.  TOGETHER files grow at a time, in
 * random order; files in the same block group take its blocks in turn.
 */
static void indirect(unsigned long dirs, unsigned long files,
		     unsigned long chunks, unsigned long blocks,
		     unsigned long together, off_t bs)
{
	off_t reach = bs * (bs / 4);
	unsigned long f, i, j, k, n;
	int fd[MAX_TOGETHER], t;
	char path[64], *data;

	if (!blocks || !together || together > MAX_TOGETHER)
		die("no blocks, or too many files at a time");
	data = calloc(blocks, (size_t)bs);
	if (!data)
		die("memory");
	for (f = 0; f < files; f += n) {
		n = files - f < together ? files - f : together;
		for (k = 0; k < n; k++) {
			dir_path(path, sizeof(path), rnd(dirs));
			snprintf(path + strlen(path), 32, "/scat-%06lu",
				 f + k);
			fd[k] = make(path);
		}
		for (i = 0; i < chunks; i++) {
			for (k = n; k > 1; k--) {
				j = rnd(k);
				t = fd[j];
				fd[j] = fd[k - 1];
				fd[k - 1] = t;
			}
			for (k = 0; k < n; k++)
				if (pwrite(fd[k], data, blocks * (size_t)bs,
					   12 * bs + reach * (off_t)i) < 0)
					die("write");
		}
		for (k = 0; k < n; k++)
			close(fd[k]);
	}
	free(data);
}

/* dirs FILES MB: large files of 1 to MB MiB in few extents. */
static void large(unsigned long dirs, unsigned long files, unsigned long mb)
{
	unsigned long f;
	char path[64];
	int fd;

	for (f = 0; f < files; f++) {
		dir_path(path, sizeof(path), rnd(dirs));
		snprintf(path + strlen(path), 32, "/media-%06lu", f);
		fd = make(path);
		if (fallocate(fd, 0, 0, (off_t)(1 + rnd(mb)) << 20))
			die(path);
		close(fd);
	}
}

/* dirs FILES BYTES: tiny files with data, and attributes of up to BYTES. */
static void attributes(unsigned long dirs, unsigned long files,
		       unsigned long bytes)
{
	char path[64], *value;
	unsigned long f;
	int fd;

	/* Each file's own data is written over its beginning. */
	if (bytes < 64)
		die("attributes need at least 64 bytes");
	value = malloc(bytes);
	if (!value)
		die("memory");
	for (f = 0; f < bytes; f++)
		value[f] = (char)('a' + rnd(26));
	for (f = 0; f < files; f++) {
		dir_path(path, sizeof(path), rnd(dirs));
		snprintf(path + strlen(path), 32, "/attr-%06lu", f);
		fd = make(path);
		if (write(fd, value, 1 + rnd(60)) < 0)
			die(path);
		/* An identical value would be stored only once, for all
		 * files. */
		memcpy(value, path, 8);
		snprintf(value, 32, "%014lu", f);
		if (fsetxattr(fd, "user.small", value, 20, 0) ||
		    fsetxattr(fd, "user.large", value,
			      f % 3 ? 100 + rnd(900) : bytes, 0))
			die(path);
		close(fd);
	}
	free(value);
}

/*
 * Files whose names do not depend on the seed, so that a later call can change
 * them.
 */

static void aged_path(char *path, size_t size, unsigned long files,
		      unsigned long file)
{
	dir_path(path, size, file / files);
	snprintf(path + strlen(path), 32, "/aged-%05lu", file % files);
}

/* Append MIN to MAX bytes. */
static void grow(int fd, unsigned long min, unsigned long max)
{
	static char *data;

	if (!data)
		data = calloc(1, max + 1);
	if (!data || write(fd, data, min + rnd(max - min + 1)) < 0)
		die("write");
}

/* dirs FILES-PER-DIR MIN MAX: directories of files of MIN to MAX bytes. */
static void grown(unsigned long dirs, unsigned long files, unsigned long min,
		  unsigned long max)
{
	char path[64];
	unsigned long d, f;
	int fd;

	for (d = 0; d < dirs; d++) {
		make_dir(path, sizeof(path), d);
		for (f = d * files; f < (d + 1) * files; f++) {
			aged_path(path, sizeof(path), files, f);
			fd = make(path);
			grow(fd, min, max);
			close(fd);
		}
	}
}

/*
 * dirs FILES-PER-DIR MIN MAX COUNT EVERY: COUNT times, one of these files is
 * written again, appended to, or deleted and made again.  Every EVERY times,
 * everything is synchronised.
 */
static void changed(unsigned long dirs, unsigned long files, unsigned long min,
		    unsigned long max, unsigned long count,
		    unsigned long every)
{
	int fd, top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned long i, how;
	char path[64];

	for (i = 1; i <= count; i++) {
		aged_path(path, sizeof(path), files, rnd(dirs * files));
		how = rnd(4);
		if (how == 0 && unlink(path))
			die(path);
		fd = make_with(path, how == 1 ? O_APPEND : O_TRUNC);
		grow(fd, min, max);
		close(fd);
		if ((i % every == 0 || i == count) && syncfs(top))
			die("syncfs");
	}
	close(top);
}

/* dirs FILES-PER-DIR COUNT: COUNT files that share the extents of one of these
 * each. */
static void clones(unsigned long dirs, unsigned long files,
		   unsigned long count)
{
	char path[64];
	unsigned long i;
	int from, to;

	for (i = 0; i < count; i++) {
		aged_path(path, sizeof(path), files, rnd(dirs * files));
		from = open(path, O_RDONLY | O_CLOEXEC);
		dir_path(path, sizeof(path), rnd(dirs));
		snprintf(path + strlen(path), 32, "/clone-%06lu", i);
		to = make(path);
		if (from < 0 || ioctl(to, FICLONE, from))
			die(path);
		close(to);
		close(from);
	}
}

/* dirs FILES EXTENTS KIB: files of so many extents.  Each grows in turns with
 * another one, which is deleted then: the space between is free. */
static void spaced(unsigned long dirs, unsigned long files,
		   unsigned long extents, unsigned long kib)
{
	off_t length = (off_t)kib << 10;
	char path[64], other[80];
	unsigned long f, i;
	int fd[2];

	for (f = 0; f < files; f++) {
		dir_path(path, sizeof(path), rnd(dirs));
		snprintf(path + strlen(path), 32, "/space-%06lu", f);
		snprintf(other, sizeof(other), "%s-other", path);
		fd[0] = make(path);
		fd[1] = make(other);
		/* Gaps keep the extents from being merged. */
		for (i = 0; i < 2 * extents; i++)
			if (fallocate(fd[i % 2], 0, (off_t)i * length, length))
				die("fallocate");
		close(fd[0]);
		close(fd[1]);
		if (unlink(other))
			die(other);
	}
}

/* A file of `aged'. */
struct old_file {
	unsigned long dir, number;
};

static void old_path(char *path, size_t size, const struct old_file *f)
{
	dir_path(path, size, f->dir);
	snprintf(path + strlen(path), 32, "/aged-%lu", f->number);
}

/* Allocate 1 to BLOCKS blocks at @from, most of them near 1; a full filesystem
 * is part of its age. */
static void extend(const char *path, off_t from, unsigned long blocks,
		   off_t bs)
{
	unsigned long i = rnd(1000);
	int fd = make(path);

	i = 1 + blocks * (i * i / 1000 * i / 1000) / 1000;
	if (fallocate(fd, 0, from, bs * (off_t)i) && errno != ENOSPC)
		die(path);
	close(fd);
}

static void append(const char *path, unsigned long blocks, off_t bs)
{
	struct stat st;

	if (stat(path, &st))
		die(path);
	extend(path, st.st_size, blocks, bs);
}

/*
 * dirs FILES ROUNDS BLOCKS: in each round FILES files of up to BLOCKS blocks are
 * created in random directories, which grow; then of all files an eighth is
 * deleted, an eighth rewritten, and an eighth grows.
 */
static void aged(unsigned long dirs, unsigned long files,
		 unsigned long rounds, unsigned long blocks, off_t bs)
{
	struct old_file *all = calloc(files * rounds + 1, sizeof(*all));
	unsigned long d, r, i, k, n = 0, number = 0;
	char path[64];

	if (!all)
		die("memory");
	for (d = 0; d < dirs; d++) {
		snprintf(path, sizeof(path), "d%04lu", d / 100);
		if (d % 100 == 0 && mkdir(path, 0755) && errno != EEXIST)
			die(path);
		dir_path(path, sizeof(path), d);
		if (mkdir(path, 0755))
			die(path);
	}
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < files; i++, n++) {
			all[n] = (struct old_file){ rnd(dirs), number++ };
			old_path(path, sizeof(path), &all[n]);
			extend(path, 0, blocks, bs);
		}
		for (i = n / 8; i; i--) {
			k = rnd(n);
			old_path(path, sizeof(path), &all[k]);
			all[k] = all[--n];
			if (unlink(path))
				die(path);
			old_path(path, sizeof(path), &all[rnd(n)]);
			if (truncate(path, 0))
				die(path);
			extend(path, 0, blocks, bs);
			old_path(path, sizeof(path), &all[rnd(n)]);
			append(path, blocks / 4, bs);
		}
	}
	free(all);
}

int main(int argc, char **argv)
{
	unsigned long a[6] = { 0 };
	struct stat st;
	int i;

	if (argc < 5 || argc > 10) {
		fputs("Usage: mkfiles DIR SEED KIND DIRS NUMBER...\n"
		      "KIND: small FILES BLOCKS, written FILES BLOCKS,\n"
		      "fragmented FILES MIN MAX,\n"
		      "indirect FILES CHUNKS BLOCKS TOGETHER, large FILES MB,\n"
		      "attributes FILES BYTES, aged FILES ROUNDS BLOCKS,\n"
		      "grown FILES MIN MAX, changed FILES MIN MAX COUNT EVERY,\n"
		      "clones FILES COUNT, spaced FILES EXTENTS KIB\n", stderr);
		return 2;
	}
	if (chdir(argv[1]) || stat(".", &st))
		die(argv[1]);
	state = number(argv[2]) * 2654435761UL + 88172645463325252ULL;
	for (i = 4; i < argc; i++)
		a[i - 4] = number(argv[i]);
	if (!strcmp(argv[3], "small"))
		small(a[0], a[1], a[2], st.st_blksize, 0);
	else if (!strcmp(argv[3], "written"))
		small(a[0], a[1], a[2], st.st_blksize, 1);
	else if (!strcmp(argv[3], "fragmented"))
		fragmented(a[0], a[1], a[2], a[3], st.st_blksize);
	else if (!strcmp(argv[3], "indirect"))
		indirect(a[0], a[1], a[2], a[3], a[4], st.st_blksize);
	else if (!strcmp(argv[3], "large"))
		large(a[0], a[1], a[2]);
	else if (!strcmp(argv[3], "attributes"))
		attributes(a[0], a[1], a[2]);
	else if (!strcmp(argv[3], "grown"))
		grown(a[0], a[1], a[2], a[3]);
	else if (!strcmp(argv[3], "changed"))
		changed(a[0], a[1], a[2], a[3], a[4], a[5]);
	else if (!strcmp(argv[3], "clones"))
		clones(a[0], a[1], a[2]);
	else if (!strcmp(argv[3], "spaced"))
		spaced(a[0], a[1], a[2], a[3]);
	else if (!strcmp(argv[3], "aged"))
		aged(a[0], a[1], a[2], a[3], st.st_blksize);
	else
		return 2;
	return 0;
}
