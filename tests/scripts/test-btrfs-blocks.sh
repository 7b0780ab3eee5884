#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Filesystems of every metadata profile and node size, made by the kernel: the planned
# blocks, and their devices, must be those that the stock check reads according to
# strace.  The check's own readahead must be for them, too.
#
#   test-btrfs-blocks.sh [CASE...]

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

loops=()
plan=$top_builddir/tests/tools/btrfs-plan

# Name, devices, options of mkfs.btrfs.
cases()
{
	cat <<-'END'
	single	1	-m single
	dup	1	-m dup
	mixed	1	-M -m single -d single -n 4096
	node-4k	1	-n 4096
	node-32k	1	-n 32768
	node-64k	1	-n 65536
	blake2	1	--csum blake2
	full-extents	1	-O ^skinny-metadata
	block-group-tree	1	-O block-group-tree
	raid0	2	-m raid0 -d single
	raid0-3	3	-m raid0 -d single
	raid1	2	-m raid1 -d single
	raid1c3	3	-m raid1c3 -d single
	raid1c4	4	-m raid1c4 -d single
	raid10	2	-m raid10 -d single
	raid10-4	4	-m raid10 -d single
	raid5	2	-m raid5 -d single
	raid5-3	3	-m raid5 -d single
	raid6	4	-m raid6 -d single
	raid1-missing	2	-m raid1 -d raid1
	END
}

# have_devices COUNT: sets up as many loop devices.
have_devices()
{
	local n dev

	for ((n = ${#loops[@]}; n < $1; n++)); do
		truncate -s 512M "$E2PF_TMP/disk$n"
		dev=$(loop_attach "$E2PF_TMP/disk$n") || return
		loops+=("$dev")
	done
}

# Some thousand small files, a snapshot, and changes after it.
fill()
{
	local d f

	for d in $(seq 30); do
		mkdir "$1/$d" || return
		for f in $(seq 60); do
			printf '%*s' $((f * d % 3500 + 100)) '' \
				>"$1/$d/file-with-a-name-$f"
		done
	done
	btrfs subvolume snapshot "$1" "$1/snapshot" >/dev/null || return
	for d in $(seq 1 3 30); do
		touch "$1/$d"/*7
	done
}

# calls NAME DEVICE...: the calls in the last trace, in the format of btrfs-plan.
calls()
{
	awk -v list="${*:2}" -v name="$1" '
		BEGIN { n = split(list, device, " ")
			for (i = 1; i <= n; i++)
				index_of[device[i]] = i - 1 }
		index($0, name "(") == 1 {
			path = $0; sub(/^[^<]*</, "", path)
			sub(/>.*/, "", path)
			split(path, part, "<"); path = part[1]
			if (!(path in index_of)) next
			call = $0; sub(/\) += .*/, "", call)
			k = split(call, arg, ", ")
			if (name == "readahead")
				print index_of[path], arg[k - 1], arg[k]
			# Superblocks are not tree blocks.
			else if (arg[k] != 65536 && arg[k] != 67108864)
				print index_of[path], arg[k], arg[k - 1]
		}' "$E2PF_TMP/trace" | sort -u
}

# traced PROGRAM DEVICE: traces the program's main thread only.
traced()
{
	strace -y -e trace=pread64,readahead -o "$E2PF_TMP/trace" \
		${E2PF_RUNTIME:+-E LD_PRELOAD="$E2PF_RUNTIME"} \
		"$1" check "$2" >"$E2PF_TMP/check.out" 2>&1
}

# compare_blocks DEVICE...
compare_blocks()
{
	local planned seen wasted missed

	traced "$BTRFS_STOCK" "$1"
	calls pread64 "$@" >"$E2PF_TMP/seen"
	calls readahead "$@" >"$E2PF_TMP/ahead"
	"$plan" "$@" | sort -u >"$E2PF_TMP/planned" || return
	planned=$(wc -l <"$E2PF_TMP/planned")
	seen=$(wc -l <"$E2PF_TMP/seen")
	wasted=$(comm -23 "$E2PF_TMP/planned" "$E2PF_TMP/seen" | wc -l)
	missed=$(comm -13 "$E2PF_TMP/planned" "$E2PF_TMP/seen" | wc -l)
	echo "$seen read, $planned planned, $missed missed, $wasted for nothing"
	comm -3 "$E2PF_TMP/planned" "$E2PF_TMP/seen" | head -n 5
	# One block in a hundred may be unneeded; none may be missing.
	[ "$seen" -gt 20 ] && [ "$missed" = 0 ] && [ $((wasted * 100)) -le "$seen" ]
}

# Blocks that were read ahead, but not planned.
elsewhere() { comm -13 "$E2PF_TMP/planned" "$E2PF_TMP/ahead"; }

# The check's own readahead must be for the copies that it reads.  On mirrors,
# the stock program also reads ahead other copies.
compare_ahead()
{
	local stock

	stock=$(elsewhere | wc -l)
	[ "$stock" -gt 0 ] || return 0
	PREFETCH=1 PREFETCH_STATS=$E2PF_TMP/stats.json PREFETCH_THREADS=2 \
		PREFETCH_BTRFS=$BTRFS_STOCK traced "$BTRFS_TEST" "$2"
	calls readahead "${@:2}" >"$E2PF_TMP/ahead"
	tap_check \
		"$1: read ahead where it is read, $stock by the stock program are not" \
		nowhere_else
}

nowhere_else()
{
	elsewhere
	[ -z "$(elsewhere)" ] && grep -q '"threads":[1-9]' "$E2PF_TMP/stats.json"
}

test_case()
{
	local name=$1 count=$2 mnt=$E2PF_TMP/mnt why devices=()

	have_devices "$count" || { tap_skip "$name" "not $count loop devices"; return; }
	devices=("${loops[@]:0:count}")
	wipefs -aq "${loops[@]}"
	why=$({ mkfs.btrfs -q -f "${@:3}" "${devices[@]}" &&
		btrfs device scan "${devices[@]}" &&
		mount -t btrfs "${devices[0]}" "$mnt"; } 2>&1 >/dev/null) ||
		{ tap_skip "$name" "${why##*$'\n'}"; return; }
	fill "$mnt"
	umount "$mnt"
	if [ "$name" = raid1-missing ]; then
		wipefs -aq "${devices[0]}"
		devices=("${devices[1]}")
	fi
	if compare_blocks "${devices[@]}" >"$E2PF_TMP/log" 2>&1; then
		tap_ok "$name: $(head -n 1 "$E2PF_TMP/log")"
	else
		tap_not_ok "$name" "$E2PF_TMP/log"
	fi
	[ -n "${E2PF_NO_PRELOAD-}" ] || compare_ahead "$name" "${devices[@]}"
}

test_cases()
{
	local name count options

	mkdir "$E2PF_TMP/mnt"
	while IFS=$'\t' read -r name count options; do
		[[ " ${*:-$name} " != *" $name "* ]] ||
			test_case "$name" "$count" $options
	done < <(cases)
}

why=$(lacks mkfs.btrfs strace losetup wipefs)$(no_mounts)
[ -z "$why" ] || tap_skip_all "$why"
grep -qw btrfs /proc/filesystems || tap_skip_all "a kernel without btrfs"
[ -x "$plan" ] || tap_skip_all "not built: $plan"
own_mounts "$@"
tmp_setup
have_devices 1 || tap_skip_all "no loop device"
tap_run test_cases "$@"
