/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two files with the same bytes, for tests that drive two I/O managers in step,
 * and pseudo-random numbers that are the same on every machine.
 */
#ifndef TWO_FILES_H
#define TWO_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Paths in a temporary folder of the test. */
extern char path_a[64], path_b[64], path_undo[64];
int make_folder(void **unused);
int remove_folder(void **unused);

/* The same sequence for a seed on every machine. */
void pick_from(uint32_t seed);
uint32_t pick(uint32_t below);
void fill(char *buf, size_t size);
void make_file(const char *path, size_t size, uint32_t seed);
void assert_same_files(void);

#endif
