/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filesystem in a file, made by libext2fs: 1 KiB blocks, a root directory
 * and nothing else, all inodes of each group to be read by a scan.
 */
#ifndef FILE_FS_H
#define FILE_FS_H

/* Make it of so many blocks in the file at `path`, new or empty; -1 when that
 * fails. */
int file_fs(const char *path, unsigned blocks);

#endif
