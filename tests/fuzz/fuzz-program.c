/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds arbitrary files to the launcher's ELF reader.  It must return a result,
 * and may read only inside the file.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "fuzz.h"
#include "elf_needs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t *bytes = take(&in, size);

	elf_bytes_need(bytes, size, "libext2fs.so.");
	free(bytes);
	return 0;
}
