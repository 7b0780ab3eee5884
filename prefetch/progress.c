/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides how much time is left of a stage, what a check waits for, and which files in
 * /run show that.
 *
 * A file is named after its process, and written each second.  The file of a killed
 * process is stale, and whoever looks next removes it.  The directory must be root's
 * alone, so nobody else can put anything there.
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

#include "lib/sysfile.h"
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
#define MIN_PART 0.2

/* The line says that the checker computes, or waits, if it does so for this
 * part of the time. */
#define MOSTLY 0.5

/* A single read that takes this long is reported. */
#define SLOW_READ_S 1

#define DIRECTORY "/run/e2prefetch"
#define SUFFIX ".progress"

/* An older file belongs to a check that is stopped, or was killed; then its number may be
 * another process's by now. */
#define STALE_S 60

double pf_progress_left(struct pf_progress_past *past,
			const struct pf_progress *now)
{
	double part = now->positions > 0 ? now->position / now->positions : 0;
	double elapsed = now->seconds - past->seconds;

	if (!past->stage || strcmp(past->stage, now->stage))
		*past = (struct pf_progress_past) {
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
	return part < MIN_PART || past->pace <= 0 ? 0 : (1 - part) / past->pace;
}

/* Describe what the checker has done since the last moment. */
static void describe_wait(const struct pf_progress_past *past,
			  const struct pf_progress *now, char *text, size_t size)
{
	double half = (now->seconds - past->seconds) * MOSTLY;
	const char *disk = now->disk ? now->disk : "";

	if (!now->busy && now->reading >= SLOW_READ_S)
		snprintf(text, size, "waiting %.0f s for %s at byte %.0f", now->reading,
			 *disk ? disk : "the disk", now->reading_at);
	else if (now->busy || now->stalled - past->stalled > half)
		snprintf(text, size, "waiting for %s", *disk ? disk : "the disk");
	else
		/* The checker may have asked a question. */
		snprintf(text, size, "%s", now->cpu - past->cpu > half ?
			 "CPU-bound" : "idle");
}

void pf_progress_say(struct pf_progress_past *past, const char *program,
		     const struct pf_progress *now,
		     char line[PF_PROGRESS_BYTES])
{
	char position[96] = "", took[32], left[32] = "unknown", wait[160];
	char text[PF_PROGRESS_BYTES];
	double seconds;

	describe_wait(past, now, wait, sizeof(wait));
	seconds = pf_progress_left(past, now);
	if (now->positions > 0)
		snprintf(position, sizeof(position), ", %.0f of %.0f %s",
			 now->position,
			 now->positions, now->unit);
	if (seconds > 0)
		pf_report_format_seconds(seconds, left, sizeof(left));
	snprintf(text, sizeof(text), "%s: %.*s: %s%s, %s, ETA %s, %s",
		 program, PATH_MAX, now->device, now->stage, position,
		 pf_report_format_seconds(now->seconds, took, sizeof(took)),
			 left, wait);
	pf_settings_copy_printable(line, PF_PROGRESS_BYTES, text);
}

static const char *own_name(char name[32])
{
	snprintf(name, 32, "%d" SUFFIX, (int)getpid());
	return name;
}

/* A reader that comes between the two calls sees the end of a longer line behind this
 * one, and ignores it. */
void pf_progress_save(const char *line)
{
	int directory = geteuid() ? -1 : e2pf_open_directory(DIRECTORY, 0,
							     true), fd;
	char text[PF_PROGRESS_BYTES + 1], name[32];
	ssize_t size;

	if (directory < 0)
		return;
	size = snprintf(text, sizeof(text), "%s\n", line);
	fd = openat(directory, own_name(name), O_WRONLY | O_CREAT | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd >= 0 && (pwrite(fd, text, (size_t)size, 0) != size ||
			ftruncate(fd, size)))
		unlinkat(directory, name, 0);
	if (fd >= 0)
		close(fd);
	close(directory);
}

void pf_progress_remove(void)
{
	int directory = geteuid() ? -1 : e2pf_open_directory(DIRECTORY, 0,
							     false);
	char name[32];

	if (directory < 0)
		return;
	unlinkat(directory, own_name(name), 0);
	close(directory);
}

typedef void (*show_fn)(void *ctx, pid_t pid, const char *line);

static void show_file(int directory, const char *name, show_fn show, void *ctx)
{
	char text[PF_PROGRESS_BYTES + 1], *suffix;
	long pid = strtol(name, &suffix, 10);
	struct stat st;

	if (pid <= 0 || pid > INT32_MAX || strcmp(suffix, SUFFIX) ||
	    fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (time(NULL) - st.st_mtime > STALE_S ||
	    (kill((pid_t)pid, 0) && errno == ESRCH)) {
		unlinkat(directory, name, 0);
		return;
	}
	e2pf_read_text(DIRECTORY, name, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	if (*text)
		show(ctx, (pid_t)pid, text);
}

int pf_progress_each(show_fn show, void *ctx)
{
	int fd = e2pf_open_directory(DIRECTORY, 0, false), err = errno;
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
