/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The report at the end: the facts, which statistics.h writes as JSON, and notes of the
 * decisions, which are lines for PREFETCH_VERBOSE.
 */
#ifndef PREFETCH_REPORT_H
#define PREFETCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "engine.h"

#define PF_MAX_NOTES 16u

/* The decisions and their reasons, in order, for people.  Must be zeroed. */
struct pf_notes {
	char line[PF_MAX_NOTES][400];
	size_t count;
	bool off;		/* nothing was read ahead */
	char why_off[320];	/* the reason */
};

/* Add a note, "ABOUT: DECISION (REASON)".  Text that is too long is cut off, and a note
 * for which there is no room is left out. */
__attribute__((format(printf, 2, 3)))
void pf_report_note(struct pf_notes *notes, const char *format, ...);

/* Note that nothing is read ahead ("off", "asleep"), and why: the first reason
 * counts. */
void pf_report_note_off(struct pf_notes *notes, const char *decision,
			const char *reason);

/* Must be zeroed; each part fills in the facts that it knows. */
struct pf_report {
	struct pf_notes notes;
	const char *device;		/* as the caller named it */
	uint64_t block_size;		/* bytes */
	const char *io_manager;
	uint64_t journal_bytes;
	uint64_t budget;		/* bytes; 0: reading did not begin */
	bool single_spindle;
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	const char *threads;	/* why this number of them; NULL: because of the
				   disks */
	const char *order;	/* of reads, if the device is not seek-bound; NULL
				   without an engine */
	struct pf_engine_stats engine;
};

/* Print the notes, each after "PROGRAM: ". */
void pf_report_print(const struct pf_report *r, const char *program,
		     FILE *out);

/* Write a line about this device to the system log, as syslog(3) does, but take no lock,
 * do not wait for a log that does not answer, and leave nothing open. */
void pf_report_to_syslog(const char *device, const char *sentence);

/* The time for people: "14 s", "3.7 s", "25 min".  Returns `text`. */
const char *pf_report_format_seconds(double seconds, char *text, size_t size);

#endif
