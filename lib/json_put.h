/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of JSON objects, as all reports of ours have them. */
#ifndef E2PF_JSON_PUT_H
#define E2PF_JSON_PUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline void put_int(struct json_object *o, const char *key,
			   uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static inline void put_text(struct json_object *o, const char *key,
			    const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static inline void put_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

/* Microseconds are told, and no more digits. */
static inline void put_seconds(struct json_object *o, const char *key,
			       double seconds)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6f", seconds);
	json_object_object_add(o, key,
			       json_object_new_double_s(seconds, text));
}

#endif
