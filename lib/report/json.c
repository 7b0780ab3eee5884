/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides how JSON is laid out.  Errors of writing are the stream's. */
#include <inttypes.h>

#include "json.h"

static void new_line(struct e2pf_json *j)
{
	fprintf(j->out, "\n%*s", (int)j->depth * 2, "");
}

/* Bytes beyond ASCII are passed on: names of devices and disks need not be
 * UTF-8, but nearly always are. */
static void quote(struct e2pf_json *j, const char *text)
{
	putc('"', j->out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(j->out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(j->out, "\\u%04x", (unsigned)*text);
		else
			putc(*text, j->out);
	}
	putc('"', j->out);
}

static void lead(struct e2pf_json *j, const char *key)
{
	if (j->begun)
		putc(',', j->out);
	if (j->depth)
		new_line(j);
	j->begun = true;
	if (key) {
		quote(j, key);
		putc(':', j->out);
	}
}

void e2pf_json_begin(struct e2pf_json *j, const char *key, char bracket)
{
	lead(j, key);
	putc(bracket, j->out);
	j->depth++;
	j->begun = false;
}

void e2pf_json_end(struct e2pf_json *j, char bracket)
{
	j->depth--;
	if (j->begun)
		new_line(j);
	putc(bracket, j->out);
	j->begun = true;
	if (!j->depth)
		putc('\n', j->out);
}

void e2pf_json_int(struct e2pf_json *j, const char *key, uint64_t value)
{
	lead(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void e2pf_json_bool(struct e2pf_json *j, const char *key, bool value)
{
	lead(j, key);
	fputs(value ? "true" : "false", j->out);
}

void e2pf_json_text(struct e2pf_json *j, const char *key, const char *text)
{
	lead(j, key);
	quote(j, text);
}

/* In millionths, as integers: the program's locale may have another decimal
 * point. */
void e2pf_json_seconds(struct e2pf_json *j, const char *key, double seconds)
{
	uint64_t us = seconds > 0 && seconds < 1e12 ?
		      (uint64_t)(seconds * 1e6 + 0.5) : 0;

	lead(j, key);
	fprintf(j->out, "%" PRIu64 ".%06u", us / 1000000,
		(unsigned)(us % 1000000));
}
