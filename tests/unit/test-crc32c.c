/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each implementation of CRC-32C that this processor supports, compared with a
 * computation bit by bit: all lengths to 1100, all alignments to 63, any seed,
 * and long buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <cmocka.h>

#include <ext2fs/ext2fs.h>

#include "crc32c.h"

#define LONGEST 1100u
#define ALIGNMENTS 64u
#define LONG (UINT32_C(1) << 20)

static unsigned char *bytes;	/* LONG bytes, followed by unreadable memory */
static uint64_t state = 1;

static uint32_t number(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 32);
}

static uint32_t one_bit_at_a_time(uint32_t crc, unsigned char byte)
{
	unsigned i;

	for (crc ^= byte, i = 0; i < 8; i++)
		crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	return crc;
}

static int make_bytes(void **ctx)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t i;

	(void)ctx;
	bytes = mmap(NULL, LONG + (size_t)page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED ||
	    mprotect(bytes + LONG, (size_t)page, PROT_NONE))
		return -1;
	for (i = 0; i < LONG; i++)
		bytes[i] = (unsigned char)number();
	return crc32c_choose() ? 0 : -1;
}

static void all_lengths_and_alignments(void **ctx)
{
	const struct crc32c_way *way;
	unsigned at, len;

	(void)ctx;
	for (at = 0; at < ALIGNMENTS; at++) {
		uint32_t seed = number(), crc = seed;
		const unsigned char *p = bytes + at;

		for (len = 0; len <= LONGEST; len++) {
			for (way = crc32c_ways; way->name; way++)
				if (way->usable())
					assert_int_equal(way->run(seed, p, len),
							 crc);
			crc = one_bit_at_a_time(crc, p[len]);
		}
	}
}

/* No byte after the last one is read. */
static void up_to_the_end(void **ctx)
{
	const struct crc32c_way *way;
	uint32_t seed, crc;
	unsigned len, i;

	(void)ctx;
	for (len = 0; len <= LONGEST; len++) {
		const unsigned char *p = bytes + LONG - len;

		seed = number();
		for (crc = seed, i = 0; i < len; i++)
			crc = one_bit_at_a_time(crc, p[i]);
		for (way = crc32c_ways; way->name; way++)
			if (way->usable())
				assert_int_equal(way->run(seed, p, len), crc);
	}
}

static void long_buffers(void **ctx)
{
	static const uint32_t lengths[] = {
		4095, 4096, 65536, 65537 + 255, LONG - 63, LONG
	};
	const struct crc32c_way *way;
	uint32_t seed, crc, i;
	size_t k;

	(void)ctx;
	for (k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		seed = number();
		for (crc = seed, i = 0; i < lengths[k]; i++)
			crc = one_bit_at_a_time(crc, bytes[i]);
		for (way = crc32c_ways; way->name; way++)
			if (way->usable())
				assert_int_equal(way->run(seed, bytes,
							  lengths[k]), crc);
	}
}

/* The results are those of libext2fs's function. */
static void as_libext2fs(void **ctx)
{
	crc32c_fn *run = crc32c_choose();
	uint32_t seed, len, i;

	(void)ctx;
	assert_non_null(run);
	for (i = 0; i < 2000; i++) {
		seed = number();
		len = number() % 5000;
		assert_int_equal(run(seed, bytes + i, len),
				 ext2fs_crc32c_le(seed, bytes + i, len));
	}
}

static void known_values(void **ctx)
{
	const struct crc32c_way *way;

	(void)ctx;
	for (way = crc32c_ways; way->name; way++) {
		if (!way->usable())
			continue;
		print_message("%s\n", way->name);
		assert_int_equal(~way->run(~0u,
				(const unsigned char *)"123456789", 9),
				 UINT32_C(0xe3069283));
		assert_int_equal(way->run(0x1234, NULL, 0), 0x1234);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(all_lengths_and_alignments),
		cmocka_unit_test(up_to_the_end),
		cmocka_unit_test(long_buffers),
		cmocka_unit_test(as_libext2fs),
	};

	return cmocka_run_group_tests(tests, make_bytes, NULL);
}
