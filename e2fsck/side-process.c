/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side process: reads a filesystem's metadata into the page cache while
 * an e2fsck that takes no module runs.  Decides only whether there is
 * something to help with; knows nothing of where the check is.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "e2prefetch.h"
#include "environment.h"
#include "session.h"
#include "report/stats_file.h"
#include "task.h"

/* What makes e2fsck check a filesystem in full that nobody forced it to. */
static bool needs_check(const struct ext2_super_block *sb)
{
	if (!(sb->s_state & EXT2_VALID_FS) || (sb->s_state & EXT2_ERROR_FS))
		return true;
	if (sb->s_max_mnt_count > 0 &&
	    sb->s_mnt_count >= (unsigned)sb->s_max_mnt_count)
		return true;
	return sb->s_checkinterval && (uint64_t)time(NULL) >=
	       (uint64_t)sb->s_lastcheck + sb->s_checkinterval;
}

/* Prefetch until the checker has ended: its end makes `checker` readable. */
static void help(const struct environment *env, const struct task *task,
		 int checker, const char *why)
{
	struct e2pf_decisions decisions = { .count = 0 };
	struct pollfd end = { .fd = checker, .events = POLLIN };
	struct e2pf_session *session;
	ext2_filsys fs;

	if (ext2fs_open2(task->device, NULL, EXT2_FLAG_64BITS |
			 EXT2_FLAG_SKIP_MMP | EXT2_FLAG_SOFTSUPP_FEATURES,
			 task->superblock, task->block_size, unix_io_manager,
			 &fs))
		return;
	if ((task->force || needs_check(fs->super)) &&
	    !e2pf_open(fs, task->device, 0, &env->settings, &session)) {
		ext2fs_free(fs);
		e2pf_start(session);
		/* Not knowing when the checker ends, end now. */
		while (poll(&end, 1, -1) < 0 && errno == EINTR)
			;
		e2pf_stop(session);
		e2pf_decide(&decisions, "module", "left out", "%s", why);
		session->decisions = &decisions;
		/* The launcher has checked the file; nobody is left to tell. */
		e2pf_stats_save(session, env->stats, stderr);
		e2pf_close(session);
	} else {
		ext2fs_free(fs);
	}
}

int main(int argc, char **argv)
{
	struct environment env;
	struct task task;

	if (argc < 5)
		return 0;
	if (dup2(atoi(argv[2]), STDERR_FILENO) >= 0)
		close(atoi(argv[2]));
	/* The launcher has said what is wrong with the environment. */
	read_environment(&env);
	task = task_read(argc - 3, argv + 3);
	if (env.prefetch && task.device)
		help(&env, &task, atoi(argv[1]), argv[3]);
	return 0;
}
