/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the launcher must know of a program file. */
#ifndef ELF_NEEDS_H
#define ELF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does the program at `path` load a shared library whose name begins with
 * `library`, so that a preloaded module can stand between the two?  False
 * for a static program, a script, or what cannot be read.
 */
bool elf_needs(const char *path, const char *library);

/* The same for the program whose file has these bytes. */
bool elf_bytes_need(const void *bytes, size_t size, const char *library);

#endif
