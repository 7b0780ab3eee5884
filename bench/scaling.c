/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine alone, on a device that takes no time: its own cost per request,
 * by number of workers.
 *
 *	scaling [WORKERS [GROUPS [TABLE [NODES [DIRS]]]]]
 *
 * The filesystem has GROUPS groups of 32,768 blocks of 4 KiB.  Each has an
 * inode table of TABLE blocks, which leads to NODES tree blocks and DIRS
 * directory blocks, all of them scattered.  A checker follows and reads
 * everything in order, each group as soon as it is there.  WORKERS is a list:
 * 1,2,4.
 *
 * Prints a table with a line for each number of workers: requests per second;
 * processor time per request of the workers and of the checker's calls; how
 * often per request the engine's lock is taken, how often it was contended, how
 * long it was held per request, and its longest hold; context switches per 1000
 * requests; and the engine's memory.  The figures of the lock come from a
 * second run, so that measuring them does not slow the first.
 */
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"

#define BLOCK 4096u
#define GROUP_BLOCKS 32768u
#define PIECE (64u << 10)	/* of a table, parsed at once */
#define SCAN (32u << 10)	/* of a table, read by the checker at once */
#define BUDGET (UINT64_C(2) << 30)

/* A run that hangs ends by itself after this time. */
#define LONGEST 500u

enum cls { TABLE, NODE, DIRECTORY, CLASSES };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/*
 * The engine's single lock, observed from outside.  Its figures are written by
 * the thread that holds it.
 */

static struct {
	bool on;
	uint64_t taken, found_taken, held_ns, longest_ns;
} lock;

static __thread uint64_t locked_at;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

static void note_released(void)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC) - locked_at;

	lock.held_ns += ns;
	if (ns > lock.longest_ns)
		lock.longest_ns = ns;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!lock.on)
		return __real_pthread_mutex_lock(mutex);
	if (pthread_mutex_trylock(mutex)) {
		__real_pthread_mutex_lock(mutex);
		lock.found_taken++;
	}
	lock.taken++;
	locked_at = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (lock.on && locked_at)
		note_released();
	return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int err;

	if (lock.on && locked_at)
		note_released();
	err = __real_pthread_cond_wait(cond, mutex);
	if (lock.on)
		locked_at = clock_ns(CLOCK_MONOTONIC);
	return err;
}

/*
 * A device that takes no time.  Everything is requested from it, because it does
 * not report what is cached.
 */

static uint64_t null_span(struct e2pf_device *dev, uint64_t offset,
			  uint64_t len, bool *resident)
{
	(void)dev;
	(void)offset;
	*resident = false;
	return len;
}

static unsigned null_willneed(struct e2pf_device *dev, uint64_t offset,
			      uint64_t len)
{
	(void)offset;
	return (unsigned)((len + dev->max_readahead - 1) /
			  dev->max_readahead);
}

static int null_read(struct e2pf_device *dev, void *buf, uint64_t offset,
		     uint32_t len)
{
	(void)dev;
	(void)buf;
	(void)offset;
	(void)len;
	return 0;
}

static uint64_t null_now(struct e2pf_device *dev)
{
	(void)dev;
	return clock_ns(CLOCK_MONOTONIC);
}

static void null_close(struct e2pf_device *dev)
{
	(void)dev;
}

static const struct e2pf_device_ops null_ops = {
	.span = null_span,
	.willneed = null_willneed,
	.read = null_read,
	.now = null_now,
	.close = null_close,
};

/*
 * The filesystem.  The cookie of a reference is its group.
 */

struct sim {
	struct e2pf_source source;
	uint64_t groups, bytes;
	uint32_t table, nodes, dirs;	/* blocks per group */
	_Atomic uint32_t *parsed;	/* of each group: pieces and nodes
					   parsed */
};

static struct sim *sim_of(struct e2pf_source *source)
{
	return (struct sim *)source;
}

/* Tree blocks are two apart, and directories come after them, so nothing
 * merges. */
static uint64_t node_at(const struct sim *sim, uint64_t group, uint32_t i)
{
	return (group * GROUP_BLOCKS + sim->table + 2u * i + 1) * BLOCK;
}

static void sim_begin(struct e2pf_source *source,
		      const struct e2pf_start *start)
{
	(void)source;
	(void)start;
}

