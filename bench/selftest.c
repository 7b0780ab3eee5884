// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares models with their own parameters.  There are three figures per load:
 * the rate computed from the parameters, if there is a formula; the rate of the
 * simulation on its own clock; and the rate that a program achieves through
 * FUSE and a loop device.  Neither of the last two may differ by more than a
 * tenth from the figure that it is compared with.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/loop.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diskmodel.h"
#include "load.h"

#define IMAGE_SIZE	(100ULL << 30)
#define TOLERANCE	0.10
#define MOST_DEPTH	128
#define TRIES		5	/* the machine may be busy with other things */

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

/* A modelled device as the self-test drives it. */
struct path {
	char dir[64], image[96], disk[96], loop[64];
	pid_t server;
	int control, loop_fd, fd;
};

static struct load_io *make_list(const struct load_kind *k, size_t n,
				 uint64_t span)
{
	struct load_io *list = calloc(n, sizeof(*list));
	uint64_t state = 88172645463325252ULL, bs;
	size_t i;

	for (i = 0; list && i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		bs = k->other && i % 2 ? k->other : k->bs;
		list[i].len = bs;
		list[i].off = bs * ((k->random ? state : i) % (span / bs));
	}
	return list;
}

static bool off_by_too_much(double is, double should);

/* Whether the rate does not depend on what the device has done before. */
static bool steady(const struct dm_params *p)
{
	return !(p->burst || p->credits || p->restore_max || p->slow_for ||
		 p->tenant_rate || p->cached || p->seed);
}

/* Whether the disks report the waiting time that the queue depth implies.  Not
 * checked if a request may become two commands. */
static bool heads_agree(const struct dm_sim *sim, const struct dm_params *p,
			const struct load_kind *k, uint64_t now)
{
	double waiting = 0;
	struct dm_head h;
	unsigned int i;

	for (i = 0; dm_sim_head(sim, i, &h); i++) {
		if (h.busy > now || h.busy > h.waiting)
			return false;
		waiting += (double)h.waiting;
	}
	return !i || k->bs > p->max_request || k->other || !steady(p) ||
	       !off_by_too_much(waiting, (double)k->depth * (double)now);
}

/* Requests per second within the first @span bytes, on the simulation's own
 * clock; 0 on failure. */
