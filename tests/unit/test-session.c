/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A session on a filesystem in a file, through the public functions: the plan,
 * the reads that follow, and errors of a damaged filesystem.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"
#include "file-fs.h"
#include "own-run.h"
#include "recorded-tree.h"
#include "prefetch/state.h"
#include "prefetch/statistics.h"
#include "ext4/session.h"

static const struct pf_options checked = { .has_checker = true };

#define BLOCKS 40000u
#define NOBODY 65534

static char path[] = "/tmp/test-session-XXXXXX";
static ext2_filsys fs;
static bool run_is_own;

/* A filesystem of five groups. */
FIXTURE(make_fs)
{
	int fd = mkstemp(path);

	run_is_own = own_run_begin();
	if (fd < 0 || close(fd) || file_fs(path, BLOCKS))
		return -1;
	return ext2fs_open(path, 0, 0, 0, unix_io_manager, &fs) ? -1 : 0;
}

FIXTURE(end_fs)
{
	ext2fs_close_free(&fs);
	return unlink(path);
}

static void warm(void)
{
	char block[65536];
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	while (read(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

static struct pf_session *opened(void)
{
	struct pf_session *s;

	assert_int_equal(ext4_session_open(fs, path, 0, NULL, NULL, NULL, &s),
			 0);
	return s;
}

TEST(planned_and_read)
{
	struct pf_class_count plan[EXT4_CLASSES];
	const unsigned classes = 1u << EXT4_BITMAPS | 1u << EXT4_INODES |
				 1u << EXT4_DIRS;
	struct pf_session *s = opened();
	struct pf_engine_stats t;
	uint64_t bytes = 0;
	unsigned i;

	assert_int_equal(pf_survey_count(&ext4_session_of(s)->ext4->source,
					 s->dev,
					   plan), 0);
	for (i = 0; i < EXT4_CLASSES; i++) {
		assert_true(plan[i].runs <= plan[i].bytes / 1024);
		assert_int_equal(plan[i].runs > 0, classes >> i & 1);
		assert_int_equal(plan[i].bytes > 0, classes >> i & 1);
		bytes += plan[i].bytes;
	}
	assert_true(plan[EXT4_BITMAPS].bytes == 2048 * fs->group_desc_count);
	assert_true(plan[EXT4_INODES].bytes == UINT64_C(1024) *
		    fs->inode_blocks_per_group * fs->group_desc_count);
	assert_true(plan[EXT4_DIRS].bytes == 1024);

	assert_int_equal(file_fs_evict(path), 0);
	assert_int_equal(pf_session_start(s), 0);
	assert_true(pf_engine_wait(s->engine, -1));
	pf_session_count(s, &t);
	assert_true(!t.errors && !t.gave_up);
	assert_true(t.planned_bytes == bytes);
	assert_true(t.prefetched_bytes <= t.planned_bytes);
	pf_engine_stop(s->engine, -1);
	pf_session_free(s);
	pf_session_free(NULL);
}

/* Others can see that this process shares the memory. */
TEST(shared_while_open)
{
	struct pf_session *s;

	if (!run_is_own)
		SKIP("no mount name space\n");
	assert_int_equal(own_run_checks("/run/e2prefetch"), 0);
	s = opened();
	assert_int_equal(own_run_checks("/run/e2prefetch"), 1);
	pf_session_free(s);
	assert_int_equal(own_run_checks("/run/e2prefetch"), 0);
}

/* An unusable superblock, and missing descriptors. */
TEST(not_whole)
{
	struct opaque_ext2_group_desc *descriptors = fs->group_desc;
	uint32_t blocks = fs->super->s_blocks_per_group;
	struct pf_session *s;

	fs->super->s_blocks_per_group = 0;
	assert_int_equal(ext4_session_open(fs, path, 0, NULL, NULL, NULL, &s),
			 EXT2_ET_CORRUPT_SUPERBLOCK);
	fs->super->s_blocks_per_group = blocks;
	assert_int_equal(ext4_session_open(fs, "/nowhere/at/all", 0, NULL, NULL, NULL,
					   &s), ENOENT);
	fs->group_desc = NULL;
	assert_int_equal(ext4_session_open(fs, path, 0, NULL, NULL, NULL, &s),
			 EXT2_ET_CORRUPT_SUPERBLOCK);
	/* A checker may lose them between the open and its first pass. */
	assert_int_equal(ext4_session_open(fs, path, 0, NULL, &checked, NULL,
					   &s), 0);
	assert_int_equal(ext4_session_start_scan(s, fs),
			 EXT2_ET_CORRUPT_SUPERBLOCK);
	fs->group_desc = descriptors;
	fs->group_desc_count--;
	assert_int_equal(ext4_session_start_scan(s, fs),
			 EXT2_ET_CORRUPT_SUPERBLOCK);
	fs->group_desc_count++;
	pf_session_free(s);
}

static uint64_t planned_by(struct pf_session *s)
{
	struct pf_engine_stats stats;

	assert_int_equal(ext4_session_start_scan(s, fs), 0);
	assert_true(pf_engine_wait(s->engine, -1));
	pf_engine_get_stats(s->engine, 1000, &stats);
	return stats.planned_bytes;
}

/* A checker scans all inodes again, on the same open filesystem.  The cache is
 * sampled as before the first scan, and the current group descriptors are
 * used. */
TEST(scanned_again)
{
	struct pf_session *s;
	uint64_t once, twice;

	assert_int_equal(ext4_session_open(fs, path, 0, NULL, &checked, NULL,
					   &s), 0);
	/* Nothing is cached, so the workers are started. */
	assert_int_equal(file_fs_evict(path), 0);
	once = planned_by(s);
	assert_true(once);
	assert_int_equal(file_fs_evict(path), 0);
	twice = planned_by(s);
	assert_int_equal(twice, 2 * once);
	/* Everything is cached, so no worker is needed. */
	warm();
	assert_int_equal(planned_by(s), twice);
	pf_session_free(s);
}

/* Another thread looks at a session all the time.  What it and the checker tell
 * each other orders nothing, so that the thread sanitizer sees what is not ordered
 * by the session. */
struct looker {
	struct pf_session *s;
	atomic_uint looks;
	atomic_bool ends;
};

static void *look_on(void *arg)
{
	struct looker *l = arg;

	while (!atomic_load_explicit(&l->ends, memory_order_relaxed)) {
		struct pf_progress progress = { .seconds = 0 };

		pf_session_get_progress(l->s, &progress);
		atomic_fetch_add_explicit(&l->looks, 1, memory_order_relaxed);
	}
	return NULL;
}

static void wait_for_look(struct looker *l)
{
	unsigned looks = atomic_load_explicit(&l->looks, memory_order_relaxed);

	while (atomic_load_explicit(&l->looks, memory_order_relaxed) - looks < 2)
		usleep(100);
}

static uint64_t inodes_of(struct pf_session *s)
{
	struct ext4_progress progress = { .passed = 0 };

	ext4_source_get_progress(ext4_session_of(s)->ext4, &progress);
	return progress.inodes;
}

/* All was cached, and then it is not; and when the session has ended, the checker
 * frees the filesystem, while the reporter looks. */
TEST(looked_at_until_the_end)
{
	struct struct_ext2_filsys lent = *fs;
	struct looker looker = { .ends = false };
	pthread_t thread;

	warm();
	assert_int_equal(ext4_session_open(&lent, path, 0, NULL, &checked, NULL,
					   &looker.s), 0);
	assert_int_equal(ext4_session_start_scan(looker.s, &lent), 0);
	assert_false(pf_engine_is_in_phase(looker.s->engine,
					   EXT4_PHASE_TABLES));
	assert_int_equal(pthread_create(&thread, NULL, look_on, &looker), 0);
	wait_for_look(&looker);
	pf_engine_wake(looker.s->engine);
	wait_for_look(&looker);
	assert_true(inodes_of(looker.s));
	assert_true(pf_session_stop(looker.s, -1));
	memset(&lent, 0xff, sizeof(lent));
	wait_for_look(&looker);
	atomic_store_explicit(&looker.ends, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	assert_false(inodes_of(looker.s));
	pf_session_free(looker.s);
}

/* An engine that measures a device which does not answer has its lock. */
TEST(looked_at_while_measuring)
{
	struct pf_progress progress = { .seconds = 0 };
	struct pf_session *s;

	assert_int_equal(ext4_session_open(fs, path, 0, NULL, &checked, NULL,
					   &s), 0);
	pf_session_get_progress(s, &progress);
	assert_false(progress.busy);
	pthread_mutex_lock(&s->engine->lock);
	pf_session_get_progress(s, &progress);
	pthread_mutex_unlock(&s->engine->lock);
	assert_true(progress.busy);
	assert_string_equal(progress.stage, "open");
	pf_session_free(s);
}

/* The statistics of a session; closes it. */
static char *statistics(struct pf_session *s)
{
	struct pf_report report = { .device = NULL };
	FILE *full = fopen("/dev/full", "w"), *out;
	char *text = NULL;
	size_t size;

	pf_session_report(s, &report);
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(pf_statistics_write(&report, full), EIO);
	fclose(full);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_int_equal(pf_statistics_write(&report, out), 0);
	fclose(out);
	pf_session_free(s);
	return text;
}

/* Two processes share 8 GiB: each may use three quarters of its half.  Without
 * /sys the process may be in any cgroup. */
TEST(budget)
{
	static const struct {
		bool has_sys;
		uint64_t memory;
		const char *bytes, *note;
	} of[] = {
		{ true, 0, "_budget_bytes\":3221225472",
		  "3072 MiB ahead (a share of the available memory)" },
		{ false, 0, "_budget_bytes\":8388608",
		  "8 MiB ahead (a share of the available memory)" },
		{ true, 64 << 20, "_budget_bytes\":67108864",
		  "64 MiB ahead (as configured)" },
	};
	struct pf_session *s;
	char *text;
	size_t i;
	int other;

	if (!run_is_own)
		SKIP("no mount name space\n");
	mkdir("/run/e2prefetch", 0755);
	mkfifo("/run/e2prefetch/check.0", 0600);
	for (i = 0; i < COUNT(of); i++) {
		tree_make("proc/meminfo: MemAvailable:    8388608 kB\n");
		other = open("/run/e2prefetch/check.0", O_RDONLY | O_NONBLOCK);
		assert_true(other >= 0);
		if (of[i].has_sys)
			tree_add("sys/fs/cgroup/cgroup.procs: 10");
		s = opened();
		s->sysroot = tree_root;
		s->settings.memory = of[i].memory;
		pf_session_choose(s);
		text = statistics(s);
		assert_non_null(strstr(text, of[i].bytes));
		assert_non_null(strstr(text, of[i].note));
		free(text);
		close(other);
		tree_remove();
	}
}

/* A process that cannot see what is cached reads nothing ahead. */
TEST(cache_not_seen)
{
	struct pf_session *s;
	struct pf_engine_stats t;

	assert_int_equal(chmod(path, 0444), 0);
	if (geteuid() || seteuid(NOBODY))
		SKIP("not root, or in a name space of one user\n");
	s = opened();
	assert_int_equal(pf_session_start(s), 0);
	pf_session_count(s, &t);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_non_null(s->why_off);
	assert_int_equal(t.planned_bytes, 0);
	pf_session_free(s);
}

UNIT_MAIN(make_fs, end_fs)
