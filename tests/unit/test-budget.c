/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The memory that a session may use, on small trees of what procfs and cgroupfs
 * hold; and how many checks share the machine, with processes that join and are killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit.h"
#include "own-run.h"
#include "recorded-tree.h"
#include "prefetch/budget.h"
#include "prefetch/share.h"
#include "prefetch/tasks.h"

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
		assert_int_equal(pf_budget_query_memory(tree_root, false),
				 machines[i].available);
		assert_int_equal(pf_budget_query_memory(tree_root, true),
				 machines[i].idle);
		tree_remove();
	}
}

/* Before a line of a file there are others, 48 KiB in all, and one of 9 KiB. */
static void put_behind_others(const char *name, const char *line)
{
	char path[PATH_MAX];
	FILE *file;
	unsigned i;

	snprintf(path, sizeof(path), "%.2000s/%s", tree_root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	for (i = 0; i < 12; i++)
		fprintf(file, "%u:cpu%u:/%04000u\n", i, i, i);
	fprintf(file, "%09000u0::/b\n%s", 0u, line);
	assert_int_equal(fclose(file), 0);
}

TEST(behind_long_lists)
{
	tree_make(MEMINFO GROUP("") USE_V2("a", "104857600", "94371840")
		  USE_V2("b", "4096", "0") STAT_V2("a", "0", "0", "0", "0"));
	put_behind_others("proc/self/cgroup", "0::/a");
	assert_int_equal(pf_budget_query_memory(tree_root, false), 10 * MIB);
	put_behind_others("sys/fs/cgroup/a/memory.stat",
			  "inactive_file 5242880\nactive_file 0\n");
	assert_int_equal(pf_budget_query_memory(tree_root, false), 15 * MIB);
	put_behind_others("proc/meminfo", "MemAvailable: 5 kB");
	assert_int_equal(pf_budget_query_memory(tree_root, false), 5 * KIB);
}

#define PIDS(dir, max, used) G dir "/pids.max: " max "\n" \
	G dir "/pids.current: " used "\n"

/* How many of 100 threads, if there are so many processors less. */
TEST(threads_left)
{
	static const struct {
		const char *tree;
		unsigned left;		/* tasks */
	} rows[] = {
		{ "proc/empty: ", 9999 },
		{ GROUP("0::/a/b") PIDS("a/b", "max", "9"), 9999 },
		{ GROUP("0::/a/b") PIDS("a/b", "9000", "8980")
		  PIDS("a", "max", "12000"), 20 },
		{ GROUP("0::/a/b") PIDS("a/b", "max", "8980")
		  PIDS("a", "9000", "8990"), 10 },
		{ GROUP("8:pids:/x;0::/a") PIDS("pids/x", "50", "20")
		  PIDS("a", "max", "20"), 30 },
		{ GROUP("8:pids:/x;4:cpu:/y") PIDS("pids", "50", "10")
		  PIDS("cpu/y", "9", "9") PIDS("pids/x", "100", "0"), 40 },
		/* A limit that was lowered below what there is. */
		{ GROUP("0::/a") PIDS("a", "5", "20"), 0 },
		{ GROUP("0::/a") PIDS("a", "-5", "20") PIDS("a", "1", ""), 9999 },
	};
	unsigned spare = 2 + (unsigned)sysconf(_SC_NPROCESSORS_CONF), i, left;

	for (i = 0; i < COUNT(rows); i++) {
		tree_make(rows[i].tree);
		tree_add("proc/loadavg: 0.16 0.38 0.52 1/1 11");
		left = rows[i].left > spare ? rows[i].left - spare : 0;
		assert_int_equal(pf_tasks_left(tree_root, 100),
				 left < 100 ? left : 100);
	}
	/* More tasks than the user may have, of all users: it is tried. */
	tree_make("proc/loadavg: 0.16 0.38 0.52 1/99999999999 11");
	assert_int_equal(pf_tasks_left(tree_root, 3), 3);
}

#define NOBODY 65534
#define MAX_SHARERS 32u

static bool run_is_own;

FIXTURE(begin)
{
	run_is_own = own_run_begin();
	return 0;
}

/* A process that the test started, and the pipe that it holds. */
struct child {
	pid_t pid;
	int line;
};

/* Start a process that joins, and says how many there are, itself included; then it
 * waits for the end of the test. */
static unsigned start(struct child *child, uid_t user)
{
	int ends[2];
	unsigned n = 0;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (!child->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (user && setuid(user))
			_exit(1);
		pf_share_join();
		pf_share_join();
		pf_share_leave();
		n = pf_share_count();
		if (write(ends[1], &n, sizeof(n)) == sizeof(n))
			pause();
		_exit(1);
	}
	assert_int_equal(read(ends[0], &n, sizeof(n)), sizeof(n));
	close(ends[1]);
	child->line = ends[0];
	return n;
}

static void end(struct child *child)
{
	kill(child->pid, SIGKILL);
	assert_true(waitpid(child->pid, NULL, 0) == child->pid);
	close(child->line);
}

/* Start a process and end it again. */
static unsigned count_of(uid_t user)
{
	struct child child;
	unsigned n = start(&child, user);

	end(&child);
	return n;
}

/* The FIFOs of a killed process count no longer. */
TEST(join_and_die)
{
	struct child child[3];
	unsigned i;

	if (!run_is_own)
		SKIP("no mount name space\n");
	for (i = 0; i < COUNT(child); i++)
		assert_int_equal(start(&child[i], 0), i + 1);
	assert_int_equal(pf_share_count(), 1);		/* it has not joined */
	assert_int_equal(count_of(0), 4);
	for (i = 0; i < COUNT(child); i++) {
		end(&child[i]);
		assert_int_equal(count_of(0), 3 - i);
	}
}

/* A child that outlives its parent is still a check. */
TEST(fork_and_end)
{
	int ends[2], status;
	pid_t pid;
	char byte;

	if (!run_is_own)
		SKIP("no mount name space\n");
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		pf_share_join();
		if (!fork()) {
			alarm(60);
			close(ends[1]);
			_exit(read(ends[0], &byte, 1) != 0);
		}
		_exit(0);
	}
	assert_true(waitpid(pid, &status, 0) == pid && !status);
	assert_int_equal(count_of(0), 2);
	close(ends[0]);
	close(ends[1]);
	while (count_of(0) != 1)
		usleep(1000);
}

