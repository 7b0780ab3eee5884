/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether an earlier trial still counts.  A trial takes two milliseconds,
 * as much as a check of a small filesystem.
 *
 * Findings are kept in /run with a description of each file that the trial
 * loaded.  They count as long as a new description is the same: same files,
 * unchanged since then, in the same boot.  What else decides which files the
 * dynamic linker loads must be as usual, or nothing is kept or recalled: no
 * variables of its own, no /etc/ld.so.preload, no search path inside a file
 * (linkage.c), and a cache, which is one of the described files.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "device/sysfile.h"
#include "environment.h"
#include "verdict.h"

#define FOLDER "/run"
#define FORMAT "e2prefetch-verdict-1"

/* Largest file, bytes: a dozen files with paths of some hundred bytes. */
#define MOST_BYTES 8192u

/* Longest name, with room for a suffix.  A module with a longer path is tried
 * each time. */
#define MOST_NAME 200

extern char **environ;

struct text {
	char bytes[MOST_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static bool add(struct text *t, const char *format, ...)
{
	size_t room = sizeof(t->bytes) - t->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->bytes + t->used, room, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		return false;
	t->used += (size_t)n;
	return true;
}

/* A file that has been replaced or written to has another description.  One that
 * has changed since `before` is not described: it may have been another when
 * the trial loaded it. */
static bool describe(struct text *t, const char *path, time_t before)
{
	struct statvfs vfs;
	struct stat st;

	if (*path != '/' || stat(path, &st) || statvfs(path, &vfs) ||
	    st.st_ctim.tv_sec >= before)
		return false;
	return add(t, "%llx %llx %llx %lld.%09ld %lld.%09ld %lx %s\n",
		   (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		   (unsigned long long)st.st_size,
		   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		   (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec,
		   (unsigned long)vfs.f_flag & ST_NOEXEC, path);
}

/* The boot, the security context that the program is started from, and the
 * findings. */
static bool begin(struct text *t, const struct findings *found)
{
	char boot[64], context[256], text[FINDINGS_SIZE];

	if (e2pf_read_text("/proc/sys/kernel/random", "boot_id", boot,
			   sizeof(boot)) <= 0)
		return false;
	e2pf_read_text("/proc/self/attr", "current", context, sizeof(context));
	findings_print(found, text, sizeof(text));
	t->used = 0;
	return add(t, FORMAT " %s %s\n%s\n", boot, context, text);
}

static bool write_up(struct text *t, const char *program, const char *module,
		     char *objects, const struct findings *found, time_t before)
{
	char *path, *rest;

	if (!begin(t, found) || !describe(t, program, before) ||
	    !describe(t, module, before) ||
	    !describe(t, "/etc/ld.so.cache", before))
		return false;
	for (path = strtok_r(objects, " ", &rest); path;
	     path = strtok_r(NULL, " ", &rest))
		if (!describe(t, path, before))
			return false;
	return true;
}

/* Whether only what is described decides which files are loaded. */
static bool is_usual(const char *module)
{
	const char *preload = getenv("LD_PRELOAD");
	char **one;

	if (getuid() || environment_is_privileged() || !preload ||
	    strcmp(preload, module) || !access("/etc/ld.so.preload", F_OK) ||
	    getenv("GLIBC_TUNABLES"))
		return false;
	for (one = environ; *one; one++)
		if (!strncmp(*one, "LD_", 3) &&
		    strncmp(*one, "LD_PRELOAD=", 11))
			return false;
	return true;
}

/*
 * The file.
 */

/* A folder in which only root can make files; -1 otherwise. */
static int open_folder(void)
{
	int fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_uid || (st.st_mode & 022))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Each module has a file of its own, named after its path: one that is built and
 * tried elsewhere does not take the place of the installed one's. */
static bool name_file(char *name, size_t size, const char *module)
{
	char *slash;

	if (e2pf_path(name, size, "e2prefetch-verdict%s", module))
		return false;
	slash = strchr(name, '/');
	if (slash)
		*slash = '.';
	while ((slash = strchr(name, '/')))
		*slash = '-';
	return true;
}

static bool read_file(int folder, const char *name, struct text *t)
{
	int fd = openat(folder, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_uid &&
	    (st.st_mode & 07777) == 0600)
		n = read(fd, t->bytes, sizeof(t->bytes));
	close(fd);
	t->used = n > 0 ? (size_t)n : 0;
	return n > 0 && t->used < sizeof(t->bytes);
}

/* No limit on file sizes, whose signal would end this process. */
static bool may_write(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       limit.rlim_cur == RLIM_INFINITY;
}

static void write_file(int folder, const char *name, const struct text *t)
{
	char part[NAME_MAX + 1];
	int fd;

	if (!may_write() ||
	    e2pf_path(part, sizeof(part), "%s.%ld", name, (long)getpid()))
		return;
	fd = openat(folder, part,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, t->bytes, t->used) != (ssize_t)t->used ||
	    fchmod(fd, 0600) || renameat(folder, part, folder, name))
		unlinkat(folder, part, 0);
	close(fd);
}

/*
 * Taking apart what was kept.  Nothing in it is believed: only what gives the
 * same text when it is written up anew counts.
 */

/* The second line; NULL, with nothing changed, if there is none. */
static bool take_findings(const struct text *t, struct findings *found)
{
	const char *line = memchr(t->bytes, '\n', t->used), *end;
	char text[FINDINGS_SIZE];
	size_t len;

	if (!line)
		return false;
	line++;
	end = memchr(line, '\n', t->used - (size_t)(line - t->bytes));
	len = end ? (size_t)(end - line) : sizeof(text);
	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	return findings_parse(text, found);
}

/* The paths of the sixth line and all further ones. */
static void take_objects(const struct text *t, char *objects)
{
	const char *line = t->bytes, *end = t->bytes + t->used, *next, *path;
	size_t used = 0;
	unsigned number;

	for (number = 1; (next = memchr(line, '\n', (size_t)(end - line)));
	     line = next + 1, number++) {
		path = memrchr(line, ' ', (size_t)(next - line));
		if (number < 6 || !path)
			continue;
		memcpy(objects + used, path, (size_t)(next - path));
		used += (size_t)(next - path);
	}
	objects[used] = '\0';
}

bool verdict_recall(const char *program, const char *module,
		    struct findings *found)
{
	static struct text kept, now;
	static char objects[MOST_BYTES];
	struct findings of;
	char name[MOST_NAME];
	bool known;
	int folder;

	if (!is_usual(module) || !name_file(name, sizeof(name), module))
		return false;
	folder = open_folder();
	if (folder < 0)
		return false;
	known = read_file(folder, name, &kept);
	close(folder);
	if (!known || !take_findings(&kept, &of))
		return false;
	take_objects(&kept, objects);
	if (!write_up(&now, program, module, objects, &of, time(NULL)) ||
	    now.used != kept.used || memcmp(now.bytes, kept.bytes, now.used))
		return false;
	*found = of;
	return true;
}

/* What the memory did not allow may be possible next time. */
static bool is_final(const struct findings *found)
{
	unsigned i;

	for (i = 0; i < ABILITIES; i++)
		if (found->of[i] == FINDING_UNABLE)
			return false;
	return true;
}

void verdict_keep(const char *program, const char *module, char *objects,
		  const struct findings *found, time_t began)
{
	static struct text now;
	char name[MOST_NAME];
	int folder;

	if (!*objects || !is_usual(module) || !is_final(found) ||
	    !name_file(name, sizeof(name), module) ||
	    !write_up(&now, program, module, objects, found, began))
		return;
	folder = open_folder();
	if (folder < 0)
		return;
	write_file(folder, name, &now);
	close(folder);
}
