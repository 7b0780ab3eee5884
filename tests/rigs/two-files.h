/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two files of the same bytes, for tests that drive two I/O managers in step, and
 * numbers that are the same on every machine.
 */
#ifndef TWO_FILES_H
#define TWO_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Files in a folder of the test's own. */
extern char path_a[64], path_b[64], path_undo[64];
int make_folder(void **unused);
int remove_folder(void **unused);

/* The same numbers on every machine, from a seed on. */
void pick_from(uint32_t seed);
uint32_t pick(uint32_t below);
void fill(char *buf, size_t size);
void make_file(const char *path, size_t size, uint32_t seed);
void assert_same_files(void);

#endif
