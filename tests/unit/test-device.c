/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The real device: which files can be opened, whether cached ranges are
 * recognized, and that errors are reported.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include "unit.h"
#include "prefetch/device.h"
#include "prefetch/filter.h"

#define SIZE (1u << 20)
#define NOBODY 65534
#define NO_OTHER 3		/* exit status: cannot become another user */

static char path[] = "/tmp/test-device-XXXXXX";

FIXTURE(make_file)
{
	int fd = mkstemp(path);
	char buf[4096];
	size_t done;

	for (done = 0; fd >= 0 && done < SIZE; done += sizeof(buf)) {
		memset(buf, (int)(done / sizeof(buf)), sizeof(buf));
		if (write(fd, buf, sizeof(buf)) != sizeof(buf))
			return -1;
	}
	return fd < 0 || fsync(fd) || close(fd) ? -1 : 0;
}

FIXTURE(remove_file)
{
	return unlink(path);
}

TEST(refused)
{
	struct pf_device *dev;
	int other;

	assert_int_equal(pf_device_open("/nowhere/at/all", 0, &dev), ENOENT);
	assert_int_equal(pf_device_open("/tmp", 0, &dev), ENOTBLK);
	assert_int_equal(pf_device_open("/dev/null", 0, &dev), ENOTBLK);
	assert_int_equal(pf_device_open(path, SIZE, &dev), EINVAL);
	assert_int_equal(pf_device_open(path, UINT64_MAX, &dev), EINVAL);
	/* As descriptor 0, which is closed like another. */
	other = dup(0);
	close(0);
	assert_int_equal(pf_device_open(path, SIZE, &dev), EINVAL);
	assert_int_equal(open(path, O_RDONLY), 0);
	assert_int_equal(dup2(other, 0), 0);
	close(other);
}

TEST(read_and_end)
{
	struct pf_device *dev;
	unsigned char buf[8192];
	enum pf_residency found;

	assert_int_equal(pf_device_open(path, 4096, &dev), 0);
	assert_true(dev->size == SIZE - 4096);
	assert_int_equal(dev->ops->read(dev, buf, 4096, sizeof(buf)), 0);
	assert_int_equal(buf[0], 2);
	assert_int_equal(buf[4096], 3);
	assert_int_equal(dev->ops->read(dev, buf, dev->size - 4096,
					sizeof(buf)), EIO);
	/* The range was just read, so it is cached.  An empty range has no
	 * length, and a range that cannot be mapped counts as missing. */
	assert_true(dev->ops->span(dev, 4096, 8192, &found) == 8192);
	assert_true(found == PF_CACHED);
	assert_true(dev->ops->span(dev, 4096, 0, &found) == 0);
	assert_int_equal(found, PF_MISSING);
	assert_true(dev->ops->span(dev, UINT64_C(1) << 63, 4096,
				   &found) == 4096);
	assert_int_equal(found, PF_MISSING);
	dev->ops->close(dev);
}

/* Where mincore(2) is not allowed a read without a wait tells the same, if the
 * filesystem has it.  What was missing is being read then. */
TEST(asked_by_reading)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	enum pf_residency found;
	struct pf_device *dev;
	char buf[4096];
	uint64_t len;

	pf_filter_set_allows_calls(false);
	assert_int_equal(pf_device_open(path, 4096, &dev), 0);
	pf_filter_set_allows_calls(true);
	assert_true(dev->asks_by_reading);
	assert_false(dev->sees_not_uptodate);
	if (dev->unusable) {
		assert_non_null(strstr(dev->unusable, "are blocked"));
		dev->ops->close(dev);
		skip();
	}
	assert_true(pf_device_is_cached(dev, 0, dev->size, false));
	len = dev->ops->span(dev, dev->size - 100, 4096, &found);
	assert_true(len == 4096 && found == PF_CACHED);
	dev->ops->span(dev, UINT64_C(1) << 63, 4096, &found);
	assert_int_equal(found, PF_MISSING);
	/* A filesystem in memory keeps it. */
	posix_fadvise(dev->fd, 0, 0, POSIX_FADV_DONTNEED);
	assert_int_equal(dev->ops->read(dev, buf, 4 * page, sizeof(buf)), 0);
	assert_true(pf_device_is_cached(dev, 4 * page, sizeof(buf), false));
	len = dev->ops->span(dev, 4 * page, 8 * page, &found);
	assert_true(len >= sizeof(buf) && found == PF_CACHED);
	len = dev->ops->span(dev, 32 * page, 8 * page, &found);
	assert_true(len == 8 * page);
	while (!pf_device_is_cached(dev, 32 * page, 8 * page, false))
		;
	dev->ops->close(dev);
}

