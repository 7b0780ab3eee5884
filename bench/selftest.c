// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares models with their own parameters, on the simulation's own clock.  The
 * rate of a load may not differ by more than a tenth from what the parameters
 * imply, where there is a formula; what devices do over time and with their
 * disks must be exact.
 */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diskmodel.h"

#define IMAGE_SIZE	(100ULL << 30)
#define TOLERANCE	0.10
#define MOST_DEPTH	128
#define REQUESTS	4000

struct load_kind {
	const char *name;
	bool random;
	uint32_t bs;
	unsigned int depth;
	uint32_t other;		/* size of every second request; 0: bs */
};

static const struct load_kind loads[] = {
	{ "sequential 128K, depth 8", false, 131072, 8, 0 },
	{ "random 4K, depth 1", true, 4096, 1, 0 },
	{ "random 4K, depth 32", true, 4096, 32, 0 },
	/* Reaches both limits of a device on which they run at the same
	 * time. */
	{ "4K and 128K, depth 32", true, 4096, 32, 131072 },
};

/* The place of the next request of @k, and its length. */
static uint64_t next_place(const struct load_kind *k, uint64_t *state,
			   size_t nr, uint32_t *len)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	*len = k->other && nr % 2 ? k->other : k->bs;
	return *len * ((k->random ? *state : nr) % (IMAGE_SIZE / *len));
}

/* Whether the rate does not depend on what the device has done before. */
static bool steady(const struct dm_params *p)
{
	return !(p->burst || p->restore_max || p->slow_for || p->seed);
}

/* Requests per second on the simulation's own clock; 0 on failure. */
static double simulate(const struct dm_params *p, const struct load_kind *k)
{
	struct dm_sim *sim = dm_sim_new(p, IMAGE_SIZE);
	size_t depth = k->depth < MOST_DEPTH ? k->depth : MOST_DEPTH;
	struct dm_req req[MOST_DEPTH], *r;
	uint64_t now = 0, state = 88172645463325252ULL;
	size_t next = 0, done = 0;

	while (sim && done < REQUESTS) {
		r = next < depth ? &req[next] : dm_sim_pop(sim, now);
		if (!r) {
			now = dm_sim_next(sim);
			continue;
		}
		if (next >= depth)
			done++;
		if (next >= REQUESTS)
			continue;
		memset(r, 0, sizeof(*r));
		r->off = next_place(k, &state, next, &r->len);
		if (dm_sim_submit(sim, r, now))
			break;
		next++;
	}
	dm_sim_free(sim);
	return now && done == REQUESTS ? REQUESTS * 1e9 / (double)now : 0;
}

/* Seconds for @len bytes; 0 if there is no limit. */
static double seconds(double len, uint64_t rate)
{
	return rate ? len / (double)rate : 0;
}

static double positionless_rate(const struct dm_params *p,
				const struct load_kind *k)
{
	double pieces = ceil((double)k->bs / (double)p->max_request);
	double bytes = k->other ? (k->bs + k->other) / 2.0 : k->bs;
	double latency = (double)p->latency / 1e9, limit, link;

	link = seconds(bytes, p->bandwidth) + pieces * (double)p->overhead /
		1e9;
	if (p->kind == DM_NETWORK)
		limit = k->depth / latency;
	else if (k->depth == 1)
		limit = 1 / (ceil(pieces / (double)p->channels) * latency +
			     link);
	else
		limit = fmin((double)p->channels, k->depth * pieces) /
			pieces / fmax(latency, 1e-12);
	if (link > 0)
		limit = fmin(limit, 1 / link);
	if (p->iops)
		limit = fmin(limit, (double)p->iops / pieces);
	return limit;
}

/* Requests per second computed from the parameters; 0: no formula. */
static double formula(const struct dm_params *p, const struct load_kind *k)
{
	double pieces = ceil((double)k->bs / (double)p->max_request);
	double disks = (double)IMAGE_SIZE / (double)dm_disk_part(p, IMAGE_SIZE);
	bool mirrored = p->layout == DM_RAID1;
	double media, link, seek, part;

	if (!steady(p))
		return 0;
	if (p->kind != DM_DISK)
		return positionless_rate(p, k);
	media = seconds(k->bs, p->media_rate);
	link = seconds(k->bs, p->bandwidth) + pieces * (double)p->overhead /
		1e9;
	/* There is no simple rate for a stream spread over mirrors, or for a
	 * drive that chooses among commands. */
	if (!k->random)
		return mirrored ? 0 : disks / fmax(media, link);
	if (k->depth > 1 || mirrored)
		return 0;
	/* For two random points, the mean of the square root of their distance
	 * is 8/15 of the square root of the range. */
	part = p->capacity ? (double)IMAGE_SIZE / disks /
		(double)p->capacity : 1;
	seek = (double)p->seek_track + 8.0 / 15 * sqrt(part) *
		(double)(p->seek_full - p->seek_track);
	return 1 / (media + ((double)p->overhead + seek) / 1e9 +
		    30.0 / (double)p->rpm);
}

