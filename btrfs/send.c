/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btrfs send, as the module sees it.  Each subvolume is one BTRFS_IOC_SEND
 * ioctl, which names the subvolume and its parent, and returns when the kernel
 * has written the whole stream.  Prefetching begins and ends with this call.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <linux/btrfs.h>

#include "send.h"
#include "send/send.h"

/* A flag of newer kernels: extents are sent compressed, as they are stored. */
#define FLAG_COMPRESSED 0x10u

/* How long the end of a send waits for a worker that waits for the device. */
#define END_PATIENCE_MS 1000

static struct {
	struct e2pf_session *send;
	_Atomic(bool) goes_on;
	bool tried;
	struct e2pf_decisions refused;
} self;

void send_begins(int fd, const void *args, const char *name,
		 const struct e2pf_settings *settings)
{
	const struct btrfs_ioctl_send_args *a = args;
	struct e2pf_send_request request = {
		.fd = fd,
		.parent = a->parent_root,
		.clones = (const uint64_t *)(uintptr_t)a->clone_sources,
		.clone_count = (size_t)a->clone_sources_count,
		.no_data = a->flags & BTRFS_SEND_FLAG_NO_FILE_DATA,
		.as_stored = a->flags & FLAG_COMPRESSED
	};
	const char *why = "no memory";
	int saved = errno;

	self.tried = true;
	if (!self.send)
		self.send = e2pf_send_new(name, settings);
	if (self.send)
		why = e2pf_send_start(self.send, &request);
	if (why)
		e2pf_decide_off(&self.refused, "off", "%s", why);
	self.goes_on = !why;
	errno = saved;
}

void send_ends(void)
{
	int saved = errno;

	if (self.goes_on && !e2pf_send_stop(self.send, END_PATIENCE_MS))
		e2pf_decide(&self.refused, "prefetch", "left behind",
			    "a worker waits for a device");
	self.goes_on = false;
	errno = saved;
}

void send_came_out(uint64_t bytes)
{
	int saved = errno;

	if (self.goes_on)
		e2pf_send_came_out(self.send, bytes);
	errno = saved;
}

bool send_was_tried(void)
{
	return self.tried;
}

void send_refusals(struct e2pf_decisions *list)
{
	size_t i;

	for (i = 0; i < self.refused.count; i++)
		e2pf_decide(list, self.refused.item[i].about,
			    self.refused.item[i].decision, "%s",
			    self.refused.item[i].reason);
	if (self.refused.off && !list->off)
		memcpy(list->why_off, self.refused.why_off,
		       sizeof(list->why_off));
	list->off |= self.refused.off;
}

struct e2pf_session *send_session(void)
{
	return self.send;
}
