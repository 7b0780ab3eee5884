/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Computes CRC-32C with the instruction that this processor has for it, as all
 * processors of the last ten years have.
 */
#include <endian.h>
#include <ext2fs/ext2fs.h>
#include <string.h>

#include "preload/interpose.h"
#include "interposers.h"

#if defined(__x86_64__)

#include <immintrin.h>
#define TARGET __attribute__((target("sse4.2")))
#define EIGHT(crc, v) (uint32_t)_mm_crc32_u64(crc, v)
#define ONE(crc, v) _mm_crc32_u8(crc, v)

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__) && defined(__linux__)

#include <arm_acle.h>
#include <sys/auxv.h>

#ifdef __clang__
#define TARGET __attribute__((target("crc")))
#else
#define TARGET __attribute__((target("+crc")))
#endif
#define EIGHT(crc, v) __crc32cd(crc, le64toh(v))
#define ONE(crc, v) __crc32cb(crc, v)
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif

static bool has_instruction(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

#endif

#ifdef TARGET
TARGET
static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t len)
{
	uint64_t v;

	for (; len >= sizeof(v); p += sizeof(v), len -= sizeof(v)) {
		memcpy(&v, p, sizeof(v));
		crc = EIGHT(crc, v);
	}
	while (len--)
		crc = ONE(crc, *p++);
	return crc;
}
#endif

crc32c_fn *crc32c_choose(void)
{
#ifdef TARGET
	if (has_instruction())
		return by_instruction;
#endif
	return NULL;
}

static crc32c_fn *in_use;

void crc32c_begin(crc32c_fn *fn)
{
	in_use = fn;
}

__u32 ext2fs_crc32c_le(__u32 crc, unsigned char const *p, size_t len)
{
	REAL(ext2fs_crc32c_le);

	return in_use ? in_use(crc, p, len) : real(crc, p, len);
}
