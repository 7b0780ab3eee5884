// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulation on its own clock, for tests: requests come from standard input,
 * and what is printed depends on nothing else.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diskmodel.h"

/* Print when a request ended, in ns after the beginning, and its number. */
static struct dm_req *next_end(struct dm_sim *sim, const struct dm_req *first,
			       uint64_t *now)
{
	struct dm_req *r;

	while (!(r = dm_sim_pop(sim, *now))) {
		*now = dm_sim_next(sim);
		if (*now == DM_NEVER)
			exit(1);
	}
	printf("%td %" PRIu64 "\n", r - first, r->done);
	return r;
}

/* Read `NS OFFSET LENGTH' into @req and @when.  Returns the number of requests;
 * exits if there are too many. */
static size_t read_requests(struct dm_req *req, uint64_t *when, size_t most)
{
	uint64_t at, off;
	uint32_t len;
	size_t n = 0;

	while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu32, &at, &off,
		     &len) == 3) {
		if (n == most)
			exit(1);
		when[n] = at;
		req[n++] = (struct dm_req){ .off = off, .len = len };
	}
	return n;
}

int dm_simulate(const struct dm_params *p, uint64_t size, size_t depth)
{
	static struct dm_req req[10000];
	static uint64_t when[10000];
	size_t n = read_requests(req, when, 10000), i, flying = 0;
	struct dm_sim *sim = dm_sim_new(p, size);
	uint64_t now = 0, next;

	for (i = 0; sim && i < n; i++, flying++) {
		for (; depth && flying == depth; flying--)
			next_end(sim, req, &now);
		while (!depth && (next = dm_sim_next(sim)) <= when[i]) {
			now = next;
			next_end(sim, req, &now);
			flying--;
		}
		if (!depth && when[i] > now)
			now = when[i];
		if (dm_sim_submit(sim, &req[i], now))
			return 1;
	}
	for (; sim && flying; flying--)
		next_end(sim, req, &now);
	printf("served");
	for (i = 0; sim && i < p->spindles; i++)
		printf(" %" PRIu64, dm_sim_served(sim, (unsigned int)i));
	putchar('\n');
	dm_sim_free(sim);
	return !sim;
}
