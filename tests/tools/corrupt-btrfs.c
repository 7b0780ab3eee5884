// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Corruptions of a btrfs on one device.  Tree blocks are found by their
 * headers; only those reachable from the superblock are used.  This uses only the
 * field offsets of the code under test.
 */
#include <ext2fs/ext2fs.h>

#include "btrfs/format.h"
#include "corrupt.h"

#define SUPER_AT	65536
#define SUPER_BYTES	4096
#define CSUM_BYTES	32
#define LEVELS		8
#define OWNERS		32

enum kind {
	SUPER, HEADER, POINTER, ENTRY, ROOT, BODY, SWAP, ZERO, TRUNCATE, KINDS
};

static const char *const kinds[KINDS] = {
	"super", "header", "pointer", "entry", "root", "body", "swap", "zero",
	"truncate"
};

struct field {
	const char *name;
	uint16_t off;
	uint8_t size;
};

static const struct field super_fields[] = {
	{ "csum", 0, 4 }, { "fsid", 32, 4 }, { "bytenr", 48, 8 },
	{ "flags", 56, 8 }, { "magic", 64, 8 }, { "generation", 72, 8 },
	{ "root", 80, 8 }, { "root", 80, 8 }, { "chunk_root", 88, 8 },
	{ "chunk_root", 88, 8 }, { "log_root", 96, 8 },
	{ "log_root_transid", 104, 8 }, { "total_bytes", 112, 8 },
	{ "bytes_used", 120, 8 }, { "root_dir_objectid", 128, 8 },
	{ "num_devices", 136, 8 }, { "sectorsize", 144, 4 },
	{ "nodesize", 148, 4 }, { "leafsize", 152, 4 },
	{ "stripesize", 156, 4 }, { "sys_chunk_array_size", 160, 4 },
	{ "chunk_root_generation", 164, 8 }, { "compat_flags", 172, 8 },
	{ "compat_ro_flags", 180, 8 }, { "incompat_flags", 188, 8 },
	{ "csum_type", 196, 2 }, { "root_level", 198, 1 },
	{ "chunk_root_level", 199, 1 }, { "log_root_level", 200, 1 },
	{ "dev_item.devid", 201, 8 }, { "dev_item.total_bytes", 209, 8 },
	{ "dev_item.bytes_used", 217, 8 }, { "dev_item.uuid", 267, 4 },
	{ "dev_item.fsid", 283, 4 }, { "cache_generation", 555, 8 },
	{ "uuid_tree_generation", 563, 8 }, { "metadata_uuid", 571, 4 },
};

static const struct field header_fields[] = {
	{ "csum", 0, 4 }, { "fsid", BT_HEADER_FSID, 4 },
	{ "bytenr", BT_HEADER_BYTENR, 8 }, { "flags", 56, 8 },
	{ "chunk_tree_uuid", 64, 4 },
	{ "generation", BT_HEADER_GENERATION, 8 },
	{ "owner", BT_HEADER_OWNER, 8 }, { "nritems", BT_HEADER_NRITEMS, 4 },
	{ "level", BT_HEADER_LEVEL, 1 },
};

static const struct field pointer_fields[] = {
	{ "objectid", BT_AT(disk_key, objectid), 8 },
	{ "type", BT_AT(disk_key, type), 1 },
	{ "offset", BT_AT(disk_key, offset), 8 }, { "blockptr", BT_PTR_BLOCKPTR, 8 },
	{ "blockptr", BT_PTR_BLOCKPTR, 8 },
	{ "generation", BT_PTR_GENERATION, 8 },
};

static const struct field entry_fields[] = {
	{ "objectid", BT_AT(disk_key, objectid), 8 },
	{ "type", BT_AT(disk_key, type), 1 },
	{ "offset", BT_AT(disk_key, offset), 8 }, { "data offset", BT_ITEM_OFFSET, 4 },
	{ "data size", BT_ITEM_SIZE, 4 },
};

static const struct field root_fields[] = {
	{ "generation", BT_AT(root_item, generation), 8 }, { "root_dirid", 168, 8 },
	{ "bytenr", BT_AT(root_item, bytenr), 8 },
	{ "bytenr", BT_AT(root_item, bytenr), 8 }, { "bytes_used", 192, 8 },
	{ "last_snapshot", 200, 8 }, { "flags", 208, 8 }, { "refs", 216, 4 },
	{ "drop_level", 237, 1 }, { "level", BT_AT(root_item, level), 1 },
	{ "level", BT_AT(root_item, level), 1 }, { "generation_v2", 239, 8 },
};

static unsigned char super[SUPER_BYTES];
static uint32_t nodesize, sectorsize;
static const struct location super_location = {
	.at = SUPER_AT, .bytes = SUPER_BYTES, .block = UINT64_MAX
};
static uint64_t owners[OWNERS];
static size_t owner_count;

/*
 * Finding the tree blocks in the image.
 */
