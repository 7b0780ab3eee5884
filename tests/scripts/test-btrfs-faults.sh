#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Disks that fail, under btrfs check: the command under test must print what the
# stock program prints, and end with its status, when a tree block cannot be
# read, when the device is gone from some read on, when a device of a mirror is
# missing, and when blocks come late.
#
# A sample of them; all with E2PF_FAULTS=all.
#
#   test-btrfs-faults.sh [GROUP...]	of: eio gone missing disk
#
# BTRFS_TEST	the command under test (default: the launcher of the build tree)
# BTRFS_STOCK	the stock program (default: btrfs of PATH)
# BTRFS_LIMIT	seconds that a run may take (default: 300: the root of a tree that
#		cannot be read, 100 ms each time, is asked for hundreds of times)

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/tally.sh
. "$srcdir/tools/tally.sh"

BTRFS_TEST=${BTRFS_TEST:-$top_builddir/btrfs/btrfs}
BTRFS_STOCK=${BTRFS_STOCK:-$(command -v btrfs)}
BTRFS_LIMIT=${BTRFS_LIMIT:-300}
unset PREFETCH_BTRFS PREFETCH_ASIDE
plan=$top_builddir/tests/tools/btrfs-plan
model=$top_builddir/bench/diskmodel

# Of the cases of a group, so many are tried.
sample()
{
	if [ "${E2PF_FAULTS-}" = all ]; then
		cat
	else
		shuf -n "$1" --random-source="$srcdir/tools/lib.sh"
	fi
}

# check PROGRAM OUT IMAGE OPTION...: a check, by a name that is always the same.
check()
{
	local program=$1 out=$2 image=$3

	shift 3
	(
		cd "$(dirname "$image")" || exit
		LD_PRELOAD=${FAULTY:+$FAULTY:}$FIXED_RANDOM \
			exec timeout "$BTRFS_LIMIT" "$program" check "$@" \
			"$(basename "$image")" </dev/null \
			>"$out.out" 2>"$out.err"
	) 2>/dev/null
	echo $? >"$out.status"
}

# compare_check DIR IMAGE OPTION...: neither is ended by the time, and both say
# and do the same.
compare_check()
{
	local dir=$1 image=$2 part

	shift 2
	check "$BTRFS_STOCK" "$dir/stock" "$image" "$@"
	PREFETCH=1 PREFETCH_BTRFS=$BTRFS_STOCK PREFETCH_STATS=$dir/stats.json \
		check "$BTRFS_TEST" "$dir/test" "$image" "$@"
	if [ "$(cat "$dir/stock.status")" = 124 ]; then
		echo "the stock program takes too long"
		return 1
	fi
	for part in status out err; do
		diff "$dir/stock.$part" "$dir/test.$part" || return
	done
}

# tried NAME COUNT FAILED LOG
tried()
{
	if [ "$2" -gt 0 ] && [ "$3" = 0 ]; then
		tap_ok "$1: $2 of them"
	else
		tap_not_ok "$1: $3 of $2" "$4"
	fi
}

# each NAME FUNCTION: the function with the words of each line of standard input
each()
{
	local name=$1 function=$2 count=0 failed=0 log=$E2PF_TMP/each.log
	local -a words

	: >"$log"
	while read -r -a words; do
		count=$((count + 1))
		"$function" "${words[@]}" >"$E2PF_TMP/one.log" 2>&1 && continue
		failed=$((failed + 1))
		{ echo "${words[*]}"; head -n 6 "$E2PF_TMP/one.log"; } >>"$log"
	done
	tried "$name" "$count" "$failed" "$log"
}

# A filesystem of small nodes, so that there are many; on one device each tree
# block once, or as mkfs.btrfs's options say.
make_image()
{
	local image=$1 d

	shift
	if [ ! -d "$E2PF_TMP/files" ]; then
		for d in $(seq 12); do
			mkdir -p "$E2PF_TMP/files/$d"
			for f in $(seq 30); do
				head -c $((f * 90)) /dev/zero \
					>"$E2PF_TMP/files/$d/a-file-named-$f"
			done
		done
	fi
	truncate -s 256M "$image"
	mkfs.btrfs -q -n 4096 --rootdir "$E2PF_TMP/files" "$@" "$image" \
		>"$E2PF_TMP/mkfs.out" 2>&1
}

injected()
{
	local -x E2PF_FAULT=$1 E2PF_FAULT_FILE=fs E2PF_FAULT_LOG=$E2PF_TMP/hits
	local FAULTY=$FAULT

	shift
	: >"$E2PF_FAULT_LOG"
	compare_check "$E2PF_TMP" "$E2PF_TMP/fs" "$@" || return
	[ -s "$E2PF_FAULT_LOG" ] || ! echo "it did not come to that"
}

