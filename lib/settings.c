/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings as text: counts, sizes, priorities and lists.  Decides whether a text
 * is well formed and within limits, where settings are read, and what is an
 * error.  Does not know what the settings are used for.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "settings.h"

#define MIN_SIZE (UINT64_C(1) << 20)
#define MOST_REQUESTS 1000000u
#define MOST_NICE 19u

/* The encoding of ioprio_set(2); libc has no header for it. */
#define IO_PRIORITY(class, level) ((class) << 13 | (level))
#define IO_CLASS_BEST_EFFORT 2u
#define IO_CLASS_IDLE 3u
#define LEVELS 8u
#define NORMAL_LEVEL 4u

/*
 * Parse a decimal number without sign, space or leading zero (which some would
 * read as octal).  *end is set to the first character after it.
 */
static int parse_number(const char *text, uint64_t *out, const char **end)
{
	uint64_t value = 0;

	if (*text < '1' || *text > '9')
		return EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		unsigned digit = *text - '0';

		if (value > (UINT64_MAX - digit) / 10)
			return EINVAL;
		value = value * 10 + digit;
	}
	*out = value;
	*end = text;
	return 0;
}

/* Parse a number from 1 to `most`, with nothing after it. */
static int parse_up_to(const char *text, unsigned most, unsigned *out)
{
	uint64_t value;
	const char *end;

	if (parse_number(text, &value, &end) || *end || value > most)
		return EINVAL;
	*out = (unsigned)value;
	return 0;
}

int e2pf_parse_threads(const char *text, unsigned *out)
{
	return parse_up_to(text, E2PF_MAX_THREADS, out);
}

int e2pf_parse_requests(const char *text, unsigned *out)
{
	return parse_up_to(text, MOST_REQUESTS, out);
}

int e2pf_parse_nice(const char *text, unsigned *out)
{
	return parse_up_to(text, MOST_NICE, out);
}

int e2pf_parse_io_priority(const char *text, unsigned *out)
{
	static const char class[] = "best-effort";
	size_t length = sizeof(class) - 1;
	unsigned level = NORMAL_LEVEL;

	if (!strcmp(text, "idle")) {
		*out = IO_PRIORITY(IO_CLASS_IDLE, 0);
		return 0;
	}
	if (strncmp(text, class, length))
		return EINVAL;
	if (text[length]) {
		level = (unsigned char)text[length + 1] - (unsigned)'0';
		if (text[length] != ':' || level >= LEVELS ||
		    text[length + 2])
			return EINVAL;
	}
	*out = IO_PRIORITY(IO_CLASS_BEST_EFFORT, level);
	return 0;
}

/* The power of two that a suffix stands for, -1 if the suffix is unknown. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMGT";
	const char *letter;

	if (!*suffix)
		return 0;
	letter = strchr(letters, *suffix);
	if (!letter || suffix[1])
		return -1;
	return 10 * (letter - letters + 1);
}

int e2pf_parse_size(const char *text, uint64_t *out)
{
	uint64_t value;
	const char *end;
	int shift;

	if (parse_number(text, &value, &end))
		return EINVAL;
	shift = suffix_shift(end);
	if (shift < 0 || value > UINT64_MAX >> shift)
		return EINVAL;
	value <<= shift;
	if (value < MIN_SIZE)
		return EINVAL;
	*out = value;
	return 0;
}

const char *const e2pf_acceleration_names[E2PF_ACCELERATIONS] = {
	"crc32c", "bitmaps", "indirect"
};

static int parse_accel(const char *text, unsigned *out)
{
	unsigned found = 0, i;
	size_t len;

	if (!strcmp(text, "none") || !strcmp(text, "all")) {
		*out = *text == 'a' ? (1u << E2PF_ACCELERATIONS) - 1 : 0;
		return 0;
	}
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < E2PF_ACCELERATIONS; i++)
			if (strlen(e2pf_acceleration_names[i]) == len &&
			    !memcmp(e2pf_acceleration_names[i], text, len))
				break;
		if (i == E2PF_ACCELERATIONS)
			return EINVAL;
		found |= 1u << i;
		if (!text[len])
			break;
	}
	*out = found;
	return 0;
}

static int parse_flag(const char *text, bool *out)
{
	bool on = !strcmp(text, "1") || !strcmp(text, "on");

	if (!on && strcmp(text, "0") && strcmp(text, "off"))
		return EINVAL;
	*out = on;
	return 0;
}

static int parse_verbose(const char *text, unsigned *out)
{
	if (*text < '0' || *text > '2' || text[1])
		return EINVAL;
	*out = (unsigned)(*text - '0');
	return 0;
}

/*
 * What a user has set.
 */

