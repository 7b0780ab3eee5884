/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much time is left of a stage, what a check waits for, and which files in
 * /run show that.
 *
 * A file is named after its process, and written each second.  The file of a killed
 * process is stale, and whoever looks next removes it.  The folder must be root's alone,
 * so nobody else can put anything there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device/sysfile.h"
#include "progress.h"
#include "report.h"
#include "settings.h"

/* The pace is about that of the last fifth of the time: while a disk reads ahead the
 * checker stands still, and then passes those blocks in seconds.  With the pace since
 * the start, the time left was up to 420 times too long in the checks of
 * tests/fixtures/progress.txt. */
#define MEMORY 0.2

/* No time is given before this part of the stage is done: at a tenth of the stage the
 * time was up to 13 times too long, from here on 2.8 times. */
#define PART_LEAST 0.2

/* The line says that the checker computes, or waits, if it does so for this
 * part of the time. */
#define MOSTLY 0.5

/* A single read that takes this long is reported. */
#define SLOW_READ_S 1

#define FOLDER "/run/e2prefetch"
#define SUFFIX ".progress"

/* An older file belongs to a check that is stopped, or was killed; then its number may be
 * another process's by now. */
#define STALE_S 60

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

/* Describe what the checker has done since the last moment. */
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
		/* The checker may have asked a question. */
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
		e2pf_in_words(seconds, left, sizeof(left));
	snprintf(text, sizeof(text), "%s: %.*s: %s%s, %s, left %s, waits for %s",
		 program, PATH_MAX, now->device, now->stage, place,
		 e2pf_in_words(now->seconds, took, sizeof(took)), left, wait);
	e2pf_printable(line, E2PF_PROGRESS_BYTES, text);
}

static const char *own_name(char name[32])
{
	snprintf(name, 32, "%d" SUFFIX, (int)getpid());
	return name;
}

/* A reader that comes between the two calls sees the end of a longer line behind this
 * one, and ignores it. */
void e2pf_progress_save(const char *line)
{
	int folder = geteuid() ? -1 : e2pf_open_folder(FOLDER, 0, true), fd;
	char text[E2PF_PROGRESS_BYTES + 1], name[32];
	ssize_t size;

	if (folder < 0)
		return;
	size = snprintf(text, sizeof(text), "%s\n", line);
	fd = openat(folder, own_name(name), O_WRONLY | O_CREAT | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd >= 0 && (pwrite(fd, text, (size_t)size, 0) != size ||
			ftruncate(fd, size)))
		unlinkat(folder, name, 0);
	if (fd >= 0)
		close(fd);
	close(folder);
}

void e2pf_progress_remove(void)
{
	int folder = geteuid() ? -1 : e2pf_open_folder(FOLDER, 0, false);
	char name[32];

	if (folder < 0)
		return;
	unlinkat(folder, own_name(name), 0);
	close(folder);
}

typedef void (*show_fn)(void *ctx, pid_t pid, const char *line);

static void show_file(int folder, const char *name, show_fn show, void *ctx)
{
	char text[E2PF_PROGRESS_BYTES + 1], *suffix;
	long pid = strtol(name, &suffix, 10);
	struct stat st;

	if (pid <= 0 || pid > INT32_MAX || strcmp(suffix, SUFFIX) ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (time(NULL) - st.st_mtime > STALE_S ||
	    (kill((pid_t)pid, 0) && errno == ESRCH)) {
		unlinkat(folder, name, 0);
		return;
	}
	e2pf_read_text(FOLDER, name, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	if (*text)
		show(ctx, (pid_t)pid, text);
}

int e2pf_progress_each(show_fn show, void *ctx)
{
	int fd = e2pf_open_folder(FOLDER, 0, false), err = errno;
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
