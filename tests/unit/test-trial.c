/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The self-test accepts the libext2fs of this machine.  It rejects each
 * interposer that is made to answer wrongly, and an unknown version.
 */

#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "e2fsck/accel/accelerate.h"
#include "e2fsck/accel/bitset.h"
#include "preload/interpose.h"
#include "e2fsck/accel/interposers.h"

/*
 * Mistakes, one at a time.
 */

enum mistake {
	NO_MISTAKE,
	SEARCH_FOR_CLEAR,	/* finds the next bit */
	SEARCH_FOR_SET,		/* finds nothing */
	LAST_OF_RANGE,		/* is not set */
	CLEAR_OF_RANGE,		/* leaves the first bit */
	COPY_OF_MAP,		/* is empty */
	BYTES_OUT,		/* one bit too many */
	BYTES_IN,		/* are ignored */
	CHECKSUM,		/* is wrong */
	CHECKSUM_PAST_US,	/* the library calls its own */
	READ_OF_NUMBERS,	/* is done twice */
	WRITE_OF_NUMBERS,	/* is of another one */
	NEW_VERSION		/* of the library */
};

static enum mistake mistake;

/* Declares both functions, and begins the one that replaces `name`. */
#define WRAP(type, name, ...) \
type __real_##name(__VA_ARGS__); \
type __wrap_##name(__VA_ARGS__); \
type __wrap_##name(__VA_ARGS__)

WRAP(uint64_t, bitset_first, struct bitset *s, uint64_t start, uint64_t end,
     bool value)
{
	uint64_t bit = __real_bitset_first(s, start, end, value);

	if (mistake == SEARCH_FOR_SET && value)
		return UINT64_MAX;
	return bit + (mistake == SEARCH_FOR_CLEAR && !value && bit < end);
}

WRAP(void, bitset_change, struct bitset *s, uint64_t start, uint64_t count,
     bool set)
{
	bool first = mistake == CLEAR_OF_RANGE && count && !set;
	bool last = mistake == LAST_OF_RANGE && count && set;

	__real_bitset_change(s, start + first, count - first - last, set);
}

WRAP(bool, bitset_copy, const struct bitset *from, struct bitset *to)
{
	bool done = __real_bitset_copy(from, to);

	if (mistake == COPY_OF_MAP)
		bitset_clear_all(to);
	return done;
}

WRAP(void, bitset_get_bytes, struct bitset *s, uint64_t start, uint64_t count,
     void *out)
{
	__real_bitset_get_bytes(s, start, count, out);
	if (mistake == BYTES_OUT)
		*(unsigned char *)out |= 0x80;
}

WRAP(void, bitset_add_bytes, struct bitset *s, uint64_t start, uint64_t count,
     const void *in)
{
	if (mistake != BYTES_IN)
		__real_bitset_add_bytes(s, start, count, in);
}

static crc32c_fn *right_crc32c;

static uint32_t wrong_crc32c(uint32_t seed, const unsigned char *p, size_t len)
{
	return right_crc32c(seed, p, len) + 1;
}

WRAP(crc32c_fn *, crc32c_choose, void)
{
	right_crc32c = __real_crc32c_choose();
	return mistake == CHECKSUM && right_crc32c ? wrong_crc32c :
						     right_crc32c;
}

WRAP(errcode_t, ext2fs_superblock_csum_set, ext2_filsys fs,
     struct ext2_super_block *sb)
{
	if (mistake != CHECKSUM_PAST_US)
		return __real_ext2fs_superblock_csum_set(fs, sb);
	sb->s_checksum = 17;
	return 0;
}

WRAP(errcode_t, ext2fs_read_ind_block, ext2_filsys fs, blk_t block, void *buf)
{
	if (mistake == READ_OF_NUMBERS)
		__real_ext2fs_read_ind_block(fs, block, buf);
	return __real_ext2fs_read_ind_block(fs, block, buf);
}

WRAP(errcode_t, ext2fs_write_ind_block, ext2_filsys fs, blk_t block, void *buf)
{
	*(__u32 *)buf += mistake == WRITE_OF_NUMBERS;
	return __real_ext2fs_write_ind_block(fs, block, buf);
}

int ext2fs_get_library_version(const char **version, const char **date)
{
	REAL(ext2fs_get_library_version);

	if (mistake != NEW_VERSION)
		return real(version, date);
	if (version)
		*version = "1.48.0";
	return 1480;
}

/*
 * The tests.
 */

static const char differs[] = "self-test differed from libext2fs";
static const char linked[] = "internal calls of libext2fs cannot be interposed";
static const char unread[] = "this version of libext2fs has not been reviewed";
static const char unable[] = "not supported by this CPU, or out of memory";

TEST(each_mistake)
{
	enum mistake one;
	unsigned i;

	for (one = NO_MISTAKE; one <= NEW_VERSION; one++) {
		const char *expected[PF_ACCELERATIONS] = {
			"", "", ""
		};
		struct findings found;

		if (one >= SEARCH_FOR_CLEAR && one <= BYTES_IN)
			expected[PF_BITMAPS_OF_E2FSCK] = differs;
		if (!__real_crc32c_choose())
			expected[PF_CRC32C] = unable;
		else if (one == CHECKSUM)
			expected[PF_CRC32C] = differs;
		else if (one == CHECKSUM_PAST_US)
			expected[PF_CRC32C] = linked;
		if (one == READ_OF_NUMBERS || one == WRITE_OF_NUMBERS)
			expected[PF_INDIRECT_WALK] = differs;
		if (one == NEW_VERSION)
			expected[PF_BITMAPS_OF_E2FSCK] = unread;
		mistake = one;
		e2fsck_accel.try(&found);
		mistake = NO_MISTAKE;
		for (i = 0; i < PF_ACCELERATIONS; i++)
			if (strcmp(found.why_not[i] ? found.why_not[i] : "",
				   expected[i]))
				fail_msg("mistake %d, ability %u: %s", one, i,
					 found.why_not[i]);
		/* The self-test leaves libext2fs's trees behind. */
		assert_false(bitmaps_are_ours());
	}
}

/* As e2fsck refers to it. */
static iterate_fn *volatile walk = ext2fs_block_iterate3;

TEST(calls_of_the_program)
{
	assert_non_null(walk);
	assert_true(preload_program_refers("ext2fs_block_iterate3"));
	assert_false(preload_program_refers("ext2fs_mkdir"));
}

UNIT_MAIN(NULL, NULL)
