/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The memory that a session may use, on small trees of what procfs and cgroupfs
 * hold; and how many checks share the machine, judging by the contents of
 * /proc/locks, and with processes that join and are killed.  Other checks may run on
 * this machine, so only a lower limit of the real count is known.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit.h"
#include "recorded-tree.h"
#include "device/budget.h"
#include "device/share.h"

#define MIB 1048576ull
#define KIB 1024ull
#define NONE UINT64_MAX

/* 8,000,000 kB are available, and 3,000,000 free or used once. */
#define MEMINFO "proc/meminfo: MemTotal:       16384000 kB;" \
	"MemFree:         1000000 kB;MemAvailable:    8000000 kB;" \
	"Cached:          9000000 kB;Active(file):    6000000 kB;" \
	"Inactive(file):  2000000 kB;\n"
#define MACHINE (8000000 * KIB)
#define GROUP(text) "proc/self/cgroup: " text "\n"
#define G "sys/fs/cgroup/"
#define STAT_V2(path, inactive, active, dirty, writeback) \
	G path "/memory.stat: anon 1000;file 99999999999;" \
	"file_dirty " dirty ";file_writeback " writeback \
	";inactive_anon 7;inactive_file " inactive ";active_file " active "\n"
#define STAT_V1(path, inactive, active, dirty, writeback) \
	G "memory" path "/memory.stat: cache 99999999999;inactive_file 1;" \
	"active_file 2;total_cache 99999999999;total_dirty " dirty \
	";total_writeback " writeback ";total_inactive_file " inactive \
	";total_active_file " active "\n"
#define USE_V2(path, limit, used) G path "/memory.max: " limit "\n" \
	G path "/memory.current: " used "\n"
#define USE_V1(path, limit, used) \
	G "memory" path "/memory.limit_in_bytes: " limit "\n" \
	G "memory" path "/memory.usage_in_bytes: " used "\n"
#define NO_LIMIT_V1 "9223372036854771712"

static const struct machine {
	const char *name, *tree;
	uint64_t available, idle;
} machines[] = {
	{ "no group", MEMINFO, MACHINE, 3000000 * KIB },
	{ "a sixteenth is idle at least", "proc/meminfo: "
	  "MemFree: 1000 kB;MemAvailable: 8000000 kB;Inactive(file): 9 kB\n",
	  MACHINE, MACHINE / 16 },
	{ "a kernel without MemAvailable", "proc/meminfo: "
	  "MemFree: 1000 kB;Cached: 5000 kB;Inactive(file): 9 kB\n",
	  1009 * KIB, 1009 * KIB },
	{ "a kernel without lists", "proc/meminfo: MemAvailable: 5 kB\n",
	  5 * KIB, 5 * KIB },
	/* 512 MiB: 400 are in use, 316 of these file pages, 16 of those
	 * dirty. */
	{ "version 2", MEMINFO GROUP("0::/user.slice/run.scope")
	  USE_V2("user.slice/run.scope", "536870912", "419430400")
	  G "user.slice/run.scope/memory.high: max\n"
	  STAT_V2("user.slice/run.scope", "209715200", "121634816",
		  "12582912", "4194304")
	  USE_V2("user.slice", "max", "943718400"),
	  (512 - 400 + 300) * MIB, (512 - 400 + 200 - 16) * MIB },
	{ "above memory.high", MEMINFO GROUP("0::/a")
	  USE_V2("a", "536870912", "104857600")
	  G "a/memory.high: 268435456\n", (256 - 100) * MIB,
	  (256 - 100) * MIB },
	{ "the level in the middle", MEMINFO GROUP("0::/a/b/c")
	  USE_V2("a/b/c", "943718400", "104857600")
	  USE_V2("a/b", "629145600", "576716800")
	  STAT_V2("a/b", "10485760", "0", "0", "0")
	  USE_V2("a", "2097152000", "734003200"), 60 * MIB, 60 * MIB },
	{ "more in use than the limit", MEMINFO GROUP("0::/a")
	  USE_V2("a", "104857600", "146800640")
	  STAT_V2("a", "10485760", "0", "0", "0"), 0, 0 },
	{ "more than the machine has", "proc/meminfo: MemAvailable: 7 kB\n"
	  GROUP("0::/a") USE_V2("a", "536870912", "0"), 7 * KIB, 7 * KIB },
	{ "a container's group outside of its mount", MEMINFO
	  GROUP("0::/../other") USE_V2(".", "134217728", "29360128")
	  USE_V2("../other", "4096", "0"), 100 * MIB, 100 * MIB },
	{ "version 1", MEMINFO GROUP("4:memory:/box;1:name=systemd:/")
	  USE_V1("/box", "268435456", "209715200")
	  STAT_V1("/box", "104857600", "62914560", "8388608", "2097152")
	  USE_V1("", NO_LIMIT_V1, "9437184000"), (256 - 200 + 150) * MIB,
	  (256 - 200 + 90) * MIB },
	{ "version 1 in a container that sees its host's paths", MEMINFO
	  GROUP("4:memory:/docker/4f") USE_V1("", "100663296", "67108864"),
	  32 * MIB, 32 * MIB },
	{ "version 1 beside version 2", MEMINFO
	  GROUP("9:name=systemd:/;4:memory:/job;0::/job")
	  USE_V1("/job", "104857600", "31457280")
	  G "unified/job/cgroup.procs: 1", 70 * MIB, 70 * MIB },
	{ "names that begin alike", MEMINFO
	  GROUP("4:memory:/;5:memory2:/tight;6:cpuset:/tight")
	  USE_V1("/tight", "4096", "0") G "cpuset/memory.max: 4096",
	  MACHINE, 3000000 * KIB },
	{ "nothing", "proc/empty: ", NONE, NONE },
	{ "noise", "proc/meminfo: MemAvailable: kB;MemAvailable:;\xff;"
	  "MemFree: -5 kB;Inactive(file): 0x5 kB;:::\n"
	  GROUP(":;::;0;0:;4:memory;4:memory:/a;0::/a;0::/../../../etc")
	  USE_V2("a", "18446744073709552616", "lots")
	  G "a/memory.high: -1\n" USE_V1("/a", "0x1000", ""), NONE, NONE },
	{ "more memory than there are bytes", "proc/meminfo: "
	  "MemAvailable: 18014398509481985 kB;MemFree: "
	  "18446744073709551615 kB;Inactive(file): 1 kB\n", NONE, NONE },
	{ "sums that do not fit", MEMINFO GROUP("0::/a")
	  USE_V2("a", "104857600", "204857600")
	  STAT_V2("a", "18446744073709551615", "18446744073709551615",
		  "18446744073709551615", "18446744073709551615"), 0, 0 },
};