/* Where a file has no data, and that a range can be dropped.  A filesystem in memory
 * keeps it, and needs no device for holes. */
static void look_at_holes(const char *directory)
{
	char sparse[64];
	int fd;
	struct pf_device *dev;
	struct statfs fs;
	enum pf_residency found;
	uint64_t at;

	snprintf(sparse, sizeof(sparse), "%s/test-device-XXXXXX", directory);
	fd = mkstemp(sparse);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8 * SIZE), 0);
	assert_int_equal(pwrite(fd, sparse, 1, 2 * SIZE), 1);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(pf_device_open(sparse, SIZE, &dev), 0);
	at = dev->ops->next_data(dev, 0);
	/* A filesystem without holes has data everywhere. */
	assert_true(at == SIZE || at == 0);
	assert_true(dev->ops->next_data(dev, SIZE) == SIZE);
	if (at)
		assert_true(dev->ops->next_data(dev, 2 * SIZE) == UINT64_MAX);
	assert_int_equal(fstatfs(fd, &fs), 0);
	posix_fadvise(dev->fd, 2 * SIZE, 4096, POSIX_FADV_DONTNEED);
	dev->ops->span(dev, SIZE, 4096, &found);
	assert_int_equal(found == PF_CACHED, fs.f_type == TMPFS_MAGIC);
	assert_int_equal(dev->ops->span(dev, 0, SIZE, &found), SIZE);
	assert_int_equal(found == PF_CACHED, fs.f_type == TMPFS_MAGIC);
	/* The data at its end is not part of it. */
	assert_int_equal(dev->ops->span(dev, SIZE / 2, SIZE, &found),
			 found ? SIZE / 2 : SIZE);
	assert_int_equal(found == PF_CACHED, fs.f_type == TMPFS_MAGIC);
	/* Behind all data. */
	assert_int_equal(dev->ops->span(dev, SIZE + 4096, SIZE, &found), SIZE);
	assert_int_equal(found == PF_CACHED, fs.f_type == TMPFS_MAGIC);
	dev->ops->close(dev);
	close(fd);
	unlink(sparse);
}

TEST(holes)
{
	look_at_holes("/tmp");
	if (!access("/dev/shm", W_OK))
		look_at_holes("/dev/shm");
}

/* Zeroing a part of a hole leaves a page in the cache that nobody reads: mincore(2) says
 * that it is missing, and readahead passes over it. */
TEST(page_written_in_part)
{
	char sparse[] = "/tmp/test-device-XXXXXX", buf[4096];
	int fd = mkstemp(sparse);
	enum pf_residency found;
	struct pf_device *dev;
	bool zeroed;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8 * SIZE), 0);
	zeroed = !fallocate(fd, FALLOC_FL_ZERO_RANGE, SIZE + 100, 4096);
	assert_int_equal(pf_device_open(sparse, 0, &dev), 0);
	unlink(sparse);
	close(fd);
	dev->ops->span(dev, SIZE, 4096, &found);
	if (!zeroed || !dev->sees_not_uptodate || found != PF_NOT_UPTODATE) {
		dev->ops->close(dev);
		SKIP("this filesystem, or kernel, has no such pages\n");
	}
	assert_false(dev->ops->arrives(dev, SIZE, 4096, 1000000, false));
	/* The bytes before it are missing. */
	assert_int_equal(dev->ops->span(dev, SIZE - 8192, 32768, &found), 8192);
	assert_int_equal(found, PF_MISSING);
	assert_int_equal(dev->ops->read(dev, buf, SIZE, sizeof(buf)), 0);
	dev->ops->span(dev, SIZE, 4096, &found);
	assert_int_equal(found, PF_CACHED);
	assert_true(dev->ops->arrives(dev, SIZE, 4096, 0, false));
	dev->ops->close(dev);
}

