#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# A checker with threads of its own, as the parallel e2fsck of Lustre is one:
# with the module in it, it finds what it finds without, whatever it is told of
# I/O managers and accelerations.  The checker is ours (parallel-check.c), for
# no distribution has one.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/compare.sh"

CHECKER=$top_builddir/tests/tools/parallel-check
COMPARE_ACCEL=all

# Many groups, and blocks of directories in most of them.
make_large()
{
	local i

	image=$E2PF_TMP/images/large
	truncate -s 400M "$image"
	mke2fs -q -F -t ext4 -b 1024 -N 20000 "$image" || return
	for ((i = 0; i < 300; i++)); do
		echo "mkdir d$i"
		echo "write $IMAGE_SRC/f70000 d$i/file"
	done >"$E2PF_TMP/commands"
	debugfs -w -f "$E2PF_TMP/commands" "$image" >/dev/null 2>&1
}

test_image()
{
	local name=$1 threads

	for threads in 1 2 4 7; do
		compare_image "$name, $threads threads" "$E2PF_TMP/$name" \
			"$E2PF_TMP/images/$name" -fn -m "$threads"
	done
	rm -rf "${E2PF_TMP:?}/$name"
}

# Its threads are not followed, all is read ahead; on a file that cannot be put
# out of memory all looks resident, and no thread is started.
is_served()
{
	local image=$E2PF_TMP/images/large stats=$E2PF_TMP/stats

	rm -f "$stats"
	drop "$image"
	PREFETCH=1 PREFETCH_THREADS=3 PREFETCH_STATS=$stats PREFETCH_ACCEL=all \
		LD_PRELOAD=$E2PF_RUNTIME \
		"$E2FSCK_TEST" -fn -m "$1" "$image" >/dev/null
	cat "$stats"
	jq -e '.threads == 3 or
		([.notes[] | select(contains(": asleep "))] | length > 0)' \
		"$stats" &&
	jq -e '.notes | index("bitmaps: not accelerated (this e2fsck checks in several threads)")' \
		"$stats"
}

test_all()
{
	local name

	for name in "$E2PF_TMP/images/"*; do
		test_image "${name##*/}"
	done
	# The others are still scanning then.
	compare_image "one thread ends the process" "$E2PF_TMP/exit" \
		"$E2PF_TMP/images/large" -fn -x -m 4
	tap_check "one thread is served" is_served 1
	tap_check "four threads are served" is_served 4
}

[ -x "$CHECKER" ] || tap_skip_all "parallel-check is not built"
setup mke2fs debugfs jq
mkdir "$E2PF_TMP/images" && image_make ext3-1k "$E2PF_TMP/images/ext3-1k" &&
	image_make ext4-1k "$E2PF_TMP/images/ext4-1k" && make_large || tap_bail "no image"
# What the launcher takes for e2fsck, and stock is the same program.
E2FSCK_STOCK=$CHECKER
export PREFETCH_E2FSCK=$CHECKER
tap_run test_all
