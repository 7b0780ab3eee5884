/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes JSON: one object, with a member on each line. */
#ifndef E2PF_JSON_H
#define E2PF_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct e2pf_json {
	FILE *out;
	unsigned depth;
	bool begun;		/* this object or list has a member */
};

/* Begin and end an object ("{}") or a list ("[]").  Members of an object have a
 * key; of a list, and of the whole, NULL. */
void e2pf_json_begin(struct e2pf_json *j, const char *key, char bracket);
void e2pf_json_end(struct e2pf_json *j, char bracket);

void e2pf_json_int(struct e2pf_json *j, const char *key, uint64_t value);
void e2pf_json_bool(struct e2pf_json *j, const char *key, bool value);
void e2pf_json_text(struct e2pf_json *j, const char *key, const char *text);

/* Rounded to microseconds; further digits mean nothing. */
void e2pf_json_seconds(struct e2pf_json *j, const char *key, double seconds);

#endif
