/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings as text: counts, sizes, priorities and lists of classes.  Decides
 * whether a text is well formed and within limits.  Does not know what the
 * settings are used for.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <string.h>

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

/* The bit of the class with this name, which is `length` characters long; 0 if
 * there is no such class. */
static unsigned class_bit(const char *name, size_t length)
{
	unsigned cls;

	for (cls = 0; cls < E2PF_CLASSES; cls++) {
		const char *known = e2pf_class_name(cls);

		if (strlen(known) == length && !memcmp(known, name, length))
			return 1u << cls;
	}
	return 0;
}

int e2pf_parse_classes(const char *text, unsigned *out)
{
	unsigned mask = 0;

	for (;;) {
		size_t length = strcspn(text, ",");
		unsigned bit = class_bit(text, length);

		if (!bit)
			return EINVAL;
		mask |= bit;
		text += length;
		if (!*text)
			break;
		text++;
	}
	*out = mask;
	return 0;
}
