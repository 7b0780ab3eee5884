// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exact tests of what modelled devices do over time and with their disks, on
 * the simulation's own clock: bursts, snapshots, layouts, a cache, jitter, slow
 * periods, another reader.  selftest.c tests rates.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

#include "diskmodel.h"

#define MS	1000000ULL
#define S	1000000000ULL
#define SIZE	(64ULL << 30)
#define MOST	2000

/* Requests of one test, and when they ended, in ns after START. */
#define START	(1000 * S)
static struct dm_req reqs[MOST];
static uint64_t took[MOST];
static unsigned int order[MOST];	/* in which they ended */

static bool failed;

/* Report what is not so, once per line of this file. */
#define EXPECT(value, should)						\
	do {								\
		uint64_t is_ = (value), should_ = (should);		\
		if (is_ != should_) {					\
			failed = true;					\
			printf("behaviour.c:%d: %s is %" PRIu64		\
			       ", not %" PRIu64 "\n", __LINE__, #value,	\
			       is_, should_);				\
			return;						\
		}							\
	} while (0)

#define EXPECT_TRUE(what)	EXPECT(!!(what), 1)

static struct dm_params device(const char *const *lines)
{
	struct dm_params p;
	char err[512];

	/* The one without any delay is changed line by line. */
	if (dm_params_load(&p, MODELDIR "/zero.conf", err, sizeof(err))) {
		printf("behaviour.c: %s\n", err);
		exit(1);
	}
	for (; *lines; lines++) {
		if (dm_params_set(&p, *lines)) {
			printf("behaviour.c: cannot set %s\n", *lines);
			exit(1);
		}
	}
	if (dm_params_problem(&p)) {
		printf("behaviour.c: %s\n", dm_params_problem(&p));
		exit(1);
	}
	return p;
}

#define DEVICE(...) \
	device((const char *const []){ __VA_ARGS__, NULL })

/* A disk on which a turn takes 8 ms, and a seek 1 to 9. */
#define A_DISK "kind=disk", "rpm=7500", "media_rate=100MB", \
	"seek_track=1ms", "seek_full=9ms", "bandwidth=0", "buffer=0"

static struct dm_sim *new_sim(const struct dm_params *p)
{
	struct dm_sim *sim = dm_sim_new(p, SIZE);

	if (!sim)
		exit(1);
	return sim;
}

/* Wait for @n requests, and note when each ended. */
static void finish(struct dm_sim *sim, unsigned int n)
{
	struct dm_req *r;
	unsigned int done = 0;
	uint64_t now = 0;

	while (done < n) {
		r = dm_sim_pop(sim, now);
		if (!r) {
			now = dm_sim_next(sim);
			if (now == DM_NEVER)
				exit(1);
			continue;
		}
		if (r < reqs || r >= reqs + MOST) {
			puts("behaviour.c: a request that nobody made");
			exit(1);
		}
		took[r - reqs] = r->done - START;
		order[done++] = (unsigned int)(r - reqs);
	}
}

/* Let the other reader have the device until @when. */
static void idle_until(struct dm_sim *sim, uint64_t when)
{
	uint64_t now;

	while ((now = dm_sim_next(sim)) <= START + when)
		if (dm_sim_pop(sim, now)) {
			puts("behaviour.c: a request that nobody made");
			exit(1);
		}
}

static void submit(struct dm_sim *sim, unsigned int nr, enum dm_op op,
		   uint64_t off, uint32_t len, uint64_t when)
{
	reqs[nr] = (struct dm_req){ .off = off, .len = len, .op = op };
	if (dm_sim_submit(sim, &reqs[nr], START + when))
		exit(1);
}

/* When one read that begins at @when ends. */
static uint64_t read_one(struct dm_sim *sim, uint64_t off, uint32_t len,
			 uint64_t when)
{
	submit(sim, 0, DM_READ, off, len, when);
	finish(sim, 1);
	return took[0] - when;
}

/* @n reads of 4 KiB, @apart bytes from each other, all at @when. */
static void read_many(struct dm_sim *sim, unsigned int n, uint64_t apart,
		      uint64_t when)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		submit(sim, i, DM_READ, i * apart, 4096, when);
	finish(sim, n);
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What is saved up passes at once, the rest at the rate, and an idle time saves
 * up again. */
