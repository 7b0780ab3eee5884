/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How far a check is and how much time is left, from what is known of it at a few
 * moments.  Pure, but for the file: time is among the facts.
 */
#ifndef E2PF_PROGRESS_H
#define E2PF_PROGRESS_H

#include <stdbool.h>
#include <sys/types.h>

/* What is known at a moment.  Sums are since the check began to read. */
struct e2pf_progress_facts {
	double seconds;
	double cpu;		/* seconds that the checker has computed */
	double stalled;		/* seconds that it has waited for the disk */
	/* The walk is the long part of a check, which reads nearly all of the
	 * metadata.  The rest follows it. */
	double passed;		/* part of the walk, 0 to 1; 0 also if it is not
				   known */
	double rest_done;	/* part of what follows, at least */
	double rest_part;	/* computing in what follows, as a part of that
				   in the walk */
};

/* What is remembered of earlier facts; zeroed at the start. */
struct e2pf_progress_past {
	double seconds, cpu, stalled, passed;	/* of the last facts */
	double pace;		/* of late: part of the walk per second */
	double walk_cpu;	/* computing in the whole walk, by its part so far */
};

/* The seconds that are left (progress.c); 0 if that is not known.  Facts must come
 * in the order of time. */
double e2pf_progress_left(struct e2pf_progress_past *past,
			  const struct e2pf_progress_facts *facts);

/* What the checker waits for. */
enum e2pf_progress_wait {
	E2PF_WAITS_NOT,		/* it neither computes nor reads: it may have
				   asked a question */
	E2PF_WAITS_PROCESSOR,
	E2PF_WAITS_DISK,
	E2PF_WAITS_SECTOR	/* one read has taken more than a second */
};

extern const char *const e2pf_wait_names[];

/* All that is shown of a check.  What is 0 is not known. */
struct e2pf_progress {
	double pid, started;	/* of the process: ticks since the machine was */
	const char *program;
	const char *device;
	const char *stage;
	/* Its place in the stage, of as many as the stage has. */
	double place, places;
	const char *unit;	/* "groups" */
	double seconds;
	double left;			/* seconds */
	enum e2pf_progress_wait wait;
	const char *waits_for;	/* that in words */
	double wait_seconds;	/* for E2PF_WAITS_SECTOR */
	double wait_at;		/* bytes from the start of the disk */
	const char *disk;	/* that is waited for */
};

/*
 * The file in /run that shows how far a check is (progress_file.c).
 */

/* The text of a file, of at most E2PF_PROGRESS_BYTES; empty if it does not fit. */
#define E2PF_PROGRESS_BYTES 8192
void e2pf_progress_print(const struct e2pf_progress *progress,
			 char text[E2PF_PROGRESS_BYTES]);

/* Write this text to the file of this process, complete at any moment.  Does
 * nothing unless this is root and the folder is nobody else's. */
void e2pf_progress_save(const char *text);

/* Remove the file of process `pid`. */
void e2pf_progress_remove(pid_t pid);

/* Call show() with each file whose process is still there: what it says, and its
 * text.  Removes the others, if it may.  Returns 0, or an errno if the folder
 * exists and cannot be read. */
int e2pf_progress_each(void (*show)(void *ctx, const struct e2pf_progress *p,
				    const char *text), void *ctx);

#endif
