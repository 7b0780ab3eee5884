/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session of any filesystem: settings, memory and limits shared with other
 * processes, what the devices are, the engine, statistics and decisions.
 *
 * A filesystem embeds struct e2pf_session as the first member of its own
 * struct and brings a struct e2pf_filesystem.  CONTRIBUTING.md says how to add
 * one; tests/rigs/toy-check.c is the smallest.
 */
#ifndef E2PF_SESSION_H
#define E2PF_SESSION_H

#include <sys/stat.h>

#include "device/topology.h"
#include "e2prefetch.h"
#include "engine/engine.h"
#include "report/decisions.h"
#include "report/statistics.h"

/* What a filesystem brings.  Any function may be NULL, but for close(). */
struct e2pf_filesystem {
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	const char *not_begun;	/* why nothing was read ahead, where
				   e2pf_session_choose() was never called;
				   NULL: said elsewhere */
	const char *order;	/* of reads where no disk has a head; NULL
				   without an engine */
	const char *threads;	/* what their number follows from; NULL: what
				   e2pf_session_choose() looked at */
	/* Add decisions of the filesystem's own, before the session's. */
	void (*describe)(struct e2pf_session *session,
			 struct e2pf_decisions *list);
	/* Fill in what of the statistics only the filesystem knows. */
	void (*report)(struct e2pf_session *session,
		       struct e2pf_statistics *statistics);
	/* The figures of a filesystem that reads without an engine. */
	void (*count)(struct e2pf_session *session,
		      struct e2pf_engine_stats *stats);
	/* Stop watching the checker's reads: the engine is about to end. */
	void (*detach)(struct e2pf_session *session);
	/* Free what is the filesystem's, and the session.  Engine and devices
	 * are gone. */
	void (*close)(struct e2pf_session *session);
};

/* What a program of ours sets beyond the public settings. */
struct e2pf_hooks {
	bool paced;		/* a checker is followed */
	bool exact;		/* statistics are written: time every read, also
				   while there is nothing to read ahead */
	const char *sysroot;	/* prefix of /sys and /proc; NULL: none */
};

struct e2pf_session {
	const struct e2pf_filesystem *type;
	struct e2pf_settings settings;
	char *name;			/* of the device, as it was given */
	char *sysroot;
	unsigned devices;
	struct e2pf_device *dev[E2PF_DEVICES];	/* NULL without an engine */
	struct stat stat[E2PF_DEVICES];
	struct e2pf_topology topo;	/* of all devices together */
	unsigned sharing;		/* processes, when reading began */
	struct e2pf_engine_config cfg;
	struct e2pf_engine *engine;
	struct e2pf_engine_stats past;	/* of sessions inherited */
	struct e2pf_engine_stats last;	/* at the end */
	bool ended, gave_up;
	/* For the statistics; the caller's. */
	const char *const *accelerations;
	size_t acceleration_count;
	const struct e2pf_decisions *decisions;	/* NULL: none but our own */
};

/*
 * Begin `s`, which is zeroed: copy name and settings (NULL: the defaults), and
 * count this process among those that share the machine.  `hooks` may be NULL.
 * After a failure, too, e2pf_close() frees it.  0 or ENOMEM.
 */
errcode_t e2pf_session_init(struct e2pf_session *s,
			    const struct e2pf_filesystem *type,
			    const char *name,
			    const struct e2pf_settings *settings,
			    const struct e2pf_hooks *hooks);

/* Add a device, which the session closes; NULL to only look at what it is.
 * There are at most E2PF_DEVICES. */
void e2pf_session_add_device(struct e2pf_session *s, struct e2pf_device *dev,
			     const struct stat *st);

/* Make the engine, for a source that outlives it.  0 or ENOMEM. */
errcode_t e2pf_session_add_source(struct e2pf_session *s,
				  struct e2pf_source *source);

/* Choose threads, order and budget by what the devices are. */
void e2pf_session_choose(struct e2pf_session *s);

/* Sums over this session and those it has inherited. */
void e2pf_session_count(struct e2pf_session *s,
			struct e2pf_engine_stats *stats);

/* Add what was decided: memory, limits, threads, order, and whether anything
 * was read ahead. */
void e2pf_session_describe(struct e2pf_session *s,
			   struct e2pf_decisions *list);

/* Add what the run has come to.  False when nothing was read ahead. */
bool e2pf_session_summarize(struct e2pf_session *s,
			    struct e2pf_decisions *list);

/* Stop, keeping the statistics; wait at most `milliseconds` for a thread that
 * waits for the device (-1: as long as it takes).  False when one is left
 * behind: the session must then not be closed. */
bool e2pf_session_end(struct e2pf_session *s, int milliseconds);

/* After e2pf_session_end() has returned true: let go of the devices, keeping
 * the statistics. */
void e2pf_session_release(struct e2pf_session *s);

/*
 * Structs of callers that may be older or newer than this library: both `to`
 * and `from` begin with a size_t, the caller's with the size that the caller
 * knows.  e2pf_take_in() copies what both know from a caller's struct, NULL for
 * none; 0, EINVAL where its size is not set, or E2BIG where a member is set
 * that is unknown here.  e2pf_hand_out() copies what both know into one.
 */
errcode_t e2pf_take_in(void *to, const void *from, size_t size_of_to);
void e2pf_hand_out(void *to, const void *from, size_t size_of_from);

#endif
