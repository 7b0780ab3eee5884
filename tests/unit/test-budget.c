/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory and processors that a session may use: on recorded machines, under
 * an affinity mask, and in a real control group if one can be created.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "recorded-tree.h"
#include "device/budget.h"

#define MIB 1048576ull
#define MACHINE (8000000 * 1024ull)	/* MemAvailable of the recordings */
#define ALL 10000			/* no limit on processors */

struct expected {
	const char *tree;
	uint64_t memory;
	unsigned processors;
};

static const struct expected table[] = {
	{ "plain", MACHINE, ALL },
	/* Free and cached, minus tmpfs. */
	{ "old-kernel", (1000000 + 20000 + 9000000 - 500000) * 1024ull, ALL },
	/* The limit minus 400 in use, of which 316 are files, minus 16
	 * dirty. */
	{ "v2", (512 - 400 + 300) * MIB, 1 },
	{ "v2-high", (256 - 100) * MIB, 2 },
	{ "v2-nested", (600 - 550 + 10) * MIB, 1 },
	{ "v2-over", 0, ALL },
	{ "v2-machine-tighter", 1000 * 1024, ALL },
	{ "v2-container", 100 * MIB, 1 },
	{ "v1", (256 - 200 + 150) * MIB, 1 },
	{ "v1-nested", 40 * MIB, 1 },
	{ "v1-container", 32 * MIB, 1 },
	{ "hybrid", 70 * MIB, 1 },
	{ "hybrid-both", 60 * MIB, 1 },
	{ "empty", UINT64_MAX, ALL },
	{ "hostile", UINT64_MAX, ALL },
	{ "v1-names", MACHINE, ALL },
	{ "v2-outside", 100 * MIB, ALL },
	{ "hostile-product", UINT64_MAX, ALL },
	{ "hostile-sums", 1000 * MIB, ALL },
	{ "hostile-parts", 100 * MIB, ALL },
	{ "hostile-free", UINT64_MAX, ALL },
};

static unsigned affinity(void)
{
	cpu_set_t set[8];

	assert_int_equal(sched_getaffinity(0, sizeof(set), set), 0);
	return (unsigned)CPU_COUNT_S(sizeof(set), set);
}

static void test_machine(void **state)
{
	const struct expected *e = *state;
	unsigned processors, most = affinity();
	uint64_t memory;

	tree_make("budget-trees.txt", e->tree);
	memory = e2pf_available_memory(tree_root);
	processors = e2pf_available_processors(tree_root);
	tree_remove();
	assert_true(memory == e->memory);
	assert_int_equal(processors,
			 e->processors < most ? e->processors : most);
}

/* Pages in use are not available for readahead, but a part always is. */
static void test_idle(void **state)
{
	static const struct {
		const char *tree;
		uint64_t memory;
	} idle[] = {
		/* Free, and the inactive list. */
		{ "plain", (1000000 + 2000000) * 1024ull },
		/* No LRU figures. */
		{ "old-kernel", (1000000 + 20000 + 9000000 - 500000) * 1024ull },
		/* A sixteenth of what is available. */
		{ "all-in-use", MACHINE / 16 },
		/* The inactive list of the group, 200, minus 16 dirty. */
		{ "v2", (512 - 400 + 200 - 16) * MIB },
		{ "v1", (256 - 200 + 100 - 10) * MIB },
		{ "v2-over", 0 },
		{ "empty", UINT64_MAX },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(idle) / sizeof(*idle); i++) {
		tree_make("budget-trees.txt", idle[i].tree);
		assert_int_equal(e2pf_idle_memory(tree_root), idle[i].memory);
		tree_remove();
	}
}

/* A mask of one processor leaves one, whatever the control groups allow. */
static void test_affinity(void **state)
{
	cpu_set_t old[8], one[8];
	size_t cpu = 0;
	unsigned processors;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(old), old), 0);
	while (!CPU_ISSET_S(cpu, sizeof(old), old))
		cpu++;
	CPU_ZERO_S(sizeof(one), one);
	CPU_SET_S(cpu, sizeof(one), one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), one), 0);
	tree_make("budget-trees.txt", "plain");
	processors = e2pf_available_processors(tree_root);
	tree_remove();
	assert_int_equal(sched_setaffinity(0, sizeof(old), old), 0);
	assert_int_equal(processors, 1);
}

