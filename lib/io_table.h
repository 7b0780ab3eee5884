/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#ifndef LIB_IO_TABLE_H
#define LIB_IO_TABLE_H

#include <stdbool.h>

/*
 * Returns true if the library in this process finds the operations in an I/O manager's
 * table at the offsets that our header has.  Lustre's e2fsprogs has one more operation in
 * the middle.  Only if it is true may we provide a table, or replace an operation in one.
 */
bool e2pf_io_table_is_ours(void);

#endif
