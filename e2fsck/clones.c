/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides in which order the blocks that several files claim are read ahead of
 * pass 1D: in the order of the files that claim them first, each block once.
 * All other claimants find it in memory.
 *
 * The order is kept as runs of blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "check.h"

/* The limit of memory for the runs: 16 bytes each, where e2fsck keeps more than
 * 100 for each block that is claimed twice. */
#define MAX_RUNS (1u << 18)

/* The number of blocks passed to the engine at a time, and the number of clones
 * after which the engine is asked again whether it has room for more. */
#define PART 4096u
#define CHECK_EVERY 256u

/* Reading ahead ends when MAX_STRAYS blocks are not where the order has them:
 * the user's answers make pass 1D take another order. */
#define MAX_STRAYS 64u

/* Bits for blocks: 2 MiB.  Blocks of a filesystem with more than this many share some:
 * then one of the two may not be read ahead. */
#define BITS (1u << 24)

struct run {
	uint64_t block;
	uint64_t count;
};

/* A run, and the index of its first block in the order. */
struct position {
	size_t run;
	uint64_t index;
};

static struct {
	struct run *run;
	size_t runs, room;
	uint64_t blocks;
	uint8_t *waiting;		/* a bit: in a run, and not reached by pass
					   1D */
	struct position checker, given;
	uint64_t next_check;			/* the index of the next check */
	unsigned strays;
	bool begun;
} self;

void e2fsck_clones_forget(void)
{
	free(self.run);
	free(self.waiting);
	memset(&self, 0, sizeof(self));
}

static bool add_run(uint64_t block)
{
	if (self.runs == MAX_RUNS ||
	    !e2pf_have_room((void **)&self.run, &self.room, self.runs, 1,
			    sizeof(*self.run)))
		return false;
	self.run[self.runs++] = (struct run){ block, 1 };
	return true;
}

/* Set or clear the block's bit; false if it was so before. */
static bool change_bit(uint64_t block, bool set)
{
	uint8_t *byte = &self.waiting[block % BITS / 8];
	uint8_t before = *byte, bit = (uint8_t)(1u << block % 8);

	*byte = set ? before | bit : before & ~bit;
	return *byte != before;
}

void e2fsck_clones_add(uint64_t block)
{
	struct run *last = self.runs ? &self.run[self.runs - 1] : NULL;

	if (self.begun)
		return;
	if (!self.waiting)
		self.waiting = calloc(BITS / 8, 1);
	if (!self.waiting || !change_bit(block, true))
		return;
	if (last && last->block + last->count == block) {
		last->count++;
	} else if (!add_run(block)) {
		change_bit(block, false);
		return;
	}
	self.blocks++;
}

/* Move to the run that contains this index, at the position or after it.  False if
 * there is none. */
static bool move_to(struct position *p, uint64_t index)
{
	while (p->run < self.runs && index - p->index >= self.run[p->run].count)
		p->index += self.run[p->run++].count;
	return p->run < self.runs;
}

/* Pass the engine as many blocks as it has room for. */
static void hand_over(struct ext4_source *ext4, struct pf_engine *engine,
		      uint64_t reached)
{
	static uint64_t block[PART];
	uint64_t first, n;
	size_t used = 0;

	n = ext4_source_list_count_wanted(ext4, engine, reached, &first);
	if (n && first < self.given.index)
		self.given = (struct position){ 0, 0 };
	for (; n && move_to(&self.given, first); n--, first++) {
		block[used++] = self.run[self.given.run].block + first -
				self.given.index;
		if (used == PART) {
			ext4_source_list_add(ext4, engine, block, used);
			used = 0;
		}
	}
	if (used)
		ext4_source_list_add(ext4, engine, block, used);
}

/* Find the run of a block that pass 1D has reached, at the current position or
 * after it.  False if there is none. */
static bool find_run(uint64_t block)
{
	struct position p = self.checker;

	for (; p.run < self.runs; p.index += self.run[p.run++].count)
		if (block - self.run[p.run].block < self.run[p.run].count) {
			self.checker = p;
			return true;
		}
	return false;
}

void e2fsck_clones_report_block(struct ext4_source *ext4,
				struct pf_engine *engine, uint64_t block)
{
	uint64_t index;

	/* The last file that still claims a block keeps it. */
	if (self.strays > MAX_STRAYS || !self.blocks ||
	    !change_bit(block, false))
		return;
	if (!self.begun) {
		pf_engine_wake(engine);
		ext4_source_list_begin(ext4, engine, self.blocks, EXT4_FILES);
	}
	self.begun = true;
	if (!find_run(block)) {
		self.strays++;
		return;
	}
	index = self.checker.index + block - self.run[self.checker.run].block;
	if (index < self.next_check)
		return;
	self.next_check = index + CHECK_EVERY;
	pf_engine_report_position(engine, EXT4_PHASE_LIST, index);
	hand_over(ext4, engine, index);
}