static double simulate(const struct dm_params *p, const struct load_kind *k,
		       size_t n, uint64_t span)
{
	struct dm_sim *sim = dm_sim_new(p, span);
	struct load_io *list = make_list(k, n, span);
	size_t depth = k->depth < MOST_DEPTH ? k->depth : MOST_DEPTH;
	struct dm_req req[MOST_DEPTH], *r;
	uint64_t now = 0;
	size_t next = 0, done = 0;

	while (sim && list && done < n) {
		r = next < depth ? &req[next] : dm_sim_pop(sim, now);
		if (!r) {
			now = dm_sim_next(sim);
			continue;
		}
		if (next >= depth)
			done++;
		if (next < n) {
			memset(r, 0, sizeof(*r));
			r->off = list[next].off;
			r->len = (uint32_t)list[next++].len;
			if (dm_sim_submit(sim, r, now))
				break;
		}
	}
	if (sim && !heads_agree(sim, p, k, now))
		done = 0;
	dm_sim_free(sim);
	free(list);
	return now && done == n ? (double)n * 1e9 / (double)now : 0;
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
	else if (p->serial)
		limit = 1 / (pieces * latency + link);
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
	bool mirrored = p->layout == DM_RAID1 || p->layout == DM_RAID10;
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

/* The path through FUSE and a loop device. */

static int attach_loop(struct path *pa)
{
	struct loop_config cfg = {
		.block_size = 4096,
		.info = { .lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_READ_ONLY },
	};
	int nr, tries, disk = open(pa->disk, O_RDONLY | O_CLOEXEC);

	if (disk < 0)
		return -1;
	cfg.fd = (uint32_t)disk;
	for (tries = 0; tries < 16 && pa->loop_fd < 0; tries++) {
		nr = ioctl(pa->control, LOOP_CTL_GET_FREE);
		snprintf(pa->loop, sizeof(pa->loop), "/dev/loop%d", nr);
		pa->loop_fd = open(pa->loop, O_RDONLY | O_CLOEXEC);
		if (pa->loop_fd < 0)
			break;
		if (ioctl(pa->loop_fd, LOOP_CONFIGURE, &cfg)) {
			close(pa->loop_fd);
			pa->loop_fd = -1;
			if (errno != EBUSY)
				break;
		}
	}
	close(disk);
	if (pa->loop_fd < 0)
		return -1;
	pa->fd = open(pa->loop, O_RDONLY | O_DIRECT | O_CLOEXEC);
	return pa->fd < 0 ? -1 : 0;
}

static void take_down(struct path *pa)
{
	if (pa->fd >= 0)
		close(pa->fd);
	if (pa->loop_fd >= 0) {
		ioctl(pa->loop_fd, LOOP_CLR_FD, 0);
		close(pa->loop_fd);
	}
	if (pa->control >= 0)
		close(pa->control);
	if (pa->server > 0) {
		kill(pa->server, SIGTERM);
		waitpid(pa->server, NULL, 0);
	}
	unlink(pa->image);
	rmdir(pa->dir);
	strcpy(strrchr(pa->image, '/'), "");
	rmdir(pa->image);
}

/* Start the server in a child.  Returns 0 once the file is there. */
static int start_server(struct path *pa, const struct dm_params *p,
			uint64_t compensate)
{
	struct dm_serve s = {
		.params = *p, .image = pa->image, .mountpoint = pa->dir,
		.json = "/dev/null", .read_only = true,
		.compensate = compensate, .spin = DM_NEVER,
	};
	int ready[2];
	char c;

	if (pipe2(ready, O_CLOEXEC))
		return -1;
	fflush(NULL);
	pa->server = fork();
	if (!pa->server) {
		close(ready[0]);
		s.ready_fd = ready[1];
		_exit(dm_serve(&s));
	}
	close(ready[1]);
	c = 0;
	if (pa->server > 0 && read(ready[0], &c, 1) != 1)
		c = 0;
	close(ready[0]);
	return c == 'r' ? 0 : -1;
}

static int set_up(struct path *pa, const struct dm_params *p,
		  const char *workdir, uint64_t compensate)
{
	char base[48];
	int fd;

	*pa = (struct path){ .control = -1, .loop_fd = -1, .fd = -1 };
	snprintf(base, sizeof(base), "%s/diskmodel-XXXXXX", workdir);
	if (!mkdtemp(base))
		return -1;
	snprintf(pa->dir, sizeof(pa->dir), "%s/mnt", base);
	snprintf(pa->image, sizeof(pa->image), "%s/image", base);
	snprintf(pa->disk, sizeof(pa->disk), "%s/disk", pa->dir);
	fd = open(pa->image, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	pa->control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && pa->control >= 0 && !mkdir(pa->dir, 0700) &&
	    !ftruncate(fd, (off_t)IMAGE_SIZE) &&
	    !start_server(pa, p, compensate) && !attach_loop(pa)) {
		close(fd);
		return 0;
	}
	fprintf(stderr, "diskmodel: cannot set up the path: %s\n",
		strerror(errno));
	if (fd >= 0)
		close(fd);
	take_down(pa);
	return -1;
}

/* Requests per second as a program sees them; 0 on failure. */
static double through_path(const struct path *pa, const struct load_kind *k,
			   size_t n, uint64_t *median)
{
	struct load_io *list = make_list(k, n, IMAGE_SIZE);
	struct load_result r;
	int err = list ? load_run(pa->fd, list, n, k->depth, &r) : ENOMEM;

	free(list);
	if (err || r.failed)
		return 0;
	*median = r.median;
	return (double)n * 1e9 / (double)r.elapsed;
}

/* Measures what the path and the timers add to a request of 80 us. */
static int calibrate(const char *workdir, uint64_t *cost)
{
	struct dm_params p = {
		.name = "calibration", .kind = DM_FLASH, .latency = 80000,
		.channels = 1, .max_request = 1 << 20, .spindles = 1,
	};
	uint64_t median = 0;
	struct path pa;

	if (set_up(&pa, &p, workdir, 0))
		return -1;
	through_path(&pa, &loads[1], 4000, &median);
	take_down(&pa);
	*cost = median > p.latency ? median - p.latency : 0;
	return 0;
}

static bool off_by_too_much(double is, double should)
{
	return should > 0 && fabs(is / should - 1) > TOLERANCE;
}

static void print_error(double is, double should)
{
	if (should > 0 && is > 0)
		printf(" %+6.1f%%", 100 * (is / should - 1));
	else
		printf("       -");
}

static bool one_load(const struct dm_params *p, const struct load_kind *k,
		     const struct path *pa)
{
	double by_formula = formula(p, k), by_path = 0, by_sim;
	uint64_t median = 0;
	bool bad = false;
	size_t n, tries;

	by_sim = simulate(p, k, 4000, IMAGE_SIZE);
	/* About a second and a half of real time. */
	n = (size_t)(by_sim * 1.5);
	n = n < 150 ? 150 : n > 60000 ? 60000 : n;
	for (tries = 0; pa && tries < TRIES; tries++) {
		by_path = through_path(pa, k, n, &median);
		bad = off_by_too_much(by_path, by_sim);
		if (!bad)
			break;
	}
	bad = bad || !(by_sim > 0) || off_by_too_much(by_sim, by_formula);
	printf("%-19s %-25s %9.0f %9.0f", p->name, k->name, by_formula,
	       by_sim);
	print_error(by_sim, by_formula);
	printf(" %9.0f", by_path);
	print_error(by_path, by_sim);
	printf("%s\n", bad ? "  BAD" : "");
	fflush(stdout);
	return bad;
}

static bool one_model(const char *file, const char *workdir,
		      const uint64_t *compensate)
{
	struct dm_params p;
	struct path pa;
	char err[512];
	bool bad = false, path = compensate;
	size_t i;

	if (dm_params_load(&p, file, err, sizeof(err))) {
		fprintf(stderr, "diskmodel: %s\n", err);
		return true;
	}
	/* A short run on the simulation's clock and a longer one on the path
	 * differ if the rate does not stay the same. */
	path = path && steady(&p);
	if (path && set_up(&pa, &p, workdir, *compensate))
		return true;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (loads[i].other && p.kind != DM_NETWORK)
			continue;
		bad |= one_load(&p, &loads[i], path ? &pa : NULL);
	}
	if (path)
		take_down(&pa);
	return bad;
}

