/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which shared libraries a program file loads. */
#ifndef ELF_NEEDS_H
#define ELF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the program at `path` loads a shared library whose name begins with
 * `library`, so that a preloaded module can interpose between the two.  False
 * for a static program, a script, or a file that cannot be read.
 */
bool elf_needs(const char *path, const char *library);

/* The same for a program whose file contains these bytes. */
bool elf_bytes_need(const void *bytes, size_t size, const char *library);

#endif
