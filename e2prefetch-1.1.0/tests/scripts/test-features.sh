#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Images with every feature of ext2, ext3 and ext4, sound and damaged: the command
# under test must do what stock e2fsck does, with each I/O manager.  Damage is
# reproducible: fields set with debugfs, overwritten blocks, and changed bytes at
# seeded positions of the metadata that e2image finds.
#
#   test-features.sh [IMAGE...]	only these; the names are in images.sh
#
# E2PF_FEW	not empty: one kind of damage and one number of bytes per image, in
#		turn

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"

# Options for a sound image, one set per line.
sound_modes="-fn
-fy
-fp
-fyD
-n
-p
-fy -E discard
-fn -tt"

# Bytes changed at a time: from one to total damage.
flips="1 2 5 24"

damages="clri fields dirblock itable bitmaps super gdt feature"

# in_turn NUMBER ITEM...: all items, or with E2PF_FEW the one of this number.
in_turn()
{
	local number=$1

	shift
	[ -z "${E2PF_FEW-}" ] || set -- "${@:1 + number % $#:1}"
	echo "$@"
}

# debugfs does not find every name in every image; its output is discarded.
damage_debugfs()
{
	LD_PRELOAD=$FIXED_RANDOM debugfs -w -f - "$1" >/dev/null 2>&1
	return 0
}

damage_clri()
{
	damage_debugfs "$1" <<-END
	clri /d1
	clri /deep/0/1/2
	clri <8>
	END
}

damage_fields()
{
	damage_debugfs "$1" <<-END
	sif /d0/f1 block[0] 0x7fffffff
	sif /d0/f1 block[3] 0x7fffffff
	sif /many block[1] 0x0000ffff
	sif /d0/f5000 block[5] 0x00fffff0
	sif /d0/f0 links_count 77
	sif /d0/f2 mode 0
	sif /d0/f4 size 0xffffffffffff
	sif /d1/f70000 blocks 3
	sif /frag block[2] 0x10000
	sif /sparse block[13] 0xfffffff0
	sif /d3/f0 file_acl 0x12345678
	sif /d3/f1 flags 0x1ff81fff
	END
}

damage_dirblock()
{
	damage_debugfs "$1" <<-END
	zap_block -f /many -o 40 -l 80 -p 0x5a 1
	zap_block -f /many -o 12 -l 40 -p 0xff 0
	zap_block -f /d0 -l 12 0
	zap_block -f /deep/0 0
	zap_block -f /big -p 0x11 -o 8 -l 60 0
	END
}

# Block numbers of the first groups, from the table dumpe2fs prints.
group_blocks()
{
	dumpe2fs "$1" 2>/dev/null |
		sed -n "s/.*$2 at \([0-9]*\).*/\1/p" | head -n "$3"
}

damage_itable()
{
	group_blocks "$1" "Inode table" 2 |
		sed 's/.*/zap_block -o 512 -l 300 -p 0x3c &/' |
		damage_debugfs "$1"
}

damage_bitmaps()
{
	{
		group_blocks "$1" "Block bitmap" 2
		group_blocks "$1" "Inode bitmap" 3
	} | sed 's/.*/zap_block -o 3 -l 9 -p 0xa5 &/' | damage_debugfs "$1"
}

# e2fsck uses a backup superblock and opens the filesystem a second time.
damage_super()
{
	dd if=/dev/zero of="$1" bs=1k seek=1 count=1 conv=notrunc status=none
}

damage_gdt()
{
	local first

	first=$(dumpe2fs -h "$1" 2>/dev/null |
		awk '/^First block:/ { print $3 + 1 }')
	echo "zap_block -p 0xee -l 64 ${first:-1}" | damage_debugfs "$1"
}

# Feature flags that contradict what is on disk.
damage_feature()
{
	damage_debugfs "$1" <<-END
	feature ^filetype
	feature ^extent
	feature ^dir_index
	ssv inodes_count 0x20000000
	END
}

# compare_damaged NAME DIR IMAGE
compare_damaged()
{
	local name=$1 dir=$2 image=$3 options
	local COMPARE_MANAGERS="0 1"

	options=$(image_options "${name%%:*}")
	# shellcheck disable=SC2086
	compare_image "$name -fn" "$dir" "$image" $options -fn
	# shellcheck disable=SC2086
	compare_image "$name -fy" "$dir" "$image" $options -fy
}

test_image()
{
	local name=$1 dir=$E2PF_TMP/$1 image=$E2PF_TMP/$1/image why damage n
	local options mode seed=0 number

	number=$(image_names | grep -nFx "$name" | cut -d: -f1)
	mkdir "$dir"
	if ! why=$(image_make "$name" "$image" 2>&1); then
		tap_skip "$name" "this mke2fs does not make it: ${why//$'\n'/ }"
		return
	fi
	options=$(image_options "$name")
	# Without TEST_MMAP_IO the command under test picks a manager itself: the
	# first mode shows that it does, and the others need not repeat it.
	local COMPARE_MANAGERS="0 1 -"
	while read -r mode; do
		# shellcheck disable=SC2086
		compare_image "$name $mode" "$dir" "$image" $options $mode
		COMPARE_MANAGERS="0 1"
	done <<<"$sound_modes"

	e2image -r "$image" "$dir/map" >/dev/null 2>&1
	[ ! -e "$image.jdev" ] || cp "$image.jdev" "$dir/bad.jdev"
	# shellcheck disable=SC2086 # words
	for damage in $(in_turn "$number" $damages); do
		cp --sparse=auto "$image" "$dir/bad"
		"damage_$damage" "$dir/bad"
		compare_damaged "$name: $damage" "$dir" "$dir/bad"
	done
	# shellcheck disable=SC2086 # words
	for n in $(in_turn "$number" $flips); do
		seed=$((seed + 1))
		cp --sparse=auto "$image" "$dir/bad"
		"$IMGTOOL" flip "$dir/bad" "$dir/map" "$seed" "$n" ||
			tap_not_ok "$name: no metadata found to damage"
		compare_damaged "$name: $n bytes, seed $seed" "$dir" "$dir/bad"
	done
	rm -rf "$dir"
}

test_all()
{
	# Names have no spaces.
	# shellcheck disable=SC2046
	[ $# -gt 0 ] || set -- $(image_names)
	workers test_image "$@"
	tap_check "no process is left behind" no_process_left
}

require_programs mke2fs debugfs dumpe2fs e2image flock diff dd awk
tmp_setup
helpers_setup
images_setup
tap_run test_all "$@"
