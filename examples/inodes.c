/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Prints the inodes in use of a filesystem, read through a mapping of its device:
 *
 *	cc inodes.c $(pkg-config --cflags --libs e2mmap com_err) -o inodes
 *	./inodes /dev/sdb1
 */
#include <e2mmap/mmap_io.h>
#include <stdio.h>

static int print_inodes(ext2_filsys fs)
{
	struct ext2_inode inode;
	ext2_inode_scan scan;
	ext2_ino_t ino;
	errcode_t err = ext2fs_open_inode_scan(fs, 0, &scan);

	if (err) {
		com_err("inodes", err, "while opening the inode scan");
		return 1;
	}
	while (!(err = ext2fs_get_next_inode(scan, &ino, &inode)) && ino)
		if (inode.i_links_count)
			printf("%u %o %llu\n", ino, inode.i_mode,
			       (unsigned long long)EXT2_I_SIZE(&inode));
	ext2fs_close_inode_scan(scan);
	if (err)
		com_err("inodes", err, "while reading inodes");
	return err != 0;
}

int main(int argc, char **argv)
{
	ext2_filsys fs;
	errcode_t err;
	int status;

	if (argc != 2) {
		fprintf(stderr, "Usage: inodes DEVICE\n");
		return 2;
	}
	add_error_table(&et_ext2_error_table);
	err = ext2fs_open2(argv[1], NULL, EXT2_FLAG_64BITS, 0, 0, e2mmap_io_manager,
			   &fs);
	if (err) {
		com_err("inodes", err, "while opening %s", argv[1]);
		return 1;
	}
	if (e2mmap_why_not(fs->io))
		fprintf(stderr, "not mapped: %s\n", e2mmap_why_not(fs->io));
	status = print_inodes(fs);
	ext2fs_close_free(&fs);
	return status;
}
