#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# btrfs check with the module against the stock program, on the images of
# btrfs-progs' own tests, sound, damaged and fuzzed: the check, that of lowmem
# mode, and repairs of copies.  Standard output, standard error, status and the
# allocated bytes must be the same.  Then what a check leaves in the page cache.
#
# The images are not part of this project.  BTRFS_TESTS names a folder with
# them; without it shared/btrfs-tests beside the source tree is tried.
#
#   test-btrfs.sh [IMAGE...]
#
# BTRFS_TEST	the command under test (default: the launcher of the build tree)
# BTRFS_STOCK	the stock program (default: btrfs of PATH)
# BTRFS_LIMIT	seconds until a run is ended (default: 20)

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

corpus=${BTRFS_TESTS:-$srcdir/../../shared/btrfs-tests}
BTRFS_TEST=${BTRFS_TEST:-$top_builddir/btrfs/btrfs}
BTRFS_STOCK=${BTRFS_STOCK:-$(command -v btrfs)}
BTRFS_LIMIT=${BTRFS_LIMIT:-20}
unset PREFETCH_BTRFS PREFETCH_ASIDE

# restore DUMP IMAGE: what the corpus has, as a filesystem.
restore()
{
	local dump=$1 image=$2

	case $dump in
	*.xz)
		xz -dc "$dump" | dd of="$image.raw" bs=64k conv=sparse \
			iflag=fullblock status=none || return
		truncate -s "$(xz -l --robot "$dump" |
			awk '/^totals/ { print $5 }')" "$image.raw"
		;;
	*)	cp "$dump" "$image.raw" || return ;;
	esac
	case $dump in
	*.raw*) mv "$image.raw" "$image" ;;
	*)
		btrfs-image -r "$image.raw" "$image" >"$image.log" 2>&1 ||
			return
		rm -f "$image.raw"
		;;
	esac
}

# run PROGRAM DIR IMAGE OPTION...: one check of a copy.  A sanitizer's runtime
# changes what the program finds in memory that it never set, and so goes into
# both.
run()
{
	local program=$1 dir=$2 image=$3
	local preload=$FIXED_RANDOM${E2PF_RUNTIME:+:$E2PF_RUNTIME}

	shift 3
	mkdir -p "$dir"
	rm -f "$dir"/*
	cp --sparse=auto "$image" "$dir/fs"
	(
		cd "$dir" || exit
		export LD_PRELOAD=$preload
		exec "$IMGTOOL" bounded "$BTRFS_LIMIT" 16777216 btrfs \
			"$program" check "$@" fs </dev/null \
			>"$dir.out" 2>"$dir.err"
	) 2>/dev/null
	echo $? >"$dir.status"
}

# What a crash of the program's own prints of addresses.
mask='s/0x[0-9a-f]\{6,\}/0x?/g; s/\[0x?\]//g'

same()
{
	local dir=$1 other=$2 part

	cmp "$dir/stock.status" "$dir/$other.status" || return
	for part in out err; do
		cmp -s "$dir/stock.$part" "$dir/$other.$part" ||
			diff <(sed "$mask" "$dir/stock.$part") \
				<(sed "$mask" "$dir/$other.$part") || return
	done
	"$IMGTOOL" cmp "$dir/stock/fs" "$dir/$other/fs"
}

# Blocks that were planned, by the statistics.
planned()
{
	sed -n 's/.*"block_size":\([0-9]*\).*/size \1/p
		s/.*"planned_bytes":\([0-9]*\).*/bytes \1/p' \
		"$1/stats.json" 2>/dev/null |
		awk '{ v[$1] = $2 }
			END { print v["size"] ? v["bytes"] / v["size"] : 0 }'
}

# compare NAME DIR OPTION...: a run that the time ended is not the same twice.
compare()
{
	local name=$1 dir=$2 status

	shift 2
	run "$BTRFS_STOCK" "$dir/stock" "$dir/fs" "$@"
	status=$(cat "$dir/stock.status")
	if [ "$status" = 124 ]; then
		tap_skip "$name" "the stock program takes too long"
		return
	fi
	PREFETCH=1 PREFETCH_STATS=$dir/stats.json \
		PREFETCH_BTRFS=$BTRFS_STOCK \
		run "$BTRFS_TEST" "$dir/test" "$dir/fs" "$@"
	if same "$dir" test >"$dir/diff" 2>&1; then
		tap_ok "$name (status $status, $(planned "$dir") blocks planned)"
		return
	fi
	# Damage makes the program print and write what it never set: with other
	# bytes in its heap it is another.
	run "$BTRFS_STOCK" "$dir/again" "$dir/fs" "$@"
	! same "$dir" again >/dev/null 2>&1 ||
		MALLOC_PERTURB_=165 run "$BTRFS_STOCK" "$dir/again" \
			"$dir/fs" "$@"
	if same "$dir" again >/dev/null 2>&1; then
		tap_not_ok "$name" "$dir/diff"
	else
		tap_skip "$name" "the stock program differs from itself"
	fi
}

test_image()
{
	local dump=$1 name dir

	name=$(basename "$dump" | sed 's/\.\(img\|raw\)\(\.xz\)\?$//')
	dir=$E2PF_TMP/$name
	mkdir "$dir"
	if ! restore "$dump" "$dir/fs"; then
		tap_skip "$name" "cannot be restored"
		return
	fi
	compare "$name" "$dir"
	compare "$name --mode=lowmem" "$dir" --mode=lowmem
	compare "$name --repair" "$dir" --repair
	compare "$name --mode=lowmem --repair" "$dir" --mode=lowmem --repair
	rm -rf "$dir"
}

