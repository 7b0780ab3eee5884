/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The preload library in a program that does not use libext2fs as e2fsck does: which
 * filesystems are prefetched, that a child process writes no statistics, and that
 * the program ends even if our threads do not.
 *
 * The test starts itself with the library preloaded, once for each of `uses`.
 */
/* Both names of posix_fadvise() are defined here. */
#undef _FILE_OFFSET_BITS
#ifndef _LARGEFILE64_SOURCE
#define _LARGEFILE64_SOURCE
#endif
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include <ext2fs/ext2fs.h>

#include "preloaded.h"
#include "file-fs.h"

#define BLOCKS 20000u

static char directory[] = "/tmp/test-linkage-XXXXXX";
static char first[64], second[64], journal[64], stats[64];

/* The preload library follows a program that refers to these. */
static void (*const volatile referred[])(void) = {
	(void (*)(void))ext2fs_open2, (void (*)(void))ext2fs_open_inode_scan,
	(void (*)(void))ext2fs_get_next_inode_full,
	(void (*)(void))ext2fs_dblist_iterate2,
	(void (*)(void))ext2fs_close_free
};

/*
 * Run with the library preloaded.  Each function returns an exit status.
 */

static ext2_filsys opened(const char *path, int flags)
{
	ext2_filsys fs;

	if (ext2fs_open(path, flags, 0, 0, unix_io_manager, &fs))
		exit(100);
	return fs;
}

/* Whether reads go through operations that are not the manager's own. */
static bool is_watched(ext2_filsys fs)
{
	return fs->io->manager->read_blk64 != unix_io_manager->read_blk64;
}

/* With another scan in it, which is not a pass. */
static int scan(ext2_filsys fs)
{
	ext2_inode_scan inodes, other;
	struct ext2_inode inode;
	ext2_ino_t ino, count = 0;

	if (ext2fs_open_inode_scan(fs, 0, &inodes) ||
	    ext2fs_open_inode_scan(fs, 0, &other))
		return 101;
	ext2fs_close_inode_scan(other);
	while (!ext2fs_get_next_inode(inodes, &ino, &inode) && ino)
		count++;
	ext2fs_close_inode_scan(inodes);
	return count == fs->super->s_inodes_count ? 0 : 102;
}

static int no_block(ext2_filsys fs, struct ext2_db_entry2 *entry, void *data)
{
	(void)fs, (void)entry, (void)data;
	return DBLIST_ABORT;
}

static int use_one(void)
{
	ext2_filsys fs = opened(first, EXT2_FLAG_64BITS);
	int status = scan(fs);

	if (ext2fs_init_dblist(fs, NULL) ||
	    ext2fs_dblist_iterate2(fs->dblist, no_block, NULL))
		status = 113;
	return ext2fs_close_free(&fs) ? 103 : status;
}

/* A second filesystem is not watched while the first is open. */
static int use_two(void)
{
	ext2_filsys a = opened(first, EXT2_FLAG_64BITS);
	ext2_filsys b = opened(second, EXT2_FLAG_64BITS);
	int status = scan(b);

	if (is_watched(b) || !is_watched(a))
		status = 104;
	if (!status)
		status = scan(a);
	if (ext2fs_close_free(&b) || ext2fs_close_free(&a))
		status = 103;
	return status;
}

/* A filesystem that is opened as tune2fs does, with a flag that also allows a
 * journal device. */
static int use_either(void)
{
	ext2_filsys fs = opened(first, EXT2_FLAG_64BITS |
				EXT2_FLAG_JOURNAL_DEV_OK);
	int status = is_watched(fs) ? scan(fs) : 104;

	return ext2fs_close_free(&fs) ? 103 : status;
}

/* The same for a journal device: there is no session, because a journal has no
 * superblock of a filesystem. */
static int use_journal(void)
{
	ext2_filsys fs = opened(journal, EXT2_FLAG_64BITS |
				EXT2_FLAG_JOURNAL_DEV_OK);
	int status = is_watched(fs) ? 104 : 0;

	return ext2fs_close_free(&fs) ? 103 : status;
}

static int use_nothing(void)
{
	return 0;
}

/* A child process calls exit() while the filesystem is open; its parent is
 * killed. */
static int use_child(void)
{
	ext2_filsys fs = opened(first, EXT2_FLAG_64BITS);
	int status = scan(fs);
	pid_t child = fork();

	if (!child)
		exit(status);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 105;
	kill(getpid(), SIGKILL);
	return 106;
}

