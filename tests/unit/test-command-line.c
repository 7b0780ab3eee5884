/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command line tells e2fsck to do, and which superblocks belong to a
 * filesystem that e2fsck does not check.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "command_line.h"

#define MOST_ARGUMENTS 8
#define NOW 1500000000

/* A command line with single blanks between words. */
static struct command_line task_of(const char *line)
{
	static char words[256];
	char *argv[MOST_ARGUMENTS + 1] = { NULL }, *word, *rest = words;
	int argc = 0;

	strcpy(words, line);
	while ((word = strsep(&rest, " ")) && argc < MOST_ARGUMENTS)
		argv[argc++] = word;
	optind = 0;	/* glibc: start again */
	return command_line_read(argc, argv);
}

static void devices(void **state)
{
	(void)state;
	assert_string_equal(task_of("e2fsck -p /dev/a").device, "/dev/a");
	assert_string_equal(task_of("e2fsck /dev/a -p").device, "/dev/a");
	assert_string_equal(task_of("e2fsck -C 5 /dev/a").device, "/dev/a");
	assert_null(task_of("e2fsck").device);
	assert_null(task_of("e2fsck -V /dev/a").device);
	assert_true(task_of("e2fsck -fV").version);
	assert_true(task_of("e2fsck -FV /dev/a").version);
	assert_false(task_of("e2fsck -f -C 5 /dev/a").version);
	assert_null(task_of("e2fsck -F /dev/a").device);
	assert_null(task_of("e2fsck /dev/a /dev/b").device);
	assert_int_equal(task_of("e2fsck -b 8193 -B 1024 /a").superblock, 8193);
	assert_int_equal(task_of("e2fsck -b 8193 -B 1024 /a").block_size, 1024);
}

static void options(void **state)
{
	static const char *const plain[] = {
		"e2fsck /a", "e2fsck -p /a", "e2fsck -a -C0 /a",
		"e2fsck -n -v -tt /a", "fsck.ext4 -y /a"
	};
	static const char *const more[] = {
		"e2fsck -f /a", "e2fsck -fy /a", "e2fsck -c /a",
		"e2fsck -l list /a", "e2fsck -L list /a", "e2fsck -D /a",
		"e2fsck -b 8193 /a", "e2fsck -E journal_only /a",
		"e2fsck -j /b /a", "e2fsck -z undo /a", "e2fsck -G /a"
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		assert_true(task_of(plain[i]).plain);
		assert_false(task_of(plain[i]).force);
	}
	for (i = 0; i < sizeof(more) / sizeof(*more); i++)
		assert_false(task_of(more[i]).plain);
	for (i = 0; i < 5; i++)
		assert_true(task_of(more[i]).force);
}

static unsigned char super[COMMAND_LINE_SUPER_BYTES];

static void put16(unsigned at, unsigned value)
{
	uint16_t v = htole16((uint16_t)value);

	memcpy(super + at, &v, sizeof(v));
}

static void put32(unsigned at, uint32_t value)
{
	uint32_t v = htole32(value);

	memcpy(super + at, &v, sizeof(v));
}

static int clean_super(void **state)
{
	(void)state;
	memset(super, 0, sizeof(super));
	put16(54, 0xffff);	/* mount count: no limit */
	put16(56, 0xef53);
	put16(58, 1);		/* valid */
	put32(64, NOW - 1000);	/* last check */
	return 0;
}

static bool clean(void) { return command_line_super_is_clean(super, NOW); }

static void sound(void **state)
{
	(void)state;
	assert_true(clean());
	put32(96, 0x2c2);	/* filetype, extents, 64bit, flex_bg */
	assert_true(clean());
	put16(52, 5);
	put16(54, 6);
	assert_true(clean());
	put32(68, 1001);
	assert_true(clean());
}

static void not_sound(void **state)
{
	static const struct {
		unsigned at, bytes;
		uint32_t value;
	} wrong[] = {
		{ 56, 2, 0xef54 },	/* no superblock at all */
		{ 58, 2, 0 },		/* mounted, or not cleanly unmounted */
		{ 58, 2, 3 },		/* the kernel has seen errors */
		{ 54, 2, 7 },		/* maximum mount count reached */
		{ 68, 4, 1000 },	/* check interval has passed */
		{ 96, 4, 4 },		/* a journal to replay */
		{ 96, 4, 8 },		/* an external journal device */
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		clean_super(state);
		put16(52, 7);
		assert_true(clean());
		if (wrong[i].bytes == 2)
			put16(wrong[i].at, wrong[i].value);
		else
			put32(wrong[i].at, wrong[i].value);
		assert_false(clean());
	}
	/* A wrong clock. */
	clean_super(state);
	put32(68, 1000000);
	put32(64, NOW + 1);
	assert_false(clean());
}

static void files(void **state)
{
	char path[] = "/tmp/test-task.XXXXXX";
	struct command_line task = { .device = path, .plain = true };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_false(command_line_is_clean(&task));
	assert_int_equal(pwrite(fd, super, sizeof(super), COMMAND_LINE_SUPER_OFFSET),
			 sizeof(super));
	assert_true(command_line_is_clean(&task));
	task.plain = false;
	assert_false(command_line_is_clean(&task));
	task.plain = true;
	task.superblock = 8193;
	assert_false(command_line_is_clean(&task));
	task.superblock = 0;
	assert_int_equal(ftruncate(fd, 2047), 0);
	assert_false(command_line_is_clean(&task));
	task.device = "/dev/null";
	assert_false(command_line_is_clean(&task));
	task.device = "UUID=4711";
	assert_false(command_line_is_clean(&task));
	task.device = NULL;
	assert_false(command_line_is_clean(&task));
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices),
		cmocka_unit_test(options),
		cmocka_unit_test_setup(sound, clean_super),
		cmocka_unit_test_setup(not_sound, clean_super),
		cmocka_unit_test_setup(files, clean_super),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
