/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The ext4 part of a session: a snapshot of superblock and descriptors, the
 * device and the source; and the public functions that depend on
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "lib/mmap_io.h"

/* A second scan waits at most so long for the threads of the first. */
#define RESTART_PATIENCE_MS 1000

/* libext2fs keeps the superblock and descriptors in host byte order; the
 * planner expects them in on-disk order. */
static errcode_t parse_geometry(struct ext4_session *s, ext2_filsys fs)
{
	struct ext2_super_block sb = *fs->super;

#ifdef WORDS_BIGENDIAN
	ext2fs_swap_super(&sb);
#endif
	return ext4_plan_superblock(&sb, &s->geo) ? EXT2_ET_CORRUPT_SUPERBLOCK :
						    0;
}

static bool has_groups(const struct ext4_session *s, ext2_filsys fs)
{
	return fs->group_desc && fs->group_desc_count >= s->geo.groups;
}

/* The checker may change a descriptor while it is copied: the group is checked
 * as if it came from a disk. */
static void copy_group(void *groups_owner, uint32_t g, struct ext4_group *group)
{
	struct ext4_session *s = groups_owner;
	char desc[EXT2_MAX_DESC_SIZE];
	bool known;

	pthread_mutex_lock(&s->lock);
	known = s->fs && has_groups(s, s->fs);
	if (known) {
		memcpy(desc, ext2fs_group_desc(s->fs, s->fs->group_desc, g),
		       s->geo.desc_size);
#ifdef WORDS_BIGENDIAN
		ext2fs_swap_group_desc2(s->fs, (void *)desc);
#endif
	}
	pthread_mutex_unlock(&s->lock);
	if (known)
		ext4_plan_descriptor(&s->geo, g, desc, group);
}

/* From now on groups are taken from `fs`; NULL: there are none. */
static errcode_t accept_groups(struct ext4_session *s, ext2_filsys fs)
{
	pthread_mutex_lock(&s->lock);
	s->fs = fs;
	pthread_mutex_unlock(&s->lock);
	return fs && has_groups(s, fs) ? 0 : EXT2_ET_CORRUPT_SUPERBLOCK;
}

static void report(struct pf_session *session, struct pf_report *r)
{
	const struct ext4_session *s = ext4_session_of(session);

	r->block_size = s->geo.block_size;
	r->io_manager = s->io_manager;
	r->journal_bytes = s->journal_bytes;
	r->order = "in the checker's order";
	if (r->budget)
		pf_report_note(&r->notes, "reads: %s (%s)", s->io_manager,
			       s->unmapped ? s->unmapped :
			       "cached blocks are copied from a mapping");
	else
		pf_report_note_off(&r->notes, "off",
				   "the check ended before pass 1");
}

static void get_progress(struct pf_session *session,
			 const struct pf_engine_stats *engine,
			 struct pf_progress *p)
{
	struct ext4_session *s = ext4_session_of(session);
	struct ext4_progress at = {
		.passed = engine->at_phase == EXT4_PHASE_TABLES ? engine->at : 0
	};

	ext4_source_get_progress(s->ext4, &at);
	if (engine->at_stage == EXT4_PASS1) {
		p->position = (double)at.passed_inodes;
		p->positions = (double)at.inodes;
		p->unit = "inodes";
	} else if (engine->at_stage == EXT4_PASS2) {
		p->position = engine->at_phase == EXT4_PHASE_LIST ?
			      (double)engine->at : 0;
		p->positions = (double)at.list_total;
		p->unit = "directory blocks";
	}
}

static void stop(struct pf_session *session)
{
	struct ext4_session *s = ext4_session_of(session);

	accept_groups(s, NULL);
}