static void add_block(uint64_t at, const unsigned char *b)
{
	add_location(&(struct location){
		.at = at, .bytes = nodesize, .len = nodesize,
		.block = bt_le64(b + BT_HEADER_BYTENR),
		.generation = bt_le64(b + BT_HEADER_GENERATION),
		.tree = bt_le64(b + BT_HEADER_OWNER),
		.items = bt_le32(b + BT_HEADER_NRITEMS),
		.level = b[BT_HEADER_LEVEL],
	});
}

static void find_blocks(void)
{
	unsigned char header[BT_HEADER_BYTES];
	off_t data = SUPER_AT + SUPER_BYTES, hole;
	uint64_t at;

	while ((data = lseek(image_fd, data, SEEK_DATA)) >= 0) {
		hole = lseek(image_fd, data, SEEK_HOLE);
		for (at = data / sectorsize * sectorsize; at < (uint64_t)hole;
		     at += sectorsize) {
			read_at(at, header, sizeof(header));
			if (!memcmp(header + BT_HEADER_FSID,
				    super + BT_SUPER_FSID, 16) &&
			    /* A superblock's magic lies where a tree block has
			     * a uuid. */
			    bt_le64(header + BT_SUPER_MAGIC) != BT_MAGIC)
				add_block(at, header);
		}
		data = hole;
	}
}

static unsigned char *entry_of(unsigned char *block, uint32_t i)
{
	return block + BT_HEADER_BYTES + i * BT_ITEM_BYTES;
}

static unsigned char *item_of(unsigned char *block, uint32_t i)
{
	return block + BT_HEADER_BYTES +
	       bt_le32(entry_of(block, i) + BT_ITEM_OFFSET);
}

static int type_of(const unsigned char *key)
{
	return key[BT_AT(disk_key, type)];
}

static void reach(uint64_t logical, uint64_t generation, unsigned level);

static void reach_children(const struct location *block, unsigned char *b)
{
	unsigned char *p = b + BT_HEADER_BYTES;
	uint32_t i;

	for (i = 0; i < block->items; i++) {
		if (block->level) {
			reach(bt_le64(p + BT_PTR_BLOCKPTR),
			      bt_le64(p + BT_PTR_GENERATION),
			      block->level - 1u);
			p += BT_PTR_BYTES;
		} else if (block->tree == BTRFS_ROOT_TREE_OBJECTID &&
			   type_of(entry_of(b, i)) == BTRFS_ROOT_ITEM_KEY) {
			p = item_of(b, i);
			reach(bt_le64(p + BT_AT(root_item, bytenr)),
			      bt_le64(p + BT_AT(root_item, generation)),
			      p[BT_AT(root_item, level)]);
		}
	}
}

/* Mark all copies of a block, and everything it points to, as reachable. */
static void reach(uint64_t logical, uint64_t generation, unsigned level)
{
	unsigned char *b;
	size_t i;

	for (i = 0; i < location_count && level < LEVELS; i++) {
		struct location *block = &locations[i];

		if (block->reached || block->block != logical ||
		    block->generation != generation || block->level != level)
			continue;
		block->reached = true;
		b = read_location(block);
		reach_children(block, b);
		free(b);
	}
}

static void add_owner(uint64_t owner)
{
	size_t i;

	for (i = 0; i < owner_count; i++)
		if (owners[i] == owner)
			return;
	if (owner_count < OWNERS)
		owners[owner_count++] = owner;
}

/* Keep only the reachable blocks. */
static void find_locations(const char *path)
{
	size_t i, kept = 0;

	read_at(SUPER_AT, super, sizeof(super));
	nodesize = bt_le32(super + BT_SUPER_NODESIZE);
	sectorsize = bt_le32(super + BT_SUPER_SECTORSIZE);
	if (bt_le64(super + BT_SUPER_MAGIC) != BT_MAGIC || !sectorsize ||
	    nodesize < 4096 || nodesize > 65536)
		die("no btrfs");
	find_blocks();
	reach(bt_le64(super + BT_SUPER_CHUNK_ROOT),
	      bt_le64(super + BT_SUPER_CHUNK_ROOT_GENERATION),
	      super[BT_SUPER_CHUNK_ROOT_LEVEL]);
	reach(bt_le64(super + BT_SUPER_ROOT),
	      bt_le64(super + BT_SUPER_GENERATION),
	      super[BT_SUPER_ROOT_LEVEL]);
	for (i = 0; i < location_count; i++)
		if (locations[i].reached)
			locations[kept++] = locations[i];
	location_count = kept;
	for (i = 0; i < location_count; i++)
		add_owner(locations[i].tree);
	if (!location_count)
		die("%s: no tree blocks", path);
}

