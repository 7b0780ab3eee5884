/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A filesystem in a file, made by libext2fs: 1 KiB blocks, only a root
 * directory, and a scan has to read all inodes of each group.
 */
#ifndef FILE_FS_H
#define FILE_FS_H

/* Make it with this many blocks in the file at `path`, which is new or empty.
 * Returns -1 on failure. */
int file_fs(const char *path, unsigned blocks);
/* Drop what is cached of it. */
int file_fs_evict(const char *path);

#endif
