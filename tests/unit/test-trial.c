/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The self-test accepts the libext2fs of this machine.  It rejects each
 * stand-in that is made to answer wrongly, and an unknown version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <ext2fs/ext2fs.h>

#include "bitmaps.h"
#include "bitset.h"
#include "crc32c.h"
#include "interpose.h"
#include "linkage.h"
#include "trial.h"

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
	NEW_VERSION,		/* of the library */
	THREADS			/* no mistake: a checker that has them */
};

static enum mistake mistake;

/* Declares both functions, and begins the one that replaces `name`. */
#define WRAP(type, name, ...) \
type __real_##name(__VA_ARGS__); \
type __wrap_##name(__VA_ARGS__); \
type __wrap_##name(__VA_ARGS__)

WRAP(uint64_t, bitset_first_clear, struct bitset *s, uint64_t start,
     uint64_t end)
{
	uint64_t bit = __real_bitset_first_clear(s, start, end);

	return bit + (mistake == SEARCH_FOR_CLEAR && bit < end);
}

WRAP(uint64_t, bitset_first_set, struct bitset *s, uint64_t start,
     uint64_t end)
{
	return mistake == SEARCH_FOR_SET ? UINT64_MAX :
	       __real_bitset_first_set(s, start, end);
}

WRAP(void, bitset_set_range, struct bitset *s, uint64_t start, uint64_t count)
{
	__real_bitset_set_range(s, start,
				count - (mistake == LAST_OF_RANGE && count));
}

WRAP(void, bitset_clear_range, struct bitset *s, uint64_t start,
     uint64_t count)
{
	bool wrong = mistake == CLEAR_OF_RANGE && count;

	__real_bitset_clear_range(s, start + wrong, count - wrong);
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

static uint32_t wrong_crc32c(uint32_t seed, const unsigned char *p, size_t len)
{
	return crc32c_ways[0].run(seed, p, len) + 1;
}

WRAP(crc32c_fn *, crc32c_choose, void)
{
	crc32c_fn *fn = __real_crc32c_choose();

	return mistake == CHECKSUM ? wrong_crc32c : fn;
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

WRAP(bool, linkage_program_has_threads, void)
{
	return mistake == THREADS;
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

static void each_mistake(void **state)
{
	enum mistake one;
	unsigned i;

	(void)state;
	for (one = NO_MISTAKE; one <= THREADS; one++) {
		enum finding expected[ABILITIES] = {
			FINDING_WHOLE, FINDING_WHOLE, FINDING_WHOLE
		};
		struct findings found;

		if (one >= SEARCH_FOR_CLEAR && one <= BYTES_IN)
			expected[ABILITY_BITMAPS] = FINDING_DIFFERS;
		if (one == CHECKSUM)
			expected[ABILITY_CRC32C] = FINDING_DIFFERS;
		if (one == CHECKSUM_PAST_US)
			expected[ABILITY_CRC32C] = FINDING_LINKED;
		if (one == READ_OF_NUMBERS)
			expected[ABILITY_INDIRECT] = FINDING_DIFFERS;
		if (one == NEW_VERSION)
			expected[ABILITY_BITMAPS] = FINDING_UNREAD;
		if (one == THREADS)
			expected[ABILITY_BITMAPS] = FINDING_THREADS;
		mistake = one;
		trial_run(&found);
		mistake = NO_MISTAKE;
		for (i = 0; i < ABILITIES; i++)
			if (found.of[i] != expected[i])
				fail_msg("mistake %d, ability %u: %d", one, i,
					 found.of[i]);
		/* The self-test leaves libext2fs's trees behind. */
		assert_false(bitmaps_are_ours());
	}
}

/* What e2fsck reaches is in it: more than the first few calls. */
static void a_whole_life(void **state)
{
	static struct trial_life life, again;
	unsigned i, different = 0;

	(void)state;
	assert_true(trial_live(&life));
	assert_true(life.known);
	assert_uint_in_range(life.results, 200, TRIAL_RESULTS - 1);
	assert_true(trial_live(&again));
	assert_memory_equal(&life, &again, sizeof(life));
	for (i = 1; i < life.results; i++)
		different += life.result[i] != life.result[i - 1];
	assert_uint_in_range(different, life.results / 2, life.results);
}

/* As e2fsck refers to it. */
static errcode_t (*volatile walk)(ext2_filsys fs, ext2_ino_t ino, int flags,
				  char *buf,
				  int (*func)(ext2_filsys fs, blk64_t *block,
					      e2_blkcnt_t count, blk64_t ref,
					      int offset, void *data),
				  void *data) = ext2fs_block_iterate3;

static void calls_of_the_program(void **state)
{
	static const char *const own[] = { "ext2fs_block_iterate3" };
	static const char *const none[] = { "ext2fs_mkdir" };

	(void)state;
	assert_non_null(walk);
	assert_true(linkage_program_refers(own, 1));
	assert_false(linkage_program_refers(none, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake),
		cmocka_unit_test(a_whole_life),
		cmocka_unit_test(calls_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
