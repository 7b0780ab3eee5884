/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The statistics file.  Its name comes from the environment or the command line
 * of a program that runs as root.  So it is written only if it is a new file,
 * or a regular file that the effective user owns, that has no other name, and
 * that is empty or begins with a brace.  It is never opened through a symbolic
 * link.  Only its owner can read it.
 */
#ifndef E2PF_STATS_FILE_H
#define E2PF_STATS_FILE_H

#include "report.h"

/* Check before the work that e2pf_stats_save() will be able to write to this
 * file: creates or truncates it.  Returns NULL if it can be written, otherwise
 * the reason in words; then an existing file is unchanged.  `path` may be NULL (no statistics are wanted) or "-". */
const char *e2pf_stats_check(const char *path);

/* Write the report to `path`, or to standard error if that is "-": standard
 * output belongs to the checker or to a command.  Returns NULL if it was written
 * or `path` is NULL, otherwise the reason. */
const char *e2pf_stats_save(const char *path, const struct e2pf_report *r);

#endif
