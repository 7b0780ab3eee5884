/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trial of two I/O managers: it sees each of the ways in which versions of
 * libext2fs's own have differed, and some more, and nothing where there is
 * nothing.  The managers under trial are libext2fs's, with one thing changed.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "libext2fs/io_trial.h"

static unsigned calls;

static struct struct_io_manager changed;

/* Channels of the changed manager are known by their operations. */
static errcode_t changed_open(const char *name, int flags, io_channel *channel)
{
	errcode_t error = unix_io_manager->open(name, flags, channel);

	if (!error)
		(*channel)->manager = &changed;
	return error;
}

static void change_nothing(void)
{
	changed = *unix_io_manager;
	changed.open = changed_open;
	calls = 0;
}

/* A write of many blocks drops what is clean, or leaves it, as the version at
 * hand does not: what is read after it is another. */
static errcode_t read_past_cache(io_channel channel, unsigned long long block,
				 int count, void *data)
{
	errcode_t error;

	if (count == 2 && ++calls % 3 == 0) {
		error = unix_io_manager->set_option(channel, "cache", "off");
		if (!error)
			error = unix_io_manager->read_blk64(channel, block,
							    count, data);
		unix_io_manager->set_option(channel, "cache", "on");
		return error;
	}
	return unix_io_manager->read_blk64(channel, block, count, data);
}

static errcode_t write_at_once(io_channel channel, unsigned long long block,
			       int count, const void *data)
{
	errcode_t error = unix_io_manager->write_blk64(channel, block, count,
						       data);

	if (!error && count == 1 && ++calls % 5 == 0)
		error = unix_io_manager->flush(channel);
	return error;
}

static errcode_t write_error_lost(io_channel channel, unsigned long long block,
				  int count, const void *data)
{
	errcode_t error = unix_io_manager->write_blk64(channel, block, count,
						       data);

	return error && ++calls % 2 == 0 ? 0 : error;
}

static errcode_t one_read_more(io_channel channel, unsigned long long block,
			       int count, void *data)
{
	char buf[1024 * 8];

	if (++calls == 100)
		(void)unix_io_manager->read_blk64(channel, block, -512, buf);
	return unix_io_manager->read_blk64(channel, block, count, data);
}

static errcode_t callback_kept(io_channel channel, unsigned long long block,
			       int count, void *data)
{
	errcode_t error, (*told)(io_channel, unsigned long, int, void *,
				 size_t, int, errcode_t) = channel->read_error;

	channel->read_error = NULL;
	error = unix_io_manager->read_blk64(channel, block, count, data);
	channel->read_error = told;
	return error;
}

static unsigned count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void nothing_changed(void **state)
{
	unsigned files = count_files();

	(void)state;
	if (!files)
		skip();
	assert_true(e2pf_io_alike(unix_io_manager, unix_io_manager));
	change_nothing();
	assert_true(e2pf_io_alike(unix_io_manager, &changed));
	assert_int_equal(count_files(), files);
}

static void one_thing_changed(void **state)
{
	unsigned files = count_files();

	(void)state;
	change_nothing();
	changed.read_blk64 = read_past_cache;
	assert_false(e2pf_io_alike(unix_io_manager, &changed));
	change_nothing();
	changed.write_blk64 = write_at_once;
	assert_false(e2pf_io_alike(unix_io_manager, &changed));
	change_nothing();
	changed.write_blk64 = write_error_lost;
	assert_false(e2pf_io_alike(&changed, unix_io_manager));
	change_nothing();
	changed.read_blk64 = one_read_more;
	assert_false(e2pf_io_alike(unix_io_manager, &changed));
	change_nothing();
	changed.read_blk64 = callback_kept;
	assert_false(e2pf_io_alike(unix_io_manager, &changed));
	assert_int_equal(count_files(), files);
}

/* A limit on files would end the process by a signal. */
static void limited(void **state)
{
	struct rlimit old, little;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	little = old;
	little.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_false(e2pf_io_alike(unix_io_manager, unix_io_manager));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changed),
		cmocka_unit_test(one_thing_changed),
		cmocka_unit_test(limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
