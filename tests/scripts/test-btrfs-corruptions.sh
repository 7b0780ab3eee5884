#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seeded corruptions of small btrfs filesystems (tools/seeds.sh): btrfs check, also
# in lowmem mode, and repairs of copies by both.  Even with hostile bytes no more
# blocks may be planned than fit on the device.
#
#   test-btrfs-corruptions.sh [SEED...]	only these, or COUNT seeds from FIRST
#
# COUNT, FIRST (default 1).  Without either: 22 seeds, and some on which the stock
# program writes to freed memory; how it ends shows whether its heap has the same
# layout with the module.  TABLE and KEEP as in tools/seeds.sh; tools/compare.sh
# describes the variables of the comparison.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
COMPARE_PROGRAM=btrfs
BTRFS_LIMIT=${BTRFS_LIMIT:-5}
BTRFS_OUTPUT=${BTRFS_OUTPUT:-2000000}
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"
# shellcheck source=../tools/report.sh
. "$srcdir/tools/report.sh"
# shellcheck source=../tools/seeds.sh
. "$srcdir/tools/seeds.sh"

heaps=(69 124 432 663)
if [ $# = 0 ] && [ -z "${COUNT-}${FIRST-}" ]; then
	# shellcheck disable=SC2046
	set -- $(seq 22) "${heaps[@]}"
fi
COUNT=${COUNT:-22}
FIRST=${FIRST:-1}
BATCH=8
kinds=(super array header pointer entry chunk root body swap zero truncate)
columns=(case checks agreed disagreed crashed hung unsure endless planned)
modes=("" --mode=lowmem --repair "--mode=lowmem --repair")
bytes=$((128 << 20))
PLANNED_MOST=$((bytes / 4096))

# Name, devices, options of mkfs.btrfs; of two devices one is missing later.
images()
{
	cat <<-'END'
	single	1	-n 4096 -m single
	dup	1	-n 4096 -m dup
	node-16k	1	-n 16384 -m dup
	node-64k	1	-n 65536 -m single
	mixed	1	-M -n 4096
	full-extents	1	-n 4096 -m single -O ^skinny-metadata,^no-holes
	quota	1	-n 4096 -m single -R quota
	raid1-missing	2	-n 4096 -m raid1 -d single
	END
}

# On a filesystem of its own, because the image keeps the numbers of inodes.
make_files()
{
	mkdir "$E2PF_TMP/files"
	mount -t tmpfs none "$E2PF_TMP/files" 2>/dev/null ||
		tap_diag "no mounts: a seed is a case of this run only"
	small_files "$E2PF_TMP/files"
	find "$E2PF_TMP/files" -exec touch -d @1500000000 {} +
}

# Makes the same bytes each time, except for times of files.
make_image()
{
	local name=$1 devices=$2 image=$E2PF_TMP/images/$1

	shift 2
	truncate -s "$bytes" "$image"
	if [ "$devices" = 2 ]; then
		truncate -s "$bytes" "$E2PF_TMP/second"
		set -- "$@" "$image" "$E2PF_TMP/second"
	else
		set -- "$@" --rootdir "$E2PF_TMP/files" "$image"
	fi
	if LD_PRELOAD=$FIXED_RANDOM mkfs.btrfs -q \
		-U 0123e567-e89b-42d3-a456-426614174000 "$@" \
		>"$E2PF_TMP/mkfs.out" 2>&1; then
		found_kinds "$name"
	else
		rm -f "$image"
		tap_diag "$name: this mkfs.btrfs does not make it"
	fi
}

check_corrupted()
{
	local mode

	for mode in "${modes[@]}"; do
		# shellcheck disable=SC2086
		check_image "$1" "$2" "$1/bad" $mode
	done
}

test_all()
{
	local name devices options

	seeds_setup
	make_files
	while IFS=$'\t' read -r name devices options; do
		# shellcheck disable=SC2086
		make_image "$name" "$devices" $options
	done < <(images)
	umount "$E2PF_TMP/files" 2>/dev/null
	check_seeds "corruptions of btrfs" "$@"
}

compare_require flock diff mkfs.btrfs
if [ -z "${E2PF_OWN_MOUNTS-}" ]; then
	own_mounts=-m
	have_root || own_mounts=-rm
	! unshare $own_mounts true 2>/dev/null ||
		E2PF_OWN_MOUNTS=1 exec unshare $own_mounts bash "$0" "$@"
fi
tmp_setup
helpers_setup
tap_run test_all "$@"
