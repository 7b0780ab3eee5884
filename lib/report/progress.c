/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much time is left of a stage, what a check waits for, and which files in
 * /run show that.
 *
 * A file is named after its process.  Its first line is that process's start time:
 * after a kill the file is stale, and is removed by whoever looks next.  The second
 * says how far the check is.  The folder must be root's alone, so nobody else can put
 * anything there.
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
#include "progress.h"
#include "settings.h"
#include "words.h"

/* The pace is that of the last fifth of the time, about: while a disk reads ahead the
 * checker stands still, and then passes those blocks in seconds.  Of the checks of
 * tests/fixtures/progress.txt, by the pace since their start, the time left was up to
 * 420 times too long. */
#define MEMORY 0.2

/* Before this part of the stage nothing is said: at a tenth of it the time was up to 13
 * times too long, from here on 2.8 times. */
#define PART_LEAST 0.2

/* The checker computes or waits if it does so for this part of the time. */
#define MOSTLY 0.5

/* A single read that takes this long is worth a word. */
#define SLOW_READ_S 1

/* The file is the start time and a line. */
#define FOLDER "/run/e2prefetch"
#define SUFFIX ".progress"
#define FILE_BYTES (E2PF_PROGRESS_BYTES + 32)

double e2pf_progress_left(struct e2pf_progress_past *past,
			  const struct e2pf_progress *now)
{
	double part = now->places > 0 ? now->place / now->places : 0;
	double elapsed = now->seconds - past->seconds;

	if (!past->stage || strcmp(past->stage, now->stage))
		*past = (struct e2pf_progress_past) {
			.stage = now->stage, .began = past->seconds
		};
	if (elapsed > 0)
		past->pace += ((part - past->part) / elapsed - past->pace) *
			      elapsed / (elapsed + MEMORY *
					 (now->seconds - elapsed - past->began));
	past->seconds = now->seconds;
	past->cpu = now->cpu;
	past->stalled = now->stalled;
	past->part = part;
	return part < PART_LEAST || past->pace <= 0 ? 0 : (1 - part) / past->pace;
}

/* What the checker did since the last moment. */
static void describe_wait(const struct e2pf_progress_past *past,
			  const struct e2pf_progress *now, char *text, size_t size)
{
	double half = (now->seconds - past->seconds) * MOSTLY;
	const char *disk = now->disk ? now->disk : "";

	if (!now->busy && now->reading >= SLOW_READ_S)
		snprintf(text, size, "a read of %s at byte %.0f, for %.0f s",
			 *disk ? disk : "the disk", now->reading_at, now->reading);
	else if (now->busy || now->stalled - past->stalled > half)
		snprintf(text, size, "disk%s%s", *disk ? " " : "", disk);
	else
		/* It may have asked a question. */
		snprintf(text, size, "%s", now->cpu - past->cpu > half ?
			 "processor" : "nothing");
}

void e2pf_progress_say(struct e2pf_progress_past *past, const char *program,
		       const struct e2pf_progress *now,
		       char line[E2PF_PROGRESS_BYTES])
{
	char place[96] = "", took[32], left[32] = "not known", wait[160];
	char text[E2PF_PROGRESS_BYTES];
	double seconds;

	describe_wait(past, now, wait, sizeof(wait));
	seconds = e2pf_progress_left(past, now);
	if (now->places > 0)
		snprintf(place, sizeof(place), ", %.0f of %.0f %s", now->place,
			 now->places, now->unit);
	if (seconds > 0)
		in_words(seconds, left, sizeof(left));
	snprintf(text, sizeof(text), "%s: %.*s: %s%s, %s, left %s, waits for %s",
		 program, PATH_MAX, now->device, now->stage, place,
		 in_words(now->seconds, took, sizeof(took)), left, wait);
	e2pf_printable(line, E2PF_PROGRESS_BYTES, text);
}

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

static const char *name_of(pid_t pid, char name[32])
{
	snprintf(name, 32, "%d" SUFFIX, (int)pid);
	return name;
}

/* The end of what was longer is behind the line: whoever reads meanwhile leaves it. */
void e2pf_progress_save(const char *line)
{
	int folder = geteuid() ? -1 : open_folder(true), fd;
	char text[FILE_BYTES], name[32];
	ssize_t size;

	if (folder < 0)
		return;
	size = snprintf(text, sizeof(text), "%" PRIu64 "\n%s\n",
			start_of(getpid()), line);
	fd = openat(folder, name_of(getpid(), name), O_WRONLY | O_CREAT |
		    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (pwrite(fd, text, (size_t)size, 0) != size ||
			ftruncate(fd, size)))
		unlinkat(folder, name, 0);
	if (fd >= 0)
		close(fd);
	close(folder);
}

void e2pf_progress_remove(void)
{
	int folder = geteuid() ? -1 : open_folder(false);
	char name[32];

	if (folder < 0)
		return;
	unlinkat(folder, name_of(getpid(), name), 0);
	close(folder);
}

typedef void (*show_fn)(void *ctx, pid_t pid, const char *line);

static void show_file(int folder, const char *name, show_fn show, void *ctx)
{
	char text[FILE_BYTES], *suffix, *line, *end;
	long pid = strtol(name, &suffix, 10);
	uint64_t started;

	if (pid <= 0 || pid > INT32_MAX || strcmp(suffix, SUFFIX))
		return;
	started = start_of((pid_t)pid);
	e2pf_read_text(FOLDER, name, text, sizeof(text));
	line = strchr(text, '\n');
	if (!started || (line && strtoull(text, NULL, 10) != started)) {
		unlinkat(folder, name, 0);
	} else if (line && show) {
		end = strchr(++line, '\n');
		if (end)
			*end = '\0';
		show(ctx, (pid_t)pid, line);
	}
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
