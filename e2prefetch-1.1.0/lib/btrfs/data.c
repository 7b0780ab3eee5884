/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data that a check compares with its checksums. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "btrfs_source.h"
#include "data.h"
#include "format.h"

/* The largest reference, a multiple of all sector sizes: larger ones would take
 * more than the room that was left in the budget. */
#define PIECE_MOST (1u << 20)

/*
 * The check reads each range with one call, and the kernel reads ahead within
 * it, in larger pages than for an advice.  If ranges are this long on average,
 * nothing is gained, and twice the system time spent: 0.9 instead of 0.3 s for
 * 1.3 GB of freshly written files.
 */
#define LONG_RANGE (256u << 10)

struct data_count {
	uint64_t ranges, bytes;
};

static void count_range(void *ctx, uint64_t logical, uint64_t length)
{
	struct data_count *count = ctx;

	(void)logical;
	count->ranges++;
	count->bytes += length;
}

struct data_sink {
	const struct e2pf_chunk_map *map;
	e2pf_sink sink;
	void *ctx;
};

static void pass_range(void *ctx, uint64_t logical, uint64_t length)
{
	const struct data_sink *to = ctx;
	struct e2pf_btrfs_extent piece;

	for (; length; logical += piece.length, length -= piece.length) {
		uint32_t most = length < PIECE_MOST ? (uint32_t)length :
						      PIECE_MOST;

		if (!e2pf_chunk_map_piece(to->map, logical, most, &piece))
			return;
		to->sink(to->ctx, &(struct e2pf_ref) {
			.offset = piece.offset,
			.length = piece.length,
			.device = piece.device,
			.cls = E2PF_BTRFS_CLASS_DATA
		});
	}
}

void e2pf_btrfs_pass_data(const struct e2pf_btrfs_super *super,
			  const struct e2pf_chunk_map *map, uint64_t logical,
			  const void *block, e2pf_sink sink, void *ctx)
{
	/* The pointer to it, whose generation is not kept. */
	const struct e2pf_btrfs_ptr ptr = {
		.logical = logical,
		.generation = e2pf_btrfs_generation(block),
		.owner = BT_CSUM_TREE_OBJECTID
	};
	struct data_sink to = { map, sink, ctx };
	struct data_count count = { .ranges = 0 };

	if (!e2pf_btrfs_fits(super, &ptr, block))
		return;
	e2pf_btrfs_plan_sums(super, block, count_range, &count);
	if (count.bytes / LONG_RANGE < count.ranges)
		e2pf_btrfs_plan_sums(super, block, pass_range, &to);
}
