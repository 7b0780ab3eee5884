// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A library to preload into stock e2fsck, to detect output that depends on
 * uninitialised variables.  Before each inode of pass 1 it fills the unused
 * stack with a pattern.  Output from initialised variables does not change.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Larger than the stack frames of the functions that check an inode. */
#define FILLED 16384

typedef long next_inode(void *scan, void *ino, void *inode, int size);

next_inode ext2fs_get_next_inode_full;

static void __attribute__((noinline)) fill_stack(void)
{
	char below[FILLED];

	memset(below, 0xa5, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
}

long ext2fs_get_next_inode_full(void *scan, void *ino, void *inode, int size)
{
	static next_inode *real;
	long error;

	if (!real)
		real = (next_inode *)dlsym(RTLD_NEXT,
					   "ext2fs_get_next_inode_full");
	error = real(scan, ino, inode, size);
	fill_stack();
	return error;
}
