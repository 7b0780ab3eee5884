/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The module that the launcher preloads into a stock btrfs.
 *
 * btrfs's libraries are linked into the program statically, so only its calls
 * to libc show what it does.  It drops the page cache of each device after it
 * has opened it and before it closes it.  The prefetch session runs between the
 * two: it begins with the first tree block read that is not in the chunk tree,
 * when all devices are open.  It ends, with no request in flight, before the
 * cache is dropped for the last time.
 *
 * Each subvolume that is sent is one BTRFS_IOC_SEND ioctl, which names the
 * subvolume and its parent, and returns when the kernel has written the whole
 * stream.  Prefetching begins and ends with this call.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "btrfs/plan.h"
#include "btrfs/btrfs_session.h"
#include "device/share.h"
#include "keep_errno.h"
#include "linkage.h"
#include "module.h"
#include "preload.h"
#include "repeats.h"
#include "reporter.h"
#include "selftest.h"
#include "send/send.h"
#include "status.h"

/* A filesystem with less than this in use, data and metadata, has so few tree
 * blocks that beginning takes longer than is gained.  Ours over stock with 5 and
 * 18 MiB: 1.23 and 0.91 on bench's disk, 1.07 and 0.79 on a network volume
 * (bench/run --images btrfs@1/100,btrfs@1/40). */
#define SMALL_BYTES (8u << 20)

/* Maximum number of descriptors that are followed: those of the devices, and a
 * few more, one of them for the device named on the command line. */
#define OPENED_MOST (E2PF_DEVICES + 8u)

static struct {
	enum task task;
	pthread_t thread;
	struct e2pf_btrfs_opened opened[OPENED_MOST];
	unsigned count;
	struct e2pf_session *session;
	unsigned session_count;		/* descriptors when it was opened */
	bool started, ended, weighed;
	const char *why_not;
	char name[PATH_MAX];		/* of the first device */
	struct repeats repeats;
	struct e2pf_session *send;	/* of all sends; NULL: none was begun */
	_Atomic(bool) sending;		/* with readahead */
	bool sent;			/* a send was attempted */
} self;

static bool is_ours(void)
{
	return module.on && pthread_equal(pthread_self(), self.thread);
}

/* A closed device keeps its place, with descriptor -1, which programs pass, too. */
static struct e2pf_btrfs_opened *find(int fd)
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

static void open_session(void)
{
	e2pf_close(self.session);
	self.session = e2pf_btrfs_open(self.opened, self.count, self.name,
				       &module.setup.reading, &self.why_not);
	self.session_count = self.count;
	self.ended = !self.session;
}

/* Open the session with the known devices; reopen it if more were opened. */
static bool have_session(void)
{
	if (!self.session || self.session_count != self.count)
		open_session();
	return self.session;
}

static void start_session(void)
{
	e2pf_session_choose(self.session);
	e2pf_session_start(self.session);
	reporter_watch(self.session);
}

static void stop_session(void)
{
	bool watched = !reporter_watch(NULL);

	/* A worker or a reporter left behind still uses the session, so it is not
	 * released. */
	if (!e2pf_session_end(self.session, END_PATIENCE_MS))
		self.why_not = "a worker was left behind, waiting for a device";
	else if (!watched)
		e2pf_session_release(self.session);
}

static void end_session(void)
{
	if (!self.session || self.ended)
		return;
	self.ended = true;
	stop_session();
}

/*
 * Calls from the interposed functions.
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

void module_drops_cache(int fd)
{
	E2PF_KEEP_ERRNO;

	if (!is_ours())
		return;
	keep_name(fd);
	if (self.ended)
		;
	else if (find(fd))
		end_session();
	else if (self.count < OPENED_MOST && !self.started)
		self.opened[self.count++] = (struct e2pf_btrfs_opened) {
			.fd = fd, .index = -1
		};
}

/* Before anything is opened or started: leave a small filesystem to the check,
 * unless the user chose how many threads read ahead. */
static void weigh(int fd)
{
	struct e2pf_btrfs_super super;

	self.weighed = true;
	if (module.setup.reading.threads ||
	    e2pf_btrfs_read_super(fd, &super) ||
	    super.bytes_used >= SMALL_BYTES)
		return;
	self.why_not = "the filesystem is small";
	self.ended = true;
}

void module_closes(int fd)
{
	struct e2pf_btrfs_opened *opened = is_ours() ? find(fd) : NULL;
	struct e2pf_btrfs_super super;
	E2PF_KEEP_ERRNO;

	if (!opened)
		return;
	/* A program that does not know the format either gives up after the
	 * superblock. */
	if (!self.session && !self.why_not)
		self.why_not = e2pf_btrfs_read_super(fd, &super);
	/* The kernel may reuse this descriptor number for another file. */
	opened->fd = -1;
}

static bool is_super(uint64_t offset, uint64_t length)
{
	unsigned i;

	for (i = 0; i < E2PF_BTRFS_SUPER_MIRRORS; i++)
		if (offset == e2pf_btrfs_super_offset(i) &&
		    length == E2PF_BTRFS_SUPER_BYTES)
			return true;
	return false;
}

/* The program learns from the chunk tree which other devices there are, and
 * opens them before it reads anything else. */
static bool may_start(const struct e2pf_btrfs_opened *opened, uint64_t offset)
{
	bool system;

	if (!have_session() || opened->index < 0)
		return false;
	e2pf_chunk_map_address(&e2pf_btrfs_of(self.session)->map,
			       (unsigned)opened->index, offset, &system);
	return !system;
}

bool on_program_read(int fd, uint64_t offset, uint64_t length,
		     struct e2pf_read *read)
{
	struct e2pf_btrfs_opened *opened;
	E2PF_KEEP_ERRNO;