static void bursts(void)
{
	struct dm_params p = DEVICE("kind=network", "iops=1000",
				    "latency=1ms", "burst=100ms");
	struct dm_sim *sim = new_sim(&p);
	unsigned int i;

	read_many(sim, 500, 4096, 0);
	for (i = 0; i < 500; i++)
		EXPECT(took[i], at_least(i * MS, 100 * MS) + MS);
	/* Half a burst later. */
	read_many(sim, 60, 4096, 450 * MS);
	for (i = 0; i < 60; i++)
		EXPECT(took[i], 451 * MS + at_least(i * MS, 50 * MS));
	dm_sim_free(sim);

	p.burst = 0;
	sim = new_sim(&p);
	read_many(sim, 500, 4096, 0);
	for (i = 0; i < 500; i++)
		EXPECT(took[i], (i + 1) * MS);
	dm_sim_free(sim);

	p = DEVICE("kind=network", "bandwidth=4096000", "burst=50ms");
	sim = new_sim(&p);
	read_many(sim, 200, 4096, 0);
	for (i = 0; i < 200; i++)
		EXPECT(took[i], at_least(i * MS, 50 * MS));
	dm_sim_free(sim);
}

/* The peak rate while credits last, then the base rate. */
static void credits(void)
{
	struct dm_params p = DEVICE("kind=network", "iops=100",
				    "credits=1500", "peak_iops=2000");
	struct dm_sim *sim = new_sim(&p);
	unsigned int i, run;

	for (run = 0; run < 2; run++) {
		read_many(sim, MOST, 4096, 0);
		for (i = 0; i < MOST; i++) {
			uint64_t peak = i * MS / 2;
			uint64_t base = at_least(i * 10 * MS, 15 * S);

			EXPECT(took[i], peak > base ? peak : base);
		}
		EXPECT(took[1578], 789 * MS);
		EXPECT(took[1600], 1 * S);
		/* A day later. */
		EXPECT(dm_sim_reset(sim), 0);
	}
	dm_sim_free(sim);
}

/* The first access to a chunk takes its time, the next does not, chunks come in
 * parallel, and a reset forgets them. */
static void snapshot(void)
{
	struct dm_params p = DEVICE("kind=network", "latency=1ms",
				    "restore_min=8ms", "restore_max=22ms");
	struct dm_sim *sim = new_sim(&p), *other;
	uint64_t sum = 0, first[100];
	unsigned int i, differ = 0;

	read_many(sim, 100, 512 << 10, 0);
	for (i = 0; i < 100; i++) {
		first[i] = took[i];
		EXPECT_TRUE(took[i] >= 9 * MS && took[i] <= 23 * MS);
		sum += took[i];
	}
	EXPECT_TRUE(sum / 100 > 15 * MS && sum / 100 < 17 * MS);
	read_many(sim, 100, 512 << 10, 100 * MS);
	for (i = 0; i < 100; i++)
		EXPECT(took[i], 101 * MS);
	/* Half of the last chunk, and half of one that has not come. */
	EXPECT_TRUE(read_one(sim, (100 << 19) - 4096, 8192, 200 * MS) > MS);

	EXPECT(dm_sim_reset(sim), 0);
	read_many(sim, 100, 512 << 10, 500 * MS);
	for (i = 0; i < 100; i++)
		EXPECT(took[i], 500 * MS + first[i]);

	/* The second reader of a chunk waits for the same arrival. */
	EXPECT(dm_sim_reset(sim), 0);
	submit(sim, 0, DM_READ, 0, 4096, 900 * MS);
	submit(sim, 1, DM_READ, 65536, 4096, 905 * MS);
	finish(sim, 2);
	EXPECT(took[0], 900 * MS + first[0]);
	EXPECT(took[1], took[0]);

	p.seed = 1;
	p.jitter = p.rare = 0;
	other = new_sim(&p);
	read_many(other, 100, 512 << 10, 0);
	for (i = 0; i < 100; i++)
		differ += took[i] != first[i];
	EXPECT_TRUE(differ > 90);
	dm_sim_free(other);
	dm_sim_free(sim);
}

/* How much each disk has served since the last reset, in 8 bits each. */
static uint64_t used(const struct dm_sim *sim)
{
	struct dm_head h;
	uint64_t bits = 0;
	unsigned int i;

	for (i = 0; dm_sim_head(sim, i, &h) && i < 8; i++)
		bits |= h.requests << 8 * i;
	return bits;
}

