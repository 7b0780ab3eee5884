/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables of e2fsck-prefetch(8): their names, values and errors. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "environment.h"
#include "findings.h"
#include "settings.h"

/* The prefix that makes our variables' names unmistakable. */
#define PREFIX "E2"
#define PREFIXED "PREFETCH"

/* Room for the longest name, with the prefix. */
#define MOST_NAME 64

static const char *get(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *environment_name(const char *name)
{
	static char prefixed[MOST_NAME];

	if (strncmp(name, PREFIXED, strlen(PREFIXED)))
		return name;
	snprintf(prefixed, sizeof(prefixed), PREFIX "%s", name);
	return get(prefixed) ? prefixed : name;
}

const char *environment_get(const char *name)
{
	return get(environment_name(name));
}

void environment_unset(const char *name)
{
	char prefixed[MOST_NAME];

	snprintf(prefixed, sizeof(prefixed), PREFIX "%s", name);
	unsetenv(prefixed);
	unsetenv(name);
}

/* Parse "0" or "1" into *flag. */
static int parse_flag(const char *value, bool *flag)
{
	if (strcmp(value, "0") && strcmp(value, "1"))
		return -1;
	*flag = *value == '1';
	return 0;
}

/* Variables that are not settings: what the user gives as a path, and what the
 * parts of e2prefetch tell each other. */
static const char *const others[] = {
	"PREFETCH_STATS", "PREFETCH_TRACE", "PREFETCH_CONFIG",
	"PREFETCH_E2FSCK", "PREFETCH_BTRFS", "PREFETCH_SETTINGS",
	"PREFETCH_TRIAL", "PREFETCH_ASIDE", "PREFETCH_FINDINGS",
	"PREFETCH_READS_DATA", "PREFETCH_LAUNCHED"
};

static int parse_verbose(const char *value, unsigned *verbose)
{
	if (*value < '0' || *value > '2' || value[1])
		return -1;
	*verbose = (unsigned)(*value - '0');
	return 0;
}

static int parse_history(const char *value, const char **history)
{
	bool flag;

	if (*value != '/' && parse_flag(value, &flag))
		return -1;
	*history = value;
	return 0;
}

static int parse_io(const char *value, enum io_choice *io)
{
	bool mmap = false;
	int err = parse_flag(value, &mmap);

	if (!err)
		*io = mmap ? IO_MMAP : IO_UNIX;
	return err;
}

/* The settings from THREADS on concern the prefetch engine and apply to every
 * program.  Those from BANDWIDTH on limit the resources that prefetching takes
 * from other processes. */
enum setting {
	PREFETCH, MMAP_IO, ACCEL, VERBOSE, PROGRESS, OBSERVE, PAST,
	THREADS, MEMORY, BANDWIDTH, REQUESTS, IO_PRIORITY, NICE, SETTINGS
};

#define FIRST_OF_READING THREADS
#define FIRST_LIMIT BANDWIDTH

static const char size[] = "a size of 1M or more (K, M, G, T)";

/* Each setting's variable, the values it takes, its name in e2prefetch.conf(5)
 * (NULL: the file cannot set it), and what applies if it is not set. */
static const struct {
	const char *variable;
	const char *expected;
	const char *name;
	const char *fallback;
} settings[SETTINGS] = {
	[PREFETCH] = { "PREFETCH", "0 or 1", "prefetch",
		       "on in e2fsck-prefetch and in checks that are enabled" },
	[MMAP_IO] = { "TEST_MMAP_IO", "0 or 1", NULL, NULL },
	[ACCEL] = { "PREFETCH_ACCEL", "none, all or a list of crc32c, "
		    "bitmaps, indirect", "accelerations", "all" },
	[VERBOSE] = { "PREFETCH_VERBOSE", "0, 1 or 2", "verbose", "off" },
	[PROGRESS] = { "PREFETCH_PROGRESS", "0 or 1", "progress", "off" },
	[OBSERVE] = { "PREFETCH_OBSERVE", "0 or 1", NULL, NULL },
	[PAST] = { "PREFETCH_HISTORY", "0, 1 or an absolute path", "history",
		   "on" },
	[THREADS] = { "PREFETCH_THREADS", "a number from 1 to 256",
		      "threads", "by the device" },
	[MEMORY] = { "PREFETCH_MEM", size, "memory",
		     "half of what is available" },
	[BANDWIDTH] = { "PREFETCH_BANDWIDTH", size, "bandwidth", "no limit" },
	[REQUESTS] = { "PREFETCH_IOPS", "a number from 1 to 1000000",
		       "requests", "no limit" },
	[IO_PRIORITY] = { "PREFETCH_IOPRIO", "idle, best-effort or "
			  "best-effort:0 to best-effort:7", "io-priority",
			  "the check's" },
	[NICE] = { "PREFETCH_NICE", "a number from 1 to 19", "nice",
		   "the check's" },
};

/* Parse a setting of the prefetch engine. */
static int parse_reading(enum setting setting, const char *value,
			 struct e2pf_settings *to)
{
	switch (setting) {
	case THREADS:
		return e2pf_parse_threads(value, &to->threads);
	case MEMORY:
		return e2pf_parse_size(value, &to->memory);
	case BANDWIDTH:
		return e2pf_parse_size(value, &to->bandwidth);
	case REQUESTS:
		return e2pf_parse_requests(value, &to->requests);
	case IO_PRIORITY:
		return e2pf_parse_io_priority(value, &to->io_priority);
	case NICE:
		return e2pf_parse_nice(value, &to->nice);
	default:
		return -1;
	}
}

/* Returns 0; or nonzero, with *env unchanged, if the value is invalid. */
static int parse(enum setting setting, const char *value,
		 struct environment *env)
{
	switch (setting) {
	case PREFETCH:
		return parse_flag(value, &env->prefetch);
	case MMAP_IO:
		return parse_io(value, &env->io);
	case ACCEL:
		return accelerations_parse(value, &env->accel);
	case VERBOSE:
		return parse_verbose(value, &env->verbose);
	case PROGRESS:
		return parse_flag(value, &env->progress);
	case OBSERVE:
		return parse_flag(value, &env->observe);
	case PAST:
		return parse_history(value, &env->history);
	default:
		return parse_reading(setting, value, &env->settings);
	}
}

/* What the file calls the values of some variables. */
static const char *const flag_words[] = { "off", "on", "details" };
static const char *const flag_values[] = { "0", "1", "2" };

static bool is_flag(enum setting setting)
{
	return setting == PREFETCH || setting == VERBOSE ||
	       setting == PROGRESS || setting == PAST;
}

bool environment_setting(unsigned n, struct environment_setting *s)
{
	struct environment env;
	unsigned i;

	for (i = 0; i < SETTINGS; i++)
		if (settings[i].name && !n--)
			break;
	if (i == SETTINGS)
		return false;
	s->name = settings[i].name;
	s->variable = settings[i].variable;
	s->fallback = settings[i].fallback;
	s->value = environment_get(s->variable);
	s->is_valid = s->value && !parse(i, s->value, &env);
	s->is_flag = is_flag(i);
	return true;
}

const char *environment_words(const struct environment_setting *s,
			      const char *value)
{
	bool known = s->is_flag && *value >= '0' && *value <= '2' && !value[1];

	return known ? flag_words[*value - '0'] : value;
}

const char *environment_translate(const char *name, const char **value,
				  const char **expected)
{
	struct environment env;
	unsigned i, n;

	for (i = 0; i < SETTINGS; i++)
		if (settings[i].name && !strcmp(settings[i].name, name))
			break;
	if (i == SETTINGS)
		return NULL;
	*expected = settings[i].expected;
	if (is_flag(i)) {
		*expected = i == VERBOSE ? "off, on or details" : "on or off";
		for (n = 0; n < 2u + (i == VERBOSE); n++)
			if (!strcmp(*value, flag_words[n]))
				break;
		*value = n < 2u + (i == VERBOSE) ? flag_values[n] : "";
	}
	if (!parse(i, *value, &env))
		*expected = NULL;
	return settings[i].variable;
}

void environment_print(char *text, size_t size_of_text, const char *value)
{
	char *p;

	snprintf(text, size_of_text, "%s", value);
	for (p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	/* The same in UTF-8: U+0080 to U+009F. */
	for (p = text; (p = strstr(p, "\xc2")); p++)
		if ((unsigned char)p[1] >= 0x80 && (unsigned char)p[1] < 0xa0)
			p[0] = p[1] = '?';
}

/* Write the message 'NAME: "value" is not <expected values>', with the
 * consequences. */
static void describe(char *line, size_t size_of_line, enum setting setting,
		     const char *wrong, const char *instead)
{
	char value[65];

	environment_print(value, sizeof(value), wrong);
	snprintf(line, size_of_line, "%s: \"%s\" is not %s%s",
		 environment_name(settings[setting].variable), value,
		 settings[setting].expected, instead);
}

/* An invalid limit turns prefetching off: the user asked for a limit, and
 * running without one could disturb other programs. */
static bool is_decisive(enum setting setting)
{
	return setting == PREFETCH || setting >= FIRST_LIMIT;
}

/* Returns false, with *env unchanged, if the value is invalid. */
static bool read_variable(enum setting setting, struct environment *env,
			  environment_say *say, void *ctx)
{
	const char *value = environment_get(settings[setting].variable);
	char line[256];

	if (!value || !parse(setting, value, env))
		return true;
	describe(line, sizeof(line), setting, value, is_decisive(setting) ?
		 "; prefetching is off" : "; the default is used");
	if (say)
		say(ctx, line);
	return false;
}

/* Whether `name`, of `length` characters and without the prefix, is a variable
 * of ours. */
static bool is_ours(const char *name, size_t length)
{
	size_t i, most = sizeof(others) / sizeof(*others);
	const char *known;

	for (i = 0; i < SETTINGS + most; i++) {
		known = i < SETTINGS ? settings[i].variable :
				       others[i - SETTINGS];
		if (strlen(known) == length && !memcmp(known, name, length))
			return true;
	}
	return false;
}

/* Name the variables that look like ours and are not: most likely a name is
 * misspelled, and what it should limit is not limited. */
static void find_misspelled(environment_say *say, void *ctx)
{
	char line[256], name[MOST_NAME];
	char **entry;

	for (entry = environ; entry && *entry; entry++) {
		const char *text = *entry;
		size_t length = strcspn(text, "=");

		if (!strncmp(text, PREFIX PREFIXED "_",
			     strlen(PREFIX PREFIXED "_")))
			text += strlen(PREFIX);
		else if (strncmp(text, PREFIXED "_", strlen(PREFIXED "_")))
			continue;
		if (is_ours(text, length - (size_t)(text - *entry)))
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)length, *entry);
		environment_print(name, sizeof(name), line);
		snprintf(line, sizeof(line), "%s: no such variable; it is "
			 "ignored", name);
		say(ctx, line);
	}
}

