/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32C in place of libext2fs's. */
#ifndef CHECKSUMS_H
#define CHECKSUMS_H

#include "crc32c.h"

/* From now on checksums are computed by `fn`; NULL: by libext2fs itself. */
void checksums_begin(crc32c_fn *fn);

#endif
