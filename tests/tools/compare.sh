#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One check by the stock e2fsck and the same check by the command under test,
# each on its own copy of an image and under the same path name: standard
# output, standard error, exit status and every byte of every file left behind
# must be the same.  One TAP line each.
#
# Run alone:  compare.sh IMAGE [E2FSCK OPTION...]
# Sourced:    compare_stock, compare_test, compare_image.
#
# Stock e2fsck is not the same twice by itself where it takes the time, a
# random number or a UUID: E2FSPROGS_FAKE_TIME and E2FSCK_TIME pin its idea of
# "now", fixed-random.c the rest, for both programs.

# Seconds until SIGALRM ends a run.  The longest stock run takes under two.
COMPARE_LIMIT=${COMPARE_LIMIT:-60}

# With COMPARE_OUTPUT a run is also ended after so many bytes of output, and
# its status is 124 when it was the time and 123 when it was the output.
COMPARE_OUTPUT=${COMPARE_OUTPUT-}

# Managers the command under test runs with: TEST_MMAP_IO, "-" for unset, which
# is the unix manager, as 0 is.
COMPARE_MANAGERS=${COMPARE_MANAGERS:-1 -}

# Accelerations the command under test runs with: PREFETCH_ACCEL, empty for
# unset.
COMPARE_ACCEL=${COMPARE_ACCEL-}

# compare_run PROGRAM DIR IMAGE OPTION...: DIR/fs is the copy; what is printed
# goes to DIR.out and DIR.err, the status to DIR.status.  An argument @ stands
# for the image; without one it comes last.  IMAGE.jdev, an external journal,
# and IMAGE.aux are copied with it.
compare_run()
{
	local program=$1 dir=$2 image=$3 arg part at=
	local preload=${COMPARE_PRELOAD-$FIXED_RANDOM}
	local -a args=() limit=(run "$COMPARE_LIMIT")

	shift 3
	if [ -d "$dir" ]; then
		rm -f "$dir"/*
	else
		mkdir "$dir" || return
	fi
	cp --sparse=auto "$image" "$dir/fs"
	for part in jdev aux; do
		[ ! -e "$image.$part" ] || cp "$image.$part" "$dir/$part"
	done
	for arg in "$@"; do
		[ "$arg" != @ ] || { at=1; arg=fs; }
		args+=("$arg")
	done
	[ -n "$at" ] || args+=(fs)
	[ -z "$COMPARE_OUTPUT" ] ||
		limit=(bounded "$COMPARE_LIMIT" "$COMPARE_OUTPUT")
	[ "$program" = "$E2FSCK_STOCK" ] ||
		preload+=${E2PF_RUNTIME:+:$E2PF_RUNTIME}
	(
		cd "$dir" || exit
		export LD_PRELOAD=$preload
		# Stock is a link to the same program under many names.
		exec "$IMGTOOL" "${limit[@]}" "${COMPARE_NAME:-e2fsck}" \
			"$program" "${args[@]}" </dev/null \
			>"$dir.out" 2>"$dir.err"
	) 2>/dev/null
	echo $? >"$dir.status"
}

# compare_stock DIR IMAGE OPTION...: the run the others are compared with.
compare_stock()
{
	local dir=$1

	shift
	compare_run "$E2FSCK_STOCK" "$dir/stock" "$@"
}

# Did the time end stock's run?  There is no verdict then to compare with.
# libext2fs 1.47.4 waits for a lock of its own for ever after some failed writes
# (f_miss_blk_bmap with -fn), through the unix manager; 1.46.2 does not end on
# some files cut short.
compare_endless() { [ "$(<"$1/stock.status")" = 142 ]; }

# compare_files DIR: what either run printed and left behind, pair by pair.
# The names of the files must be the same too.
compare_files()
{
	local dir=$1 path
	local -a pairs=("$dir/stock.status" "$dir/test.status"
			"$dir/stock.out" "$dir/test.out"
			"$dir/stock.err" "$dir/test.err")

	for path in "$dir"/stock/*; do
		pairs+=("$path" "$dir/test/${path##*/}")
	done
	for path in "$dir"/test/*; do
		[ -e "$dir/stock/${path##*/}" ] || {
			echo "only one run makes ${path##*/}"
			return 1
		}
	done
	"$IMGTOOL" cmp "${pairs[@]}" 2>&1
}

