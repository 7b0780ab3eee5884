/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Replaces libext2fs's CRC-32C (Castagnoli), as ext4 metadata checksums use it:
 * bits reflected, neither the seed nor the result inverted.
 */
#ifndef CRC32C_H
#define CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t crc32c_fn(uint32_t seed, const unsigned char *p, size_t len);

/* The function for this processor; NULL: it has no instruction for it.  Any
 * thread may call it. */
crc32c_fn *crc32c_choose(void);

/* From now on ext2fs_crc32c_le() computes with `fn`; NULL: with libext2fs. */
void crc32c_begin(crc32c_fn *fn);

#endif
