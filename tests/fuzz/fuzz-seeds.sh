# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# To be sourced after lib.sh.  fuzz_seeds TARGET DIR makes the seeds of a fuzz target.
# They include inputs that found bugs, so that every run begins with these.  The
# input format of each target is described at the top of its source.

# hex BYTES...: bytes as two digits each, to standard output.
hex()
{
	local b

	for b in "$@"; do
		printf "\\x$b"
	done
}

# Real bytes of a small filesystem are better than synthetic ones.
seeds_plan()
{
	local dir=$1 image=$1.image table f

	for f in 00 01 02 03 05; do
		{
			hex "$f" 00 01 ff 03 ff 00 00 00 00 ff
			hex 0a f3 01 00 04 00 00 00 00 00 00 00
			hex 00 00 00 00 01 00 00 00 40 00 00 00
		} >"$dir/made-$f"
	done
	# A directory in an inode of 256 bytes, with two entries, and one of 1 KiB.
	{
		hex 04 00 01 ff 03 ff 00 00 00 02
		hex $(printf '00 %.0s' {1..32}) 00 00 00 10 00 00 00 00
		hex 02 00 00 00 0c 00 00 00 0c 00 01 01 61 00 00 00
		hex 0d 00 00 00 2c 00 01 02 62 $(printf '00 %.0s' {1..39})
		hex $(printf '00 %.0s' {1..28}) 20 00 00 00 $(printf '00 %.0s' {1..28})
		hex 00 00 02 ea 04 07 20 00 00 00 00 00 0c 00 00 00 00 00 00 00
		hex 64 61 74 61 $(printf '00 %.0s' {1..64})
		hex 0c 00 00 00 0c 00 01 02 2e 00 00 00 0d 00 00 00 f4 03 01 01
	} >"$dir/directory"
	have_program mke2fs && have_program dumpe2fs &&
		mke2fs -q -F -t ext4 -b 1024 -I 128 "$image" 2m >/dev/null 2>&1 ||
		return 0
	{ hex 00; dd if="$image" bs=1k skip=1 count=1 status=none; } \
		>"$dir/super"
	table=$(dumpe2fs "$image" 2>/dev/null |
		sed -n 's/.*Inode table at \([0-9]*\).*/\1/p' | head -n 1)
	{
		hex 03 00 00 ff 00 ff 00 00 00 01 40
		dd if="$image" bs=1k skip="${table:-40}" count=1 status=none
	} >"$dir/inodes"
	rm -f "$image"
}

seeds_image()
{
	local dir=$1 log cap

	for log in 00 01; do
		for cap in 00 03 ff; do
			{
				hex ff "$cap" 00 10 40 ff ff 00 20 40 00 "$log"
				# One byte of an inode, and an extent node.
				hex 00 64 00 01 41
				hex 00 64 28 08 0a f3 03 00 04 00 02 00
			} >"$dir/$log-$cap"
			# Below the root, whose block has an entry.
			{
				hex ff "$cap" 00 10 40 ff ff 00 20 00 00 "$log"
				hex 00 68 00 0c 0d 00 00 00 00 04 01 02 61 00 00 00
			} >"$dir/directory-$log-$cap"
		done
	done
}

# The superblock of a small filesystem, and the bytes after it that describe a block.
seeds_btrfs()
{
	local dir=$1 image=$1.image n

	hex 01 >"$dir/empty"
	have_program mkfs.btrfs && truncate -s 64M "$image" &&
		mkfs.btrfs -q -M -m single "$image" >/dev/null 2>&1 || return 0
	for n in 01 03 05 07; do
		{
			hex "$n"
			dd if="$image" bs=4k skip=16 count=1 status=none
			# Blocks with a valid header, one of each tree.
			hex 3f
			dd if="$image" bs=512 skip=2048 count=1 status=none
			hex 1f
			dd if="$image" bs=512 skip=2112 count=1 status=none
		} >"$dir/super-$n"
	done
	rm -f "$image"
}

# An item of each kind that is parsed, and a node with two children.
seeds_search()
{
	local dir=$1 type

	for type in 01 0c 6c 84 a8; do
		{
			hex 00 01
			hex 09 00 00 00 00 00 00 00
			hex 01 01 00 00 00 00 00 00
			hex 00 00 00 00 00 00 00 00
			hex "$type" 00 00 00 c0 01 00 00
			head -c 448 /dev/zero | tr '\0' '\1'
		} >"$dir/item-$type"
	done
	{
		hex 01 02 00 00 00
		hex 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
		hex 00 10 00 00 00 00 00 00 07 00 00 00 00 00 00 00
		hex 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
		hex 00 20 00 00 00 00 00 00 08 00 00 00 00 00 00 00
	} >"$dir/node"
}

fuzz_seeds()
{
	mkdir -p "$2" && "seeds_$1" "$2"
}
