#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The commands of doc/tutorial.md, in order, on an image; and to which files
# statistics are written.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# The indented lines, as a script that ends at the first failure.
run_tutorial()
{
	sed -n 's/^    //p' "$srcdir/../doc/tutorial.md" >"$dir/commands"
	[ "$(wc -l <"$dir/commands")" -ge 10 ] || return
	# bash's own variables and functions, its working directory is $dir.
	(
		cd "$dir" || exit
		export disk=$image
		export PATH=$top_builddir/prefetch:$top_builddir/e2fsck:$PATH
		LD_PRELOAD='' PREFETCH=0 bash -e commands </dev/null
	)
}

# The tutorial's cold() leaves nothing of an image, and of a file below a loop device,
# in memory.
tutorial_is_cold()
{
	local disk dev

	sed -n '/^    cold() {/,/^    }/s/^    //p' \
		"$srcdir/../doc/tutorial.md" >"$dir/cold" &&
	cp "$image" "$dir/below" && sync "$dir/below" || return
	dev=$(loop_attach "$dir/below") || return
	for disk in "$dir/below" "$dev"; do
		undisturbed is_cold_after || {
			echo "$disk: $(resident "$dir/below")"
			return 1
		}
	done
	loop_detach "$dev"
}

is_cold_after()
{
	cat "$disk" >"$dir/null" && [ "$(resident "$dir/below")" != 0 ] &&
	( . "$dir/cold"; cold ) && [ "$(resident "$dir/below")" = 0 ]
}

# check NAME VARIABLE=VALUE...: the image, cold, with these variables; the output of
# the check alone goes to NAME.out, its status to NAME.status.
check()
{
	local name=$1 status=0

	shift
	drop "$image"
	env PREFETCH=1 "$@" "$E2FSCK_TEST" -fn "$image" >"$dir/$name.out" \
		2>"$dir/err" </dev/null || status=$?
	cat "$dir/err"
	echo $status >"$dir/$name.status"
}

# Another file is not written over.
leaves_files()
{
	echo precious >"$dir/precious"
	check other PREFETCH_STATS="$dir/precious"
	[ "$(cat "$dir/precious")" = precious ] &&
		[ "$(grep -c ^e2fsck-prefetch: "$dir/err")" = 1 ] &&
		diff "$dir/stock.out" "$dir/other.out"
}

# On a full disk: one line, and e2fsck's own result.
full_statistics()
{
	head -c 4M /dev/zero >"$full/fill" 2>"$dir/null"
	check full PREFETCH_STATS="$full/stats"
	rm -f "$full"/*
	diff "$dir/stock.status" "$dir/full.status" &&
	diff "$dir/stock.out" "$dir/full.out" &&
	[ "$(grep -c "^e2fsck-prefetch: cannot write statistics to .*: No space" \
		"$dir/err")" = 1 ]
}

test_full()
{
	local full=$dir/full

	mkdir "$full"
	skipped "a full disk" "$(mount -t tmpfs -o size=1M none "$full" 2>&1)" && return
	tap_check "statistics on a full disk" full_statistics
	umount "$full"
}

test_all()
{
	small_image tutorial
	check stock PREFETCH=0
	tap_check "the tutorial" run_tutorial
	tap_unless "$(no_loops)$(no_disk)" "the tutorial's cold" tutorial_is_cold
	tap_check "a file of somebody's is left alone" leaves_files
	test_full
}

[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
setup mke2fs debugfs jq dd
tap_run test_all
