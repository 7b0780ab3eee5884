/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Uses libext2fs's handle for the extents of an inode again. */
#ifndef EXTENTS_H
#define EXTENTS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* Is a handle of libext2fs's laid out as it is here? */
bool extents_layout_is_known(ext2_filsys fs);

/* From now on a handle that is freed is kept for the next inode, or not. */
void extents_keep(bool keep);

#endif
