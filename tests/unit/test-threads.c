/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A small checker with the preload library, and the preload library's threads, on a
 * filesystem that is not cached.  The preload library is linked, not preloaded, so
 * that the thread sanitizer sees everything.  The scheduler decides in which order the
 * threads run, except for the reporter, which is held while it looks at a session.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>

#include <ext2fs/ext2fs.h>

/* The session of a check that has ended, until the next begins. */
#define UNIT_KEEPS 3
#include "unit.h"
#include "file-fs.h"
#include "prefetch/session.h"

#define BLOCKS 40000u		/* five groups */
#define DIRECTORIES 300u
#define LARGE 30u		/* blocks of their parent: more than its inode lists */
#define ROUNDS 4u

static char image[] = "/tmp/test-threads-XXXXXX";
static const char *self;

/* The functions that e2fsck refers to are this program's own: the preload library is
 * linked. */
bool __wrap_e2fsck_stages_can_be_followed(void);
bool __wrap_e2fsck_stages_can_be_followed(void)
{
	return true;
}

/* Where the reporter is held: until it is released it stays in one of these
 * functions of ours.  NULL: nowhere. */
static const char *held;
static atomic_bool is_not_uptodate, released;
static atomic_int shown;	/* 1: the text names the image; -1: it does not */

static void wait_for(atomic_bool *event)
{
	while (!atomic_load(event))
		usleep(1000);
}

static void hold_in(const char *function)
{
	if (!held || strcmp(held, function))
		return;
	atomic_store(&is_not_uptodate, true);
	wait_for(&released);
}

/* This clock is set back by an hour each time after it was read. */
int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int result = __real_clock_gettime(clock, ts);

	ts->tv_sec += clock == CLOCK_REALTIME ? 3600 : 0;
	return result;
}

/* A wait would take a lock that was forgotten. */
__typeof__(pthread_cond_timedwait) __real_pthread_cond_timedwait;
__typeof__(pthread_cond_timedwait) __wrap_pthread_cond_timedwait;
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	lock_is(true, mutex);
	return __real_pthread_cond_timedwait(cond, mutex, until);
}

void __real_pf_session_get_progress(struct pf_session *, struct pf_progress *);
void __wrap_pf_session_get_progress(struct pf_session *, struct pf_progress *);
void __wrap_pf_session_get_progress(struct pf_session *s, struct pf_progress *p)
{
	hold_in("look");
	__real_pf_session_get_progress(s, p);
}

void __real_pf_progress_save(const char *);
void __wrap_pf_progress_save(const char *);
void __wrap_pf_progress_save(const char *line)
{
	hold_in("print");
	__real_pf_progress_save(line);
	atomic_store(&shown, strstr(line, image) ? 1 : -1);
}

/*
 * The checker.  Each function ends the process if something differs from what
 * was made.
 */

static void need(bool as_made, const char *what)
{
	if (as_made)
		return;
	fprintf(stderr, "test-threads: %s\n", what);
	exit(1);
}

struct found {
	ext2_dblist list;
	ext2_ino_t ino;
	unsigned inodes, directories, blocks;
};

static int add_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		     blk64_t parent, int offset, void *data)
{
	struct found *f = data;

	(void)fs, (void)parent, (void)offset;
	return count >= 0 && ext2fs_add_dir_block2(f->list, f->ino, *block,
						   count) ? BLOCK_ABORT : 0;
}

static void first_pass(ext2_filsys fs, struct found *f)
{
	struct ext2_inode inode;
	ext2_inode_scan scan;

	need(!ext2fs_open_inode_scan(fs, 0, &scan), "no scan");
	while (!ext2fs_get_next_inode(scan, &f->ino, &inode) && f->ino) {
		f->inodes++;
		if (!LINUX_S_ISDIR(inode.i_mode))
			continue;
		f->directories++;
		need(!ext2fs_block_iterate3(fs, f->ino, BLOCK_FLAG_READ_ONLY,
					    NULL, add_block, f), "no blocks");
	}
	ext2fs_close_inode_scan(scan);
}

static int look_at_block(ext2_filsys fs, struct ext2_db_entry2 *entry,
			 void *data)
{
	char block[EXT2_MIN_BLOCK_SIZE];
	struct found *f = data;

	f->blocks++;
	return ext2fs_read_dir_block4(fs, entry->blk, block, 0, entry->ino) ?
	       DBLIST_ABORT : 0;
}

/* One filesystem after the other in one process, as when e2fsck restarts; the
 * last one is left open for the preload library to find. */
