/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files in /run that show how far checks are.
 *
 * A file is named after its process and holds that process's start time: after
 * a kill it is stale, and is removed by whoever looks next.  The folder must be
 * root's alone, so nobody else can put anything there.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/sysfile.h"
#include "json.h"
#include "progress_file.h"

/* Not /run/e2prefetch, which is a link to the launchers (boot/ready). */
#define FOLDER "/run/e2prefetch-checks"
#define SUFFIX ".progress"

/* Version of the JSON, doc/statistics.md. */
#define PROGRESS_SCHEMA 1

/* The folder as a descriptor, made if `make`; or -1 with errno. */
static int open_folder(bool make)
{
	struct stat st;
	int fd;

	if (make)
		(void)mkdir(FOLDER, 0755);
	fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && !st.st_uid && !(st.st_mode & 022))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* When the process began, in ticks since the machine did; 0: there is none.
 * The name before it may contain anything. */
static uint64_t start_of(pid_t pid)
{
	char folder[32], text[1024], *field;
	uint64_t ticks = 0;
	unsigned n;

	snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	if (e2pf_read_text(folder, "stat", text, sizeof(text)) < 0)
		return 0;
	field = strrchr(text, ')');
	/* Field 2 ends here; the start is field 22. */
	for (n = 2; field && n < 22; n++)
		field = strchr(field + 1, ' ');
	if (field)
		ticks = strtoull(field, NULL, 10);
	return ticks;
}

static void write_json(const struct e2pf_progress *p, FILE *out)
{
	struct e2pf_json json = { .out = out }, *j = &json;

	e2pf_json_begin(j, NULL, '{');
	e2pf_json_int(j, "schema", PROGRESS_SCHEMA);
	e2pf_json_int(j, "pid", (uint64_t)getpid());
	e2pf_json_int(j, "started", start_of(getpid()));
	e2pf_json_text(j, "program", p->program);
	e2pf_json_text(j, "device", p->device);
	e2pf_json_text(j, "stage", p->stage);
	if (p->places) {
		e2pf_json_int(j, "place", p->place);
		e2pf_json_int(j, "places", p->places);
		e2pf_json_text(j, "unit", p->unit);
	}
	e2pf_json_seconds(j, "seconds", p->seconds);
	e2pf_json_int(j, "read_bytes", p->read_bytes);
	e2pf_json_int(j, "planned_bytes", (uint64_t)p->left.planned_bytes);
	e2pf_json_int(j, "bytes_per_second", (uint64_t)p->bytes_per_second);
	if (p->left.known) {
		e2pf_json_seconds(j, "left_seconds", p->left.seconds);
		e2pf_json_seconds(j, "left_low_seconds", p->left.low);
		e2pf_json_seconds(j, "left_high_seconds", p->left.high);
	}
	e2pf_json_text(j, "waits_for", e2pf_progress_wait_names[p->wait]);
	if (*p->disk)
		e2pf_json_text(j, "disk", p->disk);
	if (p->wait == E2PF_WAITS_SECTOR) {
		e2pf_json_seconds(j, "wait_seconds", p->wait_seconds);
		e2pf_json_int(j, "wait_offset", p->wait_at);
	}
	e2pf_json_end(j, '}');
}

/* Returns true if all of it was written. */
static bool write_file(int folder, const char *name,
		       const struct e2pf_progress *p)
{
	FILE *out;
	int fd;

	unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		return false;
	}
	write_json(p, out);
	return !fclose(out);
}

void e2pf_progress_save(const struct e2pf_progress *p)
{
	char name[64], new[80];
	int folder;

	if (geteuid())
		return;
	folder = open_folder(true);
	if (folder < 0)
		return;
	snprintf(name, sizeof(name), "%d" SUFFIX, (int)getpid());
	snprintf(new, sizeof(new), "%s.new", name);
	if (!write_file(folder, new, p) ||
	    renameat(folder, new, folder, name))
		unlinkat(folder, new, 0);
	close(folder);
}

static void remove_files(int folder, pid_t pid)
{
	char name[80];

	snprintf(name, sizeof(name), "%d" SUFFIX ".new", (int)pid);
	unlinkat(folder, name, 0);
	name[strlen(name) - strlen(".new")] = '\0';
	unlinkat(folder, name, 0);
}

void e2pf_progress_remove(pid_t pid)
{
	int folder = geteuid() ? -1 : open_folder(false);

	if (folder < 0)
		return;
	remove_files(folder, pid);
	close(folder);
}

/* A number; 0 if it is not there.  In a string the quotes would be escaped. */
static uint64_t number_of(const char *text, const char *key)
{
	char member[32];
	const char *at;

	snprintf(member, sizeof(member), "\"%s\":", key);
	at = strstr(text, member);
	return at ? strtoull(at + strlen(member), NULL, 10) : 0;
}

/* The process of a file, or 0 for another file. */
static pid_t process_of(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);

	return pid > 0 && pid <= INT32_MAX &&
	       !strncmp(end, SUFFIX, strlen(SUFFIX)) ? (pid_t)pid : 0;
}

static void show_file(int folder, const char *name,
		      void (*show)(void *ctx, const char *json), void *ctx)
{
	pid_t pid = process_of(name);
	char text[8192] = "";
	const char *suffix;
	uint64_t started;

	if (!pid)
		return;
	started = start_of(pid);
	if (e2pf_read_text(FOLDER, name, text, sizeof(text)) < 0)
		text[0] = '\0';
	/* A file being written belongs to a process that is there. */
	if (!started || (*text && number_of(text, "started") != started))
		remove_files(folder, pid);
	else if (number_of(text, "pid") == (uint64_t)pid &&
		 (suffix = strchr(name, '.')) && !strcmp(suffix, SUFFIX) && show)
		show(ctx, text);
}

int e2pf_progress_each(void (*show)(void *ctx, const char *json), void *ctx)
{
	int fd = open_folder(false), err = errno;
	struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return err == ENOENT ? 0 : err;
	dir = fdopendir(fd);
	if (!dir) {
		err = errno;
		close(fd);
		return err;
	}
	while ((entry = readdir(dir)))
		show_file(fd, entry->d_name, show, ctx);
	closedir(dir);
	return 0;
}
