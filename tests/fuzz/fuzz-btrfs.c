/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A btrfs filesystem of arbitrary bytes, walked by the engine: tests the
 * planner, the chunk map and the source together.  Aborts if a reference is not
 * inside its device, or if the walk does not end.
 *
 * The input begins with the superblock, whose magic and sizes are corrected.
 * Each tree block that is read then takes the next 512 bytes, and one byte that
 * says which fields of its header are corrected: otherwise almost no block
 * would be parsed.
 */
#include "btrfs-fs.h"
#include "prefetch/survey.h"
#include "fuzz.h"

#define DEVICES 3u
#define DEVICE (UINT64_C(1) << 26)
#define TAKEN 512u

/* More reads than the source's limit allows. */
#define MAX_READS 200000u

static struct input in;
static unsigned reads;

static int make_block(struct pf_device *dev, void *buf, uint64_t offset,
		      uint32_t len)
{
	uint8_t *bytes, *b = buf, how = take_byte(&in);

	if (++reads > MAX_READS || !len || offset > dev->size ||
	    len > dev->size - offset)
		abort();
	memset(buf, 0, len);
	bytes = take(&in, TAKEN);
	memcpy(buf, bytes, TAKEN < len ? TAKEN : len);
	free(bytes);
	if (how & 1)
		memset(b + BT_HEADER_FSID, 0xf5, BT_UUID);
	/* Use device offsets as logical addresses; the input decides whether
	 * its chunks map them so. */
	if (how & 2)
		put64(b + BT_HEADER_BYTENR, offset);
	if (how & 4)
		put64(b + BT_HEADER_GENERATION, FS_GENERATION);
	if (how & 8)
		put64(b + BT_HEADER_OWNER, how >> 4);
	return 0;
}

static uint64_t now(struct pf_device *dev)
{
	(void)dev;
	return 1;
}

/* A plan makes no other calls. */
static const struct pf_device_ops device_ops = {
	.read = make_block, .now = now
};

static int read_block(void *ctx, const struct pf_ref *ref, void *bytes)
{
	struct pf_device *dev = ((struct pf_device **)ctx)[ref->device];

	if (ref->offset > dev->size || ref->length > dev->size - ref->offset)
		return 1;
	return dev->ops->read(dev, bytes, ref->offset, ref->length);
}

static void walk(const struct bt_super *super)
{
	struct pf_class_count count[BT_CLASSES];
	struct bt_source btrfs = { .trees = 0 };
	struct pf_device *list[DEVICES];
	struct pf_device dev[DEVICES];
	uint64_t offset = DEVICE / 2;
	unsigned i, device = 0;

	fs_map(&btrfs.map, DEVICES);
	btrfs.map.super = *super;
	for (i = 0; i < DEVICES; i++) {
		dev[i] = (struct pf_device) {
			.ops = &device_ops, .size = DEVICE,
			.max_readahead = 128 << 10, .page_size = 4096
		};
		btrfs.bytes[i] = DEVICE;
		list[i] = &dev[i];
	}
	/* The device to which the chunks of a single-device image refer. */
	memcpy(btrfs.map.device[0].uuid, super->device.uuid, BT_UUID);
	reads = 0;
	bt_source_init(&btrfs, read_block, list);
	reads = 0;
	pf_survey_count(&btrfs.source, list, count);
	bt_chunk_map_first_copy(&btrfs.map, &device, &offset);
	if (device >= DEVICES)
		abort();
	bt_source_fini(&btrfs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t sizes[] = { 4096, 8192, 16384, 65536 };
	struct bt_super super;
	uint8_t *bytes, node;

	in = (struct input) { data, size };
	node = take_byte(&in);
	bytes = take(&in, BT_SUPER_BYTES);
	put64(bytes + BT_SUPER_MAGIC, BT_MAGIC);
	put64(bytes + BT_SUPER_BYTENR, 65536);
	if (node & 1) {
		put32(bytes + BT_SUPER_SECTORSIZE, 4096);
		put32(bytes + BT_SUPER_NODESIZE, sizes[node >> 1 & 3]);
		put64(bytes + BT_SUPER_GENERATION, FS_GENERATION);
		put64(bytes + BT_SUPER_INCOMPAT,
		      BTRFS_FEATURE_INCOMPAT_METADATA_UUID);
		put64(bytes + BT_SUPER_CHUNK_ROOT_GENERATION, FS_GENERATION);
	}
	if (!bt_plan_super(bytes, &super))
		walk(&super);
	free(bytes);
	return 0;
}
