/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds which operations of an I/O manager's table libext2fs calls.  The table
 * is not the same in all versions: in Lustre's e2fsprogs it has one more
 * operation in the middle.
 */
#ifndef E2PF_IO_TABLE_H
#define E2PF_IO_TABLE_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* The table as an array of words; each of its members is one word. */
typedef void (*e2pf_slot)(void) __attribute__((may_alias));
#define E2PF_SLOTS (sizeof(struct struct_io_manager) / sizeof(e2pf_slot))

struct e2pf_io_table {
	unsigned read64, read32, readahead;
};

/* Find the positions by letting the library in this process call a table of
 * probe functions.  Returns false if the library calls something else. */
bool e2pf_io_table_find(struct e2pf_io_table *slots);

/* True if the positions are those in the header that this was compiled with.
 * Only then may we provide a table, or call operations in one of the
 * library's. */
bool e2pf_io_table_is_ours(void);

#endif
