/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a leaf of the checksum tree to the places of the data. */
#ifndef E2PF_BTRFS_DATA_H
#define E2PF_BTRFS_DATA_H

#include "chunk_map.h"
#include "engine/source.h"

/*
 * Pass the data whose checksums are in this block of super->nodesize bytes to
 * the sink, as references of class E2PF_BTRFS_CLASS_DATA in the order of
 * addresses: of each piece the first copy.  Nothing is passed if its ranges are
 * long on average, or if the block is not the leaf of the checksum tree at this
 * address.  Thread-safe once `map`,
 * which has data, is finished.
 */
void e2pf_btrfs_pass_data(const struct e2pf_btrfs_super *super,
			  const struct e2pf_chunk_map *map, uint64_t logical,
			  const void *block, e2pf_sink sink, void *ctx);

#endif