/* Largest file accepted, bytes: a hundred times what all settings need. */
#define MOST_BYTES 65536u

enum setting {
	PREFETCH, THREADS, MEM, BANDWIDTH, IOPS, IOPRIO, NICE, VERBOSE, LOG,
	ACCEL, OF_FILE, OBSERVE = OF_FILE, STATS, TRACE, CONFIG, E2FSCK_PATH,
	BTRFS_PATH, LAUNCHED, SETTINGS
};

static const char size_expected[] = "a size of 1M or more (K, M, G, T)";
static const char flag_expected[] = "on or off, 1 or 0";

/* The name in the file, which in capitals and after PREFETCH_ is that of the
 * variable; and the values.  Those from OF_FILE on are variables only. */
static const struct {
	const char *name, *expected;
} settings[SETTINGS] = {
	[PREFETCH] = { "prefetch", "1, 0 or auto" },
	[THREADS] = { "threads", "a number from 1 to 256" },
	[MEM] = { "mem", size_expected },
	[BANDWIDTH] = { "bandwidth", size_expected },
	[IOPS] = { "iops", "a number from 1 to 1000000" },
	[IOPRIO] = { "ioprio",
		     "idle, best-effort or best-effort:0 to best-effort:7" },
	[NICE] = { "nice", "a number from 1 to 19" },
	[VERBOSE] = { "verbose", "0, 1 or 2" },
	[LOG] = { "log", flag_expected },
	[ACCEL] = { "accel",
		    "none, all or a list of crc32c, bitmaps, indirect" },
	[OBSERVE] = { "observe", flag_expected },
	[STATS] = { "stats", NULL }, [TRACE] = { "trace", NULL },
	[CONFIG] = { "config", "an absolute path" },
	[E2FSCK_PATH] = { "e2fsck", NULL }, [BTRFS_PATH] = { "btrfs", NULL },
	[LAUNCHED] = { "launched", NULL },
};

static int set(struct e2pf_setup *s, enum setting setting, const char *value)
{
	switch (setting) {
	case PREFETCH:
		return strcmp(value, "auto") ?
		       parse_flag(value, &s->prefetch) : 0;
	case THREADS:
		return e2pf_parse_threads(value, &s->reading.threads);
	case MEM:
		return e2pf_parse_size(value, &s->reading.memory);
	case BANDWIDTH:
		return e2pf_parse_size(value, &s->reading.bandwidth);
	case IOPS:
		return e2pf_parse_requests(value, &s->reading.requests);
	case IOPRIO:
		return e2pf_parse_io_priority(value, &s->reading.io_priority);
	case NICE:
		return e2pf_parse_nice(value, &s->reading.nice);
	case VERBOSE:
		return parse_verbose(value, &s->verbose);
	case LOG:
		return parse_flag(value, &s->log);
	case ACCEL:
		s->accel_is_set = true;
		return parse_accel(value, &s->accel);
	case OBSERVE:
		return parse_flag(value, &s->observe);
	case STATS:
		s->stats = value;
		return 0;
	case TRACE:
		s->trace = value;
		return 0;
	case CONFIG:
		return *value == '/' ? 0 : EINVAL;
	default:
		return 0;	/* the launcher's */
	}
}

static enum setting find_setting(const char *name)
{
	unsigned i;

	for (i = 0; i < SETTINGS; i++)
		if (!strcmp(settings[i].name, name))
			break;
	return i;
}

void e2pf_printable(char *text, size_t size_of_text, const char *value)
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

/* What is being read, and where an error is described. */
struct reading {
	struct e2pf_setup *setup;
	const char *path;
	unsigned line, seen;	/* in the file; mask of those it has set */
	char *error;
	size_t size;
};

/* `about` is a variable or a file. */
__attribute__((format(printf, 3, 4)))
static bool wrong(struct reading *r, const char *about, const char *format, ...)
{
	char where[16] = "", text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (r->line)
		snprintf(where, sizeof(where), ":%u", r->line);
	snprintf(r->error, r->size, "%s%s: %s; prefetching is off", about,
		 where, text);
	return false;
}

/* A line without its newline, and without blanks at both ends. */
static bool take_line(struct reading *r, char *line)
{
	char *value = strchr(line, '='), *end, word[65], text[65];
	enum setting setting;

	if (!*line || *line == '#' || *line == ';')
		return true;
	if (*line == '[')
		return wrong(r, r->path, "there are no sections here");
	if (!value)
		return wrong(r, r->path, "this is not \"name = value\"");
	for (end = value; end > line && isspace((unsigned char)end[-1]); )
		end--;
	*end = '\0';
	for (value++; isspace((unsigned char)*value); )
		value++;
	e2pf_printable(word, sizeof(word), line);
	e2pf_printable(text, sizeof(text), value);
	setting = find_setting(line);
	if (setting >= OF_FILE)
		return wrong(r, r->path, "unknown setting \"%s\"", word);
	if (r->seen & 1u << setting)
		return wrong(r, r->path, "%s is set twice", word);
	r->seen |= 1u << setting;
	if (set(r->setup, setting, value))
		return wrong(r, r->path, "%s: \"%s\" is not %s", word, text,
			     settings[setting].expected);
	return true;
}

