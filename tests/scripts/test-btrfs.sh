#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# btrfs check with the preload library: what is left to the stock program and says why,
# and what a check leaves in the page cache.  test-compare.sh compares its results with
# stock's.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
COMPARE_PROGRAM=btrfs
. "$srcdir/tools/compare.sh"

with_library() { LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 "$@"; }

# With options that are not prefetched the statistics say so; other commands run the
# stock program.
aside()
{
	local stats=$E2PF_TMP/aside.json

	PREFETCH_STATS=$stats with_library "$BTRFS_TEST" check "${@:2}" \
		"$E2PF_TMP/small" >/dev/null 2>&1
	grep -q -- "$1" "$stats" && grep -q '"prefetched_bytes":0' "$stats"
}

test_aside()
{
	truncate -s 128M "$E2PF_TMP/small"
	mkfs.btrfs -q "$E2PF_TMP/small" >/dev/null 2>&1 || return
	tap_check "-s is left alone" aside "an option that prefetching does not support" \
		-s 1
	tap_check "so is -s behind more arguments than are read" aside \
		"too many arguments" \
		$(printf -- '--readonly %.0s' {1..70}) -s 1
	tap_check "no statistics of another command" not_of_others
}

not_of_others()
{
	local stats=$E2PF_TMP/other.json

	PREFETCH_STATS=$stats with_library "$BTRFS_TEST" inspect-internal dump-super \
		"$E2PF_TMP/small" >"$E2PF_TMP/other.out" 2>&1 &&
	"$BTRFS_STOCK" inspect-internal dump-super "$E2PF_TMP/small" |
		cmp - "$E2PF_TMP/other.out" && [ ! -e "$stats" ]
}

# sectors_read DEVICE: how many have been read from it.
sectors_read() { awk '{ print $3 }' "/sys/block/${1#/dev/}/stat"; }

# checked_away DEVICE SECTORS: a check leaves none of them cached, so what is read then
# all comes from the disk, some of it twice if memory is scarce.
checked_away()
{
	local before read

	PREFETCH_STATS=$E2PF_TMP/disk/stats.json \
		with_library "$BTRFS_TEST" check "$1" >/dev/null 2>&1
	before=$(sectors_read "$1")
	cat "$1" >/dev/null
	read=$(($(sectors_read "$1") - before))
	echo "$read sectors of $2 were not cached"
	[ $read -ge "$2" ]
}

# A check that ends early, while a worker waits for a block that the check does not
# reach, leaves no pages of the device cached.
nothing_resident()
{
	local image=$E2PF_TMP/resident dir=$E2PF_TMP/disk tree slow bad dev model \
		status=1 i

	mkdir -p "$dir/files" "$dir/mnt" && ( cd "$dir/files" && touch {1..4000} ) &&
	truncate -s 256M "$image" &&
	mkfs.btrfs -q -n 4096 -m single --rootdir "$dir/files" "$image" 2>&1 &&
	tree=$(btrfs inspect-internal dump-tree -r "$image") || return
	# In a filesystem so new, addresses are places.
	slow=$(sed -n 's/^fs tree .*) \([0-9]*\) .*/\1/p' <<<"$tree")
	bad=$(sed -n 's/^extent tree .*) \([0-9]*\) .*/\1/p' <<<"$tree")
	dd if=/dev/zero of="$image" bs=4096 count=1 seek=$((bad / 4096)) conv=notrunc \
		status=none
	if model_begins "$image" "$dir/mnt" --read-only \
		--fault="slow:$slow+4096:300ms" --fault="slow:$bad+4096:100ms" &&
	   dev=$(loop_attach "$dir/mnt/disk" -r --direct-io=on); then
		# Somebody holds the device open: its cache is not dropped at close.
		exec 9<"$dev"
		# On a busy machine the check may end before a worker has begun; others
		# look at new devices.
		for i in {1..20}; do
			undisturbed checked_away "$dev" $((256 * 2048)) || break
			! grep '"prefetched_bytes":[1-9]' "$dir/stats.json" ||
				{ status=0; break; }
		done
		exec 9<&-
		loop_detach "$dev"
	fi
	model_ends
	return $status
}

test_all()
{
	test_aside
	tap_unless "$(no_model)$(no_loops)" "nothing is left in memory" nothing_resident
	tap_check "no process is left behind" no_process_left
}

compare_require mkfs.btrfs
setup
tap_run test_all "$@"
