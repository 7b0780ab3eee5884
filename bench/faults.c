// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides which requests fail or are slow, and how.  This depends on where a
 * request lies or how many came before it, never on chance.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diskmodel.h"

/* OFF+LEN[:DELAY] */
static int parse_range(struct dm_fault *fault, char *text, bool need_delay)
{
	char *plus = strchr(text, '+'), *colon = strchr(text, ':');

	if (!plus || (need_delay && !colon))
		return -1;
	*plus++ = '\0';
	if (colon) {
		*colon++ = '\0';
		if (dm_parse_number(colon, &fault->delay))
			return -1;
	}
	return dm_parse_number(text, &fault->off) ||
		dm_parse_number(plus, &fault->len) ? -1 : 0;
}

int dm_fault_add(struct dm_faults *f, const char *text)
{
	struct dm_fault fault = { .kind = DM_FAULT_EIO };
	char copy[128];
	int ret = -1;

	if (f->nr >= sizeof(f->list) / sizeof(f->list[0]) ||
	    strlen(text) >= sizeof(copy))
		return -1;
	strcpy(copy, text);
	if (!strncmp(copy, "eio:", 4)) {
		ret = parse_range(&fault, copy + 4, false);
	} else if (!strncmp(copy, "slow:", 5)) {
		fault.kind = DM_FAULT_SLOW;
		ret = parse_range(&fault, copy + 5, true);
	} else if (!strncmp(copy, "eio-after:", 10)) {
		fault.kind = DM_FAULT_AFTER;
		ret = dm_parse_number(copy + 10, &fault.off);
	}
	if (!ret)
		f->list[f->nr++] = fault;
	return ret;
}

static bool meets(const struct dm_fault *fault, const struct dm_req *req,
		  uint64_t seen)
{
	if (fault->kind == DM_FAULT_AFTER)
		return seen >= fault->off;
	return req->off < fault->off + fault->len &&
		fault->off < req->off + req->len;
}

int dm_fault_check(struct dm_faults *f, const struct dm_req *req,
		   uint64_t *delay)
{
	uint64_t seen = f->seen++;
	unsigned int i;
	int error = 0;

	*delay = 0;
	for (i = 0; i < f->nr; i++) {
		if (!meets(&f->list[i], req, seen))
			continue;
		*delay += f->list[i].delay;
		if (f->list[i].kind != DM_FAULT_SLOW)
			error = EIO;
	}
	return error;
}
