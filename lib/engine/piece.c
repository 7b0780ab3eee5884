/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "piece.h"

bool e2pf_is_sound(const struct e2pf_source *source,
		   const struct e2pf_ref *ref)
{
	return ref->cls < source->classes && ref->device < source->devices &&
	       ref->length && ref->offset < source->bytes[ref->device] &&
	       ref->length <= source->bytes[ref->device] - ref->offset;
}

bool e2pf_is_cached(struct e2pf_device *dev, uint64_t offset, uint64_t len,
		    bool held_counts)
{
	while (len) {
		enum e2pf_residency state;
		uint64_t n = dev->ops->span(dev, offset, len, &state);

		if (state == E2PF_MISSING ||
		    (state == E2PF_HELD && !held_counts))
			return false;
		offset += n;
		len -= n;
	}
	return true;
}

int e2pf_piece_read(struct e2pf_device *dev, uint64_t offset,
		    struct e2pf_piece *piece)
{
	if (!piece->size)
		return 0;
	if (!e2pf_have_room(&piece->bytes, &piece->room, 0, piece->size, 1)) {
		piece->size = 0;
		return ENOMEM;
	}
	return dev->ops->read(dev, piece->bytes, offset, piece->size);
}

void e2pf_piece_free(struct e2pf_piece *piece)
{
	free(piece->bytes);
	*piece = (struct e2pf_piece) { .size = 0 };
}
