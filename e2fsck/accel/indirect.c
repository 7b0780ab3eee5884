/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A walk over the blocks of an inode with indirect blocks.  It replaces that of
 * libext2fs if the caller does not want callbacks for holes, and skips several
 * holes at a time.  The indirect blocks of a scattered file consist mostly of
 * holes.
 *
 * The callbacks with their order and arguments, the reads and writes, and the
 * errors that end the walk are those of lib/ext2fs/block.c of e2fsprogs 1.47.0.
 */
#include "preload/interpose.h"
#include "interposers.h"

struct walk {
	ext2_filsys fs;
	block_fn *func;
	void *data;
	char *buf;		/* of three blocks */
	e2_blkcnt_t count;	/* current position, in blocks of the file */
	errcode_t err;
};

static bool on;

void indirect_begin(void)
{
	on = true;
}

/* Block numbers in an indirect block. */
static unsigned per_block(ext2_filsys fs)
{
	return fs->blocksize / sizeof(blk_t);
}

/* Blocks of the file that an indirect block at `level` covers; level 0 refers
 * to data blocks. */
static e2_blkcnt_t below(const struct walk *w, unsigned level)
{
	e2_blkcnt_t n = per_block(w->fs);

	while (level--)
		n *= per_block(w->fs);
	return n;
}

/* A compiler for a processor without vectors uses words instead. */
typedef uint64_t vector __attribute__((vector_size(16)));

/* The first number from `i` on that is not 0; `n` if there is none. */
static unsigned next_used(const blk_t *number, unsigned i, unsigned n)
{
	vector v[8], any;

	/* In a file without holes the first number is the answer. */
	if (i < n && number[i])
		return i;
	for (; i + 32 <= n; i += 32) {
		memcpy(v, number + i, sizeof(v));
		any = v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7];
		if (any[0] | any[1])
			break;
	}
	while (i < n && !number[i])
		i++;
	return i;
}

static int call(const struct walk *w, blk_t *block, e2_blkcnt_t count,
		blk_t ref_block, int ref_offset)
{
	blk64_t number = *block;
	int flags = w->func(w->fs, &number, count, ref_block, ref_offset,
			    w->data);

	*block = (blk_t)number;
	return flags;
}

static int walk_data(struct walk *w, blk_t ref_block, blk_t *number, int *ret)
{
	unsigned i, n = per_block(w->fs);
	e2_blkcnt_t first = w->count;
	int changed = 0, flags;

	for (i = next_used(number, 0, n); i < n;
	     i = next_used(number, i + 1, n)) {
		flags = call(w, number + i, first + i, ref_block,
			     (int)(i * sizeof(blk_t)));
		changed |= flags;
		if (flags & BLOCK_ABORT) {
			*ret |= BLOCK_ABORT;
			break;
		}
	}
	w->count = first + i;
	return changed;
}

static int walk_tree(struct walk *w, unsigned level, blk_t *block,
		     blk_t ref_block, int ref_offset);

static int walk_level(struct walk *w, unsigned level, blk_t ref_block,
		      blk_t *number, int *ret)
{
	unsigned i, n = per_block(w->fs);
	int changed = 0, flags, offset = 0;

	for (i = 0; i < n; i++) {
		if (!number[i]) {
			w->count += below(w, level - 1);
			continue;
		}
		/* libext2fs's offset does not count holes at these levels. */
		flags = walk_tree(w, level - 1, number + i, ref_block, offset);
		offset += (int)sizeof(blk_t);
		changed |= flags;
		if (flags & (BLOCK_ABORT | BLOCK_ERROR)) {
			*ret |= flags & (BLOCK_ABORT | BLOCK_ERROR);
			break;
		}
	}
	return changed;
}

/* Walk the indirect block at *block and all below it. */
static int walk_tree(struct walk *w, unsigned level, blk_t *block,
		     blk_t ref_block, int ref_offset)
{
	static const struct {
		e2_blkcnt_t count;
		errcode_t bad;
	} levels[] = {
		{ BLOCK_COUNT_IND, EXT2_ET_BAD_IND_BLOCK },
		{ BLOCK_COUNT_DIND, EXT2_ET_BAD_DIND_BLOCK },
		{ BLOCK_COUNT_TIND, EXT2_ET_BAD_TIND_BLOCK },
	};
	char *buf = w->buf + (size_t)level * w->fs->blocksize;
	int ret, changed;

	ret = call(w, block, levels[level].count, ref_block, ref_offset);
	if (!*block || (ret & BLOCK_ABORT)) {
		w->count += below(w, level);
		return ret;
	}
	if (*block >= ext2fs_blocks_count(w->fs->super) ||
	    *block < w->fs->super->s_first_data_block) {
		w->err = levels[level].bad;
		return ret | BLOCK_ERROR;
	}
	w->err = ext2fs_read_ind_block(w->fs, *block, buf);
	if (w->err)
		return ret | BLOCK_ERROR;
	changed = level ? walk_level(w, level, *block, (blk_t *)buf, &ret) :
		  walk_data(w, *block, (blk_t *)buf, &ret);
	if (changed & BLOCK_CHANGED) {
		w->err = ext2fs_write_ind_block(w->fs, *block, buf);
		if (w->err)
			ret |= BLOCK_ERROR | BLOCK_ABORT;
	}
	return ret;
}

static int walk_inode(struct walk *w, struct ext2_inode *inode)
{
	unsigned i, level;
	int ret = 0;

	for (i = 0; i < EXT2_NDIR_BLOCKS; i++, w->count++) {
		if (!inode->i_block[i])
			continue;
		ret |= call(w, &inode->i_block[i], w->count, 0, (int)i);
		if (ret & BLOCK_ABORT)
			return ret;
	}
	for (level = 0; level < 3; level++) {
		i = EXT2_IND_BLOCK + level;
		if (!inode->i_block[i]) {
			w->count += below(w, level);
			continue;
		}
		ret |= walk_tree(w, level, &inode->i_block[i], 0, (int)i);
		if (ret & BLOCK_ABORT)
			return ret;
	}
	return ret;
}

errcode_t indirect_iterate(ext2_filsys fs, ext2_ino_t ino, int flags,
			   char *block_buf, block_fn *func, void *data)
{
	struct walk w = {
		.fs = fs, .func = func, .data = data, .buf = block_buf
	};
	struct ext2_inode inode;
	errcode_t err;
	int ret;
	REAL(ext2fs_block_iterate3);

	if (!on || flags || !block_buf || !fs ||
	    fs->magic != EXT2_ET_MAGIC_EXT2FS_FILSYS ||
	    fs->super->s_creator_os == EXT2_OS_HURD)
		return real(fs, ino, flags, block_buf, func, data);
	err = ext2fs_read_inode(fs, ino, &inode);
	if (err)
		return err;
	if (inode.i_flags & (EXT4_INLINE_DATA_FL | EXT4_EXTENTS_FL))
		return real(fs, ino, flags, block_buf, func, data);
	ret = walk_inode(&w, &inode);
	if (ret & BLOCK_CHANGED) {
		err = ext2fs_write_inode(fs, ino, &inode);
		if (err) {
			ret |= BLOCK_ERROR;
			w.err = err;
		}
	}
	return ret & BLOCK_ERROR ? w.err : 0;
}