static uint64_t disks_of(struct dm_sim *sim, enum dm_op op, uint64_t off)
{
	static uint64_t when;

	when += S;
	dm_sim_reset(sim);
	submit(sim, 0, op, off, 4096, when);
	finish(sim, 1);
	return used(sim);
}

/* Where md puts chunks: parity moves towards the first disk, data begins behind
 * it, and the two copies of RAID10 are side by side. */
static void layouts(void)
{
	static const unsigned int raid5[] = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2,
					      3, 0 };
	static const unsigned int raid6[] = { 1, 2, 3, 0, 1, 2, 4, 0, 1 };
	struct dm_params p = DEVICE(A_DISK, "layout=raid5", "spindles=4",
				    "chunk=64K");
	struct dm_sim *sim = new_sim(&p);
	unsigned int i;

	for (i = 0; i < 13; i++)
		EXPECT(disks_of(sim, DM_READ, i * 65536ULL),
		       1ULL << 8 * raid5[i]);
	/* Data and parity are read, then written. */
	EXPECT(disks_of(sim, DM_WRITE, 0), 0x02000002);
	EXPECT(disks_of(sim, DM_WRITE, 3 * 65536), 0x02020000);
	EXPECT(dm_disk_part(&p, 3 * SIZE), SIZE);
	dm_sim_free(sim);

	p = DEVICE(A_DISK, "layout=raid6", "spindles=5", "chunk=64K");
	sim = new_sim(&p);
	/* In the first stripe P is on the last disk and Q on the first. */
	for (i = 0; i < 9; i++)
		EXPECT(disks_of(sim, DM_READ, i * 65536ULL),
		       1ULL << 8 * raid6[i]);
	EXPECT(disks_of(sim, DM_WRITE, 0), 0x0200000202);
	EXPECT(dm_disk_part(&p, 3 * SIZE), SIZE);
	dm_sim_free(sim);
}

static void mirrors(void)
{
	struct dm_params p = DEVICE(A_DISK, "layout=raid10", "spindles=5",
				    "chunk=64K");
	struct dm_sim *sim = new_sim(&p);

	/* Both copies are written. */
	EXPECT(disks_of(sim, DM_WRITE, 0), 0x0000000101);
	EXPECT(disks_of(sim, DM_WRITE, 65536), 0x0001010000);
	EXPECT(disks_of(sim, DM_WRITE, 2 * 65536), 0x0100000001);
	EXPECT(disks_of(sim, DM_WRITE, 3 * 65536), 0x0000010100);
	/* Two reads go to two heads, and one to either. */
	dm_sim_reset(sim);
	submit(sim, 0, DM_READ, 0, 4096, 900 * S);
	submit(sim, 1, DM_READ, 8192, 4096, 900 * S);
	finish(sim, 2);
	EXPECT(used(sim), 0x0000000101);
	EXPECT(dm_disk_part(&p, 5 * SIZE), 2 * SIZE);
	dm_sim_free(sim);
}

/* Without a queue of its own a disk takes what the elevator gives it: upwards,
 * wherever the platter is. */
static void no_queue(void)
{
	static const unsigned int at[] = { 0, 11, 3, 7, 1, 9, 5, 2, 10, 4, 8,
					   6 };
	struct dm_params p = DEVICE(A_DISK, "queue_depth=1", "elevator=64",
				    "expire=5s");
	struct dm_sim *sim = new_sim(&p);
	unsigned int i;

	for (i = 0; i < 12; i++)
		submit(sim, i, DM_READ, (uint64_t)at[i] << 30, 4096, 0);
	finish(sim, 12);
	for (i = 0; i < 12; i++)
		EXPECT(at[order[i]], i);
	dm_sim_free(sim);
}

/* Pieces in the cache are read without the head, the others as from a disk, and
 * a read of both takes as long as the slower. */
static void hybrid(void)
{
	struct dm_params p = DEVICE(A_DISK, "cached=50", "channels=8",
				    "latency=100us");
	struct dm_params plain = p;
	struct dm_sim *sim = new_sim(&p), *disk;
	unsigned int i, fast = 0;
	bool cached[1000];
	uint64_t got;

	plain.cached = 0;
	disk = new_sim(&plain);
	for (i = 0; i < 1000; i++) {
		dm_sim_reset(sim);
		dm_sim_reset(disk);
		got = read_one(sim, (uint64_t)i << 20, 4096, i * S);
		cached[i] = got == 100000;
		if (cached[i]) {
			fast++;
			EXPECT(used(sim), 0);
		} else {
			EXPECT(got, read_one(disk, (uint64_t)i << 20, 4096,
					     i * S));
		}
	}
	EXPECT_TRUE(fast > 450 && fast < 550);
	/* One command, half of it in each of two pieces. */
	for (i = 0; i + 1 < 1000; i++) {
		dm_sim_reset(sim);
		got = read_one(sim, ((uint64_t)i << 20) + (512 << 10), 1 << 20,
			       (1000 + i) * S);
		EXPECT(got == 100000, cached[i] && cached[i + 1]);
	}
	dm_sim_free(disk);
	dm_sim_free(sim);
}