static bool all_models(const char *workdir, const char *folder,
		       const uint64_t *compensate)
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
			bad |= one_model(g.gl_pathv[i], workdir, compensate);
	globfree(&g);
	return bad;
}

int dm_selftest(char *const *models, const char *folder, const char *workdir)
{
	struct sched_param rt = { .sched_priority = 1 };
	uint64_t cost, *compensate = NULL;
	bool bad = false;

	/* Other programs' work must not count as the model's error. */
	if (!geteuid() && workdir)
		sched_setscheduler(0, SCHED_RR, &rt);

	if (!workdir) {
		puts("# FUSE and loop device are not tested");
	} else if (geteuid() || access("/dev/fuse", R_OK | W_OK) ||
	    access("/dev/loop-control", R_OK | W_OK)) {
		puts("# FUSE and loop device are not tested: this needs "
		     "root, FUSE and loop devices");
	} else if (!calibrate(workdir, &cost)) {
		compensate = &cost;
		printf("# FUSE, loop device and timers add %.1f us\n",
		       (double)cost / 1e3);
	} else {
		bad = true;
	}
	printf("# %-17s %-25s %9s %9s %7s %9s %7s\n", "model",
	       "load (requests/s)", "formula", "simulated", "error", "path",
	       "error");
	if (!*models) {
		bad |= all_models(workdir, folder, compensate);
		bad |= dm_test_behaviour();
	}
	for (; *models; models++)
		bad |= one_model(*models, workdir, compensate);
	return bad;
}

int dm_spans(const struct dm_params *p)
{
	static const unsigned int depths[] = { 1, 4, 16, 32, 128 };
	static const unsigned int percent[] = { 100, 50, 25, 10, 5, 2, 1 };
	uint64_t disks;
	size_t i, d;

	if (p->kind != DM_DISK || !p->capacity) {
		fprintf(stderr, "diskmodel: %s: not a disk with a capacity\n",
			p->name);
		return 1;
	}
	disks = p->capacity / dm_disk_part(p, p->capacity);
	printf("# random reads of 4 KiB per second, %s\n# %-8s", p->name,
	       "part");
	for (d = 0; d < sizeof(depths) / sizeof(depths[0]); d++)
		printf("  depth %-3u", depths[d]);
	for (i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		printf("\n%8u %%", percent[i]);
		for (d = 0; d < sizeof(depths) / sizeof(depths[0]); d++) {
			struct load_kind k = { "", true, 4096, depths[d], 0 };

			printf(" %10.0f", simulate(p, &k, 4000, p->capacity *
						   disks / 100 * percent[i]));
		}
	}
	putchar('\n');
	return 0;
}
