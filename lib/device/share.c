/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Finds the processes that share the machine's memory: each one holds a read
 * lock on /proc/locks, and the kernel lists it there with its PID.
 *
 * Nothing is created that could be left behind, no folder needs to exist or be
 * writable, and a killed process no longer counts.  Only a write lock could
 * block a read lock, and taking one needs permission to write the file.  Nobody
 * can hold a lock in another process's name: the PID comes from the kernel, and
 * the folder in /proc tells whose process it is.  So other users cannot change
 * how much memory root's check gets.  Processes in another PID namespace have
 * another procfs and are not seen; as a rule they have limits of their own.
 *
 * The kernel releases fcntl(2) locks when any descriptor of the file is closed,
 * so this process reads the file through the descriptor that holds the lock.
 *
 * To list the locks, the kernel stops all processors from taking any, which
 * takes 10 ms; to tell whether there is a lock that conflicts takes 1 us.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "share.h"
#include "sysfile.h"

/* Use a high descriptor number: e2fsck may be given descriptors by number (-C),
 * so the low ones must be as free as they would be without us. */
#define MOST_DESCRIPTOR 1024
#define LEAST_DESCRIPTOR 128
#define FROM_THE_TOP 16

static struct {
	pthread_mutex_t lock;
	unsigned joined;
	int fd;			/* while joined; -1: opening failed */
	unsigned count;		/* as of `counted_at`; 0: never counted */
	time_t counted_at;		/* CLOCK_MONOTONIC */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* The caller takes the lock after this: closing `low` would release it. */
static int open_high(void)
{
	int low, high, most = MOST_DESCRIPTOR;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return -1;
	if (files.rlim_cur < MOST_DESCRIPTOR)
		most = (int)files.rlim_cur;
	low = most < LEAST_DESCRIPTOR ? -1 :
	      open("/proc/locks", O_RDONLY | O_CLOEXEC);
	if (low < 0)
		return -1;
	high = fcntl(low, F_DUPFD_CLOEXEC, most - FROM_THE_TOP);
	close(low);
	return high;
}

void e2pf_share_join(void)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	pthread_mutex_lock(&self.lock);
	if (!self.joined++) {
		self.fd = open_high();
		(void)fcntl(self.fd, F_SETLK, &all);
	}
	pthread_mutex_unlock(&self.lock);
}

void e2pf_share_leave(void)
{
	pthread_mutex_lock(&self.lock);
	if (!--self.joined && self.fd >= 0) {
		close(self.fd);
		self.fd = -1;
	}
	pthread_mutex_unlock(&self.lock);
}

/* `pid` is above 0 for those of others, too: processes of a nested PID namespace
 * are listed with the PID they have in ours. */
static bool is_one_of_us(const char *sysroot, int pid)
{
	char path[PATH_MAX];
	struct stat st;

	return pid > 0 && (*sysroot || pid != getpid()) &&
	       !e2pf_path(path, sizeof(path), "%s/proc/%d", sysroot, pid) &&
	       stat(path, &st) == 0 &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

/* Does the line say that one of us locks this file, as in
 * "1: POSIX  ADVISORY  READ 4711 00:15:4026531879 0 EOF"? */
static bool is_holder(const char *sysroot, const char *line,
		      const struct stat *st)
{
	char wanted[64], file[64];
	int pid;

	snprintf(wanted, sizeof(wanted), "%02x:%02x:%llu", major(st->st_dev),
		 minor(st->st_dev), (unsigned long long)st->st_ino);
	return sscanf(line, "%*u: POSIX ADVISORY READ %9d %63s", &pid,
		      file) == 2 && !strcmp(file, wanted) &&
	       is_one_of_us(sysroot, pid);
}

static unsigned count_holders(const char *sysroot, int fd)
{
	char text[8192], *line, *end;
	unsigned count = 1;
	size_t have = 0;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return 1;
	while ((n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		text[have + (size_t)n] = '\0';
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			count += is_holder(sysroot, line, &st);
		}
		have = strlen(line);
		memmove(text, line, have);
	}
	return count;
}

/* A write lock would conflict with the read lock of any other process. */
static bool is_alone(int fd)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_GETLK, &all) && all.l_type == F_UNLCK;
}

static unsigned count_now(const char *sysroot)
{
	unsigned count = 1;
	char path[PATH_MAX];
	int fd;

	if (!*sysroot && self.joined)
		return self.fd < 0 || is_alone(self.fd) ||
		       lseek(self.fd, 0, SEEK_SET) ? 1 :
		       count_holders(sysroot, self.fd);
	e2pf_path(path, sizeof(path), "%s/proc/locks", sysroot);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		count = count_holders(sysroot, fd);
		close(fd);
	}
	return count;
}

unsigned e2pf_share_count(const char *sysroot)
{
	struct timespec now;
	unsigned count;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&self.lock);
	count = self.count;
	if (*sysroot) {
		count = count_now(sysroot);
	} else if (!count || now.tv_sec != self.counted_at) {
		self.count = count = count_now(sysroot);
		self.counted_at = now.tv_sec;
	}
	pthread_mutex_unlock(&self.lock);
	return count;
}
