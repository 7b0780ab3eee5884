/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a check came to: the sentence, and the history, which stays small, whose
 * lines are whole, and which is not written where it should not be.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <json-c/json.h>
#include <cmocka.h>

#include "apart.h"
#include "outcome.h"

/* The bound on each of the two files, and the longest of these lines. */
#define MOST_BYTES (128 * 1024)
#define MOST_LINE 512

static char folder[] = "/tmp/test-outcome.XXXXXX";
static char path[64], older[64], other[64];

static const struct outcome quick = {
	.program = "e2fsck", .done = "checked", .device = "/dev/sdb1",
	.seconds = 2.7, .without = 12.1
};

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/history", folder);
	snprintf(older, sizeof(older), "%s/history.1", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int empty_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(older);
	unlink(other);
	return 0;
}

static int remove_folder(void **state)
{
	return empty_folder(state) || rmdir(folder);
}

static void assert_words(const struct outcome *o, const char *words)
{
	char text[200];

	assert_string_equal(outcome_in_words(o, text, sizeof(text)), words);
}

static void sentences(void **state)
{
	struct outcome o = quick;

	(void)state;
	assert_words(&o, "checked in 2.7 s; without prefetching about 12 s");
	o.without = 0;
	assert_words(&o, "checked in 2.7 s");
	o.why_not = "everything was cached";
	assert_words(&o, "checked in 2.7 s, nothing read ahead: everything was "
		     "cached");
}

/* Returns the number of lines, each of which must be a whole object. */
static unsigned count_lines(const char *name, struct json_object **last)
{
	FILE *f = fopen(name, "r");
	unsigned lines = 0;
	char line[8192];

	assert_non_null(f);
	*last = NULL;
	while (fgets(line, sizeof(line), f)) {
		json_object_put(*last);
		assert_non_null(strchr(line, '\n'));
		*last = json_tokener_parse(line);
		assert_true(json_object_is_type(*last, json_type_object));
		lines++;
	}
	fclose(f);
	return lines;
}

static void assert_member(struct json_object *o, const char *key,
			  const char *value)
{
	struct json_object *is;

	if (!value) {
		assert_false(json_object_object_get_ex(o, key, &is));
		return;
	}
	assert_true(json_object_object_get_ex(o, key, &is));
	assert_string_equal(json_object_get_string(is), value);
}

static void lines_of_checks(void **state)
{
	struct outcome o = quick;
	struct json_object *line;
	struct stat st;

	(void)state;
	history_add(path, &o);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(count_lines(path, &line), 1);
	assert_member(line, "program", "e2fsck");
	assert_member(line, "device", "/dev/sdb1");
	assert_member(line, "seconds", "2.700");
	assert_member(line, "without_seconds", "12.100");
	assert_member(line, "why_not", NULL);
	json_object_put(line);

	o.seconds = o.without = 0;
	o.device = "/a\"b\\c\nd\033[2J";
	o.why_not = "\tbecause";
	history_add(path, &o);
	assert_int_equal(count_lines(path, &line), 2);
	assert_member(line, "device", o.device);
	assert_member(line, "seconds", NULL);
	assert_member(line, "without_seconds", NULL);
	assert_member(line, "why_not", o.why_not);
	json_object_put(line);
}

static void which_file(void **state)
{
	struct json_object *line;

	(void)state;
	assert_null(history_path("0"));
	assert_string_equal(history_path("1"), HISTORY);
	assert_string_equal(history_path("/a/b"), "/a/b");
	history_add("0", &quick);
	/* The installed folder is missing: nothing happens. */
	history_add("1", &quick);
	assert_int_not_equal(access(HISTORY, F_OK), 0);
	/* A name relative to a folder says nothing later. */
	assert_int_equal(chdir(folder), 0);
	history_add(path, &(struct outcome) {
		.program = "e2fsck", .device = "history.1/../x"
	});
	history_add(path, &(struct outcome) {
		.program = "e2fsck", .device = "./history"
	});
	assert_int_equal(count_lines(path, &line), 2);
	assert_member(line, "device", path);
	json_object_put(line);
	assert_int_equal(chdir("/"), 0);
}

/* However many checks there were, and however long their devices' names. */
static void bounded(void **state)
{
	static char name[6000];
	struct outcome o = quick;
	struct json_object *line;
	struct stat st, st_older;
	unsigned i;

	(void)state;
	for (i = 0; i < 2000; i++)
		history_add(path, &quick);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(stat(older, &st_older), 0);
	assert_true(st.st_size < MOST_BYTES + MOST_LINE);
	assert_true(st_older.st_size < MOST_BYTES + MOST_LINE);
	assert_true(count_lines(older, &line) > 500);
	json_object_put(line);
	memset(name, 'x', sizeof(name) - 1);
	*name = '/';
	o.device = name;
	history_add(path, &o);
	count_lines(path, &line);
	assert_member(line, "device", "/dev/sdb1");
	json_object_put(line);
}