static void test_long_sysroot(void **state)
{
	char *root = malloc(2 * PATH_MAX);

	(void)state;
	assert_non_null(root);
	memset(root, '/', 2 * PATH_MAX - 1);
	root[2 * PATH_MAX - 1] = '\0';
	assert_true(e2pf_available_memory(root) == UINT64_MAX);
	assert_int_equal(e2pf_available_processors(root), affinity());
	free(root);
}

static int write_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.2000s/%.200s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* Fill `use` bytes of memory, then write to fd what is available. */
__attribute__((noreturn))
static void report(int go, int fd, size_t use)
{
	uint64_t available;
	char byte;
	void *filled;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	filled = mmap(NULL, use, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (filled == MAP_FAILED)
		_exit(1);
	/* Not MAP_POPULATE, which qemu-user ignores. */
	memset(filled, 0x5a, use);
	available = e2pf_available_memory("");
	_exit(write(fd, &available, sizeof(available)) !=
	      (ssize_t)sizeof(available));
}

/* Run report() in the group at `dir`.  Returns bytes, or 0 on failure. */
static uint64_t available_in(const char *dir, size_t use)
{
	int go[2], answer[2], status;
	uint64_t available = 0;
	char text[32];
	pid_t child;

	if (pipe2(go, O_CLOEXEC))
		return 0;
	if (pipe2(answer, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return 0;
	}
	child = fork();
	if (!child) {
		close(go[1]);
		close(answer[0]);
		report(go[0], answer[1], use);
	}
	close(go[0]);
	close(answer[1]);
	snprintf(text, sizeof(text), "%d", (int)child);
	if (child > 0 && !write_file(dir, "cgroup.procs", text) &&
	    write(go[1], "", 1) == 1 &&
	    read(answer[0], &available, sizeof(available)) !=
	    (ssize_t)sizeof(available))
		available = 0;
	close(go[1]);
	close(answer[0]);
	if (child > 0 && waitpid(child, &status, 0) == child && status)
		available = 0;
	return available;
}

/* A child in a real version 1 group of 64 MiB that fills 16 MiB. */
static void test_live_v1(void **state)
{
	char dir[] = "/sys/fs/cgroup/memory/budget-test-XXXXXX";
	uint64_t available;
	int limited;

	(void)state;
	if (geteuid() || access("/sys/fs/cgroup/memory/memory.limit_in_bytes",
				F_OK)) {
		print_message("no root, or no version 1 memory groups\n");
		skip();
	}
#ifdef __SANITIZE_THREAD__
	print_message("the thread sanitizer's own memory is counted\n");
	skip();
#endif
	if (!mkdtemp(dir)) {
		print_message("%s: %s\n", dir, strerror(errno));
		skip();
	}
	limited = !write_file(dir, "memory.limit_in_bytes", "67108864");
	available = limited ? available_in(dir, 16 * MIB) : 0;
	/* The child has ended, so the group can be removed. */
	assert_int_equal(rmdir(dir), 0);
	if (!limited) {
		print_message("no limit can be set on a memory group\n");
		skip();
	}
	/* The counter runs ahead in batches of 64 pages per processor, and
	 * includes the sanitizers' own memory: 16 MiB allow for both. */
	assert_true(available <= 48 * MIB);
	assert_true(available >= 32 * MIB);
}

#define MACHINES (sizeof(table) / sizeof(table[0]))

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_long_sysroot),
		cmocka_unit_test(test_live_v1),
	};
	const size_t n_others = sizeof(others) / sizeof(others[0]);
	struct CMUnitTest tests[MACHINES + sizeof(others) / sizeof(others[0])];
	size_t i;

	memset(tests, 0, sizeof(tests));
	for (i = 0; i < MACHINES; i++) {
		tests[i].name = table[i].tree;
		tests[i].test_func = test_machine;
		tests[i].initial_state = (void *)&table[i];
	}
	for (i = 0; i < n_others; i++)
		tests[MACHINES + i] = others[i];
	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