/* A libext2fs that looks elsewhere for a manager's operations, as that of Lustre. */
static bool foreign;

errcode_t io_channel_read_blk64(io_channel channel, unsigned long long block,
				int count, void *data)
{
	errcode_t (*next)(io_channel, unsigned long long, int, void *) =
		(errcode_t (*)(io_channel, unsigned long long, int, void *))
		dlsym(RTLD_NEXT, "io_channel_read_blk64");

	return foreign && block >> 32 ? EXT2_ET_IO_CHANNEL_NO_SUPPORT_64 :
	       next(channel, block, count, data);
}

static int use_foreign(void)
{
	ext2_filsys fs;
	int status;

	foreign = true;
	fs = opened(first, EXT2_FLAG_64BITS);
	status = is_watched(fs) ? 104 : scan(fs);
	return ext2fs_close_free(&fs) ? 103 : status;
}

/* These are found before those of libc.  With `stalled` they simulate a disk that
 * does not respond: our threads wait forever, and no block is cached. */
static bool stalled;
static atomic_bool asked;	/* one of our threads waits */

static void wait_if_stalled(void)
{
	while (stalled && gettid() != getpid()) {
		atomic_store(&asked, true);
		pause();
	}
}

int posix_fadvise(int fd, off_t offset, off_t length, int advice)
{
	int (*next)(int, off_t, off_t, int) = (int (*)(int, off_t, off_t, int))
		dlsym(RTLD_NEXT, "posix_fadvise");

	wait_if_stalled();
	return next(fd, offset, length, advice);
}

/* With 32 bits its offsets are wider. */
int posix_fadvise64(int fd, off64_t offset, off64_t length, int advice)
{
	int (*next)(int, off64_t, off64_t, int) =
		(int (*)(int, off64_t, off64_t, int))
		dlsym(RTLD_NEXT, "posix_fadvise64");

	wait_if_stalled();
	return next(fd, offset, length, advice);
}

int mincore(void *start, size_t length, unsigned char *resident)
{
	int (*next)(void *, size_t, unsigned char *) =
		(int (*)(void *, size_t, unsigned char *))
		dlsym(RTLD_NEXT, "mincore");
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!stalled)
		return next(start, length, resident);
	memset(resident, 0, (length + page - 1) / page);
	return 0;
}

/* From now on nothing of the filesystem is in memory, and our threads wait. */
static void become_stalled(void)
{
	if (file_fs_evict(first))
		abort();
	stalled = true;
}

/* The check ends even if threads never return.  It stops in the first group: if
 * the device reports that it is rotational, each read would wait a second for a
 * worker. */
static int use_stalled(void)
{
	ext2_inode_scan inodes;
	struct ext2_inode inode;
	ext2_filsys fs;
	ext2_ino_t ino;
	unsigned i;

	become_stalled();
	fs = opened(first, EXT2_FLAG_64BITS);
	if (ext2fs_open_inode_scan(fs, 0, &inodes) ||
	    ext2fs_get_next_inode(inodes, &ino, &inode) || ino != 1)
		return 101;
	for (i = 0; i < 5000 && !atomic_load(&asked); i++)
		usleep(1000);
	if (!atomic_load(&asked))
		return 112;
	ext2fs_close_inode_scan(inodes);
	return ext2fs_close_free(&fs) ? 103 : 0;
}

/* A signal handler that does what matters to the preload library in e2fsck's. */
static void crashed(int number)
{
	void *frames[16];

	(void)number;
	backtrace(frames, 16);
	exit(108);
}

/* The allocator finds its memory corrupted.  It aborts the program with its
 * lock held, since there are threads. */
static int use_crash(void)
{
	struct sigaction action = { .sa_handler = crashed };
	ext2_inode_scan inodes;
	/* gcc 16 leaves out a malloc() of which nothing is used. */
	char *volatile piece[2];
	size_t room = 100000;

	become_stalled();
	if (ext2fs_open_inode_scan(opened(first, EXT2_FLAG_64BITS), 0, &inodes))
		return 101;
	sigaction(SIGABRT, &action, NULL);
	piece[0] = malloc(room);
	if (!piece[0])
		return 109;
	/* The size field of the chunk after this one. */
	memset(piece[0] + malloc_usable_size(piece[0]) - sizeof(size_t), 0xff,
	       2 * sizeof(size_t));
	piece[1] = malloc(room);
	free(piece[1]);
	free(piece[0]);
	return 110;
}

