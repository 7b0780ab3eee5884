/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a checker's module needs of a session beyond the public header: a
 * session that a checker paces.
 */
#ifndef E2PF_SESSION_H
#define E2PF_SESSION_H

#include "decisions.h"
#include "engine/engine.h"
#include "ext4/ext4_source.h"
#include "libext2fs/observe.h"

/*
 * As e2pf_open(), for a program that reads through fs->io: its reads are
 * watched from now on, by `observer`, and the engine is paced by them.  The
 * observer is the caller's, for one session at a time.
 */
errcode_t e2pf_open_paced(ext2_filsys fs, const char *device, uint64_t offset,
			  const struct e2pf_settings *settings,
			  struct e2pf_observer *observer,
			  struct e2pf_session **session);

/* The engine of a session and the source it works from, to which the checker's
 * reports go. */
struct e2pf_engine *e2pf_session_engine(struct e2pf_session *session);
struct e2pf_ext4 *e2pf_session_ext4(struct e2pf_session *session);

/* The checker is about to walk over the map of the filesystem's journal, which
 * has no extents: `block` are the indirect, the double and the triple indirect
 * block of its inode, 0 where there is none. */
void e2pf_journal_map(struct e2pf_session *session, const uint32_t block[3]);

/* The next block of the filesystem's journal, which will be replayed: it is
 * read ahead of the replay until pass 1 begins. */
void e2pf_journal_block(struct e2pf_session *session, uint64_t block);

/* Pass 1 begins: choose threads, order and budget by what the device is, and
 * start.  `fs` is the one of e2pf_open_paced(), read during the call. */
errcode_t e2pf_start_paced(struct e2pf_session *session, ext2_filsys fs);

/* The program has opened its filesystem again: go on counting where the
 * ended session `old` stopped, and close that. */
void e2pf_inherit(struct e2pf_session *session, struct e2pf_session *old);

/* Name the accelerations in use for the statistics, in place of those named
 * before.  The array and the strings are read by e2pf_write_stats(). */
void e2pf_session_accelerations(struct e2pf_session *session,
				const char *const *names, size_t count);

/* Let the statistics hold these decisions too, before the session's own.  The
 * list is read by e2pf_write_stats(). */
void e2pf_session_decisions(struct e2pf_session *session,
			    const struct e2pf_decisions *list);

/* Has pass 1 begun, so that there was something to be decided? */
bool e2pf_session_has_begun(const struct e2pf_session *session);

/* Add what the session itself has decided: memory, threads, order, and
 * whether it read ahead at all. */
void e2pf_session_describe(struct e2pf_session *session,
			   struct e2pf_decisions *list);

/* Add what the run has come to (summary.h).  False when nothing was read
 * ahead: then there is nothing to say but why. */
bool e2pf_session_summarize(struct e2pf_session *session,
			    struct e2pf_decisions *list);

/* Stop and let go of the channel, keeping the statistics; at most
 * `milliseconds` for a thread that waits for the device (-1: all it takes).
 * False when one is left behind: the session must then not be closed. */
bool e2pf_end(struct e2pf_session *session, int milliseconds);

#endif
