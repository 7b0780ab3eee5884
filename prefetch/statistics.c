/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The statistics as JSON, a member on each line.  Decides the keys and their order,
 * which doc/statistics.md explains, and to which files they may be written.
 *
 * The name of the file comes from the environment of a program that runs as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "statistics.h"

/*
 * A member of a struct that is written.  Nanoseconds are written as seconds with
 * six decimals.  The first two kinds are sums: those of a later engine are added
 * to those of an earlier one.
 */
struct member {
	const char *key;
	enum { SUM, SUM_NS, NUMBER, FLAG, TEXT } kind;
	size_t offset;
};

#define REPORT(name) offsetof(struct pf_report, name)
#define ENGINE(name) offsetof(struct pf_engine_stats, name)
#define STAGE(name) offsetof(struct pf_stage_stats, name)

static const struct member of_report[] = {
	{ "device", TEXT, REPORT(device) },
	{ "block_size", NUMBER, REPORT(block_size) },
	{ "io_manager", TEXT, REPORT(io_manager) },
	{ "journal_bytes", NUMBER, REPORT(journal_bytes) },
	{ "memory_budget_bytes", NUMBER, REPORT(budget) },
	{ "single_spindle", FLAG, REPORT(single_spindle) },
}, of_engine[] = {
	{ "threads", NUMBER, ENGINE(threads) },
	{ "seeks", FLAG, ENGINE(speed.seek_bound) },
	{ "planned_bytes", SUM, ENGINE(planned_bytes) },
	{ "prefetched_bytes", SUM, ENGINE(prefetched_bytes) },
	{ "prefetched_requests", SUM, ENGINE(prefetched_requests) },
	{ "gate_waits", SUM, ENGINE(gate_waits) },
	{ "lost_seconds", SUM_NS, ENGINE(lost_ns) },
	{ "wasted_bytes", SUM, ENGINE(wasted_bytes) },
	{ "errors", SUM, ENGINE(errors) },
	{ "slow_or_failed", SUM, ENGINE(slow_or_failed) },
	{ "suspect_at_bytes", NUMBER, ENGINE(degraded_at) },
}, of_stage[] = {
	{ "seconds", SUM_NS, STAGE(ns) },
	{ "reads", SUM, STAGE(reads) },
	{ "stalls", SUM, STAGE(stalls) },
	{ "stall_seconds", SUM_NS, STAGE(stall_ns) },
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* Add up the sums among these members. */
static void add_sums(const struct member *m, size_t n, void *to,
		     const void *from)
{
	for (; n--; m++) {
		uint64_t *sum = (uint64_t *)((char *)to + m->offset);
		const void *more = (const char *)from + m->offset;

		if (m->kind <= SUM_NS)
			*sum += *(const uint64_t *)more;
	}
}

void pf_statistics_add(struct pf_engine_stats *to,
		       const struct pf_engine_stats *from)
{
	unsigned i;

	/* The first one counts. */
	if (!to->slow_or_failed)
		to->degraded_at = from->degraded_at;
	add_sums(of_engine, COUNT(of_engine), to, from);
	if (from->threads > to->threads)
		to->threads = from->threads;
	to->gave_up |= from->gave_up;
	to->stall_ns += from->stall_ns;
	to->in_flight_bytes += from->in_flight_bytes;
	if (from->speed.latency_ns || from->threads) {
		to->speed = from->speed;
		to->unmeasured = from->unmeasured;
	}
	for (i = 0; i < PF_MAX_STAGES; i++)
		add_sums(of_stage, COUNT(of_stage), &to->stage[i],
			 &from->stage[i]);
}

/* Bytes beyond ASCII are passed on: names of devices need not be UTF-8, but nearly
 * always are. */
static void put_text(FILE *out, const char *text)
{
	putc('"', out);
	for (; text && *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", (unsigned)*text);
		else
			putc(*text, out);
	}
	putc('"', out);
}

static void put_value(FILE *out, const struct member *m, const void *from)
{
	const void *at = (const char *)from + m->offset;
	uint64_t us;

	switch (m->kind) {
	case TEXT:
		put_text(out, *(const char *const *)at);
		break;
	case FLAG:
		fputs(*(const bool *)at ? "true" : "false", out);
		break;
	case SUM_NS:
		/* Integers: a locale may have another decimal point. */
		us = *(const uint64_t *)at / 1000;
		fprintf(out, "%" PRIu64 ".%06u", us / 1000000,
			(unsigned)(us % 1000000));
		break;
	default:
		fprintf(out, "%" PRIu64, *(const uint64_t *)at);
	}
}

static void put_members(FILE *out, const char *before, const struct member *m,
			size_t n, const void *from)
{
	for (; n--; m++) {
		fprintf(out, "%s\"%s\":", before, m->key);
		put_value(out, m, from);
	}
}

static void put_stages(FILE *out, const struct pf_report *r)
{
	const char *before = "";
	unsigned i;

	for (i = 0; i < r->stages; i++) {
		const struct pf_stage_stats *stage = &r->engine.stage[i];

		if (!stage->ns && !stage->reads)
			continue;
		fprintf(out, "%s{\"name\":", before);
		put_text(out, r->stage_names[i]);
		put_members(out, ", ", of_stage, COUNT(of_stage), stage);
		putc('}', out);
		before = ",\n    ";
	}
}

int pf_statistics_write(const struct pf_report *r, FILE *out)
{
	size_t i;

	fprintf(out, "{\n  \"version\":\"" PACKAGE_VERSION "\"");
	put_members(out, ",\n  ", of_report, COUNT(of_report), r);
	put_members(out, ",\n  ", of_engine, COUNT(of_engine), &r->engine);
	fputs(",\n  \"notes\":[", out);
	for (i = 0; i < r->notes.count; i++) {
		fputs(i ? ",\n    " : "", out);
		put_text(out, r->notes.line[i]);
	}
	fputs("],\n  \"stages\":[", out);
	put_stages(out, r);
	fputs("]\n}\n", out);
	return ferror(out) ? EIO : 0;
}

/* The reason why the open file must not be written to, or NULL. */
static const char *not_ours(int fd)
{
	struct stat st;
	char first;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "not a regular file";
	if (st.st_nlink != 1)
		return "it has several hard links";
	if (st.st_uid != geteuid())
		return "it belongs to another user";
	/* The user may have named the filesystem image itself by mistake. */
	if (st.st_size && (pread(fd, &first, 1, 0) != 1 || first != '{'))
		return "it does not contain statistics";
	return NULL;
}

/* Open a file, and truncate it if it may be written.  On failure returns NULL with
 * the reason. */
static FILE *open_file(const char *path, const char **why)
{
	FILE *f = NULL;
	int fd;

	/* The path is the choice of a user who has fewer rights than this process. */
	*why = "not allowed with raised privileges";
	if (getauxval(AT_SECURE))
		return NULL;
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
		  O_NONBLOCK, 0600);
	*why = fd < 0 ? strerror(errno) : not_ours(fd);
	if (!*why) {
		if (!fchmod(fd, 0600) && !ftruncate(fd, 0))
			f = fdopen(fd, "w");
		*why = strerror(errno);
	}
	if (!f && fd >= 0)
		close(fd);
	return f;
}

const char *pf_statistics_save(const char *path, const struct pf_report *r)
{
	const char *why = NULL;
	FILE *f;
	int err;

	if (!path)
		return NULL;
	f = strcmp(path, "-") ? open_file(path, &why) : stderr;
	if (!f)
		return why;
	err = pf_statistics_write(r, f);
	/* An error in writing may show up only when the buffer is flushed. */
	if (f == stderr ? fflush(f) : fclose(f))
		err = errno;
	return err ? strerror(err) : NULL;
}
