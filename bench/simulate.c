// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * The simulation on its own clock, for bounds and tests: requests come from
 * standard input, and what is printed depends on nothing else.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diskmodel.h"

struct timed {
	struct dm_req req;
	uint64_t when;
};

/* Print when a request ended, in ns after the beginning, and its number. */
static void next_end(struct dm_sim *sim, const struct timed *first,
		     uint64_t *now)
{
	const struct timed *t;
	struct dm_req *r;

	while (!(r = dm_sim_pop(sim, *now))) {
		*now = dm_sim_next(sim);
		if (*now == DM_NEVER)
			exit(1);
	}
	t = r->owner;
	printf("%td %" PRIu64 "\n", t - first, r->done);
}

/* Read `NS OFFSET LENGTH' lines.  Exits without memory. */
static struct timed *read_requests(size_t *n)
{
	struct timed *list = NULL;
	uint64_t at, off;
	size_t room = 0;
	uint32_t len;

	*n = 0;
	while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu32, &at, &off,
		     &len) == 3) {
		if (*n == room) {
			room = room ? 2 * room : 4096;
			list = realloc(list, room * sizeof(*list));
			if (!list)
				exit(1);
		}
		list[(*n)++] = (struct timed){
			.req = { .off = off, .len = len }, .when = at,
		};
	}
	return list;
}

int dm_simulate(const struct dm_params *p, uint64_t size, size_t depth)
{
	size_t n, i, flying = 0;
	struct timed *list = read_requests(&n);
	struct dm_sim *sim = dm_sim_new(p, size);
	uint64_t now = 0, next;

	for (i = 0; sim && i < n; i++, flying++) {
		for (; depth && flying == depth; flying--)
			next_end(sim, list, &now);
		while (!depth && (next = dm_sim_next(sim)) <= list[i].when) {
			now = next;
			next_end(sim, list, &now);
			flying--;
		}
		if (!depth && list[i].when > now)
			now = list[i].when;
		list[i].req.owner = &list[i];
		if (dm_sim_submit(sim, &list[i].req, now))
			return 1;
	}
	for (; sim && flying; flying--)
		next_end(sim, list, &now);
	printf("served");
	for (i = 0; sim && i < p->spindles; i++)
		printf(" %" PRIu64, dm_sim_served(sim, (unsigned int)i));
	putchar('\n');
	dm_sim_free(sim);
	free(list);
	return !sim;
}
