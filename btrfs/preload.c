/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The library that the wrapper preloads into a stock btrfs, whose libraries are
 * linked into it: only its calls to libc show what it does.  A check drops the
 * page cache of each device after it has opened it and before it closes it; the
 * session lies between the two.  A send is one ioctl.  doc/architecture.md has
 * more.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "plan.h"
#include "session.h"
#include "prefetch/share.h"
#include "lib/keep_errno.h"
#include "preload/interpose.h"
#include "preload/preload.h"
#include "preload.h"
#include "send.h"
#include "preload/status.h"

/* Maximum number of descriptors that are followed: those of the devices, and a
 * few more, one of them for the device named on the command line. */
#define MAX_OPENED (PF_MAX_DEVICES + 8u)

/* If the metadata is larger than btrfs check's own cache, it requests readahead
 * of a node's children each time it visits the node: 3,627,558 calls for 43,983
 * reads, all but the first of each block in vain.  A block is assumed to be cached
 * until another block takes its slot in this table. */
#define REPEAT_SLOTS 8192u

static struct {
	enum task task;
	pthread_t thread;
	struct bt_opened opened[MAX_OPENED];
	unsigned count;
	struct pf_session *session;	/* NULL: none has begun */
	bool ended;
	const char *why_not;
	char name[PATH_MAX];		/* of the first device */
	struct {
		uint64_t offset;	/* bytes, 0: none */
		unsigned device;
	} recent[REPEAT_SLOTS];		/* the check's readahead calls */
	unsigned long long repeated;	/* of these, dropped */
	struct pf_session *send;	/* of all sends; NULL: none */
	_Atomic(bool) sending;		/* with readahead */
	bool sent;			/* a send was attempted */
} self;

static bool is_ours(void)
{
	return preload.on && pthread_equal(pthread_self(), self.thread);
}

/* A closed device keeps its entry, with -1 as its descriptor.  Programs pass -1,
 * too. */
static struct bt_opened *find_opened(int fd)
{
	unsigned i;

	for (i = 0; fd >= 0 && i < self.count; i++)
		if (self.opened[i].fd == fd)
			return &self.opened[i];
	return NULL;
}

/*
 * The session.
 */

/* A session with the devices that the program has opened. */
static void start_session(void)
{
	self.session = bt_session_open(self.opened, self.count, self.name,
				       &preload.settings, &self.why_not);
	self.ended = !self.session;
	if (self.ended)
		return;
	pf_session_choose(self.session);
	pf_session_start(self.session);
	preload_reporter_watch(self.session);
}

static void end_session(void)
{
	if (!self.session || self.ended)
		return;
	self.ended = true;
	preload_reporter_watch(NULL);
	if (!pf_session_stop(self.session, END_PATIENCE_MS))
		self.why_not = "a thread still waits for a device";
}

static unsigned give_back(void)
{
	unsigned reporters;
	E2PF_KEEP_ERRNO;

	if (!self.session || self.ended)
		return 0;
	reporters = preload_reporter_end();
	return reporters + pf_session_give_back(self.session);
}

/*
 * Calls from the interposers.
 */

static void keep_name(int fd)
{
	char path[32];
	ssize_t n;

	if (self.name[0])
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, self.name, sizeof(self.name) - 1);
	self.name[n > 0 ? n : 0] = '\0';
}

void bt_drops_cache(int fd)
{
	E2PF_KEEP_ERRNO;

	if (!is_ours())
		return;
	keep_name(fd);
	if (find_opened(fd))
		end_session();
	else if (self.count < MAX_OPENED && !self.session && !self.ended)
		self.opened[self.count++] = (struct bt_opened) {
			.fd = fd, .index = -1
		};
}

void bt_closes(int fd)
{
	struct bt_opened *opened = is_ours() ? find_opened(fd) : NULL;

	/* The kernel may reuse this descriptor number for another file. */
	if (opened)
		opened->fd = -1;
}

bool bt_on_program_read(int fd, uint64_t offset, uint64_t length,
			struct pf_read *read)
{
	struct bt_opened *opened;
	E2PF_KEEP_ERRNO;

	opened = is_ours() && !self.ended ? find_opened(fd) : NULL;
	if (!opened)
		return false;
	/* btrfs opens all devices, except those of a seed, before it reads anything
	 * but superblocks.  It reads copies of superblocks only with options that
	 * are not supported. */
	if (!self.session && offset != BT_SUPER_AT)
		start_session();
	if (!self.session || opened->index < 0)
		return false;
	read->device = (unsigned)opened->index;
	read->offset = offset;
	read->length = length;
	pf_engine_before_read(self.session->engine, read);
	return true;
}

/* The program's descriptor of a device, or -1. */
static int descriptor_of(unsigned device)
{
	unsigned i;

	for (i = 0; i < self.count; i++)
		if (self.opened[i].fd >= 0 &&
		    self.opened[i].index == (int)device)
			return self.opened[i].fd;
	return -1;
}

/* Drop only blocks that were read ahead.  A worker would read other blocks
 * again, and wait in vain for the check to use them. */