eio_case() { injected "read:$2+$3" "${@:4}"; }

test_eio()
{
	"$plan" "$E2PF_TMP/fs" | cut -d' ' -f1-3 | sort -u |
		sample 40 | each "a tree block that cannot be read" eio_case
	"$plan" "$E2PF_TMP/fs" | cut -d' ' -f1-3 | sort -u |
		sample 10 | sed 's/$/ --mode=lowmem/' |
		each "a tree block that cannot be read, lowmem" eio_case
}

gone_case() { injected "gone:$1" "${@:2}"; }

test_gone()
{
	local blocks

	blocks=$("$plan" "$E2PF_TMP/fs" | wc -l)
	seq 1 "$blocks" | sample 20 |
		each "a device that is gone from some read on" gone_case
}

missing_case()
{
	compare_check "$E2PF_TMP" "$E2PF_TMP/$1" "${@:2}" &&
		grep -q "is missing" "$E2PF_TMP"/stock.out "$E2PF_TMP"/stock.err &&
		grep -q '"planned_bytes":[1-9]' "$E2PF_TMP/stats.json"
}

# A mirror of which one device is there, the first or the second.
test_missing()
{
	local one

	truncate -s 256M "$E2PF_TMP/first" "$E2PF_TMP/second"
	if ! mkfs.btrfs -q -n 4096 -m raid1 -d single "$E2PF_TMP/first" \
		"$E2PF_TMP/second" >"$E2PF_TMP/mkfs.out" 2>&1; then
		tap_skip "a device that is missing" "mkfs.btrfs cannot make it"
		return
	fi
	# What is not written yet stays in memory, and is not read ahead.
	sync "$E2PF_TMP/first" "$E2PF_TMP/second"
	for one in first second; do
		mkdir "$E2PF_TMP/$one.alone"
		mv "$E2PF_TMP/$one" "$E2PF_TMP/$one.alone"
	done
	printf '%s\n' first.alone/first second.alone/second \
		"first.alone/first --mode=lowmem" |
		each "a device that is missing" missing_case
}

# disk_case FAULT OPTION...: the kernel's own page cache before a disk in user
# space.
disk_case()
{
	local fault=$1 mnt=$E2PF_TMP/mnt pid status

	shift
	coproc MODEL {
		exec "$model" --model="$srcdir/../bench/models/zero.conf" \
			--json=/dev/null --ready-fd=1 --read-only \
			--fault="$fault" "$E2PF_TMP/fs" "$mnt" 2>/dev/null
	}
	pid=$MODEL_PID
	if ! read -r -t 10 -N 1 _ <&"${MODEL[0]}"; then
		kill "$pid" 2>/dev/null
		echo "no disk"
		return 1
	fi
	compare_check "$E2PF_TMP" "$mnt/disk" "$@"
	status=$?
	kill "$pid"
	wait "$pid" 2>/dev/null
	return $status
}

test_disk()
{
	if ! have_root || ! have_fuse || [ ! -x "$model" ]; then
		tap_skip "a disk that fails" \
			"no root, no FUSE or bench/ is not built"
		return
	fi
	mkdir -p "$E2PF_TMP/mnt"
	"$plan" "$E2PF_TMP/fs" | sort -u | sample 8 |
		awk '{ print "eio:" $2 "+" $3 }' |
		each "a bad sector of a disk" disk_case
	"$plan" "$E2PF_TMP/fs" | sort -u | sample 2 |
		awk '{ print "eio:" $2 "+" $3 ":100ms --mode=lowmem" }' |
		each "a bad sector that takes its time, lowmem" disk_case
	"$plan" "$E2PF_TMP/fs" | sort -u | sample 2 |
		awk '{ print "slow:" $2 "+" $3 ":300ms" }' |
		each "a slow sector of a disk" disk_case
}

test_faults()
{
	local group

	make_image "$E2PF_TMP/fs" -m single || {
		tap_skip "faults" "mkfs.btrfs cannot make the image"
		return
	}
	[ $# -gt 0 ] || set -- eio gone missing disk
	for group in "$@"; do
		"test_$group"
	done
	tap_check "no process is left behind" no_process_left
}

require_programs flock mkfs.btrfs shuf
[ -x "$BTRFS_TEST" ] || tap_skip_all "not built: $BTRFS_TEST"
[ -x "$plan" ] || tap_skip_all "not built: $plan"
[ -n "$BTRFS_STOCK" ] || tap_skip_all "btrfs not found"
[ -z "$E2PF_RUNTIME" ] ||
	tap_skip_all "a sanitizer's runtime and faulty calls do not go together"
tmp_setup
helpers_setup
FAULT=$(library fault-inject) || tap_skip_all "fault-inject.c does not compile"
tap_run test_faults "$@"
