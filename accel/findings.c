/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of accelerations, findings as text, and the reasons in words. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "findings.h"

/* Another text is another version of launcher or module. */
#define FORMAT "e2prefetch-findings-4"

static const char *const ability_names[ABILITIES] = {
#define NAME(ability, name) [ABILITY_##ability] = #name,
	ACCELERATIONS(NAME)
#undef NAME
	[ABILITY_PROGRESS] = "progress"
};

static const struct {
	const char *name, *reason;
} findings[FINDINGS] = {
	{ "untried", "no self-test was run" },
	{ "whole", "self-test matched libext2fs" },
	{ "linked", "internal calls of libext2fs cannot be interposed" },
	{ "absent", "libext2fs lacks a function that it needs" },
	{ "differs", "self-test differed from libext2fs" },
	{ "unread", "this version of libext2fs has not been reviewed" },
	{ "unable", "the processor or the memory does not allow it" },
	{ "threads", "this e2fsck checks in several threads" },
};

static bool is(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !memcmp(name, text, len);
}

int accelerations_parse(const char *text, unsigned *set)
{
	unsigned found = 0, i;
	size_t len;

	if (!strcmp(text, "none") || !strcmp(text, "all")) {
		*set = *text == 'a' ? ACCEL_ALL : 0;
		return 0;
	}
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < ACCELERATION_COUNT; i++)
			if (is(ability_names[i], text, len))
				break;
		if (i < ACCELERATION_COUNT)
			found |= 1u << i;
		else if (!is("extents", text, len))
			return -1;
		if (!text[len])
			break;
	}
	*set = found;
	return 0;
}

void findings_print(const struct findings *f, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, FORMAT);
	unsigned i;

	for (i = 0; i < ABILITIES && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " %s=%s",
					 ability_names[i],
					 findings[f->of[i]].name);
}

static bool parse_finding(const char *name, size_t len, enum finding *one)
{
	unsigned i;

	for (i = 0; i < FINDINGS; i++)
		if (is(findings[i].name, name, len)) {
			*one = (enum finding)i;
			return true;
		}
	return false;
}

/* The text after `start`; NULL if it does not begin with that. */
static const char *after(const char *text, const char *start)
{
	size_t len = strlen(start);

	return text && !strncmp(text, start, len) ? text + len : NULL;
}

bool findings_parse(const char *text, struct findings *f)
{
	struct findings found;
	size_t len;
	unsigned i;

	memset(f, 0, sizeof(*f));
	text = after(text, FORMAT);
	for (i = 0; i < ABILITIES && text; i++) {
		text = after(text, " ");
		text = after(text, ability_names[i]);
		text = after(text, "=");
		if (!text)
			break;
		len = strcspn(text, " ");
		if (!parse_finding(text, len, &found.of[i]))
			return false;
		text += len;
	}
	if (!text || *text)
		return false;
	*f = found;
	return true;
}

bool findings_export(const struct findings *f, pid_t process)
{
	char text[FINDINGS_SIZE], value[FINDINGS_SIZE + 32];

	findings_print(f, text, sizeof(text));
	snprintf(value, sizeof(value), "%ld %s", (long)process, text);
	return !setenv(FINDINGS_VARIABLE, value, 1);
}

void findings_import(struct findings *f)
{
	const char *value = getenv(FINDINGS_VARIABLE);
	char *end = NULL;

	memset(f, 0, sizeof(*f));
	if (value && strtol(value, &end, 10) == (long)getpid() && *end == ' ')
		findings_parse(end + 1, f);
}

const char *finding_reason(enum finding one)
{
	return findings[one].reason;
}
