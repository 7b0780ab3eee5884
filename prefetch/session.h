/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A session on any filesystem: settings, memory shared with other processes, the
 * devices' topology, the engine, statistics and notes.
 *
 * A filesystem embeds struct pf_session as the first member of its own struct, and
 * provides a struct pf_filesystem.  CONTRIBUTING.md explains how to add a filesystem;
 * the part of btrfs is the smaller example.
 */
#ifndef PREFETCH_SESSION_H
#define PREFETCH_SESSION_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "topology.h"
#include "engine.h"
#include "progress.h"
#include "report.h"
#include "settings.h"

struct pf_session;

/* What a filesystem provides.  count(), get_progress() and stop() may be NULL. */
struct pf_filesystem {
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	/* Fill in the facts that only the filesystem knows, and add its notes. */
	void (*report)(struct pf_session *session, struct pf_report *r);
	/* For a session without an engine: count what was read so far.  Called by any
	 * thread. */
	void (*count)(const struct pf_session *session,
		      struct pf_engine_stats *stats);
	/* Set the check's position in the stage.  Called by any thread, even while a
	 * read of the checker wakes the engine, but not while the engine is started or
	 * freed. */
	void (*get_progress)(struct pf_session *session,
			     const struct pf_engine_stats *engine,
			     struct pf_progress *progress);
	/* Called before the workers are stopped: the program is about to free what the
	 * source reads. */
	void (*stop)(struct pf_session *session);
	/* Free the filesystem's data and the session.  The engine is already freed, and
	 * the devices are closed. */
	void (*free)(struct pf_session *session);
};

struct pf_session {
	const struct pf_filesystem *type;
	struct pf_settings settings;
	char *name;			/* of the device, as the caller named it */
	const char *sysroot;		/* prefix of /sys and /proc; "" except in
					   tests */
	unsigned devices;
	struct pf_device *dev[PF_MAX_DEVICES];	/* NULL without an engine */
	struct stat stat[PF_MAX_DEVICES];
	struct pf_topology topo;	/* of all devices together */
	struct pf_options options;	/* of the engine */
	struct pf_engine *engine;	/* created by the filesystem */
	struct pf_engine_stats past;	/* of inherited sessions */
	struct pf_engine_stats last;	/* of this session, when it was last counted;
					   without an engine (send) its owner
					   writes them */
	struct pf_engine_stats shown;	/* of the last progress report, which shows
					   them again if it cannot get the engine's
					   lock */
	bool stopped;
	bool left_behind;		/* a thread still runs after the stop, so the
					   session is never freed */
	uint64_t available;		/* memory for this process, bytes; set by
					   pf_session_choose() */
	const char *why_off;		/* why nothing is read ahead; or NULL */
	atomic_bool gave_back;		/* pf_session_give_back() was called */
};

/*
 * Initialize `s`, which must be zeroed: copy name and settings (NULL: the defaults),
 * and count this process among those that share the machine.  The caller chooses the
 * options has_checker, sampled, before_threads and drain (NULL: none of them); the
 * session chooses the others.  Returns 0 or ENOMEM.  The caller must call
 * pf_session_free() even after a failure.
 */
int pf_session_init(struct pf_session *s,
		    const struct pf_filesystem *type, const char *name,
		    const struct pf_settings *settings,
		    const struct pf_options *options);

/* Add a device, which the session will close.  If `dev` is NULL, only the topology of
 * `st` is used.  There may be at most PF_MAX_DEVICES. */
void pf_session_add_device(struct pf_session *s, struct pf_device *dev,
			   const struct stat *st);

/* Choose threads, order and budget from the devices' topology. */
void pf_session_choose(struct pf_session *s);

/* Limit the bytes ahead to `budget`.  Called between pf_session_choose() and the
 * start. */
void pf_session_limit(struct pf_session *s, uint64_t budget);

/* Read nothing ahead, for this reason. */
void pf_session_turn_off(struct pf_session *s, const char *why);

/* Begin to read ahead as chosen, unless it is turned off.
 * Returns 0 or an errno, as pf_engine_start() does. */
int pf_session_start(struct pf_session *s);

/* Stop reading ahead, so that a caller that waits for the end of reading continues.
 * Waits at most `milliseconds` for the threads of an engine. */
void pf_session_interrupt(struct pf_session *s, int milliseconds);

/* Return how many threads may start, at most `wanted`, so that the program keeps as
 * many as it needs.  If the result is 0, why_off is set. */
unsigned pf_session_may_start(struct pf_session *s, unsigned wanted);

/* End all workers, and start no more, because the program cannot start a thread.  Waits
 * as long as the device takes to answer them.  Called by the thread that stops the
 * session.  Returns the number of workers that there were. */
unsigned pf_session_give_back(struct pf_session *s);

/* Sum up the statistics of this session and of those that it has inherited. */
void pf_session_count(struct pf_session *s,
		      struct pf_engine_stats *stats);

/* Fill in the facts that the session knows, and add notes about memory, threads and
 * order, and about whether anything was read ahead.  The session owns the texts. */
void pf_session_report(struct pf_session *s, struct pf_report *r);

/* Set the check's progress in *progress, which must be zeroed.  The session must have
 * an engine, which may be stopped meanwhile, but not started or freed.  The caller
 * fills in the members that only the process knows: seconds and cpu. */
void pf_session_get_progress(struct pf_session *s,
			     struct pf_progress *progress);

/*
 * A session ends with pf_session_stop(), which may be left out, pf_session_report() and
 * pf_session_free(), in this order.
 *
 * Stop the workers and keep the statistics.  Waits at most `milliseconds` for a thread
 * that waits for the device (-1: without limit).  Returns false if a thread still runs:
 * then the session is never freed.  A later call does not wait again, and returns the
 * same.
 */
bool pf_session_stop(struct pf_session *s, int milliseconds);

/* Stop the session and free everything.  `session` may be NULL. */
void pf_session_free(struct pf_session *session);

#endif
