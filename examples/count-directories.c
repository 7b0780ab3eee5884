/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the directories of a filesystem while its metadata is read ahead:
 * cc -o count-directories count-directories.c $(pkg-config --cflags --libs e2prefetch)
 */
#include <stdio.h>
#include <e2prefetch.h>

static errcode_t count(ext2_filsys fs, unsigned *directories)
{
	struct ext2_inode inode;
	ext2_inode_scan scan;
	ext2_ino_t ino;
	errcode_t err = ext2fs_open_inode_scan(fs, 0, &scan);

	if (err)
		return err;
	while (!(err = ext2fs_get_next_inode(scan, &ino, &inode)) && ino)
		*directories += inode.i_links_count &&
				LINUX_S_ISDIR(inode.i_mode);
	ext2fs_close_inode_scan(scan);
	return err;
}

int main(int argc, char **argv)
{
	const char *device = argc == 2 ? argv[1] : "";
	struct e2pf_session *session = NULL;
	unsigned directories = 0;
	ext2_filsys fs;
	errcode_t err;

	initialize_ext2_error_table();
	err = ext2fs_open(device, EXT2_FLAG_64BITS, 0, 0, e2pf_mmap_io_manager, &fs);
	if (!err) {
		/* The count does not depend on whether this succeeds. */
		if (!e2pf_open(fs, device, 0, NULL, &session))
			e2pf_start(session);
		err = count(fs, &directories);
		e2pf_close(session);
		ext2fs_free(fs);
	}
	if (err)
		fprintf(stderr, "%s: %s\n", device, error_message(err));
	else
		printf("%u directories\n", directories);
	return err ? 8 : 0;
}
