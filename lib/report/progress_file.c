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

static const char *const wait_names[] = {
	[E2PF_WAITS_NOT] = "nothing",
	[E2PF_WAITS_PROCESSOR] = "processor",
	[E2PF_WAITS_DISK] = "disk",
	[E2PF_WAITS_SECTOR] = "slow read",
};

static struct json_object *as_json(const struct e2pf_progress *p)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "schema", PROGRESS_SCHEMA);
	put_int(o, "pid", (uint64_t)getpid());
	put_int(o, "started", start_of(getpid()));
	put_text(o, "program", p->program);
	put_text(o, "device", p->device);
	put_text(o, "stage", p->stage);
	if (p->places) {
		put_int(o, "place", p->place);
		put_int(o, "places", p->places);
		put_text(o, "unit", p->unit);
	}
	put_seconds(o, "seconds", p->seconds);
	put_int(o, "read_bytes", p->read_bytes);
	put_int(o, "planned_bytes", (uint64_t)p->left.planned_bytes);
	put_int(o, "bytes_per_second", (uint64_t)p->bytes_per_second);
	if (p->left.known) {
		put_seconds(o, "left_seconds", p->left.seconds);
		put_seconds(o, "left_low_seconds", p->left.low);
		put_seconds(o, "left_high_seconds", p->left.high);
	}
	put_text(o, "waits_for", wait_names[p->wait]);
	if (*p->disk)
		put_text(o, "disk", p->disk);
	if (p->wait == E2PF_WAITS_SECTOR) {
		put_seconds(o, "wait_seconds", p->wait_seconds);
		put_int(o, "wait_offset", p->wait_at);
	}
	return o;
}

/* Returns true if all of it was written. */
static bool write_file(int folder, const char *name, struct json_object *o)
{
	const char *text = json_object_to_json_string_ext(o,
				JSON_C_TO_STRING_PRETTY |
				JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t size = text ? strlen(text) : 0;
	bool written;
	int fd;

	unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	written = size && write(fd, text, size) == (ssize_t)size;
	return !close(fd) && written;
}

void e2pf_progress_save(const struct e2pf_progress *p)
{
	char name[64], new[80];
	struct json_object *o;
	int folder;

	if (geteuid())
		return;
	folder = open_folder(true);
	if (folder < 0)
		return;
	snprintf(name, sizeof(name), "%d" SUFFIX, (int)getpid());
	snprintf(new, sizeof(new), "%s.new", name);
	o = as_json(p);
	if (!write_file(folder, new, o) ||
	    renameat(folder, new, folder, name))
		unlinkat(folder, new, 0);
	json_object_put(o);
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

static struct json_object *read_file(const char *name)
{
	char text[8192];

	if (e2pf_read_text(FOLDER, name, text, sizeof(text)) < 0)
		return NULL;
	return json_tokener_parse(text);
}

static uint64_t number_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value) ?
	       (uint64_t)json_object_get_int64(value) : 0;
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
		      void (*show)(void *ctx, struct json_object *status),
		      void *ctx)
{
	pid_t pid = process_of(name);
	struct json_object *o;
	const char *suffix;
	uint64_t started;

	if (!pid)
		return;
	started = start_of(pid);
	o = read_file(name);
	/* A file being written belongs to a process that is there. */
	if (!started || (o && number_of(o, "started") != started))
		remove_files(folder, pid);
	else if (o && number_of(o, "pid") == (uint64_t)pid &&
		 (suffix = strchr(name, '.')) && !strcmp(suffix, SUFFIX) && show)
		show(ctx, o);
	json_object_put(o);
}

int e2pf_progress_each(void (*show)(void *ctx, struct json_object *status),
		       void *ctx)
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
