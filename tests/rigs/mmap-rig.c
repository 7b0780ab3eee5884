/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Two files, two channels on them driven in step, and loop devices. */
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "unit.h"
#include "mmap-rig.h"

static char folder[] = "/tmp/mmap-rig.XXXXXX";
char path_a[64], path_b[64];

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
	return 0;
}

int remove_folder(void **unused)
{
	(void)unused;
	unlink(path_a);
	unlink(path_b);
	return rmdir(folder);
}

static errcode_t note(io_channel channel, unsigned long block, int count,
		      const void *data, size_t size, int actual,
		      errcode_t error)
{
	struct call *call = channel->app_data;

	call->calls++;
	call->block = block;
	call->count = count;
	call->data = (void *)(uintptr_t)data;
	call->size = size;
	call->actual = actual;
	call->error = error;
	return call->answer;
}

static errcode_t note_read(io_channel channel, unsigned long block, int count,
			   void *data, size_t size, int actual,
			   errcode_t error)
{
	return note(channel, block, count, data, size, actual, error);
}

io_channel open_with(io_manager manager, const char *path, int flags,
			    struct call *call)
{
	io_channel channel = NULL;

	assert_int_equal(manager->open(path, flags, &channel), 0);
	assert_non_null(channel);
	assert_string_equal(channel->name, path);
	assert_int_equal(channel->block_size, 1024);
	assert_int_equal(channel->refcount, 1);
	assert_null(channel->app_data);
	if (call) {
		memset(call, 0, sizeof(*call));
		call->answer = 4711;
		channel->app_data = call;
		channel->read_error = note_read;
		channel->write_error = note;
	}
	return channel;
}

io_channel open_mapped(const char *path, int flags, struct call *call)
{
	io_channel channel = open_with(e2pf_mmap_io_manager, path, flags,
				       call);

	assert_true(e2pf_mmap_io_is_mapped(channel));
	return channel;
}

void open_cached(struct pair *pair, const char *a, const char *b,
			int flags)
{
	pair->cached = true;
	pair->a = open_with(unix_io_manager, a, flags, &pair->call_a);
	pair->b = open_mapped(b, flags, &pair->call_b);
	assert_int_equal(pair->a->flags, pair->b->flags);
	assert_int_equal(pair->a->align, pair->b->align);
	pair->buf_a = calloc(1, MOST_BYTES);
	pair->buf_b = calloc(1, MOST_BYTES);
}

void open_pair(struct pair *pair, const char *a, const char *b,
		      int flags)
{
	open_cached(pair, a, b, flags);
	assert_int_equal(io_channel_set_options(pair->a, "cache=off"), 0);
	assert_int_equal(io_channel_set_options(pair->b, "cache=off"), 0);
	pair->cached = false;
}

void close_pair(struct pair *pair)
{
	assert_int_equal(io_channel_close(pair->a),
			 io_channel_close(pair->b));
	free(pair->buf_a);
	free(pair->buf_b);
}

void assert_same_calls(struct pair *pair)
{
	const struct call *a = &pair->call_a, *b = &pair->call_b;

	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->block, b->block);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->actual, b->actual);
	assert_int_equal(a->error, b->error);
	assert_true(!a->data == !b->data);
	/* Data in the manager's cache has another address than the caller's
	 * buffer. */
	if (b->data && !pair->cached)
		assert_ptr_equal(b->data, pair->buf_b);
}

errcode_t pair_read(struct pair *pair, unsigned long long block,
			   int count)
{
	errcode_t error;

	memset(pair->buf_a, 0x5a, MOST_BYTES);
	memset(pair->buf_b, 0x5a, MOST_BYTES);
	error = io_channel_read_blk64(pair->a, block, count, pair->buf_a);
	assert_int_equal(error, io_channel_read_blk64(pair->b, block, count,
						      pair->buf_b));
	assert_memory_equal(pair->buf_a, pair->buf_b, MOST_BYTES);
	assert_same_calls(pair);
	return error;
}

errcode_t pair_write(struct pair *pair, unsigned long long block,
			    int count)
{
	errcode_t error;

	memcpy(pair->buf_b, pair->buf_a, MOST_BYTES);
	error = io_channel_write_blk64(pair->a, block, count, pair->buf_a);
	assert_int_equal(error, io_channel_write_blk64(pair->b, block, count,
						       pair->buf_b));
	assert_same_calls(pair);
	return error;
}

void pair_set_blksize(struct pair *pair, int size)
{
	assert_int_equal(io_channel_set_blksize(pair->a, size), 0);
	assert_int_equal(io_channel_set_blksize(pair->b, size), 0);
	assert_int_equal(pair->b->block_size, size);
}

void pair_set_offset(struct pair *pair, uint32_t offset)
{
	char option[32];

	snprintf(option, sizeof(option), "offset=%u", offset);
	assert_int_equal(io_channel_set_options(pair->a, option), 0);
	assert_int_equal(io_channel_set_options(pair->b, option), 0);
}

/* Loop devices; the kernel detaches them when the last descriptor is closed. */

static int attach(const char *file, char *name, size_t size)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int backing = open(file, O_RDWR | O_CLOEXEC);
	struct loop_config config;
	int number, device = -1, tries;

	memset(&config, 0, sizeof(config));
	config.fd = (unsigned)backing;
	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	for (tries = 0; control >= 0 && tries < 20 && device < 0; tries++) {
		number = ioctl(control, LOOP_CTL_GET_FREE);
		if (number < 0)
			break;
		snprintf(name, size, "/dev/loop%d", number);
		device = open(name, O_RDWR | O_CLOEXEC);
		if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config)) {
			close(device);
			device = -1;
			if (errno != EBUSY)
				break;
		}
	}
	if (control >= 0)
		close(control);
	close(backing);
	return device;
}

bool attach_both(int *a, int *b, char *name_a, char *name_b)
{
	*a = attach(path_a, name_a, 32);
	*b = attach(path_b, name_b, 32);
	if (*a >= 0 && *b >= 0)
		return true;
	if (*a >= 0)
		close(*a);
	if (*b >= 0)
		close(*b);
	print_message("no loop devices here\n");
	return false;
}

/* In a user namespace a loop device may be available without all of its
 * ioctls. */
void need_ioctl(int result)
{
	if (result < 0 && (errno == EACCES || errno == EPERM)) {
		print_message("loop devices are not this user's\n");
		skip();
	}
	assert_int_equal(result, 0);
}