/* More than there is room for, and each finds at most so many. */
TEST(many)
{
	struct child child[MAX_SHARERS + 8];
	unsigned i;

	if (!run_is_own)
		SKIP("no mount name space\n");
	for (i = 0; i < COUNT(child); i++)
		assert_int_equal(start(&child[i], 0),
				 i < MAX_SHARERS ? i + 1 : MAX_SHARERS);
	for (i = 0; i < COUNT(child); i++)
		end(&child[i]);
}

/* Start a process of another user that tries to count as one of root: it locks
 * /proc/locks, takes what it can of root's directory, and becomes a program of root. */
static void start_other(struct child *other, const char *setuid_program)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int ends[2], fd, got;
	unsigned i;
	char path[64];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	other->pid = fork();
	assert_true(other->pid >= 0);
	if (!other->pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		fd = open("/proc/locks", O_RDONLY);
		got = fd < 0 || fcntl(fd, F_SETLK, &all);
		for (i = 0; i < MAX_SHARERS; i++) {
			snprintf(path, sizeof(path), "/run/e2prefetch/check.%u", i);
			mkfifo(path, 0666);
			got |= open(path, O_RDWR | O_NONBLOCK) >= 0;
		}
		if (!got)
			execl(setuid_program, "sleep", "60", NULL);
		_exit(write(ends[1], "", 1) != 1);
	}
	close(ends[1]);
	/* The program was started, which closes the pipe. */
	assert_int_equal(read(ends[0], path, 1), 0);
	other->line = ends[0];
}

TEST(of_other_users)
{
	struct child check, other, user;

	if (!run_is_own || system("cp \"$(command -v sleep)\" /run/root-sleep && "
				  "chmod 4755 /run/root-sleep"))
		SKIP("no mount name space\n");
	assert_int_equal(start(&check, 0), 1);
	start_other(&other, "/run/root-sleep");
	assert_int_equal(count_of(0), 2);
	/* One without a directory of its own counts itself alone; others of that user
	 * see each other, and root sees neither. */
	assert_int_equal(start(&user, NOBODY), 1);
	assert_int_equal(count_of(NOBODY), 1);
	end(&user);
	assert_true(!mkdir("/run/user", 0755) && !mkdir("/run/user/65534", 0700) &&
		    !chown("/run/user/65534", NOBODY, NOBODY));
	assert_int_equal(start(&user, NOBODY), 1);
	assert_int_equal(count_of(NOBODY), 2);
	assert_int_equal(count_of(0), 2);
	end(&user);
	end(&other);
	end(&check);
}

/* A directory that others can change, or a link to one, is not used. */
TEST(directories_not_trusted)
{
	static const char *const bad[] = {
		"mkdir -m 777 /run/e2prefetch", "mkdir -m 775 /run/e2prefetch",
		"install -d -o 65534 /run/e2prefetch",
		"mkdir /run/other && ln -s other /run/e2prefetch",
		"touch /run/e2prefetch", "mount -t tmpfs -o ro none /run",
	};
	struct child check;
	size_t i;

	if (!run_is_own)
		SKIP("no mount name space\n");
	for (i = 0; i < COUNT(bad); i++) {
		assert_int_equal(system("rm -rf /run/e2prefetch /run/other"), 0);
		print_message("%s\n", bad[i]);
		assert_int_equal(system(bad[i]), 0);
		assert_int_equal(start(&check, 0), 1);
		assert_int_equal(count_of(0), 1);
		assert_int_equal(system("ls /run/e2prefetch/ 2>/dev/null | grep check"), 256);
		end(&check);
	}
	assert_int_equal(umount("/run"), 0);
	assert_int_equal(system("rm -rf /run/e2prefetch"), 0);
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
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
	pf_share_join();
	assert_int_equal(lowest_free(), before);
	for (fd = 0; fd < 1024; fd++)
		if (!was_open[fd] && fcntl(fd, F_GETFD) >= 0)
			high = fd;
	if (run_is_own)
		assert_uint_in_range(high, 200, 1023);
	pf_share_leave();
	assert_true(high < 0 || fcntl(high, F_GETFD) < 0);

	few = old;
	few.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	pf_share_join();
	assert_int_equal(pf_share_count(), 1);
	for (fd = before; fd < 100; fd++)
		assert_int_equal(fcntl(fd, F_GETFD) >= 0, was_open[fd]);
	pf_share_leave();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* With a standard stream closed nothing is opened that could take its number. */
TEST(closed_stream)
{
	int out = dup(STDOUT_FILENO);

	fflush(stdout);
	close(STDOUT_FILENO);
	pf_share_join();
	if (dup2(out, STDOUT_FILENO) < 0)
		abort();
	close(out);
	assert_int_equal(own_run_checks("/run/e2prefetch"), 0);
	pf_share_leave();
}

UNIT_MAIN(begin, NULL)