	if (!is_ours() || self.ended)
		return false;
	opened = find(fd);
	if (!opened)
		return false;
	if (!self.started && !is_super(offset, length)) {
		if (!self.weighed)
			weigh(fd);
		if (!self.ended && may_start(opened, offset)) {
			self.started = true;
			start_session();
		}
	}
	if (!self.started || opened->index < 0)
		return false;
	read->device = (unsigned)opened->index;
	read->offset = offset;
	read->length = length;
	e2pf_engine_before_read(self.session->engine, read);
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

/* Only blocks that were read ahead are dropped: a worker would read others
 * again, and wait in vain for the check to use them. */
void module_has_read(const struct e2pf_read *read)
{
	E2PF_KEEP_ERRNO;

	if (e2pf_engine_after_read(self.session->engine, read) &&
	    e2pf_btrfs_of(self.session)->used_once)
		posix_fadvise(descriptor_of(read->device),
			      (off_t)read->offset, (off_t)read->length,
			      POSIX_FADV_DONTNEED);
}

bool on_program_readahead(int *fd, uint64_t *offset, uint64_t length)
{
	const struct e2pf_btrfs_opened *opened = is_ours() ? find(*fd) : NULL;
	uint64_t there = *offset;
	E2PF_KEEP_ERRNO;
	int other;
	unsigned device;

	if (!opened || !self.started || self.ended || opened->index < 0)
		return false;
	device = (unsigned)opened->index;
	if (repeats_add(&self.repeats, device, *offset, length))
		return true;
	e2pf_btrfs_copy_read(e2pf_btrfs_of(self.session), &device, &there,
			     length);
	other = descriptor_of(device);
	if (other >= 0) {
		*fd = other;
		*offset = there;
	}
	return false;
}

void module_sends(int fd, const void *args)
{
	const char *why = "no memory";
	E2PF_KEEP_ERRNO;

	if (!is_ours() || self.why_not)
		return;
	keep_name(fd);
	self.sent = true;
	if (!self.send)
		self.send = e2pf_send_new(self.name, &module.setup.reading);
	if (self.send)
		why = e2pf_send_start(self.send, fd, args);
	if (why)
		e2pf_note_off(&module.report.notes, "off", why);
	self.sending = !why;
}

void module_has_sent(void)
{
	E2PF_KEEP_ERRNO;

	if (self.sending && !e2pf_send_stop(self.send, END_PATIENCE_MS))
		e2pf_note(&module.report.notes,
			  "prefetch: left behind (a worker waits for a device)");
	self.sending = false;
}

void module_passes_on(uint64_t bytes)
{
	E2PF_KEEP_ERRNO;

	if (self.sending)
		e2pf_send_came_out(self.send, bytes);
}

/*
 * Start and end of the process.
 */

static bool refers_to(const char *name, const char *other)
{
	return linkage_program_refers(name) ||
	       linkage_program_refers(other);
}

/* Whether this is a program that the module can follow.  The launcher, which
 * loads the module to try it, is not. */
static bool is_btrfs(void)
{
	return refers_to("pread", "pread64") &&
	       refers_to("posix_fadvise", "posix_fadvise64") &&
	       refers_to("ioctl", "ioctl");
}

/* Why nothing may be read ahead, or NULL. */
static const char *find_hindrance(void)
{
	enum selftest outcome = SELFTEST_NONE;
	const char *why = NULL;

	if (self.task == TASK_CHECK)
		why = arguments_aside(module.argv);
	if (!why && !selftest_may_read(&outcome))
		why = "a system call that it needs is not allowed";
	return why;
}

__attribute__((constructor))
static void begin(void)
{
	module_read_arguments();
	if (status_is_asked(module.argc, module.argv) && is_btrfs()) {
		module_begin("btrfs-prefetch");
		module_answer(true);
	}
	self.task = arguments_task(module.argv);
	if (self.task == TASK_OTHER || !is_btrfs())
		return;
	self.thread = pthread_self();
	/* Before the memory is divided, so that checks started at the same time
	 * see each other; and before the first thread, with which the kernel
	 * takes 10 ms to make room for a high descriptor. */
	e2pf_share_join();
	module_begin("btrfs-prefetch");
	if (!module.on || self.task == TASK_VERSION) {
		module.setup.prefetch = module.on = false;
		e2pf_share_leave();
		return;
	}
	self.why_not = find_hindrance();
	self.ended = self.why_not;
	reporter_begin(module.name, module.setup.progress);
}

static void add_notes(struct e2pf_notes *notes)
{
	if (self.why_not)
		e2pf_note_off(notes, "off", self.why_not);
	else if (!self.session && !self.sent)
		e2pf_note_off(notes, "off", "no filesystem was opened for a "
			      "check, and no subvolume was sent");
	if (self.repeats.calls)
		e2pf_note(notes, "readahead: repeats dropped (%llu of the check's "
			  "%llu calls)", (unsigned long long)self.repeats.repeated,
			  (unsigned long long)self.repeats.calls);
}

/* The session that prefetched something; NULL if none did. */
static struct e2pf_session *shown_session(void)
{
	return self.sent ? self.send : self.session;
}

static void tell(void)
{
	module.report.device = self.name;
	module.report.io_manager = "btrfs";
	add_notes(&module.report.notes);
	module_tell(&(struct module_result) {
		.session = shown_session(), .finished = shown_session(),
		.done = self.sent ? "sent" : "checked",
		.logged = !self.sent && self.session, .counted = true
	});
}

__attribute__((destructor))
static void end(void)
{
	/* A forked child of btrfs has no workers and must not print our
	 * report. */
	if (!module.setup.prefetch || getpid() != module.pid)
		return;
	end_session();
	reporter_end();
	module_has_sent();
	tell();
}
