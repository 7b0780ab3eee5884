/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/sysfile.h"
#include "progress_file.h"

#define FOLDER "/run/e2prefetch"
#define SUFFIX ".progress"

/* The most bytes of a file. */
#define FILE_MOST 8192

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

/* A name may contain anything, but a file has lines, which a terminal shows. */
static void print_text(FILE *f, const char *key, const char *value)
{
	fprintf(f, "%s ", key);
	for (; *value; value++)
		fputc((unsigned char)*value < 32 || *value == 127 ? '?' :
		      *value, f);
	fputc('\n', f);
}

static void print_lines(FILE *f, const struct e2pf_progress *p)
{
	fprintf(f, "pid %d\nstarted %" PRIu64 "\n", (int)getpid(),
		start_of(getpid()));
	print_text(f, "program", p->program);
	print_text(f, "device", p->device);
	print_text(f, "stage", p->stage);
	if (p->places)
		fprintf(f, "place %" PRIu64 "\nplaces %" PRIu64 "\nunit %s\n",
			p->place, p->places, p->unit);
	fprintf(f, "seconds %.6f\nread_bytes %" PRIu64 "\n"
		"planned_bytes %.0f\nbytes_per_second %.0f\n", p->seconds,
		p->read_bytes, p->left.planned_bytes, p->bytes_per_second);
	if (p->left.known)
		fprintf(f, "left_seconds %.6f\nleft_low_seconds %.6f\n"
			"left_high_seconds %.6f\n", p->left.seconds,
			p->left.low, p->left.high);
	print_text(f, "waits_for", wait_names[p->wait]);
	if (*p->disk)
		print_text(f, "disk", p->disk);
	if (p->wait == E2PF_WAITS_SECTOR)
		fprintf(f, "wait_seconds %.6f\nwait_offset %" PRIu64 "\n",
			p->wait_seconds, p->wait_at);
}

/* Returns true if all of it was written. */
static bool write_file(int folder, const char *name,
		       const struct e2pf_progress *p)
{
	char text[FILE_MOST] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	bool written;
	size_t size;
	int fd;

	if (!f)
		return false;
	print_lines(f, p);
	/* A file that is too long shows nothing. */
	if (fclose(f))
		return false;
	size = strlen(text);
	unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	written = write(fd, text, size) == (ssize_t)size;
	return !close(fd) && written;
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

const char *e2pf_progress_value(const char *text, const char *key, char *value,
				size_t size)
{
	size_t length = strlen(key);
	const char *line;

	value[0] = '\0';
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) || line[length] != ' ')
			continue;
		line += length + 1;
		snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
		break;
	}
	return value;
}

static uint64_t number_of(const char *text, const char *key)
{
	char value[32];

	return strtoull(e2pf_progress_value(text, key, value, sizeof(value)),
			NULL, 10);
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
		      void (*show)(void *ctx, const char *text), void *ctx)
{
	pid_t pid = process_of(name);
	char text[FILE_MOST];
	const char *suffix;
	uint64_t started;
	bool read;

	if (!pid)
		return;
	started = start_of(pid);
	read = e2pf_read_text(FOLDER, name, text, sizeof(text)) >= 0;
	/* A file being written belongs to a process that is there. */
	if (!started || (read && number_of(text, "started") != started))
		remove_files(folder, pid);
	else if (read && number_of(text, "pid") == (uint64_t)pid &&
		 (suffix = strchr(name, '.')) && !strcmp(suffix, SUFFIX) && show)
		show(ctx, text);
}

int e2pf_progress_each(void (*show)(void *ctx, const char *text), void *ctx)
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