/* Its node is on a filesystem in memory, the device is not: what is missing is one
 * range.  Others may read the beginning and the end of a new device. */
TEST(block_device)
{
	char command[128], name[32] = "";
	struct pf_device *dev;
	uint64_t length;
	enum pf_residency found;
	FILE *loop;

	snprintf(command, sizeof(command),
		 "losetup --find --show %s 2>/dev/null", path);
	loop = popen(command, "r");
	assert_non_null(loop);
	if (fscanf(loop, "%31s", name) != 1)
		*name = '\0';
	pclose(loop);
	if (!*name)
		skip();
	assert_int_equal(pf_device_open(name, 0, &dev), 0);
	posix_fadvise(dev->fd, 0, SIZE, POSIX_FADV_DONTNEED);
	length = dev->ops->span(dev, SIZE / 4, SIZE / 2, &found);
	dev->ops->close(dev);
	snprintf(command, sizeof(command), "losetup --detach %s", name);
	assert_int_equal(system(command), 0);
	assert_int_equal(length, SIZE / 2);
	assert_int_equal(found, PF_MISSING);
}

/* The same with a small mapping, if address space is limited. */
TEST(without_a_mapping)
{
	struct pf_device *dev;
	struct rlimit old, limit;
	unsigned char buf[4096];
	enum pf_residency found;
	int err;

	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	if (old.rlim_cur != RLIM_INFINITY)
		SKIP("address space is limited already\n");
	limit = old;
	limit.rlim_cur = RLIM_INFINITY - 1;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	err = pf_device_open(path, 0, &dev);
	setrlimit(RLIMIT_AS, &old);
	assert_int_equal(err, 0);
	assert_int_equal(dev->ops->read(dev, buf, 0, sizeof(buf)), 0);
	assert_true(dev->ops->span(dev, 0, 4096, &found) >= 4096);
	assert_true(found == PF_CACHED);
	dev->ops->close(dev);
}

/* The remaining descriptors are left to the checker. */
TEST(few_descriptors)
{
	struct pf_device *dev;
	struct rlimit old, few;
	int err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 16;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = pf_device_open(path, 0, &dev);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(err, EMFILE);
}

/* Become the user nobody, or its root in a user name space of its own, in which nobody
 * else is mapped. */
static bool become_nobody(bool root)
{
	FILE *map;

	if (setgid(NOBODY) || setuid(NOBODY))
		return false;
	if (!root)
		return true;
	/* Or /proc/self stays root's. */
	prctl(PR_SET_DUMPABLE, 1);
	map = unshare(CLONE_NEWUSER) ? NULL : fopen("/proc/self/uid_map", "w");
	if (map) {
		fprintf(map, "0 %d 1", NOBODY);
		fclose(map);
	}
	return !geteuid();
}

/* Whether nobody can see which pages are cached of the file of this owner and mode:
 * 0 or 1, or NO_OTHER. */
static int nobody_sees(uid_t owner, mode_t mode, bool root)
{
	struct pf_device *dev;
	int status;
	pid_t child;

	assert_int_equal(chown(path, owner, owner), 0);
	assert_int_equal(chmod(path, mode), 0);
	child = fork();
	if (!child) {
		if (!become_nobody(root))
			_exit(NO_OTHER);
		if (pf_device_open(path, 0, &dev))
			_exit(2);
		_exit(!dev->unusable);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void look_as_nobody(bool root)
{
	if (geteuid() || nobody_sees(0, 0444, root) == NO_OTHER)
		SKIP("not root, or no name spaces of users\n");
	assert_int_equal(nobody_sees(0, 0444, root), 0);
	assert_int_equal(nobody_sees(0, 0666, root), 1);
	assert_int_equal(nobody_sees(NOBODY, 0444, root), 1);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

TEST(of_somebody_else)
{
	look_as_nobody(false);
}

/* In which it is root, of nobody's files. */
TEST(in_a_name_space)
{
	look_as_nobody(true);
}

UNIT_MAIN(make_file, remove_file)