static bool has_kind(const struct location *block, unsigned kind)
{
	switch (kind) {
	case POINTER: return block->level && block->items;
	case ENTRY:
	case BODY: return !block->level && block->items;
	case ROOT: return !block->level &&
			  block->tree == BTRFS_ROOT_TREE_OBJECTID;
	default: return 1;
	}
}

/* Each tree is chosen as often as any other, however many blocks it has. */
static const struct location *pick_block(unsigned kind)
{
	uint64_t owner;

	if (kind == SUPER)
		return &super_location;
	if (!count_locations(kind, ANY_TREE))
		die("no %s here", kinds[kind]);
	do
		owner = owners[below(owner_count)];
	while (!count_locations(kind, owner));
	return pick_location(kind, owner);
}

/*
 * Choosing a field of a block, and its new value.
 */

/* A field of the structure at `base`, which is described by `of` and
 * `number`. */
static void set_target(struct target *t, uint32_t base, const struct field *f,
		       const char *of, uint32_t number)
{
	snprintf(t->name, sizeof(t->name), "%s %" PRIu32 ", %s", of, number,
		 f->name);
	t->off = base + f->off;
	t->size = f->size;
}

/* A non-empty item of this type, or of any type if `type` is 0.  UINT32_MAX if
 * there is none. */
static uint32_t pick_item(unsigned char *b, uint32_t items, int type)
{
	uint32_t i, start = below(items);

	for (i = 0; i < items; i++) {
		unsigned char *entry = entry_of(b, (start + i) % items);

		if ((!type || type_of(entry) == type) &&
		    bt_le32(entry + BT_ITEM_SIZE))
			return (start + i) % items;
	}
	return UINT32_MAX;
}

/* Choose a field of an item, or bytes in it. */
static void pick_in_item(unsigned char *b, const struct location *block,
			 unsigned kind, struct target *t)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };
	int type = kind == ROOT ? BTRFS_ROOT_ITEM_KEY : 0;
	uint32_t i = pick_item(b, block->items, type), size;
	struct field bytes = { "bytes", 0, 0 };

	if (i == UINT32_MAX)
		die("no %s here", kinds[kind]);
	size = bt_le32(entry_of(b, i) + BT_ITEM_SIZE);
	bytes.size = sizes[below(4)];
	if (bytes.size > size)
		bytes.size = 1;
	bytes.off = below(size / bytes.size) * bytes.size;
	set_target(t, item_of(b, i) - b,
		   kind == ROOT ? PICK(root_fields) : &bytes, "item", i);
	if (kind == BODY)
		snprintf(t->name, sizeof(t->name),
			 "item %" PRIu32 " of type %d, byte %u", i,
			 type_of(entry_of(b, i)), bytes.off);
}

static void pick_target(const struct location *block, unsigned char *b,
			unsigned kind, struct target *t)
{
	uint32_t i = below(block->items);

	switch (kind) {
	case SUPER:
		set_target(t, 0, PICK(super_fields), "super", 0);
		break;
	case POINTER:
		set_target(t, BT_HEADER_BYTES + i * BT_PTR_BYTES,
			   PICK(pointer_fields), "pointer", i);
		break;
	case ENTRY:
		set_target(t, BT_HEADER_BYTES + i * BT_ITEM_BYTES,
			   PICK(entry_fields), "entry", i);
		break;
	case ROOT:
	case BODY:
		pick_in_item(b, block, kind, t);
		break;
	default:
		set_target(t, 0, PICK(header_fields), "header", 0);
		break;
	}
}

static uint64_t pick_value(unsigned choice, const struct location *pl,
			   const struct location *other, uint64_t old,
			   uint32_t size)
{
	const struct location *own = pl == &super_location ? locations : pl;

	switch (choice) {
	case 6: return other->block;
	case 7: return other->generation;
	case 8: return other->tree;
	case 9: return own->block;
	case 10: return own->generation;
	case 11: return image_bytes - below(2) * nodesize;
	case 13: return below(4096) * sectorsize;
	default: return odd_value(choice, old, size);
	}
}

/* In three of four cases. */
static bool seal_block(const struct location *pl, unsigned char *b)
{
	bool seal = below(4);

	if (seal)
		store(b, 4, 0, ~ext2fs_crc32c_le(~0u, b + CSUM_BYTES,
						 pl->bytes - CSUM_BYTES));
	return seal;
}

/*
 * The corruptions.
 */
static void print_location(const struct location *block)
{
	if (block == &super_location)
		printf("superblock");
	else
		printf("tree %" PRIu64 ", level %u, block %" PRIu64
		       " at %" PRIu64, block->tree, block->level,
		       block->block, block->at);
}

const struct filesystem btrfs_filesystem = {
	.kinds = kinds,
	.kind_count = KINDS,
	.find = find_locations,
	.has_copies = true,
	.super_at = SUPER_AT,
	.has_kind = has_kind,
	.pick = pick_block,
	.print = print_location,
	.target = pick_target,
	.value = pick_value,
	.seal = seal_block,
};
