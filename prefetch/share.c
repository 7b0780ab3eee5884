/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Counts the checks that share the machine's memory: each holds the reading end of
 * one of SLOTS FIFOs, and only while it does can the writing end be opened (fifo(7)).
 *
 * The kernel closes what a killed process held.  The FIFOs lie in a directory that is
 * this user's alone, so other users can neither change the count nor make it take
 * longer.  File locks could: all of them wait while anyone lists /proc/locks, 8 ms to
 * take one and 12 to release it with 200,000 locks of another user; this takes 0.1 ms.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "share.h"
#include "lib/sysfile.h"

/* With more checks than that the count is too small; a window is half of a share. */
#define SLOTS 32u

/* e2fsck may be given descriptors by number (-C), so the low ones must be as free as
 * they would be without us. */
#define MIN_DESCRIPTOR 200

static struct {
	pthread_mutex_t lock;
	unsigned joined;
	unsigned slot;
	int fd;			/* of the slot; -1: this process is not counted */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static int open_directory(bool make)
{
	unsigned user = geteuid();
	char path[64] = "/run/e2prefetch";

	if (user)
		snprintf(path, sizeof(path), "/run/user/%u/e2prefetch", user);
	return e2pf_open_directory(path, user, make);
}

static int open_slot(int directory, unsigned slot, int end)
{
	char name[16];

	snprintf(name, sizeof(name), "check.%u", slot);
	if (end == O_RDONLY)
		(void)mkfifoat(directory, name, 0600);
	return openat(directory, name,
		      end | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_taken(int directory, unsigned slot)
{
	int fd = open_slot(directory, slot, O_WRONLY);

	return fd >= 0 && !close(fd);
}

/* Checks that start together have different PIDs, and so do not take the same slot. */
static int take_slot(int directory, unsigned *slot)
{
	unsigned first = (unsigned)getpid(), i = 0;
	int low, high;

	while (i < SLOTS && is_taken(directory, (first + i) % SLOTS))
		i++;
	*slot = (first + i) % SLOTS;
	low = open_slot(directory, *slot, O_RDONLY);
	high = fcntl(low, F_DUPFD_CLOEXEC, MIN_DESCRIPTOR);
	if (low >= 0)
		close(low);
	return high;
}

void pf_share_join(void)
{
	int directory = -1;

	pthread_mutex_lock(&self.lock);
	if (!self.joined++)
		directory = open_directory(true);
	/* If a standard stream is closed, what the checker prints could go into a
	 * FIFO that has its number for a moment. */
	if (directory > STDERR_FILENO)
		self.fd = take_slot(directory, &self.slot);
	if (directory >= 0)
		close(directory);
	pthread_mutex_unlock(&self.lock);
}

void pf_share_leave(void)
{
	pthread_mutex_lock(&self.lock);
	if (!--self.joined && self.fd >= 0) {
		close(self.fd);
		self.fd = -1;
	}
	pthread_mutex_unlock(&self.lock);
}

unsigned pf_share_count(void)
{
	unsigned count = 1, slot;
	int directory;

	pthread_mutex_lock(&self.lock);
	directory = self.fd < 0 ? -1 : open_directory(false);
	for (slot = 0; directory >= 0 && slot < SLOTS; slot++)
		count += slot != self.slot && is_taken(directory, slot);
	if (directory >= 0)
		close(directory);
	pthread_mutex_unlock(&self.lock);
	return count;
}
