/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Replaces libext2fs's walk over indirect blocks. */
#ifndef INDIRECT_H
#define INDIRECT_H

#include <ext2fs/ext2fs.h>

/* The callback of ext2fs_block_iterate3(). */
typedef int block_fn(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		     blk64_t ref_block, int ref_offset, void *data);

/* Begin to use our walk; before, indirect_iterate() calls libext2fs. */
void indirect_begin(void);

/* Does what ext2fs_block_iterate3() does, with our walk where possible. */
errcode_t indirect_iterate(ext2_filsys fs, ext2_ino_t ino, int flags,
			   char *block_buf, block_fn *func, void *data);

#endif