static const struct e2pf_phase *sim_next(struct e2pf_source *source,
					 const struct e2pf_phase *after)
{
	static const struct e2pf_phase tables = {
		.followed = true, .later = 1u << DIRECTORY,
		.deferred = 1u << DIRECTORY
	};

	(void)source;
	return after ? NULL : &tables;
}

static uint64_t sim_units(struct e2pf_source *source, unsigned phase,
			  bool *more)
{
	*more = false;
	return phase ? 0 : sim_of(source)->groups;
}

static uint64_t sim_weight(struct e2pf_source *source, unsigned phase,
			   uint64_t unit)
{
	(void)phase;
	(void)unit;
	return (uint64_t)sim_of(source)->table * BLOCK;
}

static void sim_seed(struct e2pf_source *source, unsigned phase,
		     uint64_t unit, e2pf_sink sink, void *ctx)
{
	const struct e2pf_ref ref = {
		.offset = unit * GROUP_BLOCKS * BLOCK, .cookie = unit,
		.length = sim_of(source)->table * BLOCK, .cls = TABLE,
		.parse = true
	};

	(void)phase;
	sink(ctx, &ref);
}

static uint32_t sim_piece(struct e2pf_source *source,
			  const struct e2pf_ref *ref, uint64_t at)
{
	(void)source;
	return (uint32_t)(ref->length - at < PIECE ? ref->length - at : PIECE);
}

/* The first piece of a table leads to everything in the group. */
static bool sim_parse(struct e2pf_source *source, const struct e2pf_ref *ref,
		      uint64_t at, const void *bytes, uint32_t size,
		      e2pf_sink sink, void *ctx)
{
	struct sim *sim = sim_of(source);
	struct e2pf_ref child = { .cookie = ref->cookie, .length = BLOCK };
	uint32_t i;

	(void)bytes;
	(void)size;
	for (i = 0; ref->cls == TABLE && !at && i < sim->nodes + sim->dirs;
	     i++) {
		child.cls = i < sim->nodes ? NODE : DIRECTORY;
		child.parse = child.cls == NODE;
		child.offset = node_at(sim, ref->cookie, i);
		sink(ctx, &child);
	}
	atomic_fetch_add(&sim->parsed[ref->cookie], 1);
	return false;
}

static const struct e2pf_source_ops sim_ops = {
	.begin = sim_begin,
	.next = sim_next,
	.units = sim_units,
	.weight = sim_weight,
	.seed = sim_seed,
	.piece = sim_piece,
	.parse = sim_parse,
};

static void sim_new(struct sim *sim)
{
	sim->bytes = sim->groups * GROUP_BLOCKS * BLOCK;
	sim->parsed = malloc(sim->groups * sizeof(*sim->parsed));
	if (!sim->parsed)
		err(1, "no memory");
	memset(sim->parsed, 0, sim->groups * sizeof(*sim->parsed));
	sim->source = (struct e2pf_source) {
		.ops = &sim_ops, .grain = BLOCK, .devices = 1,
		.bytes = &sim->bytes, .classes = CLASSES,
		.parse_limit = UINT64_MAX / 2
	};
}

/*
 * The checker.
 */

#define LOOK_US 50u
#define PATIENCE_US 200000u

static void check_read(struct e2pf_engine *e, uint64_t offset, uint64_t len)
{
	struct e2pf_read read = { .offset = offset, .length = len };

	e2pf_engine_before_read(e, &read);
	e2pf_engine_after_read(e, &read);
}

/* Wait until a group's pieces and tree blocks are there.  If the rest of the
 * budget went to later groups, the checker reads this one itself, as e2fsck
 * does, because no worker will. */
static void wait_for(struct e2pf_engine *e, const struct sim *sim,
		     uint64_t group)
{
	uint32_t all = (sim->table * BLOCK + PIECE - 1) / PIECE + sim->nodes;
	unsigned looks;

	for (looks = 0; atomic_load(&sim->parsed[group]) < all &&
	     looks < PATIENCE_US / LOOK_US; looks++) {
		if (e2pf_engine_gave_up(e))
			errx(1, "the engine gave up");
		usleep(LOOK_US);
	}
}

static void check(struct e2pf_engine *e, const struct sim *sim)
{
	uint64_t g, at;
	uint32_t i;

	for (g = 0; g < sim->groups; g++) {
		wait_for(e, sim, g);
		e2pf_engine_at(e, 0, g);
		for (at = 0; at < sim->table * BLOCK; at += SCAN)
			check_read(e, g * GROUP_BLOCKS * BLOCK + at, SCAN);
		for (i = 0; i < sim->nodes; i++)
			check_read(e, node_at(sim, g, i), BLOCK);
	}
	for (g = 0; g < sim->groups; g++)
		for (i = 0; i < sim->dirs; i++)
			check_read(e, node_at(sim, g, sim->nodes + i), BLOCK);
}

