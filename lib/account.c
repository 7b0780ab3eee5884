/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unix I/O manager's cache, as far as it decides how many bytes are
 * counted: eight blocks, the least recently used goes, a dirty one is written
 * when it goes.  Reads and writes of more than four blocks, or of a number of
 * bytes, pass it by.  (e2fsprogs 1.43 to 1.47.)
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stddef.h>
#include <string.h>

#include "account.h"

/* More blocks than this at a time are not cached. */
#define MOST_CACHED 4

static uint64_t bytes(const struct e2pf_account *a, int count)
{
	return count < 0 ? (uint64_t)-(int64_t)count :
			   (uint64_t)count * a->block_size;
}

static bool passes_by(int count)
{
	return count < 0 || count > MOST_CACHED;
}

/* The entry of this block, used now; NULL when there is none. */
static struct e2pf_account_block *find(struct e2pf_account *a,
				       unsigned long long block)
{
	unsigned i;

	for (i = 0; i < E2PF_ACCOUNT_BLOCKS; i++) {
		struct e2pf_account_block *b = &a->cached[i];

		if (b->in_use && b->block == block) {
			b->used = ++a->clock;
			return b;
		}
	}
	return NULL;
}

/* An entry for this block in place of the first free or the eldest. */
static struct e2pf_account_block *replace(struct e2pf_account *a,
					  unsigned long long block)
{
	struct e2pf_account_block *eldest = NULL;
	unsigned i;

	for (i = 0; i < E2PF_ACCOUNT_BLOCKS; i++) {
		struct e2pf_account_block *b = &a->cached[i];

		if (!b->in_use) {
			eldest = b;
			break;
		}
		if (!eldest || b->used < eldest->used)
			eldest = b;
	}
	if (eldest->in_use && eldest->dirty)
		a->bytes_written += a->block_size;
	eldest->in_use = true;
	eldest->dirty = false;
	eldest->block = block;
	eldest->used = ++a->clock;
	return eldest;
}

/* Write what is dirty; `forget` also drops it. */
static void clean(struct e2pf_account *a, bool forget)
{
	unsigned i;

	for (i = 0; i < E2PF_ACCOUNT_BLOCKS; i++) {
		struct e2pf_account_block *b = &a->cached[i];

		if (!b->in_use || !b->dirty)
			continue;
		a->bytes_written += a->block_size;
		b->dirty = false;
		if (forget)
			b->in_use = false;
	}
}

void e2pf_account_read(struct e2pf_account *a, unsigned long long block,
		       int count, int readable)
{
	int missing, i;

	if (!a->uncached && passes_by(count))
		clean(a, false);
	if (a->uncached || passes_by(count)) {
		a->bytes_read += bytes(a, count);
		return;
	}
	while (count > 0) {
		if (find(a, block)) {
			block++;
			count--;
			readable--;
			continue;
		}
		/* All up to the next cached block are one read. */
		for (missing = 1; missing < count; missing++)
			if (find(a, block + (unsigned)missing))
				break;
		a->bytes_read += bytes(a, missing);
		if (readable < missing)
			return;
		readable -= missing;
		for (i = 0; i < missing; i++, block++, count--)
			if (!find(a, block))
				replace(a, block);
	}
}

void e2pf_account_write(struct e2pf_account *a, unsigned long long block,
			int count, bool writethrough)
{
	if (!a->uncached && passes_by(count))
		clean(a, true);
	if (a->uncached || passes_by(count)) {
		a->bytes_written += bytes(a, count);
		return;
	}
	if (writethrough)
		a->bytes_written += bytes(a, count);
	for (; count > 0; count--, block++) {
		struct e2pf_account_block *b = find(a, block);

		if (!b)
			b = replace(a, block);
		b->dirty = !writethrough;
	}
}

void e2pf_account_flush(struct e2pf_account *a)
{
	clean(a, false);
}

void e2pf_account_write_byte(struct e2pf_account *a)
{
	clean(a, true);
}

void e2pf_account_set_uncached(struct e2pf_account *a, bool uncached)
{
	if (uncached)
		clean(a, false);
	a->uncached = uncached;
}

void e2pf_account_set_block_size(struct e2pf_account *a, uint32_t size)
{
	if (size == a->block_size)
		return;
	clean(a, false);
	memset(a->cached, 0, sizeof(a->cached));
	a->clock = 0;
	a->block_size = size;
}
