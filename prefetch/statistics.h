/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The statistics as JSON (doc/statistics.md), and the sums over several engines. */
#ifndef PREFETCH_STATISTICS_H
#define PREFETCH_STATISTICS_H

#include "report.h"

/* Write the report as one JSON object and a newline.  Returns 0, or EIO if `out` has
 * an error. */
int pf_statistics_write(const struct pf_report *r, FILE *out);

/* Write the report to the file `path`, or to standard error if that is "-": standard
 * output belongs to the checker or to a command.  Returns NULL if it was written or
 * `path` is NULL, otherwise the reason in words.  After a failure an existing file is
 * unchanged, unless the reason is an error of writing. */
const char *pf_statistics_save(const char *path, const struct pf_report *r);

/* Add the counts of a later engine to those of an earlier one. */
void pf_statistics_add(struct pf_engine_stats *to,
		       const struct pf_engine_stats *from);

#endif
