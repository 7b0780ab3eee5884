/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides how much room a node has, and moves it when that does not do. */
#include <stdlib.h>
#include <string.h>

#include "node.h"

bool node_has_popcnt;

#ifdef __x86_64__
__attribute__((constructor))
static void look_at_processor(void)
{
	node_has_popcnt = __builtin_cpu_supports("popcnt");
}
#endif

static struct node_memory memory;

struct node_memory node_memory(void)
{
	return memory;
}

/* With the allocator's header, in its unit of 16 bytes. */
static uint64_t with_header(size_t bytes)
{
	return bytes ? (bytes + 8 + 15) / 16 * 16 : 0;
}

static void account(size_t freed, size_t made)
{
	memory.bytes += with_header(made) - with_header(freed);
	if (memory.bytes > memory.most_bytes)
		memory.most_bytes = memory.bytes;
}

/* Pages of a large one are not there before they are written to. */
void *node_table_new(size_t bytes)
{
	void *table = calloc(1, bytes);

	account(0, table ? bytes : 0);
	return table;
}

void node_table_free(void *table, size_t bytes)
{
	account(table ? bytes : 0, 0);
	free(table);
}

/* The bytes of a node that stores so many values.  Room for two is the least
 * that leaves nothing of the allocator's unit unused. */
static size_t size_for(unsigned values)
{
	unsigned room = 2;

	while (room < values)
		room *= 2;
	return sizeof(struct node) + room * sizeof(uint64_t);
}

static size_t size_of(const struct node *n)
{
	return size_for(node_count_ones(n->some));
}

static struct node *resize(struct node *n, size_t had, size_t bytes)
{
	if (had == bytes)
		return n;
	n = realloc(n, bytes);
	if (!n)
		abort();
	account(had, bytes);
	return n;
}

struct node *node_new(uint64_t value)
{
	struct node *n = resize(NULL, 0, size_for(0));

	*n = (struct node){ .some = 0, .full = value };
	return n;
}

struct node *node_put(struct node *n, unsigned k, uint64_t value)
{
	uint64_t bit = UINT64_C(1) << k;
	unsigned at = node_place(n, k), stored = node_count_ones(n->some);
	bool was = n->some & bit, is = value && value != NODE_FULL;

	if (is && !was) {
		n = resize(n, size_for(stored), size_for(stored + 1));
		memmove(n->value + at + 1, n->value + at,
			(stored - at) * sizeof(*n->value));
	} else if (was && !is) {
		memmove(n->value + at, n->value + at + 1,
			(stored - at - 1) * sizeof(*n->value));
		n = resize(n, size_for(stored), size_for(stored - 1));
	}
	if (is)
		n->value[at] = value;
	n->some = is ? n->some | bit : n->some & ~bit;
	n->full = value == NODE_FULL ? n->full | bit : n->full & ~bit;
	return n;
}

struct node *node_copy(const struct node *n)
{
	struct node *copy = malloc(size_of(n));

	if (!copy)
		return NULL;
	account(0, size_of(n));
	return memcpy(copy, n, sizeof(*n) + node_count_ones(n->some) *
		      sizeof(*n->value));
}

void node_free(struct node *n)
{
	account(size_of(n), 0);
	free(n);
}
