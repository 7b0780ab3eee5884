#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Stock e2fsck with the preload library, and the prefetcher alone, under valgrind on
# one image with many features: no invalid access and no use of what was never set.
# What e2fsck itself leaves allocated at its end is not counted.  The same for a unit
# test of clones, which only damage leads to.  And the instructions of a check that
# looks for the files that claim a block are about those of stock.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

preload=

# A status no e2fsck ends with.  Valgrind does not know the ioctl by which
# e2fsck asks loop devices, where there are any, for their files.
FOUND=99
VALGRIND="-q --error-exitcode=$FOUND --child-silent-after-fork=no
	--sim-hints=lax-ioctls --trace-children=yes --undef-value-errors=yes"

# Stock e2fsck by itself is clean on the image, or nothing can be told.
under_valgrind()
{
	local log=$E2PF_TMP/valgrind.$BASHPID status

	"$IMGTOOL" run 1800 env "$(command -v env)" LD_PRELOAD="$preload" \
		valgrind $VALGRIND --log-file="$log" "$@" >"$log.out" 2>&1 </dev/null
	status=$?
	# It does not know cachestat(2), which the self-test tries.
	sed -i '/^--[0-9]*-- /d' "$log"
	if [ $status -gt 1 ] || [ -s "$log" ]; then
		head -n 40 "$log" "$log.out"
		return 1
	fi
}

test_check()
{
	local preload=$LIBRARY:$ACCEL

	cp --sparse=auto "$image" "$E2PF_TMP/fs"
	PREFETCH=1 PREFETCH_ACCEL=all TEST_MMAP_IO=1 PREFETCH_STATS=$E2PF_TMP/stats \
		under_valgrind "$E2FSCK_STOCK" "$1" "$E2PF_TMP/fs" &&
		[ -s "$E2PF_TMP/stats" ]
}

# instructions PRELOAD: of a check of a copy of the image.  Those of a child, the
# self-test, come first.
instructions()
{
	cp --sparse=always "$E2PF_TMP/claimed" "$E2PF_TMP/fs"
	PREFETCH=1 PREFETCH_ACCEL=all \
		"$IMGTOOL" run 1800 env "$(command -v env)" LD_PRELOAD="$1" \
		valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--sim-hints=lax-ioctls "$E2FSCK_STOCK" -fy "$E2PF_TMP/fs" \
		2>&1 >/dev/null </dev/null |
		sed -n 's/^.* Collected : \([0-9]*\)$/\1/p' | tail -n 1
}

# test_claims PERCENT OPTION...: a file claims a block of another.  Pass 1B asks for
# each block of each file whether it is that one, and pass 1D for those of these two.
# At most PERCENT of stock's instructions may be needed.
test_claims()
{
	local block stock ours

	truncate -s 2G "$E2PF_TMP/claimed"
	mke2fs -q -F -b 4096 -N 1024 "${@:2}" "$E2PF_TMP/claimed" || return
	debugfs -w "$E2PF_TMP/claimed" >/dev/null 2>&1 <<-EOF
		write /dev/null a
		fallocate a 0 399999
		write /dev/null b
		fallocate b 0 9
	EOF
	block=$(debugfs -R "bmap a 700" "$E2PF_TMP/claimed" 2>/dev/null)
	block=${block%% *}
	debugfs -w -R "bmap b 5 $block" "$E2PF_TMP/claimed" >/dev/null 2>&1
	stock=$(instructions "")
	ours=$(instructions "$LIBRARY:$ACCEL")
	echo "block $block, instructions: stock $stock, ours $ours"
	[ "${stock:-0}" -gt 80000000 ] && [ "${ours:-0}" -gt 0 ] &&
		[ "$ours" -le $((stock / 100 * $1)) ]
}

test_all()
{
	local options

	image=$E2PF_TMP/image
	image_make "$(image_names | head -n 1)" "$image" || tap_bail "no image"
	skipped "valgrind" "$(under_valgrind "$E2FSCK_STOCK" -fn "$image" >/dev/null ||
		echo "stock e2fsck is not clean under it")" && return
	for options in -fn -fyD; do
		tap_check "e2fsck $options" test_check "$options"
	done
	tap_check "e2prefetch" under_valgrind "$PREFETCHER" -v "$image"
	tap_unless "$([ -x "$clones" ] || echo "the unit tests are not built")" \
		"clones" under_valgrind "$clones"
	tap_check "instructions with a claimed block, extents" test_claims 105 \
		-t ext4 -O ^has_journal,^metadata_csum,extent
	tap_check "the same, indirect blocks" test_claims 115 -t ext3 -O ^has_journal
}

[ "${SANITIZERS:-no}" = no ] ||
	tap_skip_all "valgrind and the sanitizers do not go together"
[ -r "$LIBRARY" ] || tap_skip_all "library not built: $LIBRARY"
clones=$top_builddir/tests/unit/test-clones
setup valgrind mke2fs debugfs e2fsck
tap_run test_all