# One line of stock e2fsck is not the same twice whatever is pinned: when pass 1
# refuses an attribute value in an inode of its own and the answer is "no", it
# adds a variable it never set to the blocks the inode should have.  Its value
# is what earlier calls left on the stack, on 64-bit machines mostly an address.
#
# compare_unset_variable DIR IMAGE OPTION...: do the runs differ in these lines
# only, and stock in the same way from itself, run again as it was or with other
# bytes left on its stack?
compare_unset_variable()
{
	local dir=$1 out=$1/again.out
	local preload=${COMPARE_PRELOAD-$FIXED_RANDOM}
	local mask='s/\(i_blocks is [0-9]*, should be \)[0-9]*\(.  Fix? no\)$/\1?\2/'

	cmp -s "$dir/stock.status" "$dir/test.status" &&
	cmp -s "$dir/stock.err" "$dir/test.err" || return
	cmp -s <(sed "$mask" "$dir/stock.out") <(sed "$mask" "$dir/test.out") &&
	"$IMGTOOL" cmp "$dir/stock/fs" "$dir/test/fs" >/dev/null || return
	shift
	compare_run "$E2FSCK_STOCK" "$dir/again" "$@"
	! cmp -s "$dir/stock.out" "$out" ||
		COMPARE_PRELOAD=${preload:+$preload:}$FILL_STACK \
			compare_run "$E2FSCK_STOCK" "$dir/again" "$@"
	! cmp -s "$dir/stock.out" "$out" &&
	cmp -s <(sed "$mask" "$dir/stock.out") <(sed "$mask" "$out")
}

# Some damage makes stock e2fsck free memory twice (f_inlinedir_bad_symlink of
# its own tests).  What glibc calls it and the backtrace e2fsck prints then hold
# addresses, which differ from run to run and with what else is loaded; all the
# rest, the status and the images too, must be the same.
compare_crash()
{
	local dir=$1 path
	local mask='/^\(double free\|free()\|malloc\|corrupted\|munmap\)/d
		/\[0x[0-9a-f]*]$/d
		s/ fault addr=0x[0-9a-f]*$//'

	grep -aq '^Signal (' "$dir/stock.err" &&
	cmp -s "$dir/stock.status" "$dir/test.status" &&
	cmp -s "$dir/stock.out" "$dir/test.out" &&
	cmp -s <(sed "$mask" "$dir/stock.err") <(sed "$mask" "$dir/test.err") ||
		return
	for path in "$dir"/stock/*; do
		"$IMGTOOL" cmp "$path" "$dir/test/${path##*/}" || return
	done
}

# The first bytes of two files, as far as the shorter one goes.
begin_alike()
{
	local a b

	a=$(stat -c %s "$1") && b=$(stat -c %s "$2") &&
	cmp -s -n $((a < b ? a : b)) "$1" "$2"
}

# Is it the heap that decides how stock ends?  It is run again with heaps that
# lie otherwise.
heap_decides()
{
	local dir=$1 count
	local mask='/\[0x[0-9a-f]*]$/d'

	shift
	for count in 0 1 2 3; do
		GLIBC_TUNABLES=glibc.malloc.tcache_count=$count \
			compare_run "$E2FSCK_STOCK" "$dir/again" "$@"
		cmp -s "$dir/stock.out" "$dir/again.out" &&
		cmp -s <(sed "$mask" "$dir/stock.err") \
			<(sed "$mask" "$dir/again.err") || return 0
	done
	return 1
}

