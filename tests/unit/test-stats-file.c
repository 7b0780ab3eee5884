/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Which files statistics may be written to, and that other files are not
 * changed.
 */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "unit.h"
#include "prefetch/statistics.h"

/* Whether the kernel says that this process has more rights than its caller. */
static bool is_raised;

unsigned long __wrap_getauxval(unsigned long type);
unsigned long __real_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? is_raised : __real_getauxval(type);
}

static char dir[] = "/tmp/test-stats-file-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static unsigned which;

	which = !which;
	snprintf(path[which], sizeof(path[which]), "%s/%s", dir, name);
	return path[which];
}

FIXTURE(make_dir)
{
	umask(0);
	return mkdtemp(dir) ? 0 : -1;
}

FIXTURE(remove_dir)
{
	char command[sizeof(dir) + 8];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void make_file(const char *name, unsigned mode, const char *contents)
{
	int fd = open(in_dir(name), O_CREAT | O_EXCL | O_WRONLY, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, contents, 8), 8);
	close(fd);
}

static void assert_file(const char *name, unsigned mode, off_t size)
{
	struct stat st;

	assert_int_equal(stat(in_dir(name), &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	assert_int_equal(st.st_size, size);
}

static void assert_refused(const char *name, const char *reason)
{
	/* The report is not used before the file is open. */
	assert_string_equal(pf_statistics_save(in_dir(name), NULL), reason);
}

/* The size of what is written. */
static off_t written(const char *name)
{
	static const struct pf_report report;
	struct stat st;

	assert_null(pf_statistics_save(in_dir(name), &report));
	assert_int_equal(stat(in_dir(name), &st), 0);
	assert_true(st.st_size > 100);
	return st.st_size;
}

TEST(new_and_own_files)
{
	off_t size = written("new");

	assert_file("new", 0600, size);
	make_file("checked", 0666, "{ old: 1");
	assert_int_equal(truncate(in_dir("checked"), 100000), 0);
	assert_int_equal(written("checked"), size);
	assert_file("checked", 0600, size);
	assert_refused("missing/file", "No such file or directory");
}

TEST(not_a_file_of_ours)
{
	int reader;

	make_file("linked", 0644, "{ old: 1");
	assert_int_equal(symlink(in_dir("linked"), in_dir("link")), 0);
	assert_refused("link", strerror(ELOOP));
	assert_int_equal(link(in_dir("linked"), in_dir("hard")), 0);
	assert_refused("hard", "it has several hard links");
	assert_refused("linked", "it has several hard links");
	assert_file("linked", 0644, 8);
	assert_int_equal(mkfifo(in_dir("fifo"), 0666), 0);
	assert_refused("fifo", "not a regular file");
	/* Even if it has a reader. */
	reader = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_refused("fifo", "not a regular file");
	close(reader);
	assert_int_equal(mkdir(in_dir("directory"), 0755), 0);
	assert_refused("directory", "Is a directory");
	/* An image begins with a zero byte. */
	make_file("image", 0644, "\0mage...");
	assert_refused("image", "it does not contain statistics");
	assert_file("image", 0644, 8);
	/* The target of a dangling link must not be created either. */
	unlink(in_dir("hard"));
	unlink(in_dir("linked"));
	assert_refused("link", strerror(ELOOP));
	assert_int_equal(access(in_dir("linked"), F_OK), -1);
}

TEST(file_of_another)
{
	if (geteuid() != 0)
		SKIP("not root\n");
	make_file("other", 0666, "{ old: 1");
	if (chown(in_dir("other"), 12345, 12345) < 0) {
		/* There may be only one user in this user namespace. */
		assert_int_equal(errno, EINVAL);
		SKIP("no other user here\n");
	}
	assert_refused("other", "it belongs to another user");
	assert_file("other", 0666, 8);
}

TEST(raised_privileges)
{
	make_file("raised", 0666, "{ old: 1");
	is_raised = true;
	assert_refused("raised", "not allowed with raised privileges");
	assert_refused("not-made", "not allowed with raised privileges");
	is_raised = false;
	assert_file("raised", 0666, 8);
	assert_int_equal(access(in_dir("not-made"), F_OK), -1);
}

UNIT_MAIN(make_dir, remove_dir)
