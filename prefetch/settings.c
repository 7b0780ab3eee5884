/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Settings as text: counts, sizes and lists.  Decides whether a text is well
 * formed and within limits, where settings are read, and which settings are
 * errors.  The caller uses them.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "settings.h"

int pf_settings_parse_number(const char *text, const char *suffixes,
			     unsigned factor,
			     uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value, unit = 1;
	const char *suffix;
	char *end;

	if (*text < '0' || *text > '9' || (*text == '0' && text[1]))
		return EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return EINVAL;
	if (*end) {
		suffix = strchr(suffixes, *end);
		if (!suffix || end[1])
			return EINVAL;
		for (; suffix >= suffixes; suffix--)
			unit *= factor;
	}
	if (value > max / unit || value * unit < min)
		return EINVAL;
	*out = value * unit;
	return 0;
}

const char *const pf_acceleration_names[PF_ACCELERATIONS] = {
	"crc32c", "bitmaps", "indirect"
};

int pf_settings_parse_names(const char *text, const char *const *names,
			    unsigned count, unsigned *mask)
{
	unsigned found = 0, i;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < count; i++)
			if (strlen(names[i]) == len &&
			    !memcmp(names[i], text, len))
				break;
		if (i == count)
			return EINVAL;
		found |= 1u << i;
		if (!text[len])
			break;
	}
	*mask = found;
	return 0;
}

static int parse_accel(const char *text, unsigned *out)
{
	if (strcmp(text, "none") && strcmp(text, "all"))
		return pf_settings_parse_names(text, pf_acceleration_names,
					       PF_ACCELERATIONS, out);
	*out = *text == 'a' ? (1u << PF_ACCELERATIONS) - 1 : 0;
	return 0;
}

/*
 * The settings.
 */

/* Largest file accepted, bytes: a hundred times what all settings need. */
#define MAX_BYTES 65536u

enum kind { NUMBER, SIZE, IO_MANAGER, ACCELERATIONS, TEXT, CONFIG };

#define TEXT_OF(number) #number
#define FROM_TO(min, max) \
	min, max, "a number from " TEXT_OF(min) " to " TEXT_OF(max)

/* The name in the file, or NULL; the variable, the values, and the member of struct
 * pf_settings. */
static const struct setting {
	const char *name, *variable;
	enum kind kind;
	uint64_t min, max;
	const char *expected;
	size_t offset;
} settings[] = {
#define MEMBER(name) offsetof(struct pf_settings, name)
	{ "prefetch", "PREFETCH", NUMBER, FROM_TO(0, 1), MEMBER(prefetch) },
	{ "threads", "PREFETCH_THREADS", NUMBER, FROM_TO(1, PF_MAX_THREADS),
	  MEMBER(threads) },
	{ "mem", "PREFETCH_MEM", SIZE, 1u << 20, UINT64_MAX,
	  "a size of 1M or more (K, M, G, T)", MEMBER(memory) },
	{ "io_manager", "PREFETCH_IO_MANAGER", IO_MANAGER, 0, 0,
	  "unix or mmap", MEMBER(mmap_io) },
	{ "verbose", "PREFETCH_VERBOSE", NUMBER, FROM_TO(0, 2), MEMBER(verbose) },
	{ "log", "PREFETCH_LOG", NUMBER, FROM_TO(0, 1), MEMBER(log) },
	{ "progress", "PREFETCH_PROGRESS", NUMBER, FROM_TO(1, 86400),
	  MEMBER(progress) },
	{ "accel", "PREFETCH_ACCEL", ACCELERATIONS, 0, 0,
	  "none, all or a list of crc32c, bitmaps, indirect", MEMBER(accel) },
	{ NULL, "PREFETCH_STATS", TEXT, 0, 0, NULL, MEMBER(stats) },
	{ NULL, "PREFETCH_CONFIG", CONFIG, 0, 0, "an absolute path", 0 },
};

#define SETTINGS (sizeof(settings) / sizeof(*settings))

static int set_member(struct pf_settings *s, const struct setting *setting,
		      const char *value)
{
	void *to = (char *)s + setting->offset;
	uint64_t number;

	switch (setting->kind) {
	case NUMBER:
		if (pf_settings_parse_number(value, "", 1, setting->min,
					     setting->max, &number))
			return EINVAL;
		*(unsigned *)to = (unsigned)number;
		return 0;
	case SIZE:
		return pf_settings_parse_number(value, "KMGT", 1024,
						setting->min, setting->max, to);
	case IO_MANAGER:
		if (strcmp(value, "unix") && strcmp(value, "mmap"))
			return EINVAL;
		*(bool *)to = *value == 'm';
		return 0;
	case ACCELERATIONS:
		s->accel_is_set = true;
		return parse_accel(value, to);
	case TEXT:
		*(const char **)to = value;
		return 0;
	default:
		return *value == '/' ? 0 : EINVAL;
	}
}