void bt_has_read(const struct pf_read *read)
{
	E2PF_KEEP_ERRNO;

	if (pf_engine_after_read(self.session->engine, read) &&
	    bt_session_source(self.session)->drop_read)
		posix_fadvise(descriptor_of(read->device),
			      (off_t)read->offset, (off_t)read->length,
			      POSIX_FADV_DONTNEED);
}

/* Whether this block was requested a moment ago.  If not, it is recorded. */
static bool is_repeated(unsigned device, uint64_t offset)
{
	uint64_t hash = (offset / 4096 + device) * UINT64_C(0x9E3779B97F4A7C15);
	unsigned i = (unsigned)(hash >> 32) % REPEAT_SLOTS;

	if (self.recent[i].offset == offset && self.recent[i].device == device)
		return true;
	self.recent[i].offset = offset;
	self.recent[i].device = device;
	return false;
}

bool bt_on_program_readahead(int *fd, uint64_t *offset)
{
	const struct bt_opened *opened = is_ours() ? find_opened(*fd) : NULL;
	uint64_t there = *offset;
	E2PF_KEEP_ERRNO;
	int other;
	unsigned device;

	if (!opened || !self.session || self.ended || opened->index < 0)
		return false;
	device = (unsigned)opened->index;
	if (is_repeated(device, *offset)) {
		self.repeated++;
		return true;
	}
	bt_chunk_map_first_copy(&bt_session_source(self.session)->map, &device,
				&there);
	other = descriptor_of(device);
	if (other >= 0) {
		*fd = other;
		*offset = there;
	}
	return false;
}

void bt_sends(int fd, const void *args)
{
	const char *why = NULL;
	E2PF_KEEP_ERRNO;

	if (!is_ours() || self.why_not)
		return;
	keep_name(fd);
	self.sent = true;
	if (!self.send)
		self.send = bt_send_open(fd, self.name, &preload.settings,
					 &why);
	if (self.send)
		why = bt_send_start(self.send, fd, args);
	if (why)
		pf_report_note_off(&preload.report.notes, "off", why);
	self.sending = !why;
}

void bt_has_sent(void)
{
	E2PF_KEEP_ERRNO;

	if (self.sending && !bt_send_stop(self.send, END_PATIENCE_MS))
		pf_report_note(&preload.report.notes,
			       "prefetch: stopped (a thread still waits for a device)");
	self.sending = false;
}

void bt_passes_on(uint64_t bytes)
{
	E2PF_KEEP_ERRNO;

	if (self.sending)
		bt_send_came_out(self.send, bytes);
}

/*
 * Start and end of the process.
 */

static bool refers_to(const char *name, const char *other)
{
	return preload_program_refers(name) || preload_program_refers(other);
}

/* Whether this is a program that the preload library can follow.  The wrapper,
 * which loads the preload library to try it, is not one. */
static bool is_btrfs(void)
{
	return refers_to("pread", "pread64") &&
	       refers_to("posix_fadvise", "posix_fadvise64") &&
	       refers_to("ioctl", "ioctl");
}

__attribute__((constructor))
static void begin(void)
{
	enum selftest outcome = SELFTEST_NONE;

	preload_read_arguments();
	if (preload_status_is_asked(preload.argc, preload.argv) && is_btrfs()) {
		preload_begin("btrfs-prefetch");
		preload_answer(true);
	}
	self.task = bt_arguments_task(preload.argv);
	if (self.task == TASK_OTHER || !is_btrfs())
		return;
	self.thread = pthread_self();
	preload_begin("btrfs-prefetch");
	if (!preload.on) {
		preload.settings.prefetch = false;
		return;
	}
	preload.sends = self.task == TASK_SEND;
	if (self.task == TASK_CHECK)
		self.why_not = preload.more_arguments ? "too many arguments" :
			       bt_arguments_aside(preload.argv);
	if (!self.why_not && !preload_selftest_may_read(&outcome))
		self.why_not = "a required system call is blocked";
	/* Register before the memory is divided, so that checks started at the
	 * same time see each other, and before the first thread starts: once
	 * there are threads, the kernel takes 10 ms to make room for a high
	 * descriptor. */
	if (!self.why_not)
		pf_share_join();
	self.ended = self.why_not;
	preload.give_back = give_back;
	preload_reporter_begin(preload.name, preload.settings.progress);
}

static void report_end(void)
{
	struct pf_session *shown = self.sent ? self.send : self.session;
	struct pf_notes *notes = &preload.report.notes;

	preload.report.device = self.name;
	preload.report.io_manager = "btrfs";
	if (self.why_not)
		pf_report_note_off(notes, "off", self.why_not);
	else if (!self.session && !self.sent)
		pf_report_note_off(notes, "off", "nothing was checked or sent");
	if (self.repeated)
		pf_report_note(notes,
			       "readahead: %llu repeated calls of the check "
			       "dropped", self.repeated);
	preload_report_result(&(struct preload_result) {
		.session = shown, .finished = shown,
		.done = self.sent ? "sent" : "checked",
		.logged = !self.sent && self.session, .counted = true
	});
}

__attribute__((destructor))
static void end(void)
{
	/* A forked child of btrfs has no workers and must not print our
	 * report. */
	if (!preload.settings.prefetch || getpid() != preload.pid)
		return;
	end_session();
	preload_reporter_end();
	bt_has_sent();
	report_end();
}
