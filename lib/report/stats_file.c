/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides to which files statistics may be written.  Does not know what they
 * contain.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats_file.h"

/* The two errors of open(2) whose usual text would not explain the problem. */
static const char *open_error(int err)
{
	if (err == ELOOP)
		return "a symbolic link";
	if (err == ENXIO)	/* a FIFO without a reader, or a socket */
		return "not a regular file";
	return strerror(err);
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
		return "the file has several hard links";
	if (st.st_uid != geteuid())
		return "another user's file";
	/* The user may have named the filesystem image itself by mistake. */
	if (st.st_size && (pread(fd, &first, 1, 0) != 1 || first != '{'))
		return "the file does not contain statistics";
	return NULL;
}

/* Open a file, and truncate it if it may be written.  On failure returns NULL with
 * the reason, and an existing file is unchanged.  If a standard stream is closed the
 * file may get its number: it is not open while the checker runs. */
static FILE *open_file(const char *path, const char **why)
{
	FILE *f = NULL;
	int fd;

	/* The path is the choice of a user who has fewer rights than this process. */
	if (getauxval(AT_SECURE)) {
		*why = "not with raised privileges";
		return NULL;
	}
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
		  O_NONBLOCK, 0600);
	if (fd < 0) {
		*why = open_error(errno);
		return NULL;
	}
	*why = not_ours(fd);
	/* Truncate the file only after these checks. */
	if (!*why) {
		if (!fchmod(fd, 0600) && !ftruncate(fd, 0))
			f = fdopen(fd, "w");
		if (!f)
			*why = strerror(errno);
	}
	if (!f)
		close(fd);
	return f;
}

const char *e2pf_stats_check(const char *path)
{
	const char *why;
	FILE *f;

	if (!path || !strcmp(path, "-"))
		return NULL;
	f = open_file(path, &why);
	if (!f)
		return why;
	fclose(f);
	return NULL;
}

/* An error in writing may show up only when the buffer is flushed. */
static const char *written(const struct e2pf_report *r, FILE *f)
{
	int err = e2pf_report_write(r, f);

	return fflush(f) ? strerror(errno) : err ? strerror(err) : NULL;
}

const char *e2pf_stats_save(const char *path, const struct e2pf_report *r)
{
	const char *why, *late;
	FILE *f;

	if (!path)
		return NULL;
	if (!strcmp(path, "-"))
		return written(r, stderr);
	f = open_file(path, &why);
	if (!f)
		return why;
	why = written(r, f);
	late = fclose(f) ? strerror(errno) : NULL;
	return why ? why : late;
}