static void free_session(struct pf_session *session)
{
	struct ext4_session *s = ext4_session_of(session);

	ext4_source_free(s->ext4);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static const struct pf_filesystem ext4 = {
	.stage_names = ext4_stage_names,
	.stages = EXT4_STAGES,
	.report = report,
	.get_progress = get_progress,
	.stop = stop,
	.free = free_session
};

static errcode_t add_device(struct ext4_session *s, const char *path,
			    uint64_t offset)
{
	struct pf_device *dev;
	struct stat st;
	int err = pf_device_open(path, offset, &dev);

	if (err)
		return err;
	if (fstat(dev->fd, &st))
		memset(&st, 0, sizeof(st));
	pf_session_add_device(&s->base, dev, &st);
	return 0;
}

/* Returns the name.  Sets *unmapped to why the manager does not map the device; NULL:
 * it does. */
static const char *name_manager(io_channel io, const char **unmapped)
{
	if (io->manager != e2mmap_io_manager) {
		*unmapped = "the I/O manager the filesystem was opened with";
		return io->manager == unix_io_manager ? "unix" : "other";
	}
	*unmapped = e2mmap_why_not(io);
	return *unmapped ? "unix" : "mmap";
}

static errcode_t create_engine(struct ext4_session *s,
			       const struct ext4_source_options *what)
{
	static const struct ext4_source_options all = {
		.classes = EXT4_ALL_CLASSES
	};

	if (!what)
		what = &all;
	s->ext4 = what->below_count ? ext4_directories_new(&s->geo, what) :
				      ext4_source_new(&s->geo, what);
	if (!s->ext4)
		return EXT2_ET_NO_MEMORY;
	s->ext4->copy_group = copy_group;
	s->ext4->groups_owner = s;
	s->base.engine = pf_engine_new(&s->ext4->source, s->base.dev);
	return s->base.engine ? 0 : EXT2_ET_NO_MEMORY;
}

errcode_t ext4_session_open(ext2_filsys fs, const char *device, uint64_t offset,
			    const struct pf_settings *settings,
			    const struct pf_options *options,
			    const struct ext4_source_options *what,
			    struct pf_session **session)
{
	struct ext4_session *s = calloc(1, sizeof(*s));
	bool has_checker = options && options->has_checker;
	errcode_t err;

	if (!s)
		return EXT2_ET_NO_MEMORY;
	pthread_mutex_init(&s->lock, NULL);
	err = pf_session_init(&s->base, &ext4, device, settings, options);
	if (!err)
		err = parse_geometry(s, fs);
	if (!err)
		err = add_device(s, device, offset);
	if (err)
		goto fail;
	s->io_manager = name_manager(fs->io, &s->unmapped);
	/* The command opens a descriptor, with another table. */
	if (!has_checker)
		s->io_manager = "unix";
	err = create_engine(s, what);
	if (!err && !has_checker)
		err = accept_groups(s, fs);
	if (err)
		goto fail;
	if (!has_checker)
		pf_session_choose(&s->base);
	*session = &s->base;
	return 0;
fail:
	pf_session_free(&s->base);
	return err;
}

void ext4_session_request_journal(struct pf_session *session,
				  const uint32_t block[3])
{
	struct ext4_session *s = ext4_session_of(session);

	if (!session->dev[0]->unusable)
		s->journal_bytes += ext4_journal_request(session->dev[0],
							 &s->geo, block);
}

/* Memory needed beside the blocks that are read ahead: by threads, tables and
 * references, and for each group by the blocks that it leads to, in e2fsck too.
 * With less, a check that ends without us would not end with us. */
#define OWN_BYTES (UINT64_C(12) << 20)
#define OWN_BYTES_OF_GROUP 128u

errcode_t ext4_session_start_scan(struct pf_session *session, ext2_filsys fs)
{
	struct ext4_session *s = ext4_session_of(session);

	if (!pf_engine_stop(session->engine, RESTART_PATIENCE_MS))
		return EXT2_ET_OP_NOT_SUPPORTED;
	if (accept_groups(s, fs))
		return EXT2_ET_CORRUPT_SUPERBLOCK;
	pf_session_choose(session);
	if (session->available < OWN_BYTES +
	    (uint64_t)s->geo.groups * OWN_BYTES_OF_GROUP)
		session->why_off = "too little memory is available";
	return pf_session_start(session);
}

void ext4_session_inherit(struct pf_session *session, struct pf_session *old)
{
	struct ext4_session *s = ext4_session_of(session);

	pf_session_count(old, &session->past);
	s->journal_bytes += ext4_session_of(old)->journal_bytes;
	pf_session_free(old);
}