# Options that the module leaves alone say so, and other commands are the stock
# program's.
aside()
{
	local stats=$E2PF_TMP/aside.json why=$1

	shift
	LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 PREFETCH_STATS=$stats \
		PREFETCH_BTRFS=$BTRFS_STOCK "$BTRFS_TEST" check "$@" \
		"$E2PF_TMP/small" >/dev/null 2>&1
	grep -q -- "$why" "$stats" && grep -q '"prefetched_bytes":0' "$stats"
}

test_aside()
{
	truncate -s 128M "$E2PF_TMP/small"
	mkfs.btrfs -q "$E2PF_TMP/small" >/dev/null 2>&1 || return
	tap_check "-s is left alone" aside "-s: another superblock" -s 1
	tap_check "-b is left alone" aside "-b: an older root" -b
	tap_check "-r is left alone" aside "-r: another root" -r 30408704
	tap_check "--chunk-root is left alone" aside "--chunk-root: " \
		--chunk-root 22020096
	tap_check "--init-csum-tree is left alone" aside "a tree is made" \
		--init-csum-tree --readonly
	tap_check "short for it as well" aside "a tree is made" \
		--init-e --readonly
	tap_check "no statistics of another command" not_of_others
	tap_check "the name is passed on" keeps_name
}

not_of_others()
{
	local stats=$E2PF_TMP/other.json

	PREFETCH=1 PREFETCH_STATS=$stats PREFETCH_BTRFS=$BTRFS_STOCK \
		"$BTRFS_TEST" inspect-internal dump-super "$E2PF_TMP/small" \
		>"$E2PF_TMP/other.out" 2>&1 &&
	"$BTRFS_STOCK" inspect-internal dump-super "$E2PF_TMP/small" |
		cmp - "$E2PF_TMP/other.out" && [ ! -e "$stats" ]
}

keeps_name()
{
	LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 \
		PREFETCH_STATS=$E2PF_TMP/name.json \
		PREFETCH_BTRFS=$BTRFS_STOCK \
		bash -c "exec -a btrfsck $BTRFS_TEST $E2PF_TMP/small" \
		>"$E2PF_TMP/name.out" 2>&1 &&
		grep -q '"checker_reads":[1-9]' "$E2PF_TMP/name.json"
}

# resident FILE: bytes of it in memory.
resident() { fincore -nb -o RES "$1" | tr -d ' '; }

# A check leaves nothing of the device in memory, also where it ends while there
# is something under way.
nothing_resident()
{
	local image=$E2PF_TMP/resident i

	truncate -s 1G "$image" &&
	mkfs.btrfs -q -n 4096 --rootdir "$srcdir/.." "$image" \
		>/dev/null 2>&1 && sync "$image" || return
	"$BTRFS_STOCK" check "$image" >/dev/null 2>&1
	[ "$(resident "$image")" = 0 ] || return 0
	for i in 1 2 3 4 5; do
		LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 \
			PREFETCH_BTRFS=$BTRFS_STOCK "$BTRFS_TEST" \
			check "$image" >/dev/null 2>&1
		[ "$(resident "$image")" = 0 ] || return
	done
	dd if=/dev/zero of="$image" bs=4k seek=16384 count=64 conv=notrunc \
		status=none
	sync "$image"
	LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 \
		PREFETCH_BTRFS=$BTRFS_STOCK "$BTRFS_TEST" check "$image" \
		>/dev/null 2>&1
	[ "$(resident "$image")" = 0 ]
}

# What the kernel writes past the page cache is what the next check sees.
no_stale_page()
{
	local dev mnt=$E2PF_TMP/mnt i

	dev=$(loop_attach "$E2PF_TMP/small") || return 0
	mkdir -p "$mnt"
	# Somebody holds the device open: its cache is not dropped at close.
	exec 9<"$dev"
	for i in 1 2 3; do
		LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 \
			PREFETCH_BTRFS=$BTRFS_STOCK "$BTRFS_TEST" \
			check "$dev" >/dev/null 2>&1 || break
		# shellcheck disable=SC2016
		unshare -m bash -ec '
			mount -t btrfs "$1" "$2"
			mkdir "$2/$3"
			cp -r "$4" "$2/$3/"
			umount "$2"' sh "$dev" "$mnt" "$i" "$srcdir/tools" ||
			break
		# Without the program's own call to drop the cache.
		"$IMGTOOL" cmp "$dev" "$E2PF_TMP/small" || break
	done
	exec 9<&-
	loop_detach "$dev"
	[ "$i" = 3 ]
}

test_all()
{
	# Names have no spaces.
	[ $# -gt 0 ] || set -- "$corpus"/*.img "$corpus"/*.xz
	workers test_image "$@"
	test_aside
	if have_program fincore; then
		tap_check "nothing is left in memory" nothing_resident
	fi
	if have_root && have_program losetup && have_program unshare; then
		tap_check "no stale page is left to a mount" no_stale_page
	fi
	tap_check "no process is left behind" no_process_left
}

[ -r "$corpus/README.md" ] ||
	tap_skip_all "no images of btrfs-progs' tests (set BTRFS_TESTS)"
require_programs flock xz btrfs-image mkfs.btrfs
[ -x "$BTRFS_TEST" ] || tap_skip_all "not built: $BTRFS_TEST"
[ -n "$BTRFS_STOCK" ] || tap_skip_all "btrfs not found"
tmp_setup
helpers_setup
tap_run test_all "$@"
