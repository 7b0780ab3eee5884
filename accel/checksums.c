/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stand-in for libext2fs's CRC-32C. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "checksums.h"
#include "real.h"

static crc32c_fn *crc32c;

void checksums_begin(crc32c_fn *fn)
{
	crc32c = fn;
}

__u32 ext2fs_crc32c_le(__u32 crc, unsigned char const *p, size_t len)
{
	REAL(ext2fs_crc32c_le);

	return crc32c ? crc32c(crc, p, len) : real(crc, p, len);
}