static int check(const char *path)
{
	const struct struct_io_manager own_unix = *unix_io_manager;
	static ext2_filsys fs;
	unsigned round;

	alarm(600);
	for (round = 0; round < ROUNDS; round++) {
		struct found f = { 0 };

		need(!file_fs_evict(path), "not evicted");
		need(!ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0,
				  unix_io_manager, &fs), "not opened");
		need(fs->io->manager->read_blk64 != own_unix.read_blk64,
		     "not watched");
		need(!ext2fs_init_dblist(fs, &f.list), "no list");
		first_pass(fs, &f);
		need(f.inodes == fs->super->s_inodes_count, "inodes lost");
		need(f.directories == DIRECTORIES + 1, "directories lost");
		need(!ext2fs_dblist_iterate2(f.list, look_at_block, &f),
		     "list not walked");
		need(f.blocks == (uint64_t)ext2fs_dblist_count2(f.list) &&
		     f.blocks == DIRECTORIES + LARGE, "blocks lost");
		need(!ext2fs_read_bitmaps(fs), "no bitmaps");
		ext2fs_free_dblist(f.list);
		if (round + 1 < ROUNDS)
			need(!ext2fs_close_free(&fs), "not closed");
	}
	return 0;
}

static ext2_filsys scanned(const char *path)
{
	ext2_inode_scan scan;
	struct ext2_inode inode;
	ext2_ino_t ino;
	ext2_filsys fs;

	need(!file_fs_evict(path), "not evicted");
	need(!ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs),
	     "not opened");
	need(!ext2fs_open_inode_scan(fs, 0, &scan), "no scan");
	need(!ext2fs_get_next_inode(scan, &ino, &inode) && ino, "no inode");
	ext2fs_close_inode_scan(scan);
	return fs;
}

/*
 * The filesystem is closed, and its session followed by another, while the
 * reporter is held with the first session.  If it is printing it has what it needs,
 * and reading ahead goes on; if it is looking at the session, that is left to it,
 * and nothing more is read ahead.
 */
static int restart(const char *path, const char *function)
{
	const struct struct_io_manager own_unix = *unix_io_manager;
	bool looks = !strcmp(function, "look"), watched;
	ext2_filsys fs;

	alarm(600);
	snprintf(image, sizeof(image), "%s", path);
	held = function;
	fs = scanned(path);
	wait_for(&is_not_uptodate);
	need(!ext2fs_close_free(&fs), "not closed");
	fs = scanned(path);
	watched = fs->io->manager->read_blk64 != own_unix.read_blk64;
	need(watched == !looks, looks ? "the session was not left to the reporter" :
					"nothing was read ahead");
	atomic_store(&released, true);
	while (!atomic_load(&shown))
		usleep(1000);
	need(atomic_load(&shown) == 1, "the text is not that of the session");
	need(!ext2fs_close_free(&fs), "not closed");
	return 0;
}

/*
 * The test.
 */

FIXTURE(make_image)
{
	int fd = mkstemp(image);
	ext2_filsys fs;
	unsigned i;

	if (fd < 0 || close(fd) || file_fs(image, BLOCKS) ||
	    ext2fs_open(image, EXT2_FLAG_RW, 0, 0, unix_io_manager, &fs) ||
	    ext2fs_read_bitmaps(fs))
		return -1;
	for (i = 1; i < LARGE; i++)
		if (ext2fs_expand_dir(fs, EXT2_ROOT_INO))
			return -1;
	for (i = 0; i < DIRECTORIES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "directory-%u", i);
		if (ext2fs_mkdir(fs, EXT2_ROOT_INO, 0, name))
			return -1;
	}
	return ext2fs_close_free(&fs) ? -1 : 0;
}

FIXTURE(remove_image)
{
	return unlink(image);
}

static void check_with(const char *manager, const char *function)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		setenv("PREFETCH", "1", 1);
		setenv("PREFETCH_THREADS", "4", 1);
		setenv("TEST_MMAP_IO", manager, 1);
		execl(self, self, "-f", image, function, NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* With unix_io and with e2fsck's own manager. */
TEST(checked)
{
	check_with("0", NULL);
	check_with("1", NULL);
}

/* Only root has a status to report. */
TEST(closed_while_reporter_prints)
{
	if (geteuid())
		SKIP("not root\n");
	check_with("0", "print");
}

TEST(closed_while_reporter_looks)
{
	if (geteuid())
		SKIP("not root\n");
	check_with("0", "look");
}

UNIT_TESTS

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc == 3)
		return check(argv[2]);
	if (argc == 4)
		return restart(argv[2], argv[3]);
	return unit_run(make_image, remove_image);
}
