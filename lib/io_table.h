/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#ifndef LIB_IO_TABLE_H
#define LIB_IO_TABLE_H

#include <stdbool.h>

/*
 * True if the library in this process calls the operations of an I/O manager's
 * table at the places where the header has them that this was compiled with.  In
 * Lustre's e2fsprogs there is one more in the middle.  Only if it is true may we
 * provide a table, or replace an operation in one.
 */
bool e2pf_io_table_is_ours(void);

#endif
