// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Parses parameters: keys, units, and what makes a device complete.  sim.c decides
 * how a device behaves.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

struct word {
	const char *text;
	uint64_t value;
};

static const struct word kinds[] = {
	{ "flash", DM_FLASH }, { "disk", DM_DISK },
	{ "network", DM_NETWORK }, { NULL, 0 },
};

static const struct word layouts[] = {
	{ "single", DM_SINGLE }, { "raid1", DM_RAID1 },
	{ "raid6", DM_RAID6 }, { NULL, 0 },
};

struct key {
	const char *name;
	size_t offset;
	const struct word *words;	/* NULL: a number */
};

#define KEY(n)		{ #n, offsetof(struct dm_params, n), NULL }
#define WORD(n, w)	{ #n, offsetof(struct dm_params, n), w }

static const struct key keys[] = {
	WORD(kind, kinds), WORD(layout, layouts),
	KEY(latency), KEY(write_latency), KEY(overhead), KEY(bandwidth),
	KEY(iops), KEY(max_request), KEY(rotational), KEY(read_ahead),
	KEY(quick),
	KEY(channels), KEY(spindles), KEY(chunk), KEY(capacity), KEY(rpm),
	KEY(media_rate),
	KEY(seek_track), KEY(seek_full), KEY(queue_depth), KEY(elevator),
	KEY(expire), KEY(buffer),
	KEY(burst), KEY(byte_burst),
	KEY(restore_min), KEY(restore_max), KEY(restore_chunk),
};

int dm_parse_number(const char *text, uint64_t *value)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 },
		{ "s", 1e9 }, { "K", 1024 }, { "M", 1048576 },
		{ "G", 1073741824.0 }, { "T", 1099511627776.0 },
		{ "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 },
	};
	double number;
	char *end;
	size_t i;

	errno = 0;
	number = strtod(text, &end);
	if (end == text || errno || !(number >= 0))
		return -1;
	while (isspace((unsigned char)*end))
		end++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		number *= units[i].factor;
		if (number >= 1.8e19)
			return -1;
		*value = (uint64_t)(number + 0.5);
		return 0;
	}
	return -1;
}

static int set_key(struct dm_params *p, const char *name, const char *value)
{
	const struct word *w;
	uint64_t *field;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(name, keys[i].name))
			continue;
		field = (uint64_t *)((char *)p + keys[i].offset);
		if (!keys[i].words)
			return dm_parse_number(value, field);
		for (w = keys[i].words; w->text; w++) {
			if (!strcmp(value, w->text)) {
				*field = w->value;
				return 0;
			}
		}
		return -1;
	}
	return -1;
}

/* The same for a disk, or several. */
static const char *disk_problem(const struct dm_params *p)
{
	if (!p->rpm || !p->media_rate)
		return "kind disk needs rpm and media_rate";
	if (p->seek_full < p->seek_track)
		return "seek_full must not be less than seek_track";
	if (p->spindles < 1 || p->spindles > DM_MAX_SPINDLES)
		return "spindles must be 1 to 16";
	if (p->queue_depth < 1 || p->queue_depth > DM_MAX_DEPTH)
		return "queue_depth must be 1 to 256";
	if (p->layout == DM_SINGLE && p->spindles != 1)
		return "layout single needs one spindle";
	if (p->layout == DM_RAID6 && (p->spindles < 4 || p->chunk < 4096))
		return "layout raid6 needs 4 or more spindles, and chunk";
	return NULL;
}

const char *dm_params_problem(const struct dm_params *p)
{
	if (p->kind == DM_FLASH && !p->channels)
		return "kind flash needs channels";
	if (p->max_request < 4096)
		return "max_request must be 4096 or more";
	if (p->restore_max < p->restore_min || p->restore_chunk < 4096)
		return "restore_max must not be less than restore_min";
	if (p->kind != DM_NETWORK &&
	    (p->burst || p->byte_burst || p->restore_max))
		return "bursts and snapshots need kind network";
	return p->kind == DM_DISK ? disk_problem(p) : NULL;
}

void dm_params_default(struct dm_params *p)
{
	*p = (struct dm_params){
		.write_latency = DM_NEVER, .max_request = 1 << 20,
		.channels = 1, .spindles = 1, .queue_depth = 1,
		.expire = 500000000, .restore_chunk = 512 << 10,
	};
}

int dm_params_set(struct dm_params *p, const char *text)
{
	const char *eq = strchr(text, '=');
	char name[32];

	if (!eq || (size_t)(eq - text) >= sizeof(name))
		return -1;
	snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
	return set_key(p, name, eq + 1);
}

/*
 * An arm accelerates over half of a short seek and brakes over the other
 * half, so the time grows with the root of the distance.
 */
uint64_t dm_seek_time(const struct dm_params *p, uint64_t capacity,
		      uint64_t distance)
{
	double part;

	if (distance >= capacity)
		return p->seek_full;
	part = sqrt((double)distance / (double)capacity);
	return p->seek_track + (uint64_t)
		((double)(p->seek_full - p->seek_track) * part);
}
