/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of JSON objects, for all that is printed as JSON. */
#ifndef E2PF_JSON_H
#define E2PF_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline void put(struct json_object *o, const char *key,
		       struct json_object *value)
{
	json_object_object_add(o, key, value);
}

static inline void put_int(struct json_object *o, const char *key,
			   uint64_t value)
{
	put(o, key, json_object_new_uint64(value));
}

static inline void put_bool(struct json_object *o, const char *key, bool value)
{
	put(o, key, json_object_new_boolean(value));
}

static inline void put_text(struct json_object *o, const char *key,
			    const char *text)
{
	put(o, key, json_object_new_string(text));
}

/* Rounded to microseconds; further digits mean nothing. */
static inline void put_seconds(struct json_object *o, const char *key,
			       double seconds)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6f", seconds);
	put(o, key, json_object_new_double_s(seconds, text));
}

/* Print the object on lines of its own, and free it. */
static inline void put_out(struct json_object *o, FILE *out)
{
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
					       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

#endif