TEST(each_machine)
{
	size_t i;

	for (i = 0; i < COUNT(machines); i++) {
		print_message("%s\n", machines[i].name);
		tree_make(machines[i].tree);
		assert_int_equal(e2pf_memory_share(tree_root, false),
				 machines[i].available);
		assert_int_equal(e2pf_memory_share(tree_root, true),
				 machines[i].idle);
		tree_remove();
	}
}

#define CHILDREN 3
#define LINES 500u

/* A tree with processes 10 to 19, and locks. */
static void make_tree(const char *locks)
{
	char line[64];
	int pid;

	tree_make("proc/meminfo: MemAvailable:    8000000 kB");
	for (pid = 10; pid < 20; pid++) {
		snprintf(line, sizeof(line), "proc/%d/stat: ", pid);
		tree_add(line);
	}
	tree_add_locks(locks);
}

TEST(what_is_counted)
{
	static const struct {
		const char *locks;
		unsigned count;
	} table[] = {
		{ "", 1 },
		{ "1: POSIX  ADVISORY  READ 10 @ 0 EOF\n"
		  "2: POSIX  ADVISORY  READ 11 @ 0 EOF\n"
		  "3: FLOCK  ADVISORY  WRITE 12 08:01:4711 0 EOF\n"
		  "4: POSIX  ADVISORY  READ 13 @ 0 EOF\n", 4 },
		/* Other files, kinds and modes of locks, and a waiting
		 * process. */
		{ "1: POSIX  ADVISORY  READ 10 @1 0 EOF\n"
		  "2: FLOCK  ADVISORY  READ 11 @ 0 EOF\n"
		  "3: OFDLCK ADVISORY  READ -1 @ 0 EOF\n"
		  "4: POSIX  ADVISORY  WRITE 12 @ 0 EOF\n"
		  "4: -> POSIX  ADVISORY  READ 13 @ 0 EOF\n", 1 },
		/* Processes that do not exist here. */
		{ "1: POSIX  ADVISORY  READ 20 @ 0 EOF\n"
		  "2: POSIX  ADVISORY  READ -1 @ 0 EOF\n"
		  "3: POSIX  ADVISORY  READ ../proc/10 @ 0 EOF\n", 1 },
		/* Lines that the kernel does not write. */
		{ "1: POSIX\n\n   \n1: POSIX ADVISORY READ\n"
		  "1: POSIX ADVISORY READ 10\n1: POSIX  ADVISORY  READ 10 @ 0 EOF\n"
		  "1: POSIX  ADVISORY  READ 11 @ 0 EOF",
		  2 },
	};
	static const char line[] = "1: POSIX  ADVISORY  READ 10 @ 0 EOF\n";
	static char many[LINES * sizeof(line)];
	size_t i;

	for (i = 0; i < COUNT(table); i++) {
		make_tree(table[i].locks);
		assert_int_equal(e2pf_share_count(tree_root), table[i].count);
		assert_true(e2pf_memory_share(tree_root, false) ==
			    8000000 * 1024ull / table[i].count);
		tree_remove();
	}
	/* More than is read at once. */
	for (i = 0; i < LINES; i++)
		memcpy(many + i * (sizeof(line) - 1), line, sizeof(line));
	make_tree(many);
	assert_int_equal(e2pf_share_count(tree_root), LINES + 1);
	tree_remove();
	/* There is no file of locks; the memory is unknown. */
	tree_begin();
	assert_int_equal(e2pf_share_count(tree_root), 1);
	assert_true(e2pf_memory_share(tree_root, false) == UINT64_MAX);
	tree_remove();
}