# What is freed twice has been written over before: the allocator notices
# sooner or later, by how the heap lies, and e2fsck prints more or less until
# then.  Both must crash, with the same status and images, and with output that
# begins alike; and stock must differ from itself.
compare_heap()
{
	local dir=$1 path

	grep -aEq '^(double free|free\(\)|malloc|corrupted|munmap)' \
		"$dir/stock.err" &&
	grep -aq '^Signal (' "$dir/stock.err" &&
	grep -aq '^Signal (' "$dir/test.err" &&
	cmp -s "$dir/stock.status" "$dir/test.status" &&
	begin_alike "$dir/stock.out" "$dir/test.out" || return
	for path in "$dir"/stock/*; do
		"$IMGTOOL" cmp "$path" "$dir/test/${path##*/}" || return
	done
	heap_decides "$@"
}

# compare_test DIR MANAGER IMAGE OPTION...: nothing on success; what differs
# from DIR/stock, and status 1, otherwise.
compare_test()
{
	local dir=$1 manager=$2 what

	shift 2
	export PREFETCH=${COMPARE_PREFETCH-1}
	if [ "$manager" = - ]; then
		unset TEST_MMAP_IO
	else
		export TEST_MMAP_IO=$manager
	fi
	export PREFETCH_ACCEL=$COMPARE_ACCEL
	compare_run "$E2FSCK_TEST" "$dir/test" "$@"
	unset PREFETCH TEST_MMAP_IO PREFETCH_ACCEL
	what=$(compare_files "$dir") && return
	compare_unset_variable "$dir" "$@" && return
	compare_crash "$dir" >/dev/null && return
	compare_heap "$dir" "$@" >/dev/null && return
	# A sanitizer does not let stock e2fsck's own mistakes pass.
	if [ -n "$E2PF_RUNTIME" ] && grep -aq '^Signal (' "$dir/stock.err"; then
		E2PF_RUNTIME='' compare_test "$dir" "$manager" "$@"
		return
	fi
	echo "TEST_MMAP_IO=$manager (stock <, tested >):"
	printf '%s\n' "${what//$dir\//}" | head -n 5
	for what in status out err; do
		diff -a "$dir/stock.$what" "$dir/test.$what" |
			cut -c -200 | head -n 12
	done
	return 1
}

# compare_prepare IMAGE: with COMPARE_LIFETIME=0 the superblock's count of
# kilobytes ever written starts at 0, which libext2fs takes for "not counted":
# tells differences in the count from all others.
compare_prepare()
{
	[ "${COMPARE_LIFETIME-1}" = 0 ] || return 0
	LD_PRELOAD=$FIXED_RANDOM debugfs -w -R "ssv kbytes_written 0" "$1" \
		>/dev/null 2>&1
	return 0
}

# compare_image NAME DIR IMAGE OPTION...: stock once, each manager, one line.
# Stock's status and output stay in DIR for who wants to look at them.
compare_image()
{
	local name=$1 dir=$2 manager bad=0 log=$2/log

	shift 2
	mkdir -p "$dir"
	: >"$log"
	compare_prepare "$1"
	compare_stock "$dir" "$@"
	if compare_endless "$dir"; then
		tap_skip "$name" "stock e2fsck does not end"
		return
	fi
	for manager in $COMPARE_MANAGERS; do
		compare_test "$dir" "$manager" "$@" >>"$log" || bad=1
	done
	if [ $bad = 0 ]; then
		tap_ok "$name (status $(<"$dir/stock.status"))"
	else
		tap_not_ok "$name" "$log"
	fi
	return $bad
}

compare_main()
{
	local image=$1

	shift
	compare_image "${image##*/} $*" "$E2PF_TMP/compare" "$image" "$@"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	if [ $# -lt 1 ]; then
		echo "Usage: compare.sh IMAGE [E2FSCK OPTION...]" >&2
		exit 2
	fi
	srcdir=${srcdir:-$(dirname "$0")/..}
	# shellcheck source=lib.sh
	. "$srcdir/tools/lib.sh"
	require_programs e2fsck flock diff
	tmp_setup
	helpers_setup
	image=$(realpath -- "$1")
	shift
	tap_run compare_main "$image" "$@"
fi