static const struct {
	const char *name;
	int (*run)(void);
} uses[] = {
	{ "one", use_one }, { "two", use_two }, { "either", use_either },
	{ "journal", use_journal },
	{ "nothing", use_nothing }, { "child", use_child },
	{ "stalled", use_stalled }, { "crash", use_crash },
	{ "foreign", use_foreign },
};

static void name_files(void)
{
	snprintf(first, sizeof(first), "%s/first", directory);
	snprintf(second, sizeof(second), "%s/second", directory);
	snprintf(journal, sizeof(journal), "%s/journal", directory);
	snprintf(stats, sizeof(stats), "%s/stats", directory);
}

static int main_preloaded(const char *name, const char *where)
{
	size_t i;

	snprintf(directory, sizeof(directory), "%s", where);
	name_files();
	alarm(600);
	if (!referred[0])
		return 97;
	for (i = 0; i < COUNT(uses); i++)
		if (!strcmp(uses[i].name, name))
			return uses[i].run();
	return 99;
}

/*
 * Run without the preload library.
 */

/* Run one of `uses'. */
static int use(const char *name, const char *prefetch)
{
	return run_preloaded(prefetch, stats, (const char *[]) {
		"test-linkage", name, directory, NULL });
}

TEST(one)
{
	assert_int_equal(use("one", "1"), 0);
	assert_true(stats_have(stats, "first\""));
	assert_true(stats_have(stats, "pass1\"") && stats_have(stats, "pass3-4\""));
	assert_false(stats_have(stats, "pass1b\""));
	assert_int_equal(use("either", "1"), 0);
	assert_true(stats_have(stats, "first\""));
	assert_int_equal(use("one", "0"), 0);
	assert_int_not_equal(access(stats, F_OK), 0);
}

TEST(two_at_a_time)
{
	assert_int_equal(use("two", "1"), 0);
	assert_true(stats_have(stats, "first\""));
	assert_false(stats_have(stats, "second\""));
}

TEST(not_helped)
{
	assert_int_equal(use("journal", "1"), 0);
	assert_int_not_equal(access(stats, F_OK), 0);
	assert_int_equal(use("foreign", "1"), 0);
	assert_int_not_equal(access(stats, F_OK), 0);
	assert_int_equal(use("nothing", "1"), 0);
	assert_int_not_equal(access(stats, F_OK), 0);
}

TEST(child_writes_nothing)
{
	assert_true(WIFSIGNALED(use("child", "1")));
	assert_int_not_equal(access(stats, F_OK), 0);
}

/* Threads are abandoned after a second, and the statistics are written. */
TEST(threads_left_behind)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(use("stalled", "1"), 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(stats_have(stats, "first\""));
	/* The program waited for the threads, so they existed. */
	assert_true(to.tv_sec - from.tv_sec > 1 ||
		    (to.tv_sec - from.tv_sec) * 1000000000L +
		    to.tv_nsec - from.tv_nsec >= 1000000000L);
}

/* Defined with --coverage, which allocates memory when it writes its
 * counters. */
extern void __gcov_dump(void) __attribute__((weak));

TEST(crash_ends)
{
	int status;

	if (__gcov_dump)
		SKIP("counters are written with the heap locked\n");
#ifdef __SANITIZE_ADDRESS__
	SKIP("the address sanitizer's allocator ends otherwise\n");
#endif
	status = use("crash", "1");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 108);
}

/* Turn a filesystem into a journal device, by a flag of its superblock. */
static errcode_t become_journal(const char *path)
{
	ext2_filsys fs = opened(path, EXT2_FLAG_64BITS | EXT2_FLAG_RW);

	ext2fs_set_feature_journal_dev(fs->super);
	ext2fs_mark_super_dirty(fs);
	return ext2fs_close_free(&fs);
}

FIXTURE(make_directory)
{
	if (!mkdtemp(directory))
		return -1;
	name_files();
	return file_fs(first, BLOCKS) || file_fs(second, BLOCKS) ||
	       file_fs(journal, BLOCKS) || become_journal(journal) ? -1 : 0;
}

FIXTURE(remove_directory)
{
	unlink(first);
	unlink(second);
	unlink(journal);
	unlink(stats);
	return rmdir(directory);
}

UNIT_TESTS

int main(int argc, char **argv)
{
	if (argc > 2)
		return main_preloaded(argv[1], argv[2]);
	return unit_run_with("../e2fsck/.libs/e2fsck-prefetch.so",
			     make_directory,
			     remove_directory);
}
