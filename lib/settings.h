/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings as text, for our programs' command lines, environment variables and
 * files. */
#ifndef E2PF_SETTINGS_H
#define E2PF_SETTINGS_H

#include "e2prefetch.h"

/*
 * Parse
 *
 * - a number of threads, "1" to "256";
 * - a size in bytes, at least 1 MiB, with an optional suffix K, M, G or T
 *   (powers of 1024);
 * - a comma-separated list of class names;
 * - a number of requests, "1" to "1000000";
 * - an I/O priority: "idle", "best-effort", or "best-effort:0" to
 *   "best-effort:7";
 * - a nice value, "1" to "19".
 *
 * Spaces, signs, leading zeros and empty elements are errors.  Return 0, or
 * EINVAL with *out unchanged.  Pure.
 */
int e2pf_parse_threads(const char *text, unsigned *out);
int e2pf_parse_size(const char *text, uint64_t *out);
int e2pf_parse_classes(const char *text, unsigned *out);
int e2pf_parse_requests(const char *text, unsigned *out);
int e2pf_parse_io_priority(const char *text, unsigned *out);
int e2pf_parse_nice(const char *text, unsigned *out);

#endif
