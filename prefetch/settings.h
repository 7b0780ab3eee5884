/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Settings as text: how they are parsed, and which settings a user made in the
 * file e2prefetch.conf(5) and in variables. */
#ifndef PREFETCH_SETTINGS_H
#define PREFETCH_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of worker threads in a session. */
#define PF_MAX_THREADS 256

/* The accelerations: functions of libext2fs that are replaced by faster ones. */
enum pf_acceleration {
	PF_CRC32C, PF_BITMAPS_OF_E2FSCK, PF_INDIRECT_WALK,
	PF_ACCELERATIONS
};

extern const char *const pf_acceleration_names[PF_ACCELERATIONS];

/* All that can be set.  Zero means the default, unless said otherwise. */
struct pf_settings {
	uint64_t memory;	/* bytes read ahead in total, at most */
	unsigned threads;	/* 1 to PF_MAX_THREADS */
	unsigned prefetch;	/* 1 or 0 */
	int verbose;		/* 0, 1: a sentence, 2: details too; -1: not set */
	unsigned log;		/* 1 or 0: a line to the system log */
	unsigned progress;	/* seconds between lines that say how far it is;
				   0: none */
	unsigned accel;		/* mask of 1u << enum pf_acceleration */
	bool accel_is_set;	/* by the user */
	bool mmap_io;		/* the mmap I/O manager, for a check of ext4 */
	const char *stats;	/* a file; NULL: none (a variable
				   only, doc/statistics.md) */
};

/*
 * Read the file and the variables PREFETCH..., which override it.  If anything in
 * either is wrong, returns false with a line in `error`, and nothing is to be
 * prefetched.  The line is empty if memory or descriptors have run out.  A missing
 * file is empty, unless it was named by PREFETCH_CONFIG.
 */
bool pf_settings_read(struct pf_settings *s, char *error, size_t size);

/*
 * Parse a decimal number without sign, space or leading zero (which some would read as
 * octal), with nothing after it but one of these suffixes: the first stands for
 * `factor`, each other one for `factor` of the one before.  Returns 0; or EINVAL, also
 * if the number is not within these limits, with *out unchanged.
 */
int pf_settings_parse_number(const char *text, const char *suffixes,
			     unsigned factor,
			     uint64_t min, uint64_t max, uint64_t *out);

/* The mask of these of `count` names, separated by commas.  Returns 0 or EINVAL. */
int pf_settings_parse_names(const char *text, const char *const *names,
			    unsigned count, unsigned *mask);

/* Copy a text for printing: truncated, with each control character replaced by
 * '?' because it would reach the terminal. */
void pf_settings_copy_printable(char *text, size_t size_of_text,
				const char *value);

#endif
