#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The passes that a check of a damaged filesystem has: each is known by the
# walks that it makes, and has its own line in the statistics, in the order in
# which e2fsck itself says that it comes to them.  Blocks that are cloned are read
# ahead.  And the check is stock's.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/compare.sh"

# An ext3 of some hundred files with indirect blocks, and a block that two of
# them claim; an inode as well whose links are miscounted.
make_image()
{
	local block i

	truncate -s 24M "$1"
	mke2fs -q -F -t ext3 -b 1024 -N 1000 -J size=1 "$1" || return
	head -c 20000 /dev/zero | tr '\0' x >"$E2PF_TMP/file"
	for ((i = 0; i < 300; i++)); do
		[ $((i % 30)) != 0 ] || echo "mkdir d$((i / 30))"
		echo "write $E2PF_TMP/file d$((i / 30))/f$i"
	done >"$E2PF_TMP/commands"
	debugfs -w -f "$E2PF_TMP/commands" "$1" >/dev/null 2>&1
	block=$(debugfs -R "bmap d0/f1 0" "$1" 2>/dev/null)
	debugfs -w -R "sif d9/f290 block[0] $block" "$1" 2>/dev/null
	debugfs -w -R "sif d3/f100 links_count 7" "$1" 2>/dev/null
}

# stages IMAGE OPTION: those of a check by the wrapper, in one line.
stages()
{
	cp "$1" "$E2PF_TMP/copy"
	drop "$E2PF_TMP/copy"
	rm -f "$E2PF_TMP/stats"
	PREFETCH=1 PREFETCH_ACCEL=all PREFETCH_STATS=$E2PF_TMP/stats \
		LD_PRELOAD=$E2PF_RUNTIME "$E2FSCK_TEST" "$2" "$E2PF_TMP/copy" \
		>"$E2PF_TMP/out" 2>&1 </dev/null
	jq -r '[.stages[].name] | join(" ")' "$E2PF_TMP/stats"
}

# stages_are WANTED IMAGE OPTION
stages_are() { diff <(echo "$1") <(stages "$2" "$3"); }

# 450 blocks of the first half of the files are claimed by the second half, too;
# and one that there is not.
claim_many()
{
	local i j

	for ((i = 0; i < 150; i++)); do
		for j in 0 3 6; do
			echo "bmap d$((i / 30))/f$i $j"
		done
	done >"$E2PF_TMP/commands"
	debugfs -f "$E2PF_TMP/commands" "$1" 2>/dev/null | grep '^[1-9]' |
		for ((i = 150; i < 300; i++)); do
			for j in 1 4 7; do
				read -r block
				echo "sif d$((i / 30))/f$i block[$j] $block"
			done
		done >"$E2PF_TMP/claims"
	echo "sif d9/f299 block[9] 99999999" >>"$E2PF_TMP/claims"
	debugfs -w -f "$E2PF_TMP/claims" "$1" >/dev/null 2>&1
}

# Clones are planned beside reads: with -n there are no clones.
clones_ahead()
{
	local option planned=()

	for option in -fn -fy; do
		stages "$E2PF_TMP/claimed" $option >/dev/null
		grep 'inodes containing' "$E2PF_TMP/out"
		planned+=("$(jq .planned_bytes "$E2PF_TMP/stats")")
	done
	echo "planned: ${planned[*]}"
	[ "${planned[0]}" != 0 ] && [ "${planned[1]}" -gt "${planned[0]}" ]
}

test_all()
{
	local all="open pass1 pass1b pass1c pass1d pass2 pass3-4 pass5"
	local sound="open pass1 pass2 pass3-4 pass5"
	local image=$E2PF_TMP/image option

	tap_check "blocks claimed twice" stages_are "$all" "$image" -fn
	tap_check "the same, repaired" stages_are "$all" "$image" -fy
	cp "$image" "$E2PF_TMP/claimed" && claim_many "$E2PF_TMP/claimed" || return
	# Pass 1D takes some milliseconds, in which a thread has to get a processor.
	tap_unless "$(no_disk)" "blocks to be cloned are read ahead" undisturbed \
		clones_ahead
	for option in -fn -fy; do
		compare_image "450 blocks claimed twice, $option" \
			"$E2PF_TMP/compare" "$E2PF_TMP/claimed" "$option"
	done
	e2fsck -fy "$image" >/dev/null 2>&1 </dev/null
	tap_check "a sound filesystem" stages_are "$sound" "$image" -fn
	tap_check "directories are written anew" stages_are "$sound" "$image" -fyD
}

setup mke2fs debugfs jq e2fsck
make_image "$E2PF_TMP/image" || tap_bail "no image"
tap_run test_all