/* Checks that end at the same time. */
static void at_once(void **state)
{
	struct json_object *line;
	unsigned lines, i, j;

	(void)state;
	for (i = 0; i < 8; i++)
		if (!fork()) {
			for (j = 0; j < 100; j++)
				history_add(path, &quick);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	lines = count_lines(path, &line);
	json_object_put(line);
	assert_int_equal(lines, 800);
}

/* Another check ends while this one sets the full history aside: before it has
 * the lock, or while it holds it. */
enum { NOBODY, BEFORE, AMID };
static unsigned another;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

static void let_another(unsigned when)
{
	if (another == when) {
		another = NOBODY;
		history_add(path, &quick);
	}
}

int __wrap_flock(int fd, int operation)
{
	let_another(BEFORE);
	return __real_flock(fd, operation);
}

int __wrap_rename(const char *from, const char *to)
{
	let_another(AMID);
	return __real_rename(from, to);
}

static void full_at_once(void **state)
{
	struct json_object *line;
	unsigned lines, i;
	struct stat st;

	for (i = BEFORE; i <= AMID; i++) {
		empty_folder(state);
		do
			history_add(path, &quick);
		while (!stat(path, &st) && st.st_size < MOST_BYTES);
		lines = count_lines(path, &line);
		json_object_put(line);
		another = i;
		history_add(path, &quick);
		another = NOBODY;
		lines += 2 - count_lines(older, &line);
		json_object_put(line);
		assert_int_equal(lines, count_lines(path, &line));
		json_object_put(line);
	}
}

static void assert_size(const char *name, off_t size)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_size, size);
}

static void holds(const char *name, const char *text, size_t size)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

/* Not through a link, not into a file with another name or that holds something
 * else, not into what is no file, and not with a limit on file sizes, whose signal would end the check. */
static void not_written(void **state)
{
	struct rlimit limit, before;
	char nowhere[96];

	(void)state;
	assert_int_equal(symlink(other, path), 0);
	history_add(path, &quick);
	assert_int_not_equal(access(other, F_OK), 0);
	unlink(path);
	fclose(fopen(path, "w"));
	assert_int_equal(link(path, other), 0);
	history_add(path, &quick);
	assert_size(path, 0);
	unlink(path);
	unlink(other);
	holds(path, "#!/bin/sh\n", 10);
	history_add(path, &quick);
	assert_size(path, 10);
	/* As large as a history that is full: an image, say. */
	assert_int_equal(truncate(path, MOST_BYTES), 0);
	history_add(path, &quick);
	assert_size(path, MOST_BYTES);
	assert_int_not_equal(access(older, F_OK), 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	history_add(path, &quick);
	unlink(path);
	snprintf(nowhere, sizeof(nowhere), "%s/nosuch/history", folder);
	history_add(nowhere, &quick);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	history_add(path, &quick);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_not_equal(access(path, F_OK), 0);
}

/* Not on the filesystem that was checked, as e2fsck -n does while it is
 * mounted. */
static void not_there(void **state)
{
	struct outcome o = quick;
	struct stat st;
	char device[64];

	(void)state;
	assert_int_equal(stat(folder, &st), 0);
	snprintf(device, sizeof(device), "%s/device", folder);
	if (mknod(device, S_IFBLK | 0600, st.st_dev))
		skip();
	o.device = device;
	history_add(path, &o);
	assert_int_not_equal(access(path, F_OK), 0);
	unlink(device);
	if (mknod(device, S_IFBLK | 0600, makedev(259, 1048575)))
		skip();
	history_add(path, &o);
	assert_int_equal(access(path, F_OK), 0);
	unlink(device);
}

/* What waits for ever is not waited for, and holds nothing of ours. */
static int ends[2];

static void write_pid(void *ctx)
{
	pid_t pid = getpid();
	int fd = open(ctx, O_WRONLY | O_CREAT, 0600);

	if (fcntl(ends[0], F_GETFD) < 0 && fcntl(ends[1], F_GETFD) < 0 &&
	    write(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	close(fd);
}

static void wait_for_ever(void *ctx)
{
	write_pid(ctx);
	for (;;)
		pause();
}

static pid_t read_pid(void)
{
	pid_t pid = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fread(&pid, sizeof(pid), 1, f), 1);
	fclose(f);
	unlink(path);
	return pid;
}

static void apart_or_behind(void **state)
{
	struct stat st;
	pid_t pid;
	char c;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	apart(write_pid, path, 60000);
	assert_int_equal(kill(read_pid(), 0), -1);
	apart(wait_for_ever, path, 500);
	close(ends[1]);
	/* Our end was the last. */
	assert_int_equal(read(ends[0], &c, 1), 0);
	close(ends[0]);
	while (stat(path, &st) || !st.st_size)
		usleep(1000);
	pid = read_pid();
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences),
		cmocka_unit_test_setup(lines_of_checks, empty_folder),
		cmocka_unit_test_setup(which_file, empty_folder),
		cmocka_unit_test_setup(bounded, empty_folder),
		cmocka_unit_test_setup(at_once, empty_folder),
		cmocka_unit_test_setup(full_at_once, empty_folder),
		cmocka_unit_test_setup(not_written, empty_folder),
		cmocka_unit_test_setup(not_there, empty_folder),
		cmocka_unit_test_setup(apart_or_behind, empty_folder),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
