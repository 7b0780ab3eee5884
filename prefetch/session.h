/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A session on any filesystem: settings, memory shared with other
 * processes, the devices' topology, the engine, statistics and notes.
 *
 * A filesystem embeds struct pf_session as the first member of its own struct
 * and provides a struct pf_filesystem.  CONTRIBUTING.md explains how to add a
 * filesystem; btrfs's part is the smaller one.
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

/* The part of a filesystem.  count(), get_progress() and stop() may be NULL. */
struct pf_filesystem {
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	/* Fill in the facts that only the filesystem knows, and add its notes. */
	void (*report)(struct pf_session *session, struct pf_report *r);
	/* Without an engine: what was read so far, while it is being read.  Called by any
	 * thread. */
	void (*count)(const struct pf_session *session,
		      struct pf_engine_stats *stats);
	/* Say how far the check is: its position in the stage.  Called by any thread:
	 * also when a read of the checker wakes the engine, but not while it is
	 * started or freed. */
	void (*get_progress)(struct pf_session *session,
			     const struct pf_engine_stats *engine,
			     struct pf_progress *progress);
	/* The program is about to free what the source reads; then the workers are
	 * stopped. */
	void (*stop)(struct pf_session *session);
	/* Free the filesystem's data and the session.  The engine and the
	 * devices are already closed. */
	void (*free)(struct pf_session *session);
};

struct pf_session {
	const struct pf_filesystem *type;
	struct pf_settings settings;
	char *name;			/* of the device, as the caller named
					   it */
	const char *sysroot;		/* prefix of /sys and /proc; "" but in
					   tests */
	unsigned devices;
	struct pf_device *dev[PF_MAX_DEVICES];		/* NULL without an engine */
	struct stat stat[PF_MAX_DEVICES];
	struct pf_topology topo;	/* of all devices together */
	struct pf_options options;	/* of the engine */
	struct pf_engine *engine;	/* the filesystem's part makes it */
	struct pf_engine_stats past;	/* of inherited sessions */
	struct pf_engine_stats last;	/* of this one, when it was last counted;
					   without an engine (send) its owner
					   writes them */
	struct pf_engine_stats shown;	/* by the last progress report: shown again
					   if the engine's lock cannot be had */
	bool stopped;
	bool left_behind;		/* a thread still runs after the stop: the
					   session is never freed */
	uint64_t available;		/* memory for this process; set by
					   pf_session_choose() */
	const char *why_off;		/* nothing is read ahead, and why; or NULL */
	atomic_bool gave_back;		/* pf_session_give_back() was called */
};

/*
 * Initialize `s`, which must be zeroed: copy name and settings (NULL: the
 * defaults), and count this process among those that share the machine.  The caller
 * chooses the options has_checker, sampled, before_threads and drain; NULL: none.
 * The session chooses the others.  Returns 0 or ENOMEM.  After a failure, too,
 * pf_session_free() must be called to free it.
 */
int pf_session_init(struct pf_session *s,
		    const struct pf_filesystem *type, const char *name,
		    const struct pf_settings *settings,
		    const struct pf_options *options);

/* Add a device, which the session will close.  If `dev` is NULL, only its
 * topology is used.  There may be at most PF_MAX_DEVICES. */
void pf_session_add_device(struct pf_session *s, struct pf_device *dev,
			   const struct stat *st);

/* Choose threads, order and budget from the devices' topology. */
void pf_session_choose(struct pf_session *s);

/* Let at most so many bytes be ahead.  Between the choice and the start. */
void pf_session_limit(struct pf_session *s, uint64_t budget);

/* Read nothing ahead, for this reason. */
void pf_session_turn_off(struct pf_session *s, const char *why);

/* Begin to read ahead as chosen, unless it is turned off.
 * Returns 0 or an errno, as pf_engine_start() does. */
int pf_session_start(struct pf_session *s);

/* Have no more read, so that whoever waits for the end of the reading goes on.  Waits at
 * most `milliseconds` for the threads of an engine. */
void pf_session_interrupt(struct pf_session *s, int milliseconds);

/* How many threads may start, at most `wanted`: what the program needs is left to it.  If
 * there is none, why_off says so. */
unsigned pf_session_may_start(struct pf_session *s, unsigned wanted);

/* The program cannot start a thread: end all workers, however long a device takes to answer
 * them, and start no more.  Called by the thread that stops the session.  Returns how many
 * there were. */
unsigned pf_session_give_back(struct pf_session *s);

/* The sums over this session and the ones it has inherited. */
void pf_session_count(struct pf_session *s,
		      struct pf_engine_stats *stats);

/* Fill in the facts that the session knows, and add notes: memory, threads, order,
 * and whether anything was read ahead.  The session owns the texts. */
void pf_session_report(struct pf_session *s, struct pf_report *r);

/* Say how far the check is, in *progress, which is zeroed before.  The session must
 * have an engine, which may be stopped meanwhile, but neither started nor closed.
 * The caller fills in what only the process knows: seconds, cpu. */
void pf_session_get_progress(struct pf_session *s,
			     struct pf_progress *progress);

/*
 * The ends of a session, in this order: pf_session_stop(), which the program may leave
 * out, pf_session_report(), and pf_session_free().
 *
 * Stop the workers and keep the statistics.  Waits at most `milliseconds` for a
 * thread that waits for the device (-1: no limit).  Returns false if a thread
 * is still running: then the session is never freed.  A later call does not
 * wait again, and returns the same.
 */
bool pf_session_stop(struct pf_session *s, int milliseconds);

/* Stop the session and free everything.  `session` may be NULL. */
void pf_session_free(struct pf_session *session);

#endif
