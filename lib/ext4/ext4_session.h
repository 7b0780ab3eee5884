/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session on ext2, ext3 or ext4, and what the module in e2fsck needs of it
 * beyond the public header.
 */
#ifndef E2PF_EXT4_SESSION_H
#define E2PF_EXT4_SESSION_H

#include "ext4_source.h"
#include "journal.h"
#include "libext2fs/observe.h"
#include "session.h"

struct e2pf_ext4_session {
	struct e2pf_session base;
	struct e2pf_geometry geo;
	struct e2pf_group *groups;
	unsigned classes;
	uint64_t superblock;		/* block it was opened from */
	struct e2pf_ext4 *ext4;
	struct e2pf_observer *observer;
	struct e2pf_journal *journal;	/* NULL: nobody looks at it */
	uint64_t journal_bytes;		/* of sessions inherited */
	uint64_t journal_requests;
	const char *io_manager;
	void *probe;			/* what e2pf_probe() has handed out */
};

static inline struct e2pf_ext4_session *e2pf_ext4_of(struct e2pf_session *s)
{
	return (struct e2pf_ext4_session *)s;
}

/*
 * As e2pf_open(), for a program that reads through fs->io: its reads are
 * watched from now on, by `observer`, and the engine is paced by them.  The
 * observer is the caller's, for one session at a time.  `exact`: statistics
 * will be written.
 */
errcode_t e2pf_open_paced(ext2_filsys fs, const char *device, uint64_t offset,
			  const struct e2pf_settings *settings, bool exact,
			  struct e2pf_observer *observer,
			  struct e2pf_session **session);

/* The same without a checker and with hooks, which may be NULL. */
errcode_t e2pf_open_hooked(ext2_filsys fs, const char *device, uint64_t offset,
			   const struct e2pf_settings *settings,
			   const struct e2pf_hooks *hooks,
			   struct e2pf_session **session);

/* The checker is about to walk over the map of the filesystem's journal, which
 * has no extents: `block` are the indirect, the double and the triple indirect
 * block of its inode, 0 where there is none. */
void e2pf_journal_map(struct e2pf_session *session, const uint32_t block[3]);

/* The next block of the filesystem's journal, which will be replayed: it is
 * read ahead of the replay until pass 1 begins. */
void e2pf_journal_block(struct e2pf_session *session, uint64_t block);

/*
 * A scan of all inodes begins, and whatever was read ahead for another one ends:
 * choose threads, order and budget by what the device is, and start.  Any
 * number of times.  `fs` is the one of e2pf_open_paced(), read during the call.
 * Without effect where a thread still waits for the device.
 */
errcode_t e2pf_start_paced(struct e2pf_session *session, ext2_filsys fs);

/* The program has opened its filesystem again: go on counting where the
 * ended session `old` stopped, and close that. */
void e2pf_inherit(struct e2pf_session *session, struct e2pf_session *old);

#endif
