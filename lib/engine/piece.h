/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * References and their bytes: which references are sound or cached, and reading one
 * that is parsed piece by piece.  Any thread may call these functions, with its own
 * piece.
 */
#ifndef E2PF_PIECE_H
#define E2PF_PIECE_H

#include "device/device.h"
#include "source.h"

/* The buffer for what is parsed at once.  The caller sets `size`, as the source says; 0: the
 * rest of the reference is not parsed.  All zero: empty. */
struct e2pf_piece {
	void *bytes;
	size_t room;
	uint32_t size;
};

/* Is the reference of a class and a device of the source, not empty, and within
 * that device? */
bool e2pf_is_sound(const struct e2pf_source *source,
		   const struct e2pf_ref *ref);

/* Are all of these bytes in the page cache?  `held_counts`: also if they are held. */
bool e2pf_is_cached(struct e2pf_device *dev, uint64_t offset, uint64_t len,
		    bool held_counts);

/* Read piece->size bytes from this offset.  Returns 0 or an errno; without memory
 * piece->size becomes 0. */
int e2pf_piece_read(struct e2pf_device *dev, uint64_t offset,
		    struct e2pf_piece *piece);

void e2pf_piece_free(struct e2pf_piece *piece);

#endif
