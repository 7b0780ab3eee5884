/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The files in /run that show how far checks are: lines of a key, a blank and a
 * value.
 *
 * A file is named after its process and holds that process's start time: after
 * a kill it is stale, and is removed by whoever looks next.  The folder must be
 * root's alone, so nobody else can put anything there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/sysfile.h"
#include "progress.h"
#include "settings.h"

#define FOLDER "/run/e2prefetch"
#define SUFFIX ".progress"

/* What a file says, in this order: a text, or a number with
 * `decimals` digits after the point. */
#define TEXT (-1)
#define MEMBER(name) offsetof(struct e2pf_progress, name)

static const struct {
	const char *key;
	int decimals;
	size_t offset;
} members[] = {
	{ "pid", 0, MEMBER(pid) },
	{ "started", 0, MEMBER(started) },
	{ "program", TEXT, MEMBER(program) },
	{ "device", TEXT, MEMBER(device) },
	{ "stage", TEXT, MEMBER(stage) },
	{ "place", 0, MEMBER(place) },
	{ "places", 0, MEMBER(places) },
	{ "unit", TEXT, MEMBER(unit) },
	{ "seconds", 6, MEMBER(seconds) },
	{ "left_seconds", 6, MEMBER(left) },
	{ "waits_for", TEXT, MEMBER(waits_for) },
	{ "disk", TEXT, MEMBER(disk) },
	{ "wait_seconds", 6, MEMBER(wait_seconds) },
	{ "wait_offset", 0, MEMBER(wait_at) },
};

#define MEMBERS (sizeof(members) / sizeof(*members))

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

const char *const e2pf_wait_names[] = {
	[E2PF_WAITS_NOT] = "nothing",
	[E2PF_WAITS_PROCESSOR] = "processor",
	[E2PF_WAITS_DISK] = "disk",
	[E2PF_WAITS_SECTOR] = "slow read",
};

void e2pf_progress_print(const struct e2pf_progress *p,
			 char text[E2PF_PROGRESS_BYTES])
{
	struct e2pf_progress all = *p;
	char value[PATH_MAX];
	size_t i, used = 0;

	all.pid = getpid();
	all.started = (double)start_of(getpid());
	all.waits_for = e2pf_wait_names[p->wait];
	for (i = 0; i < MEMBERS && used < E2PF_PROGRESS_BYTES; i++) {
		const void *at = (const char *)&all + members[i].offset;

		value[0] = '\0';
		if (members[i].decimals == TEXT)
			e2pf_printable(value, sizeof(value),
				       *(const char *const *)at ?
				       *(const char *const *)at : "");
		else if (*(const double *)at > 0)
			snprintf(value, sizeof(value), "%.*f",
				 members[i].decimals, *(const double *)at);
		if (*value)
			used += (size_t)snprintf(text + used,
				E2PF_PROGRESS_BYTES - used, "%s %s\n",
				members[i].key, value);
	}
	if (used >= E2PF_PROGRESS_BYTES)
		text[0] = '\0';
}

/* The inverse; the result points into `text`, which is modified. */
static struct e2pf_progress parse(char *text)
{
	struct e2pf_progress p = { .wait = E2PF_WAITS_NOT };
	const char *value[MEMBERS];
	size_t i;

	for (i = 0; i < MEMBERS; i++)
		value[i] = e2pf_value_of(text, members[i].key);
	while ((text = strchr(text, '\n')))
		*text++ = '\0';
	for (i = 0; i < MEMBERS; i++) {
		void *at = (char *)&p + members[i].offset;

		if (members[i].decimals == TEXT)
			*(const char **)at = value[i] ? value[i] : "";
		else if (value[i])
			*(double *)at = strtod(value[i], NULL);
	}
	return p;
}

/* Returns true if all of it was written. */
static bool write_file(int folder, const char *name, const char *text)
{
	ssize_t size = (ssize_t)strlen(text);
	bool written;
	int fd;

	unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	written = write(fd, text, (size_t)size) == size;
	return !close(fd) && written;
}

void e2pf_progress_save(const char *text)
{
	char name[64], new[80];
	int folder;

	folder = geteuid() || !*text ? -1 : open_folder(true);
	if (folder < 0)
		return;
	snprintf(name, sizeof(name), "%d" SUFFIX, (int)getpid());
	snprintf(new, sizeof(new), "%s.new", name);
	if (!write_file(folder, new, text) ||
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

typedef void (*show_fn)(void *ctx, const struct e2pf_progress *p,
			const char *text);

/* A file named PID.progress, or PID.progress.new while it is written. */
static void show_file(int folder, const char *name, show_fn show, void *ctx)
{
	char text[E2PF_PROGRESS_BYTES], copy[E2PF_PROGRESS_BYTES], *suffix;
	struct e2pf_progress p = { .pid = 0 };
	long pid = strtol(name, &suffix, 10);
	uint64_t started;

	if (pid <= 0 || pid > INT32_MAX ||
	    strncmp(suffix, SUFFIX, strlen(SUFFIX)))
		return;
	started = start_of((pid_t)pid);
	if (e2pf_read_text(FOLDER, name, text, sizeof(text)) >= 0)
		p = parse(strcpy(copy, text));
	/* A file being written belongs to a process that is there. */
	if (!started || (p.pid > 0 && p.started != (double)started))
		remove_files(folder, (pid_t)pid);
	else if (p.pid == (double)pid && !suffix[strlen(SUFFIX)] && show)
		show(ctx, &p, text);
}

int e2pf_progress_each(show_fn show, void *ctx)
{
	int fd = open_folder(false), err = errno;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd < 0)
		return err == ENOENT ? 0 : err;
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