/* Nothing begins before the transfer before it has ended. */
static void one_at_a_time(void)
{
	struct dm_params p = DEVICE("channels=1", "latency=1ms",
				    "bandwidth=4096000", "serial=1");
	struct dm_sim *sim = new_sim(&p);
	unsigned int i;

	read_many(sim, 50, 4096, 0);
	for (i = 0; i < 50; i++)
		EXPECT(took[i], (i + 1) * 2 * MS);
	dm_sim_free(sim);
	p.serial = 0;
	sim = new_sim(&p);
	read_many(sim, 50, 4096, 0);
	for (i = 0; i < 50; i++)
		EXPECT(took[i], (i + 2) * MS);
	dm_sim_free(sim);
}

/* From 1 s to 3 s after the first request everything takes ten times as
 * long. */
static void slow_period(void)
{
	static const uint64_t when[] = { 0, 999 * MS, 1000 * MS, 2999 * MS,
					 3000 * MS };
	static const unsigned int times[] = { 1, 1, 10, 10, 1 };
	struct dm_params p = DEVICE("channels=1", "latency=100us",
				    "slow_at=1s", "slow_for=2s");
	struct dm_params net = DEVICE("kind=network", "iops=1000",
				      "slow_at=1s", "slow_for=2s");
	struct dm_params disk = DEVICE(A_DISK, "slow_at=1s", "slow_for=2s");
	struct dm_sim *sim = new_sim(&p);
	uint64_t usual;
	unsigned int i;

	for (i = 0; i < 5; i++)
		EXPECT(read_one(sim, 0, 4096, when[i]), times[i] * 100000ULL);
	dm_sim_free(sim);

	sim = new_sim(&net);
	read_one(sim, 0, 4096, 0);
	read_many(sim, 100, 4096, 1500 * MS);
	for (i = 0; i < 100; i++)
		EXPECT(took[i], (1500 + 10 * i) * MS);
	dm_sim_free(sim);

	/* 125 turns take a second. */
	sim = new_sim(&disk);
	usual = read_one(sim, 1 << 30, 4096, 0);
	dm_sim_reset(sim);
	EXPECT(read_one(sim, 1 << 30, 4096, 0), usual);
	read_one(sim, SIZE / 2, 0, 1 * S);
	disk.slow_at = 0;
	dm_sim_free(sim);
	sim = new_sim(&disk);
	EXPECT(read_one(sim, 1 << 30, 4096, 0), 10 * usual);
	dm_sim_free(sim);
}

/* The same seed gives the same times, others vary around the usual one, and few
 * are very slow. */
static void jitter(void)
{
	struct dm_params p = DEVICE("channels=1", "latency=1ms", "seed=7",
				    "rare=100");
	struct dm_sim *sim = new_sim(&p), *other;
	uint64_t sum = 0, first[MOST], t;
	unsigned int i, slow = 0, differ = 0;

	for (i = 0; i < MOST; i++) {
		t = first[i] = read_one(sim, 0, 4096, i * S);
		if (t == 10 * MS) {
			slow++;
			continue;
		}
		EXPECT_TRUE(t >= MS * 8 / 10 && t <= MS * 12 / 10);
		sum += t;
	}
	EXPECT_TRUE(slow > 10 && slow < 30);
	sum /= MOST - slow;
	EXPECT_TRUE(sum > MS * 99 / 100 && sum < MS * 101 / 100);
	dm_sim_reset(sim);
	p.seed = 8;
	other = new_sim(&p);
	for (i = 0; i < MOST; i++) {
		EXPECT(read_one(sim, 0, 4096, (MOST + i) * S), first[i]);
		differ += read_one(other, 0, 4096, i * S) != first[i];
	}
	EXPECT_TRUE(differ > MOST * 9 / 10);
	dm_sim_free(other);
	dm_sim_free(sim);

	/* An arm that is not exact turns up at other times. */
	p = DEVICE(A_DISK, "seed=7", "rare=0");
	sim = new_sim(&p);
	p.seed = 0;
	other = new_sim(&p);
	for (i = differ = 0; i < 100; i++) {
		uint64_t off = (uint64_t)(i * 37 % 64) << 30;

		differ += read_one(sim, off, 4096, i * S) !=
			read_one(other, off, 4096, i * S);
	}
	EXPECT_TRUE(differ > 5);
	dm_sim_free(other);
	dm_sim_free(sim);
}

