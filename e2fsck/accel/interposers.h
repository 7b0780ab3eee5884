/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The interposers of libext2fs's functions, and the self-test that tries them.
 */
#ifndef E2FSCK_ACCEL_INTERPOSERS_H
#define E2FSCK_ACCEL_INTERPOSERS_H

#include <string.h>

#include "accelerate.h"

/*
 * bitmaps.c: compact bitmaps in place of libext2fs's red-black trees.
 */

/* Are libext2fs's table of functions and its bitmaps laid out as that file
 * expects?  Makes a bitmap of this filesystem, which must have 64-bit bitmaps and
 * no bigalloc. */
bool bitmaps_layout_is_known(ext2_filsys fs);

/* Make ours, or libext2fs's, the trees that are made from now on.  The layout must
 * be known. */
void bitmaps_begin(void);
void bitmaps_end(void);
bool bitmaps_are_ours(void);

/* In pass 1 e2fsck makes a bitmap of the blocks that several files claim, if there
 * are any.  Is there one of ours? */
bool bitmaps_have_claims(void);

/* Later e2fsck asks that bitmap about each block of each file.  Whenever the
 * answer is yes, `claimed` is called first.  NULL ends these calls. */
void bitmaps_watch_claims(void (*claimed)(void *ctx), void *ctx);

/*
 * crc32c.c: CRC-32C (Castagnoli), as ext4 metadata checksums use it: bits reflected,
 * neither the seed nor the result inverted.
 */

typedef uint32_t crc32c_fn(uint32_t seed, const unsigned char *p, size_t len);

/* The function for this processor; NULL: it has no instruction for it.  Any
 * thread may call it. */
crc32c_fn *crc32c_choose(void);

/* From now on ext2fs_crc32c_le() computes with `fn`; NULL: with libext2fs. */
void crc32c_begin(crc32c_fn *fn);

/*
 * indirect.c: the walk over indirect blocks.
 */

/* Begin to use our walk; before, indirect_iterate() calls libext2fs. */
void indirect_begin(void);

/* Does what ext2fs_block_iterate3() does, with our walk where possible. */
errcode_t indirect_iterate(ext2_filsys fs, ext2_ino_t ino, int flags,
			   char *block_buf, block_fn *func, void *data);

/*
 * trial.c: the work of the self-test with libext2fs, once with its own functions and
 * once with ours.  Both are interchangeable if the records are the same.
 */

/* A digest of everything that was seen, in its order, and the state of the
 * pseudo-random sequence that chose the operations.  A zeroed record is
 * empty. */
struct trial {
	uint64_t seen;
	uint64_t random;
};

static inline void trial_record(struct trial *t, uint64_t value)
{
	t->seen = (t->seen ^ value) * UINT64_C(1099511628211) + 1;
	t->seen ^= t->seen >> 32;
}

/* `count` is a multiple of 8. */
static inline void trial_record_bytes(struct trial *t, const void *bytes,
				      size_t count)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < count; i += sizeof(word)) {
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		trial_record(t, word);
	}
}

/* The next number below `below`. */
static inline uint64_t trial_number(uint64_t *random, uint64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) +
		  UINT64_C(1442695040888963407);
	return (*random >> 33) % below;
}

/* Make, change, search and copy a bitmap of blocks with the kind of trees in
 * force. */
void trial_bitmaps(struct trial *t, ext2_filsys fs);

/* Walk over the blocks of a few files, sound and damaged, with callbacks that
 * change block numbers, end the walk or fail. */
typedef errcode_t iterate_fn(ext2_filsys fs, ext2_ino_t ino, int flags,
			     char *block_buf, block_fn *func, void *data);
void trial_walks(struct trial *t, ext2_filsys fs, iterate_fn *iterate);

/* A filesystem in memory, as far as both need it: TRIAL_BLOCKS blocks of
 * TRIAL_BLOCK bytes, no files, no device. */
#define TRIAL_BLOCK 1024u
#define TRIAL_BLOCKS 1500000u

#endif
