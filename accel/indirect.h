/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over indirect blocks in place of libext2fs's. */
#ifndef INDIRECT_H
#define INDIRECT_H

#include <ext2fs/ext2fs.h>

typedef int block_fn(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		     blk64_t ref_block, int ref_offset, void *data);

/* From now on; until then indirect_iterate() is libext2fs's function. */
void indirect_begin(void);

/* What ext2fs_block_iterate3() does, by the walk here where it can be. */
errcode_t indirect_iterate(ext2_filsys fs, ext2_ino_t ino, int flags,
			   char *block_buf, block_fn *func, void *data);

#endif
