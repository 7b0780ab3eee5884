/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Observes which directories the command opens: fanotify(7) of the whole filesystem, with
 * the number of each inode (Linux 5.1, CAP_SYS_ADMIN).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "lib/sysfile.h"

/* Headers of before Linux 6.0 lack these. */
#ifndef FAN_MARK_IGNORE_SURV
#define FAN_MARK_IGNORE_SURV (0x400 | FAN_MARK_IGNORED_SURV_MODIFY)
#endif

/* A process is searched for among so many ancestors of the one that has opened. */
#define MAX_ANCESTORS 64

/* The handle of an inode of ext4: its number and generation. */
#define FILEID_INO32_GEN 1

int opens_init(void)
{
	return fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC |
			     FAN_NONBLOCK, 0);
}

bool opens_watch(int opens, const char *path)
{
	/* One filesystem is read ahead after the other. */
	fanotify_mark(opens, FAN_MARK_FLUSH | FAN_MARK_FILESYSTEM, 0, AT_FDCWD, NULL);
	if (!path || fanotify_mark(opens, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
				   FAN_OPEN | FAN_ONDIR, AT_FDCWD, path))
		return false;
	/* Without this the opens of files are reported, too, and left out here. */
	fanotify_mark(opens, FAN_MARK_ADD | FAN_MARK_FILESYSTEM | FAN_MARK_IGNORE_SURV,
		      FAN_OPEN, AT_FDCWD, path);
	return true;
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[512], *end;
	int parent = 0;

	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	if (e2pf_read_text("/proc", path, text, sizeof(text)) < 0)
		return 0;
	/* The name may have blanks and parentheses. */
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Is it the command, or one that this has started?  The last answer is kept. */
static bool is_of_command(pid_t pid, pid_t command)
{
	static pid_t last;
	static bool answer;
	pid_t p = pid;
	int i;

	if (pid != last) {
		for (i = 0; p > 1 && p != command && i < MAX_ANCESTORS; i++)
			p = parent_of(p);
		last = pid;
		answer = p == command;
	}
	return answer;
}

/* Returns the handle of a directory, or NULL. */
static struct file_handle *handle_of(const struct fanotify_event_metadata *event)
{
	const struct fanotify_event_info_fid *fid = (const void *)(event + 1);
	struct file_handle *handle = (void *)fid->handle;

	if (event->event_len < sizeof(*event) + sizeof(*fid) + sizeof(*handle) +
			       sizeof(uint32_t) ||
	    !(event->mask & FAN_ONDIR) ||
	    fid->hdr.info_type != FAN_EVENT_INFO_TYPE_FID ||
	    handle->handle_type != FILEID_INO32_GEN ||
	    handle->handle_bytes < sizeof(uint32_t))
		return NULL;
	return handle;
}

uint32_t opened_inode(const struct file_handle *handle)
{
	uint32_t ino;

	memcpy(&ino, handle->f_handle, sizeof(ino));
	return ino;
}

static int open_handle(const char *mounted, struct file_handle *handle)
{
	int at = open_apart(mounted), fd;

	if (at < 0)
		return -1;
	fd = open_by_handle_at(at, handle, O_PATH | O_CLOEXEC);
	close(at);
	return fd;
}

/* The name of an open directory, with its path.  Returns its length; 0: not known. */
static size_t name_of(int fd, char *name, size_t size)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, size);
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

unsigned opened_path(const char *mounted, struct file_handle *handle,
		     struct opened_path *path)
{
	int fd = open_handle(mounted, handle), up;
	char *end = path->names, *name;
	struct stat st;
	unsigned n = 0;

	if (fd < 0)
		return 0;
	end += name_of(fd, path->names, sizeof(path->names));
	while (n < OPENED_DEPTH && !fstat(fd, &st)) {
		name = memrchr(path->names, '/', (size_t)(end - path->names));
		if (!name || (n && st.st_ino == path->entry[n - 1].ino))
			break;
		path->entry[n++] = (struct ext4_entry) {
			.ino = (uint32_t)st.st_ino, .directory = true,
			.name = name + 1, .length = (unsigned)(end - name - 1)
		};
		end = name;
		up = openat(fd, "..", O_PATH | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	if (fd >= 0)
		close(fd);
	return n;
}

bool opens_read(int opens, pid_t command,
		void (*found)(void *ctx, struct file_handle *handle), void *ctx)
{
	static char buffer[16384] __attribute__((aligned(8)));
	const struct fanotify_event_metadata *event = (const void *)buffer;
	ssize_t n = read(opens, buffer, sizeof(buffer));
	struct file_handle *handle;

	for (; n > 0 && FAN_EVENT_OK(event, n); event = FAN_EVENT_NEXT(event, n)) {
		handle = handle_of(event);
		if (handle && is_of_command(event->pid, command))
			found(ctx, handle);
	}
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}
