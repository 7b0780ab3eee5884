/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces libext2fs's CRC-32C. */
#ifndef CHECKSUMS_H
#define CHECKSUMS_H

#include "crc32c.h"

/* From now on compute checksums with `fn`; NULL: with libext2fs. */
void checksums_begin(crc32c_fn *fn);

#endif