/* Only root can reduce the share of root's checks. */
TEST(of_other_users)
{
	char path[PATH_MAX];

	if (geteuid())
		skip();
	make_tree("1: POSIX  ADVISORY  READ 10 @ 0 EOF\n"
		  "2: POSIX  ADVISORY  READ 11 @ 0 EOF\n");
	snprintf(path, sizeof(path), "%.2000s/proc/10", tree_root);
	assert_int_equal(chown(path, 4711, 4711), 0);
	assert_int_equal(e2pf_share_count(tree_root), 2);
	tree_remove();
}

/* The highest open descriptor below 1024. */
static int highest_open(void)
{
	int fd = 1023;

	while (fd > 0 && fcntl(fd, F_GETFD) < 0)
		fd--;
	return fd;
}

/* Say in the list that this process locks it. */
static void list_lock(FILE *list)
{
	struct stat st;

	assert_int_equal(fstat(fileno(list), &st), 0);
	fprintf(list, "1: POSIX  ADVISORY  READ %d %02x:%02x:%llu 0 EOF\n",
		(int)getpid(), major(st.st_dev), minor(st.st_dev),
		(unsigned long long)st.st_ino);
	assert_int_equal(fflush(list), 0);
}

/* Count in a child that has not asked before.  With a list it has joined, and the
 * list, of a lock of its parent, is in the place of the kernel's. */
static unsigned count_in_child(FILE *list)
{
	int status;
	pid_t pid = fork();
	unsigned n;

	assert_true(pid >= 0);
	if (!pid) {
		if (list) {
			e2pf_share_join();
			/* Its own lock does not count. */
			list_lock(list);
			if (dup2(fileno(list), highest_open()) < 0)
				_exit(255);
		}
		n = e2pf_share_count("");
		_exit(n < 255 ? (int)n : 255);
	}
	assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return (unsigned)WEXITSTATUS(status);
}

TEST(join_and_die)
{
	int ready[2], i;
	pid_t child[CHILDREN];
	char byte;

	assert_int_equal(pipe(ready), 0);
	for (i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (!child[i]) {
			e2pf_share_join();
			e2pf_share_join();
			e2pf_share_leave();
			/* Asking does not release the lock. */
			(void)e2pf_share_count("");
			if (write(ready[1], "", 1) == 1)
				pause();
			_exit(1);
		}
		assert_int_equal(read(ready[0], &byte, 1), 1);
		assert_true(unit_is_listed(child[i]));
		assert_uint_in_range(count_in_child(NULL), i + 2, 255);
	}
	for (i = 0; i < CHILDREN; i++) {
		kill(child[i], SIGKILL);
		assert_true(waitpid(child[i], NULL, 0) == child[i]);
		assert_false(unit_is_listed(child[i]));
	}
	close(ready[0]);
	close(ready[1]);
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* The list is not read unless somebody else holds a lock, since to make it
 * takes the kernel 10 ms. */
TEST(alone)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	FILE *list = tmpfile();
	struct rlimit files;

	assert_non_null(list);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	if (files.rlim_cur < 1024)
		skip();
	list_lock(list);
	assert_int_equal(count_in_child(list), 1);
	assert_int_equal(fcntl(fileno(list), F_SETLK, &all), 0);
	assert_int_equal(count_in_child(list), 2);
	fclose(list);
}

/* Our descriptor does not take a number that e2fsck would use, and the last
 * leave closes it. */
TEST(out_of_the_way)
{
	int before = lowest_free(), high = -1, fd;
	bool was_open[1024];
	struct rlimit old, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (fd = 0; fd < 1024; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	e2pf_share_join();
	assert_int_equal(lowest_free(), before);
	for (fd = 0; fd < 1024; fd++)
		if (!was_open[fd] && fcntl(fd, F_GETFD) >= 0)
			high = fd;
	if (old.rlim_cur >= 1024)
		assert_uint_in_range(high, 1008, 1023);
	e2pf_share_leave();
	assert_int_equal(fcntl(high, F_GETFD), -1);

	few = old;
	few.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	e2pf_share_join();
	assert_int_equal(e2pf_share_count(""), 1);
	for (fd = before; fd < 100; fd++)
		assert_int_equal(fcntl(fd, F_GETFD) >= 0, was_open[fd]);
	e2pf_share_leave();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

UNIT_MAIN(NULL, NULL)
