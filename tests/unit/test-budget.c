/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The memory that a session may use, on small trees of what procfs and cgroupfs
 * hold.
 */
#include "unit.h"
#include "recorded-tree.h"
#include "device/budget.h"

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
	/* 512 MiB, of which 400 are in use, 316 of these file pages, 16 of
	 * those dirty. */
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
	{ "version 1, the top of three levels", MEMINFO
	  GROUP("4:memory:/a/b/c") USE_V1("/a/b/c", NO_LIMIT_V1, "1")
	  USE_V1("/a", "67108864", "25165824"), 40 * MIB, 40 * MIB },
	{ "version 1 in a container that sees its host's paths", MEMINFO
	  GROUP("4:memory:/docker/4f") USE_V1("", "100663296", "67108864"),
	  32 * MIB, 32 * MIB },
	{ "version 1 beside version 2", MEMINFO
	  GROUP("9:name=systemd:/;4:memory:/job;0::/job")
	  USE_V1("/job", "104857600", "31457280")
	  G "unified/job/cgroup.procs: 1", 70 * MIB, 70 * MIB },
	{ "version 2 beside version 1", MEMINFO
	  GROUP("9:name=systemd:/;0::/job")
	  USE_V2("unified/job", "104857600", "0"), 100 * MIB, 100 * MIB },
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

UNIT_MAIN(NULL, NULL)
