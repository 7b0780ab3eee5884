/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * CRC-32C by this processor's instruction, compared with libext2fs's: all lengths to
 * 1100, from all alignments and up to the end of memory, any seed, and long buffers.
 */
#include <sys/mman.h>

#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "e2fsck/accel/interposers.h"
#include "numbers.h"

#define MAX_LENGTH 1100u
#define LONG (UINT32_C(1) << 20)

static unsigned char *bytes;	/* LONG bytes, followed by unreadable memory */
static crc32c_fn *run;

FIXTURE(make_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;

	run = crc32c_choose();
	bytes = mmap(NULL, LONG + page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED || mprotect(bytes + LONG, page, PROT_NONE))
		return -1;
	for (i = 0; i < LONG; i++)
		bytes[i] = (unsigned char)number(256);
	return 0;
}

static void same(const unsigned char *p, size_t len)
{
	uint32_t seed = (uint32_t)number(UINT32_MAX);

	assert_int_equal(run(seed, p, len), ext2fs_crc32c_le(seed, p, len));
}

TEST(as_the_library)
{
	unsigned len, at;

	if (!run) {
		skip();
		return;
	}
	/* The published check value. */
	assert_int_equal(~run(~0u, (const unsigned char *)"123456789", 9),
			 UINT32_C(0xe3069283));
	for (len = 0; len <= MAX_LENGTH; len++) {
		for (at = 0; at < 16; at++)
			same(bytes + at, len);
		same(bytes + LONG - len, len);
	}
	same(bytes, LONG);
	same(bytes + 63, LONG - 63);
}

UNIT_MAIN(make_bytes, NULL)
