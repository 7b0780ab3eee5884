/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A modelled block device: its parameters, and the time that a request takes.
 *
 * struct dm_params is a device as its parameter file describes it.  struct
 * dm_sim is such a device in operation: requests go in with the time of their
 * arrival and come out with the time of their completion.  The simulation reads
 * no clock and draws no random numbers: the same requests at the same times
 * give the same answers.  It knows nothing about FUSE, the data, or faults.
 *
 * Times are nanoseconds on any clock that starts at or after zero; offsets and
 * lengths are bytes.  An object is used by one thread at a time.
 */
#ifndef E2PF_BENCH_MODEL_H
#define E2PF_BENCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DM_NEVER	UINT64_MAX
#define DM_MAX_SPINDLES	16
#define DM_MAX_DEPTH	256

enum dm_kind {
	DM_FLASH,	/* channels without a position: SSD, NVMe, card */
	DM_DISK,	/* heads over turning platters */
	DM_NETWORK,	/* a fixed delay and two rate limiters */
};

enum dm_layout {
	DM_SINGLE,
	DM_RAID1,
	DM_RAID6,
};

struct dm_params {
	uint64_t kind;		/* enum dm_kind */

	/* Every kind. */
	uint64_t latency;	/* ns from command to first byte, reads */
	uint64_t write_latency;	/* ns, writes; absent: same as latency */
	uint64_t overhead;	/* ns that each command occupies the device */
	uint64_t bandwidth;	/* bytes/s of the link; 0: no limit */
	uint64_t iops;		/* commands/s the device accepts; 0: any */
	uint64_t max_request;	/* bytes per command; longer ones are split */
	uint64_t rotational;	/* value of the queue attribute */
	uint64_t read_ahead;	/* the same */
	uint64_t quick;		/* reads after a reset that take no time: they
				   hide from who measures whether it seeks */

	/* DM_FLASH */
	uint64_t channels;	/* commands served at a time */

	/* DM_NETWORK */
	uint64_t burst;		/* ns of commands that can be saved up, */
	uint64_t byte_burst;	/* and of bytes */
	uint64_t restore_min, restore_max;	/* ns for the first access to a
				   chunk of a volume made from a snapshot;
				   0: it is not one */
	uint64_t restore_chunk;	/* bytes */

	/* DM_DISK */
	uint64_t layout;	/* enum dm_layout */
	uint64_t spindles;
	uint64_t chunk;		/* RAID6: bytes per chunk */
	uint64_t capacity;	/* bytes that a full seek spans; 0: the image */
	uint64_t rpm;
	uint64_t media_rate;	/* bytes/s under the head */
	uint64_t seek_track;	/* ns to the next track */
	uint64_t seek_full;	/* ns over the whole capacity */
	uint64_t queue_depth;	/* commands the drive chooses among */
	uint64_t elevator;	/* commands that the host sorts before that */
	uint64_t expire;	/* ns until the host takes the oldest first */
	uint64_t buffer;	/* bytes that the drive reads ahead when idle */
};

/* A device without any delay. */
void dm_params_default(struct dm_params *p);

/*
 * Change one parameter, as `key=value'.  Returns -1 if it is unknown or
 * invalid.  Whether the parameters still agree is for dm_params_problem(),
 * which returns what is wrong, or NULL.
 */
int dm_params_set(struct dm_params *p, const char *text);
const char *dm_params_problem(const struct dm_params *p);

/* Parse a number with an optional unit (K, M, G, T; ns, us, ms, s). */
int dm_parse_number(const char *text, uint64_t *value);

/* Time to move the head over @distance bytes, without rotation. */
uint64_t dm_seek_time(const struct dm_params *p, uint64_t capacity,
		      uint64_t distance);

/* Bytes on each disk for an image of @size bytes. */
uint64_t dm_disk_part(const struct dm_params *p, uint64_t size);

enum dm_op { DM_READ, DM_WRITE, DM_FLUSH };

/* One request.  The caller fills the first group and owns the memory. */
struct dm_req {
	uint64_t off;
	uint32_t len;
	enum dm_op op;
	uint64_t delay;		/* ns that this one takes longer */
	void *owner;		/* the caller's, never used here */

	uint64_t arrival;	/* set by dm_sim_submit() */
	uint64_t done;		/* valid once dm_sim_pop() returned it */
	unsigned int parts;	/* private: sub-requests outstanding */
	struct dm_req *next;	/* private: the one that completes after this */
};

struct dm_sim;

/*
 * A device that serves @image_size bytes.  @p is copied.  NULL when out of
 * memory.
 */
struct dm_sim *dm_sim_new(const struct dm_params *p, uint64_t image_size);
/* Requests that were not popped must still exist; the caller keeps them. */
void dm_sim_free(struct dm_sim *sim);

/*
 * Submit @req at time @now, which must not be earlier than any time passed
 * before.  Returns 0, or -1 if too many are outstanding (it is not queued).
 */
int dm_sim_submit(struct dm_sim *sim, struct dm_req *req, uint64_t now);

/* Return a request that completed at or before @now, the earliest first, or
 * NULL. */
struct dm_req *dm_sim_pop(struct dm_sim *sim, uint64_t now);

/*
 * As after a long rest, so that a run does not profit from the one before it:
 * the heads of idle disks in the middle, buffers empty, bursts full, nothing
 * restored.  Returns -1 when out of memory.
 */
int dm_sim_reset(struct dm_sim *sim);

/* How many commands spindle @nr has served since dm_sim_reset(). */
uint64_t dm_sim_served(const struct dm_sim *sim, unsigned int nr);

/* When dm_sim_pop() should be called next; DM_NEVER if nothing is queued. */
uint64_t dm_sim_next(const struct dm_sim *sim);

#endif
