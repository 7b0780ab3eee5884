/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of what to read, and their order. */
#include <stdlib.h>

#include "array.h"
#include "jobs.h"

bool e2pf_jobs_add(struct e2pf_jobs *jobs, const struct e2pf_job *job)
{
	if (jobs->count == E2PF_JOBS_MOST ||
	    !e2pf_have_room((void **)&jobs->job, &jobs->room, jobs->count, 1,
			    sizeof(*jobs->job)))
		return false;
	jobs->job[jobs->count++] = *job;
	return true;
}

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b)
{
	const struct e2pf_job *x = a, *y = b;
	int device = compare(x->device, y->device);

	return device ? device : compare(x->offset, y->offset);
}

static int by_order(const void *a, const void *b)
{
	const struct e2pf_job *x = a, *y = b;
	int order = compare(x->order, y->order);

	return order ? order : by_place(a, b);
}

static int by_file(const void *a, const void *b)
{
	const struct e2pf_job *x = a, *y = b;
	int inode = compare(x->inode, y->inode);

	return inode ? inode : compare(x->from, y->from);
}

static void sort(struct e2pf_jobs *jobs,
		 int (*by)(const void *, const void *))
{
	if (jobs->count)
		qsort(jobs->job, jobs->count, sizeof(*jobs->job), by);
}

void e2pf_jobs_order(struct e2pf_jobs *jobs)
{
	size_t i, from, to;

	sort(jobs, by_place);
	for (from = 0; from < jobs->count; from = to) {
		for (to = from; to < jobs->count && jobs->job[to].device ==
						    jobs->job[from].device;)
			to++;
		/* Interleave the devices: when half of one device's list is
		 * done, half of every list is. */
		for (i = from; i < to; i++)
			jobs->job[i].order = ((uint64_t)(i - from) << 32) /
					     (to - from);
	}
	sort(jobs, by_order);
}

uint64_t e2pf_jobs_keep_data(struct e2pf_jobs *jobs, uint64_t piece,
			     uint64_t most)
{
	uint64_t bytes = 0;
	size_t i, n = 0;

	sort(jobs, by_file);
	for (i = 0; i < jobs->count; i++) {
		struct e2pf_job *job = &jobs->job[i];

		if (!job->length)
			continue;
		if (job->length > piece)
			job->length = piece;
		if (job->length > most - bytes)
			break;
		bytes += job->length;
		jobs->job[n++] = *job;
	}
	jobs->count = n;
	return bytes;
}
