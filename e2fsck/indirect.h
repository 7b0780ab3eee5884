/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk over indirect blocks in place of libext2fs's. */
#ifndef INDIRECT_H
#define INDIRECT_H

/* From now on. */
void indirect_begin(void);

#endif