struct figures {
	double seconds, workers_cpu, checker_cpu, requests, switches;
	size_t memory;
};

static uint64_t process_cpu(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static long switches(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_nvcsw + ru.ru_nivcsw;
}

/* Resident memory of this process, bytes. */
static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t size, pages = 0;

	if (f && fscanf(f, "%zu %zu", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static struct figures run(struct sim *sim, unsigned workers, bool timed)
{
	struct e2pf_device dev = {
		.ops = &null_ops, .max_readahead = 128u << 10,
		.page_size = BLOCK, .blind = true
	};
	struct e2pf_device *devices = &dev;
	struct e2pf_engine_config cfg = {
		.devices = &devices, .threads = workers,
		.head_threads = workers, .paced = true, .budget = BUDGET
	};
	uint64_t began, cpu, own;
	struct e2pf_engine_stats st;
	struct e2pf_engine *e;
	struct figures f;
	size_t before;
	long n;

	sim_new(sim);
	dev.size = sim->bytes;
	cfg.source = &sim->source;
	before = resident();
	e = e2pf_engine_new(&cfg);
	if (!e)
		errx(1, "no memory");
	memset(&lock, 0, sizeof(lock));
	lock.on = timed;
	n = switches();
	began = clock_ns(CLOCK_MONOTONIC);
	cpu = process_cpu();
	own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (e2pf_engine_start(e))
		errx(1, "no threads");
	check(e, sim);
	f.seconds = (double)(clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
	f.checker_cpu = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - own);
	f.workers_cpu = (double)(process_cpu() - cpu) - f.checker_cpu;
	f.switches = (double)(switches() - n);
	lock.on = false;
	f.memory = resident();
	f.memory -= f.memory < before ? f.memory : before;
	e2pf_engine_get_stats(e, &st);
	f.requests = (double)st.prefetched_requests;
	e2pf_engine_free(e);
	free(sim->parsed);
	return f;
}

static void print_row(struct sim *sim, unsigned workers)
{
	struct figures plain = run(sim, workers, false);
	struct figures timed = run(sim, workers, true);

	printf("| %u | %.0f | %.0f | %.0f | %.2f | %.1f | %.0f | %.1f | %.1f "
	       "| %.1f |\n", workers, plain.requests / plain.seconds,
	       plain.workers_cpu / plain.requests,
	       plain.checker_cpu / plain.requests,
	       (double)lock.taken / timed.requests,
	       (double)lock.found_taken / timed.requests * 1000,
	       (double)lock.held_ns / timed.requests,
	       (double)lock.longest_ns / 1000,
	       plain.switches / plain.requests * 1000,
	       (double)plain.memory / (1 << 20));
	fflush(stdout);
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (end == text || *end || n < least || n > most)
		errx(2, "%s: must be a number from %llu to %llu", text,
		     (unsigned long long)least, (unsigned long long)most);
	return n;
}

int main(int argc, char **argv)
{
	char list[256] = "1,2,4,8,16,32,64", *rest = list, *one;
	struct sim sim = {
		.groups = argc > 2 ? number(argv[2], 1, 1u << 24) : 8192,
		.table = argc > 3 ?
			 (uint32_t)number(argv[3], 1, 4096) : 8,
		.nodes = argc > 4 ? (uint32_t)number(argv[4], 0, 8192) : 64,
		.dirs = argc > 5 ? (uint32_t)number(argv[5], 0, 4096) : 0
	};

	if (argc > 6)
		errx(2, "usage: scaling [WORKERS [GROUPS [TABLE [NODES "
		     "[DIRS]]]]]");
	if (argc > 1)
		snprintf(list, sizeof(list), "%s", argv[1]);
	alarm(LONGEST);
	puts("| workers | requests/s | workers' time, ns | checker's time, ns | "
	     "lock taken | lock contended, per 1000 | lock held, ns | "
	     "longest hold, us | context switches, per 1000 | MiB |\n"
	     "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	while ((one = strsep(&rest, ",")))
		print_row(&sim, (unsigned)number(one, 1, 256));
	return 0;
}
