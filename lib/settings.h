/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings as text, for command lines, variables and files of our programs. */
#ifndef E2PF_SETTINGS_H
#define E2PF_SETTINGS_H

#include "e2prefetch.h"

/*
 * Parse a count of threads ("1" to "256") or a size in bytes with an optional
 * K, M, G or T suffix (powers of 1024, at least 1 MiB), or a comma-separated
 * list of class names; a number of requests ("1" to "1000000"), an I/O
 * priority ("idle", "best-effort" or "best-effort:0" to "best-effort:7"), or a
 * nice value ("1" to "19").  Nothing around them: no spaces, signs, leading
 * zeros or empty elements.  Return 0, or EINVAL with *out untouched.  Pure.
 */
int e2pf_parse_threads(const char *text, unsigned *out);
int e2pf_parse_size(const char *text, uint64_t *out);
int e2pf_parse_classes(const char *text, unsigned *out);
int e2pf_parse_requests(const char *text, unsigned *out);
int e2pf_parse_io_priority(const char *text, unsigned *out);
int e2pf_parse_nice(const char *text, unsigned *out);

#endif