/* Another reader comes and goes, has the latency of the device when it is
 * alone, and waits when we are there. */
static void tenant(void)
{
	struct dm_params p = DEVICE("channels=1", "latency=1ms",
				    "tenant_rate=100", "tenant_start=1s",
				    "tenant_end=2s");
	struct dm_sim *sim = new_sim(&p);
	uint64_t us, n, t = 0;
	unsigned int i;

	read_one(sim, 0, 4096, 0);
	idle_until(sim, 1000 * MS);
	EXPECT(dm_sim_tenant(sim, 90, &us), 0);
	idle_until(sim, 2100 * MS);
	n = dm_sim_tenant(sim, 90, &us);
	EXPECT_TRUE(n > 90 && n < 110);
	/* The bucket of 1000 us ends at 1007. */
	EXPECT(us, 1007);
	idle_until(sim, 9000 * MS);
	EXPECT(dm_sim_tenant(sim, 90, &us), n);

	/* We make ten requests every 20 ms. */
	dm_sim_reset(sim);
	EXPECT(dm_sim_tenant(sim, 90, &us), 0);
	for (i = 0, t = 9 * S; i < 100; i++, t += 20 * MS) {
		idle_until(sim, t);
		read_many(sim, 10, 4096, t);
	}
	idle_until(sim, 12 * S);
	EXPECT(dm_sim_tenant(sim, 90, &us), n);
	EXPECT_TRUE(us > 5000 && us < 13000);
	dm_sim_free(sim);
}

/* More than it can have outstanding: it waits, and is late from when it
 * wanted to ask. */
static void tenant_overload(void)
{
	struct dm_params p = DEVICE("channels=1", "latency=10ms",
				    "tenant_rate=1000", "tenant_end=2s");
	struct dm_sim *sim = new_sim(&p);
	uint64_t us, n;

	read_one(sim, 0, 4096, 0);
	idle_until(sim, 2000 * MS);
	n = dm_sim_tenant(sim, 100, &us);
	EXPECT_TRUE(n > 180 && n < 260);
	EXPECT_TRUE(us > 1500000);
	dm_sim_free(sim);
}

bool dm_test_behaviour(void)
{
	static const struct {
		const char *name;
		void (*test)(void);
	} tests[] = {
		{ "bursts", bursts }, { "credits", credits },
		{ "snapshot", snapshot }, { "layouts", layouts },
		{ "mirrors", mirrors }, { "no queue", no_queue },
		{ "hybrid", hybrid }, { "one at a time", one_at_a_time },
		{ "slow period", slow_period }, { "jitter", jitter },
		{ "another reader", tenant },
		{ "another reader, too fast", tenant_overload },
	};
	bool bad = false;
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		failed = false;
		tests[i].test();
		printf("behaviour: %s%s\n", tests[i].name, failed ? "  BAD" :
		       "");
		bad |= failed;
	}
	return bad;
}

int dm_alone(const struct dm_params *p, const char *image)
{
	int fd = open(image, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	struct dm_sim *sim = size < 0 ? NULL : dm_sim_new(p, (uint64_t)size);
	struct dm_req req = { .op = DM_READ };
	char text[DM_JSON_SIZE];
	struct dm_stats st;
	uint64_t now, end;

	if (fd >= 0)
		close(fd);
	if (!sim || dm_sim_submit(sim, &req, 0)) {
		fprintf(stderr, "diskmodel: cannot simulate %s\n", image);
		dm_sim_free(sim);
		return 1;
	}
	end = p->tenant_start + 60 * S;
	for (now = 0; now < end && now != DM_NEVER; now = dm_sim_next(sim))
		while (dm_sim_pop(sim, now))
			;
	dm_stats_reset(&st, 0);
	dm_stats_json(&st, sim, p->name, end, text, sizeof(text));
	fputs(text, stdout);
	dm_sim_free(sim);
	return 0;
}
