/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * References and their bytes: which references are sound, and reading one that is
 * parsed piece by piece.  Any thread may call these functions, with its own piece.
 */
#ifndef E2PF_PIECE_H
#define E2PF_PIECE_H

#include "device/device.h"
#include "source.h"

/* Bytes of a reference that are parsed at once.  All zero: none yet. */
struct e2pf_piece {
	void *bytes;
	size_t room;
	uint32_t size;
};

/* Is the reference of a class and a device of the source, not empty, and within
 * that device? */
bool e2pf_is_sound(const struct e2pf_source *source,
		   const struct e2pf_ref *ref);

/* Read the piece of a sound reference that begins `at` bytes into it.  Returns 0
 * or an errno.  If piece->size is 0, the rest of the reference is not parsed. */
int e2pf_piece_read(struct e2pf_source *source, struct e2pf_device *dev,
		    const struct e2pf_ref *ref, uint64_t at,
		    struct e2pf_piece *piece);

void e2pf_piece_free(struct e2pf_piece *piece);

#endif
