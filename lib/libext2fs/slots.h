/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which places of an I/O manager's table libext2fs calls for what.  The table
 * is not the same in all versions there are: that of Lustre's e2fsprogs has an
 * operation more in the middle.
 */
#ifndef E2PF_SLOTS_H
#define E2PF_SLOTS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* The table as words, which all of its members are. */
typedef void (*e2pf_slot)(void) __attribute__((may_alias));
#define E2PF_SLOTS (sizeof(struct struct_io_manager) / sizeof(e2pf_slot))

struct e2pf_io_slots {
	unsigned read64, read32, readahead;
};

/* Ask the library in this process, by calls to a table that is none.  False
 * where it calls something else for them. */
bool e2pf_io_slots_find(struct e2pf_io_slots *slots);

/* Are they where the header that this was compiled with has them?  Only then
 * can a table made by us be used, or one of the library's be called. */
bool e2pf_io_slots_are_ours(void);

#endif
