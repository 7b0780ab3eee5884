/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap I/O manager against the unix manager, operation by operation on
 * two copies of one image.  Faults and signals are in test-mmap-fault.c.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "mmap-rig.h"

static int pick_count(const struct pair *pair)
{
	static const int counts[] = { 1, 1, 2, 4, 5, 7, 0, -1, -100, -1024,
				      -4096, -5000, -70000 };

	(void)pair;
	return counts[pick(sizeof(counts) / sizeof(counts[0]))];
}

/* Half of the writes begin with the existing contents, then change some of
 * it. */
static void pick_contents(struct pair *pair, unsigned long long block,
			  int count)
{
	fill(pair->buf_a, 64);
	if (pick(2)) {
		pair_read(pair, block, count);
		if (pick(2))
			pair->buf_a[pick(65536)] ^= 1;
	}
}

static void one_operation(struct pair *pair, uint32_t blocks)
{
	unsigned long long block = pick(blocks);
	int count = pick_count(pair);
	unsigned long offset = pick(IMAGE_SIZE);

	switch (pick(10)) {
	case 0:
		assert_int_equal(io_channel_zeroout(pair->a, block, 2),
				 io_channel_zeroout(pair->b, block, 2));
		break;
	case 1:
		assert_int_equal(io_channel_discard(pair->a, block, 2),
				 io_channel_discard(pair->b, block, 2));
		break;
	case 2:
		fill(pair->buf_a, 50);
		assert_int_equal(io_channel_write_byte(pair->a, offset, 50,
						       pair->buf_a),
				 io_channel_write_byte(pair->b, offset, 50,
						       pair->buf_a));
		break;
	case 3:
		if (pick(20))
			break;
		assert_int_equal(io_channel_flush(pair->a),
				 io_channel_flush(pair->b));
		break;
	case 4:
	case 5:
	case 6:
		pick_contents(pair, block, count);
		pair_write(pair, block, count);
		break;
	default:
		pair_read(pair, block, count);
	}
}

static void run_operations(int operations, bool cached)
{
	/* As long as there are only these, they are ours. */
	int reads = operations / 4;
	struct pair pair;
	int i;

	if (cached)
		open_cached(&pair, path_a, path_b, IO_FLAG_RW);
	else
		open_pair(&pair, path_a, path_b, IO_FLAG_RW);
	pick_from(42);
	for (i = 0; i < operations; i++) {
		uint32_t size;

		if (i % 50 == 0) {
			int new_size = 1024 << pick(7);

			assert_int_equal(io_channel_flush(pair.a),
					 io_channel_flush(pair.b));
			pair_set_blksize(&pair, new_size);
			if (i >= reads)
				pair_set_offset(&pair, pick(3) * 1536);
		}
		size = (uint32_t)pair.b->block_size;
		if (i < reads)
			pair_read(&pair, pick((IMAGE_SIZE - 500000) / size),
				  pick_count(&pair));
		else
			one_operation(&pair, IMAGE_SIZE / size + 3);
	}
	close_pair(&pair);
}

TEST(test_random_operations)
{
	int cached;

	for (cached = 0; cached < 2; cached++) {
		make_file(path_a, IMAGE_SIZE, 7);
		make_file(path_b, IMAGE_SIZE, 7);
		run_operations(4000, cached);
		assert_same_files();
	}
}

TEST(test_statistics)
{
	struct pair pair;
	io_stats a, b;

	make_file(path_a, IMAGE_SIZE, 9);
	make_file(path_b, IMAGE_SIZE, 9);
	open_pair(&pair, path_a, path_b, IO_FLAG_RW);
	pair_read(&pair, 3, 2);
	pair_read(&pair, 3, 2);
	pair_read(&pair, 1, -77);
	fill(pair.buf_a, 4096);
	assert_int_equal(pair_write(&pair, 20, 4), 0);
	assert_int_equal(pair.a->manager->get_stats(pair.a, &a), 0);
	assert_int_equal(pair.b->manager->get_stats(pair.b, &b), 0);
	assert_int_equal(b->num_fields, a->num_fields);
	assert_int_equal(a->bytes_read, b->bytes_read);
	assert_int_equal(b->bytes_written, 4096);
	assert_int_equal(a->bytes_written, b->bytes_written);
	close_pair(&pair);
}

TEST(test_read_only_write)
{
	struct pair pair;

	make_file(path_a, IMAGE_SIZE, 10);
	make_file(path_b, IMAGE_SIZE, 10);
	open_pair(&pair, path_a, path_b, 0);
	/* Writing identical contents is refused like any other write. */
	pair_read(&pair, 5, 1);
	assert_int_equal(pair_write(&pair, 5, 1), 4711);
	assert_int_equal(pair.call_b.error, EBADF);
	assert_int_equal(pair.call_b.actual, -1);
	assert_int_equal(pair_write(&pair, 5, 8), 4711);
	assert_int_equal(io_channel_write_byte(pair.a, 0, 5, "hello"),
			 io_channel_write_byte(pair.b, 0, 5, "hello"));
	assert_int_equal(io_channel_zeroout(pair.a, 1, 1),
			 io_channel_zeroout(pair.b, 1, 1));
	assert_int_equal(io_channel_discard(pair.a, 1, 1),
			 io_channel_discard(pair.b, 1, 1));
	pair.b->write_error = NULL;
	assert_int_equal(io_channel_write_blk64(pair.b, 5, 1, pair.buf_b),
			 EBADF);
	close_pair(&pair);
	assert_same_files();
}

