/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which parts of the module can be used: by checking which functions
 * are called through the dynamic linker, which functions exist, and by trying
 * them.
 *
 * Neither the version number of libext2fs nor the name of a function is enough
 * to trust it.  Ubuntu, for example, links the library so that its internal
 * calls bypass every stand-in.
 */
#include "libext2fs/weak.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bitmaps.h"
#include "crc32c.h"
#include "indirect.h"
#include "linkage.h"
#include "trial.h"
#include "libext2fs/io_table.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Without these calls the module cannot see where the check is. */
static const char *const progress_calls[] = {
	"ext2fs_open2", "ext2fs_open_inode_scan", "ext2fs_get_next_inode_full",
	"ext2fs_dblist_iterate2", "ext2fs_read_bitmaps", "ext2fs_close_free",
};

static const char *const checksum_calls[] = { "ext2fs_crc32c_le" };

static const char *const walk_calls[] = { "ext2fs_block_iterate3" };

static bool all_there(const char *const *names, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!dlsym(RTLD_NEXT, names[i]))
			return false;
	return true;
}

bool trial_sees_progress(void)
{
	return all_there(progress_calls, COUNT(progress_calls)) &&
	       linkage_program_refers(progress_calls, COUNT(progress_calls));
}

static uint32_t no_checksum(uint32_t crc, const unsigned char *p, size_t len)
{
	(void)crc;
	(void)p;
	(void)len;
	return 0x65327066;
}

/* The library's checksum of an empty superblock. */
static uint32_t library_checksum(void)
{
	struct struct_ext2_filsys fs;
	struct ext2_super_block sb;

	memset(&fs, 0, sizeof(fs));
	memset(&sb, 0, sizeof(sb));
	fs.magic = EXT2_ET_MAGIC_EXT2FS_FILSYS;
	fs.super = &sb;
	ext2fs_set_feature_metadata_csum(&sb);
	sb.s_checksum_type = EXT2_CRC32C_CHKSUM;
	if (ext2fs_superblock_csum_set(&fs, &sb))
		return 0;
	return sb.s_checksum;
}

static enum finding try_crc32c(void)
{
	crc32c_fn *fn = crc32c_choose();
	uint32_t stock, ours, none;

	if (!all_there(checksum_calls, COUNT(checksum_calls)))
		return FINDING_ABSENT;
	if (!fn)
		return FINDING_UNABLE;
	stock = library_checksum();
	crc32c_begin(no_checksum);
	none = library_checksum();
	crc32c_begin(fn);
	ours = library_checksum();
	crc32c_begin(NULL);
	if (none == stock)
		return FINDING_LINKED;
	return ours == stock ? FINDING_WHOLE : FINDING_DIFFERS;
}

/* The releases in which every function that uses the table of the trees was
 * reviewed, up to that of configure.ac.  A later one may have further
 * operations, which a trial of the known ones cannot reveal. */
static bool is_read_version(void)
{
	const char *version = "";

	ext2fs_get_library_version(&version, NULL);
	return strverscmp(version, "1.46.2") >= 0 &&
	       strverscmp(version, E2FSPROGS_REVIEWED) <= 0;
}

static bool lives_alike(const struct trial_life *a, const struct trial_life *b)
{
	return a->results == b->results &&
	       !memcmp(a->result, b->result,
		       a->results * sizeof(a->result[0]));
}

/* The next two use I/O managers of ours.  If libext2fs's table of operations
 * differs from the one we know, it would call other functions of them. */

static enum finding try_indirect(void)
{
	if (!e2pf_io_table_is_ours())
		return FINDING_UNREAD;
	if (!all_there(walk_calls, COUNT(walk_calls)))
		return FINDING_ABSENT;
	if (!linkage_program_refers(walk_calls, COUNT(walk_calls)))
		return FINDING_LINKED;
	return trial_walks_agree() ? FINDING_WHOLE : FINDING_DIFFERS;
}

static enum finding try_bitmaps(void)
{
	static struct trial_life tree, ours;
	bool lived;

	if (!is_read_version() || !e2pf_io_table_is_ours())
		return FINDING_UNREAD;
	/* A parallel e2fsck merges the maps of its threads, which works only
	 * with libext2fs's trees. */
	if (linkage_program_has_threads())
		return FINDING_THREADS;
	if (!trial_live(&tree))
		return FINDING_UNABLE;
	if (!tree.known)
		return FINDING_UNREAD;
	if (!bitmaps_begin())
		return FINDING_ABSENT;
	lived = trial_live(&ours);
	bitmaps_end();
	return lived && lives_alike(&tree, &ours) ? FINDING_WHOLE :
						    FINDING_DIFFERS;
}

void trial_run(void *findings)
{
	struct findings *f = findings;
	unsigned i;

	for (i = 0; i < ABILITIES; i++)
		f->of[i] = FINDING_ABSENT;
	if (!(true E2PF_ACCELERATES_WITH(E2PF_IS_THERE)))
		return;
#define TRY(ability, name) f->of[ABILITY_##ability] = try_##name();
	ACCELERATIONS(TRY)
#undef TRY
}