/* NULL: there is none. */
static const struct setting *find_setting(const char *name)
{
	size_t i;

	for (i = 0; i < SETTINGS; i++)
		if (settings[i].name && !strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

void pf_settings_copy_printable(char *text, size_t size_of_text,
				const char *value)
{
	unsigned char *p;

	snprintf(text, size_of_text, "%s", value);
	for (p = (unsigned char *)text; *p; p++)
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		/* U+0080 to U+009F in UTF-8. */
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
}

/* The text that is being read, and the buffer for the description of an error. */
struct reading {
	struct pf_settings *into;
	const char *path;
	unsigned line;		/* in the file */
	char *error;
	size_t size;
};

/* `about` is a variable or a file.  Texts of the user's are cut off by %.64s. */
__attribute__((format(printf, 3, 4)))
static bool reject(struct reading *r, const char *about, const char *format,
		   ...)
{
	char where[16] = "", text[512], line[PATH_MAX + 512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (r->line)
		snprintf(where, sizeof(where), ":%u", r->line);
	snprintf(line, sizeof(line), "%s%s: %s; prefetching is off", about,
		 where, text);
	pf_settings_copy_printable(r->error, r->size, line);
	return false;
}

/* The text without blanks at both ends. */
static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static bool parse_line(struct reading *r, char *line)
{
	char *value = strchr(line, '=');
	const struct setting *setting;

	if (!*line || *line == '#' || *line == ';')
		return true;
	if (!value)
		return reject(r, r->path, "not \"name = value\"");
	*value = '\0';
	value = trim(value + 1);
	setting = find_setting(trim(line));
	if (!setting)
		return reject(r, r->path, "unknown setting \"%.64s\"", line);
	return !set_member(r->into, setting, value) ||
	       reject(r, r->path, "%s: \"%.64s\" is not %s", line, value,
		      setting->expected);
}

static bool parse_text(struct reading *r, char *text, size_t size)
{
	char *line;

	if (strlen(text) != size)
		return reject(r, r->path, "not a text file");
	while ((line = strsep(&text, "\n"))) {
		r->line++;
		if (!parse_line(r, trim(line)))
			return false;
	}
	r->line = 0;
	return true;
}

/* If the process ran out of descriptors or memory, the file is not at fault. */
static bool reject_unreadable(struct reading *r)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
		r->error[0] = '\0';
		return false;
	}
	return reject(r, r->path, "%s", strerror(errno));
}

/* Only regular files and /dev/null are accepted: a FIFO could block us, and
 * opening a device can have side effects. */
static bool read_file(struct reading *r, bool named)
{
	static char text[MAX_BYTES + 2];
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(r->path, &st))
		return (!named && (errno == ENOENT || errno == ENOTDIR)) ||
		       reject_unreadable(r);
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return true;
	if (!S_ISREG(st.st_mode))
		return reject(r, r->path, "not a regular file");
	fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return reject_unreadable(r);
	n = read(fd, text, MAX_BYTES + 1);
	close(fd);
	if (n < 0)
		return reject_unreadable(r);
	if (n > (ssize_t)MAX_BYTES)
		return reject(r, r->path, "larger than 64 KiB");
	text[n] = '\0';
	return parse_text(r, text, (size_t)n);
}

/* Returns true if the entry of the environment is not one of ours, is empty, or is
 * valid.  Other programs have variables that begin like ours:  PREFETCH_COUNT belongs
 * to a web framework. */
static bool parse_variable(struct reading *r, const char *entry)
{
	const char *value = strchr(entry, '=');
	char variable[65];
	size_t i;

	if (strncmp(entry, "PREFETCH", 8) || !value || !value[1])
		return true;
	snprintf(variable, sizeof(variable), "%.*s", (int)(value - entry), entry);
	for (i = 0; i < SETTINGS; i++)
		if (!strcmp(settings[i].variable, variable))
			return !set_member(r->into, &settings[i], value + 1) ||
			       reject(r, variable, "\"%.64s\" is not %s",
				      value + 1, settings[i].expected);
	return true;
}

extern char **environ;

static bool read_variables(struct reading *r)
{
	const char *mmap_io = getenv("TEST_MMAP_IO");
	char **entry;

	for (entry = environ; entry && *entry; entry++)
		if (!parse_variable(r, *entry))
			return false;
	if (!mmap_io || !*mmap_io)
		return true;
	r->into->mmap_io = !strcmp(mmap_io, "1");
	return r->into->mmap_io || !strcmp(mmap_io, "0") ||
	       reject(r, "TEST_MMAP_IO", "not 0 or 1");
}

bool pf_settings_read(struct pf_settings *s, char *error, size_t size)
{
	const char *named = getenv("PREFETCH_CONFIG");
	struct reading r = {
		.into = s, .path = named && *named == '/' ? named :
		CONFIGURATION, .error = error, .size = size
	};

	*error = '\0';
	*s = (struct pf_settings) {
		.prefetch = 1, .verbose = -1, .log = 1,
		.accel = (1u << PF_ACCELERATIONS) - 1
	};
	if (!read_file(&r, r.path == named) || !read_variables(&r)) {
		s->prefetch = 0;
		return false;
	}
	return true;
}
