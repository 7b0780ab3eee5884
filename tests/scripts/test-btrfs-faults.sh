#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# btrfs check on failing disks: the command under test must have the output and
# exit status of the stock program if a tree block cannot be read, if the device
# vanishes at some read, and if a bad sector takes its time.  test-compare.sh has a
# mirror of which a device is missing.
#
# A sample of them; all with E2PF_FAULTS=all.
#
#   test-btrfs-faults.sh [GROUP...]	of: eio gone disk
#
# tools/compare.sh describes the variables of the comparison.  BTRFS_LIMIT is 1200
# because the stock program reads the unreadable root of a tree hundreds of times.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
COMPARE_PROGRAM=btrfs
BTRFS_LIMIT=${BTRFS_LIMIT:-1200}
BTRFS_OUTPUT=
# The limit is for both programs: if one takes long, so does the other.
COMPARE_TEST_LIMIT=$BTRFS_LIMIT
COMPARE_IN_PLACE=1
COMPARE_MASK=
. "$srcdir/tools/compare.sh"

plan=$top_builddir/tests/tools/btrfs-plan

# A filesystem with small nodes, so that there are many, and one copy of each.
make_image()
{
	small_files "$E2PF_TMP/files"
	truncate -s 256M "$E2PF_TMP/fs"
	mkfs.btrfs -q -n 4096 --rootdir "$E2PF_TMP/files" -m single "$E2PF_TMP/fs" \
		>"$E2PF_TMP/mkfs.out" 2>&1
}

# fault_check KIND NAME IMAGE OPTION...: runs both programs.  A stock program that
# is stopped by the time limit does not count as agreement.  Returns false if the
# case is decided.
fault_check()
{
	compare_stock "$dir" "${@:3}"
	if compare_endless "$dir"; then
		tally "$1" hung "$2: the stock program takes too long"
		return 1
	fi
	tally_case "$1" "$2" "$dir" - "${@:3}"
}

# fault_case LINE: kind|fault|options.
fault_case()
{
	local kind fault options
	local COMPARE_PRELOAD=$FAULT:$FIXED_RANDOM
	local -x E2PF_FAULT E2PF_FAULT_FILE=fs E2PF_FAULT_LOG=$dir/hits

	IFS='|' read -r kind fault options <<<"$1"
	E2PF_FAULT=$fault
	: >"$E2PF_FAULT_LOG"
	fault_check "$kind" "$fault $options" "$E2PF_TMP/fs" $options || return
	[ -s "$E2PF_FAULT_LOG" ] ||
		tally "$kind" disagreed "$fault $options: it did not come to that"
}

# blocks KIND FAULT REST: prints a case for each line of btrfs-plan from standard
# input.
blocks()
{
	awk -v k="$1" -v f="$2" -v r="$3" '{ print k "|" f ":" $2 "+" $3 r }'
}

test_eio()
{
	local bad="a tree block that cannot be read"

	"$plan" "$E2PF_TMP/fs" | sort -u | sample 40 |
		blocks "$bad" read "|" | tally_all fault_case "$bad"
	"$plan" "$E2PF_TMP/fs" | sort -u | sample 10 |
		blocks "$bad, lowmem" read "|--mode=lowmem" |
		tally_all fault_case "$bad, lowmem"
}

test_gone()
{
	local kind="a device that is gone from some read on" count

	count=$("$plan" "$E2PF_TMP/fs" | wc -l)
	seq 1 "$count" | sample 20 | sed "s/.*/$kind|gone:&|/" |
		tally_all fault_case "$kind"
}

# disk_case LINE: kind|fault|options.  The fault is below the kernel's page cache,
# in a disk in user space.
disk_case()
{
	local kind fault options model

	IFS='|' read -r kind fault options <<<"$1"
	mkdir -p "$dir/mnt"
	if model_begins "$E2PF_TMP/fs" "$dir/mnt" --read-only --fault="$fault"; then
		fault_check "$kind" "$fault $options" "$dir/mnt/disk" $options
	else
		tally "$kind" disagreed "$fault $options: no disk"
	fi
	model_ends
}

test_disk()
{
	local bad="a bad sector of a disk"
	local late="a bad sector that takes its time, lowmem"

	skipped "a disk that fails" "$(no_model)" && return
	"$plan" "$E2PF_TMP/fs" | sort -u >"$E2PF_TMP/plan"
	sample 8 <"$E2PF_TMP/plan" | blocks "$bad" eio "|" | tally_all disk_case "$bad"
	sample 2 <"$E2PF_TMP/plan" | blocks "$late" eio ":20ms|--mode=lowmem" |
		tally_all disk_case "$late"
}

test_faults()
{
	make_image || { tap_skip "faults" "mkfs.btrfs cannot make the image"; return; }
	[ $# -gt 0 ] || set -- eio gone disk
	test_groups "$@"
}

compare_require flock diff mkfs.btrfs
[ -x "$plan" ] || tap_skip_all "not built: $plan"
[ -z "$E2PF_RUNTIME" ] ||
	tap_skip_all "a sanitizer's runtime and faulty calls do not go together"
setup
FAULT=$(library fault-inject) || tap_skip_all "fault-inject.c does not compile"
tap_run test_faults "$@"