void read_environment(struct environment *env, environment_say *say, void *ctx)
{
	unsigned i;

	memset(env, 0, sizeof(*env));
	read_variable(PREFETCH, env, say, ctx);
	/* Without prefetching the other variables have no effect. */
	if (!env->prefetch)
		return;
	env->accel = ACCEL_ALL;
	env->history = "1";
	for (i = PREFETCH + 1; i < SETTINGS; i++)
		if (!read_variable(i, env, say, ctx) && is_decisive(i))
			env->prefetch = false;
	env->stats = environment_get("PREFETCH_STATS");
	env->trace = environment_get("PREFETCH_TRACE");
	if (say)
		find_misspelled(say, ctx);
}

int read_environment_settings(struct e2pf_settings *to, char *error,
			      size_t size_of_error)
{
	const char *value;
	unsigned i;

	for (i = FIRST_OF_READING; i < SETTINGS; i++) {
		value = environment_get(settings[i].variable);
		if (value && parse_reading(i, value, to)) {
			describe(error, size_of_error, i, value, "");
			return -1;
		}
	}
	return 0;
}

void environment_set(void *to, const char *name, const char *value)
{
	unsigned i;

	for (i = FIRST_OF_READING; i < SETTINGS; i++)
		if (!strcmp(settings[i].variable, name))
			parse_reading(i, value, to);
}

bool environment_is_privileged(void)
{
	return getauxval(AT_SECURE) || getuid() != geteuid() ||
	       getgid() != getegid();
}

const char *environment_path(const char *name, char *error,
			     size_t size_of_error)
{
	const char *path = environment_get(name), *why = NULL;
	char value[257];

	if (environment_is_privileged())
		why = "is refused with raised privileges";
	else if (!path || *path != '/')
		why = "is not an absolute path";
	if (!why)
		return path;
	environment_print(value, sizeof(value), path ? path : "");
	snprintf(error, size_of_error, "%s: \"%s\" %s",
		 environment_name(name), value, why);
	return NULL;
}