TEST(test_options_and_magic)
{
	static const char *const options[] = {
		"offset=4096", "offset=0x1000", "offset=12x", "offset",
		"offset=-1", "offset=", "cache=on", "cache=off", "cache",
		"cache=maybe", "other=1", "offset=0", NULL
	};
	struct pair pair;
	io_channel none = NULL;
	int i;

	assert_int_equal(e2pf_mmap_io_manager->open(NULL, 0, &none),
			 EXT2_ET_BAD_DEVICE_NAME);
	make_file(path_a, IMAGE_SIZE, 11);
	make_file(path_b, IMAGE_SIZE, 11);
	open_pair(&pair, path_a, path_b, 0);
	for (i = 0; options[i]; i++)
		assert_int_equal(io_channel_set_options(pair.a, options[i]),
				 io_channel_set_options(pair.b, options[i]));
	assert_int_equal(io_channel_cache_readahead(pair.b, 1, 10), 0);
	io_channel_bumpcount(pair.b);
	assert_int_equal(io_channel_close(pair.b), 0);
	assert_int_equal(pair_read(&pair, 1, 1), 0);
	/* Of another manager's channel everything is the unix manager's. */
	assert_int_equal(e2pf_mmap_io_manager->read_blk64(pair.a, 1, 1,
							  pair.buf_b), 0);
	assert_memory_equal(pair.buf_a, pair.buf_b, 1024);
	assert_false(e2pf_mmap_io_is_mapped(pair.a));
	assert_false(e2pf_mmap_io_is_mapped(NULL));
	pair.b->magic = 0;
	assert_int_equal(e2pf_mmap_io_manager->read_blk64(pair.b, 0, 1,
							  pair.buf_b),
			 EXT2_ET_MAGIC_IO_CHANNEL);
	pair.b->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	close_pair(&pair);
}

/*
 * An image of more than 32 bits of bytes.  A 32-bit program cannot map that,
 * and uses the unix manager.  A position that lost its upper half would show
 * the block 4 GiB earlier.
 */
#define LARGE_SIZE (8ull << 30)

static void open_large(struct pair *pair)
{
	pair->a = open_with(unix_io_manager, path_a, IO_FLAG_RW,
			    &pair->call_a);
	pair->b = open_with(e2pf_mmap_io_manager, path_b, IO_FLAG_RW,
			    &pair->call_b);
	if (sizeof(void *) == 4)
		assert_ptr_equal(pair->b->manager, unix_io_manager);
	else
		assert_true(e2pf_mmap_io_is_mapped(pair->b));
	pair->cached = true;
	pair->buf_a = calloc(1, MOST_BYTES);
	pair->buf_b = calloc(1, MOST_BYTES);
	pair_set_blksize(pair, 4096);
}

TEST(test_large_file)
{
	static const unsigned long long at[] = {
		0, (2ull << 30) - 4096, 2ull << 30, (4ull << 30) - 4096,
		4ull << 30, (4ull << 30) + 4096, LARGE_SIZE - 4096
	};
	struct pair pair;
	size_t i;
	int fd;

	make_file(path_a, 8192, 30);
	make_file(path_b, 8192, 30);
	if (truncate(path_a, (off_t)LARGE_SIZE) ||
	    truncate(path_b, (off_t)LARGE_SIZE)) {
		print_message("no file of 8 GiB: %s\n", strerror(errno));
		skip();
	}
	for (i = 0; i < 2 * sizeof(at) / sizeof(at[0]); i++) {
		fd = open(i % 2 ? path_a : path_b, O_WRONLY);
		assert_int_equal(pwrite(fd, &at[i / 2], sizeof(at[0]),
					(off_t)at[i / 2]), sizeof(at[0]));
		close(fd);
	}
	open_large(&pair);
	for (i = 0; i < 2 * sizeof(at) / sizeof(at[0]); i++)
		assert_int_equal(pair_read(&pair, at[i / 2] / 4096, 1), 0);
	assert_int_equal(pair_read(&pair, LARGE_SIZE / 4096, 1), 4711);
	assert_int_equal(pair.call_b.error, EXT2_ET_SHORT_READ);
	assert_int_equal(pair_read(&pair, ~0ull, 1), 4711);
	assert_int_equal(pair_read(&pair, 1ull << 47, 1), 4711);
	close_pair(&pair);
}

/* Threads */

struct reader {
	io_channel channel;
	const char *image;
	uint32_t seed;
	int wrong;
};

static void *read_some(void *arg)
{
	struct reader *reader = arg;
	static const int count = 8;
	uint32_t x = reader->seed;
	char *buf = malloc(8 * 1024);
	int i;

	for (i = 0; i < 20000; i++) {
		uint32_t block;

		x = x * 1664525u + 1013904223u;
		block = (x >> 8) % (IMAGE_SIZE / 1024 - count);
		if (io_channel_read_blk64(reader->channel, block, count, buf))
			reader->wrong++;
		else if (memcmp(buf, reader->image + block * 1024, 8 * 1024))
			reader->wrong++;
		if (io_channel_read_blk64(reader->channel,
					  IMAGE_SIZE / 1024, 1, buf) !=
		    EXT2_ET_SHORT_READ)
			reader->wrong++;
	}
	free(buf);
	return NULL;
}

TEST(test_threads)
{
	io_channel channel;
	struct reader readers[4];
	pthread_t threads[4];
	char *image = malloc(IMAGE_SIZE);
	int i;

	make_file(path_b, IMAGE_SIZE, 19);
	pick_from(19);
	fill(image, IMAGE_SIZE);
	channel = open_mapped(path_b, IO_FLAG_THREADS, NULL);
	assert_true(channel->flags & CHANNEL_FLAGS_THREADS);
	for (i = 0; i < 4; i++) {
		readers[i] = (struct reader){ channel, image, (uint32_t)i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, read_some,
						&readers[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].wrong, 0);
	}
	assert_int_equal(io_channel_close(channel), 0);
	free(image);
}

UNIT_MAIN(make_folder, remove_folder)