static bool one_load(const struct dm_params *p, const struct load_kind *k)
{
	double should = formula(p, k), is = simulate(p, k);
	bool bad = !(is > 0) ||
		(should > 0 && fabs(is / should - 1) > TOLERANCE);

	printf("%-19s %-25s %9.0f %9.0f%s\n", p->name, k->name, should, is,
	       bad ? "  BAD" : "");
	return bad;
}

static bool one_model(const char *file)
{
	struct dm_params p;
	char err[512];
	bool bad = false;
	size_t i;

	if (dm_params_load(&p, file, err, sizeof(err))) {
		fprintf(stderr, "diskmodel: %s\n", err);
		return true;
	}
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!loads[i].other || p.kind == DM_NETWORK)
			bad |= one_load(&p, &loads[i]);
	return bad;
}

static bool all_models(const char *folder)
{
	char pattern[4096];
	bool bad = false;
	glob_t g;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/*.conf", folder);
	if (glob(pattern, 0, NULL, &g)) {
		fprintf(stderr, "diskmodel: no models in %s\n", folder);
		return true;
	}
	for (i = 0; i < g.gl_pathc; i++)
		if (!strstr(g.gl_pathv[i], "/zero.conf"))
			bad |= one_model(g.gl_pathv[i]);
	globfree(&g);
	return bad;
}

/* Exact tests. */

#define MS	1000000ULL
#define S	1000000000ULL
#define SIZE	(64ULL << 30)
#define MOST	2000

/* Requests of one test, and when they ended, in ns after START. */
#define START	(1000 * S)
static struct dm_req reqs[MOST];
static uint64_t took[MOST];

static bool failed;

/* Report what is not so, once per line of this file. */
#define EXPECT(value, should)						\
	do {								\
		uint64_t is_ = (value), should_ = (should);		\
		if (is_ != should_) {					\
			failed = true;					\
			printf("selftest.c:%d: %s is %" PRIu64		\
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
		printf("selftest.c: %s\n", err);
		exit(1);
	}
	for (; *lines; lines++) {
		if (dm_params_set(&p, *lines)) {
			printf("selftest.c: cannot set %s\n", *lines);
			exit(1);
		}
	}
	if (dm_params_problem(&p)) {
		printf("selftest.c: %s\n", dm_params_problem(&p));
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
			puts("selftest.c: a request that nobody made");
			exit(1);
		}
		took[r - reqs] = r->done - START;
		done++;
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
	uint64_t bits = 0;
	unsigned int i;

	for (i = 0; i < 8; i++)
		bits |= dm_sim_served(sim, i) << 8 * i;
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
 * it, and both parities are written. */
static void raid6(void)
{
	static const unsigned int disk[] = { 1, 2, 3, 0, 1, 2, 4, 0, 1 };
	struct dm_params p = DEVICE(A_DISK, "layout=raid6", "spindles=5",
				    "chunk=64K");
	struct dm_sim *sim = new_sim(&p);
	unsigned int i;

	/* In the first stripe P is on the last disk and Q on the first. */
	for (i = 0; i < 9; i++)
		EXPECT(disks_of(sim, DM_READ, i * 65536ULL),
		       1ULL << 8 * disk[i]);
	/* Data and parity are read, then written. */
	EXPECT(disks_of(sim, DM_WRITE, 0), 0x0200000202);
	EXPECT(dm_disk_part(&p, 3 * SIZE), SIZE);
	dm_sim_free(sim);
}

static void mirrors(void)
{
	struct dm_params p = DEVICE(A_DISK, "layout=raid1", "spindles=3");
	struct dm_sim *sim = new_sim(&p);

	EXPECT(disks_of(sim, DM_WRITE, 0), 0x010101);
	/* Three reads go to three heads. */
	dm_sim_reset(sim);
	submit(sim, 0, DM_READ, 4096, 4096, 900 * S);
	submit(sim, 1, DM_READ, 65536, 4096, 900 * S);
	submit(sim, 2, DM_READ, 131072, 4096, 900 * S);
	finish(sim, 3);
	EXPECT(used(sim), 0x010101);
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
	uint64_t ended[12];
	unsigned int i;

	for (i = 0; i < 12; i++)
		submit(sim, i, DM_READ, (uint64_t)at[i] << 30, 4096, 0);
	finish(sim, 12);
	for (i = 0; i < 12; i++)
		ended[at[i]] = took[i];
	for (i = 1; i < 12; i++)
		EXPECT_TRUE(ended[i] > ended[i - 1]);
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

int dm_selftest(char *const *models, const char *folder)
{
	static const struct {
		const char *name;
		void (*test)(void);
	} tests[] = {
		{ "bursts", bursts }, { "snapshot", snapshot },
		{ "raid6", raid6 }, { "mirrors", mirrors },
		{ "no queue", no_queue }, { "slow period", slow_period },
		{ "jitter", jitter },
	};
	bool bad = false;
	size_t i;

	printf("# %-17s %-25s %9s %9s\n", "model", "load (requests/s)",
	       "formula", "simulated");
	if (*models) {
		for (; *models; models++)
			bad |= one_model(*models);
		return bad;
	}
	bad = all_models(folder);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		failed = false;
		tests[i].test();
		printf("%s%s\n", tests[i].name, failed ? "  BAD" : "");
		bad |= failed;
	}
	return bad;
}