static bool take_text(struct reading *r, char *text, size_t size)
{
	char *end = text + size, *next, *last;

	/* What some editors put at the beginning is not part of the line. */
	if (!strncmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	for (; text < end; text = next + 1) {
		r->line++;
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			next = end;
		if (memchr(text, '\0', (size_t)(next - text)))
			return wrong(r, r->path, "this is not text");
		*next = '\0';
		for (last = next; last > text &&
				  isspace((unsigned char)last[-1]); )
			*--last = '\0';
		while (isspace((unsigned char)*text))
			text++;
		if (!take_line(r, text))
			return false;
	}
	r->line = 0;
	return true;
}

/* If the process ran out of descriptors or memory, the file is not at fault. */
static bool unreadable(struct reading *r)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
		r->error[0] = '\0';
		return false;
	}
	return wrong(r, r->path, "%s", strerror(errno));
}

/* Only regular files and /dev/null are accepted: a FIFO could block us, and
 * opening a device can have side effects. */
static bool read_file(struct reading *r, bool named)
{
	static char text[MOST_BYTES + 2];
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(r->path, &st))
		return (!named && (errno == ENOENT || errno == ENOTDIR)) ||
		       unreadable(r);
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return true;
	if (!S_ISREG(st.st_mode))
		return wrong(r, r->path, "not a regular file");
	fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return unreadable(r);
	n = read(fd, text, MOST_BYTES + 1);
	if (n < 0)
		unreadable(r);
	close(fd);
	if (n > (ssize_t)MOST_BYTES)
		return wrong(r, r->path, "the file is too long");
	if (n < 0)
		return false;
	text[n] = '\0';
	return take_text(r, text, (size_t)n);
}

/* The setting that an entry of the environment stands for, with its value; true
 * if the entry is none of ours or is empty. */
static bool take_variable(struct reading *r, const char *entry)
{
	static const char prefix[] = "PREFETCH";
	const char *value = strchr(entry, '=');
	char variable[65], name[65], text[65];
	enum setting setting;
	size_t i;

	if (strncmp(entry, prefix, strlen(prefix)) || !value || !value[1])
		return true;
	snprintf(text, sizeof(text), "%.*s", (int)(value - entry), entry);
	e2pf_printable(variable, sizeof(variable), text);
	if (variable[strlen(prefix)] == '_')
		snprintf(name, sizeof(name), "%s", text + sizeof(prefix));
	else if (!variable[strlen(prefix)])
		snprintf(name, sizeof(name), "prefetch");
	else
		return true;	/* PREFETCHING, or whatever else */
	/* In small letters there is no such variable. */
	for (i = 0; name[i] && !islower((unsigned char)name[i]); i++)
		name[i] = (char)tolower((unsigned char)name[i]);
	setting = name[i] && variable[strlen(prefix)] ? SETTINGS :
		  find_setting(name);
	if (setting == SETTINGS)
		return wrong(r, variable, "no such variable");
	e2pf_printable(text, sizeof(text), value + 1);
	if (set(r->setup, setting, value + 1))
		return wrong(r, variable, "\"%s\" is not %s", text,
			     settings[setting].expected);
	return true;
}

extern char **environ;

bool e2pf_setup_read(struct e2pf_setup *s, char *error, size_t size)
{
	const char *named = getenv("PREFETCH_CONFIG");
	const char *mmap_io = getenv("TEST_MMAP_IO");
	struct reading r = {
		.setup = s, .path = named && *named == '/' ? named :
		CONFIGURATION, .error = error, .size = size
	};
	char **entry;

	*s = (struct e2pf_setup) {
		.prefetch = true, .log = true,
		.accel = (1u << E2PF_ACCELERATIONS) - 1
	};
	if (!read_file(&r, r.path == named))
		return s->prefetch = false;
	for (entry = environ; entry && *entry; entry++)
		if (!take_variable(&r, *entry))
			return s->prefetch = false;
	if (mmap_io && *mmap_io && parse_flag(mmap_io, &s->mmap_io)) {
		wrong(&r, "TEST_MMAP_IO", "not 0 or 1");
		return s->prefetch = false;
	}
	return true;
}
