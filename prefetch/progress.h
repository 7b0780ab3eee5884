/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How far a check is: one line of text, on standard error and in a file in /run.
 */
#ifndef PREFETCH_PROGRESS_H
#define PREFETCH_PROGRESS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* The state of a check at one moment.  The session owns the texts. */
struct pf_progress {
	const char *device;	/* as the caller named it */
	const char *disk;	/* below the device; NULL: several, or none */
	const char *stage;
	double position, positions;	/* within the stage; positions 0: not known */
	const char *unit;	/* of position and positions: "inodes" */
	double seconds;		/* since the check began to read */
	double cpu, stalled;	/* the part in which it computed, and in which it
				   waited for the disk */
	bool busy;		/* the engine did not answer: it measures a device
				   that does not answer */
	double reading;		/* seconds since the checker's read began; 0: none */
	double reading_at;	/* bytes from the start of the device */
};

/* State kept from the moment before; zeroed at the start.  `stage` is set to NULL when
 * the check starts over. */
struct pf_progress_past {
	const char *stage;
	double began;		/* when the stage began, in seconds of the check */
	double seconds, cpu, stalled, part;
	double pace;		/* recent: part of the stage per second */
};

/* The seconds that are left of the stage; 0: not known.  The function remembers each
 * moment; callers pass moments in the order of time. */
double pf_progress_left(struct pf_progress_past *past,
			const struct pf_progress *now);

/* The line: "PROGRAM: DEVICE: pass1, 3 of 512 inodes, 2.0 s, left 12 s, waits for disk
 * sda", without an end of line, and printable. */
#define PF_PROGRESS_BYTES (PATH_MAX + 512)
void pf_progress_say(struct pf_progress_past *past, const char *program,
		     const struct pf_progress *now,
		     char line[PF_PROGRESS_BYTES]);

/* Write the line to the file of this process.  Does nothing unless this is root and the
 * directory is nobody else's. */
void pf_progress_save(const char *line);

/* Remove the file of this process. */
void pf_progress_remove(void);

/* Call show() with the line of each file whose process is still there, and remove the
 * others.  Returns 0, or an errno if the directory exists and cannot be read. */
int pf_progress_each(void (*show)(void *ctx, pid_t pid, const char *line),
		     void *ctx);

#endif
