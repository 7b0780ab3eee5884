# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# Runs a check by the stock program and the same check by the command under test,
# each on its own copy of an image under the same path name.  Standard output,
# standard error, exit status and every byte of every file left behind must be the
# same.
#
# To be sourced after lib.sh.  A test that needs one line of TAP for an image calls
#
#	compare_image NAME DIR IMAGE OPTION...
#
# e.g. `compare_image "ext4, repaired" "$E2PF_TMP/run" "$image" -fy'.  It runs stock
# once, and the command under test once with each of COMPARE_MANAGERS.  IMAGE itself is
# not changed, unless COMPARE_IN_PLACE is set.  A test that needs more takes these steps:
#
#	compare_stock DIR IMAGE OPTION...		what it shall be like
#	compare_outcome DIR MANAGER IMAGE OPTION...	the other: sets COMPARE_OUTCOME
#	compare_test DIR MANAGER IMAGE OPTION...	the same, true if all is alike
#
# A run leaves its files in DIR/stock and DIR/test, and beside them .out, .err and
# .status; compare_run is the place where a program is started.
#
# With COMPARE_UNSURE stock is run again where the two differ: compare_differs decides
# whether the difference is ours.
#
# Variables a caller may set, before it sources this, besides those of lib.sh:
#   COMPARE_PROGRAM	e2fsck (default) or btrfs, for btrfs check
#   COMPARE_LIMIT	seconds until a run is ended (default: 600; the longest
#			stock run takes under two); for btrfs BTRFS_LIMIT (20)
#   COMPARE_TEST_LIMIT	seconds for the command under test (default: as for
#			stock, btrfs three times that)
#   COMPARE_OUTPUT	bytes of output after which a run is ended (default: no
#			limit); for btrfs BTRFS_OUTPUT (16777216).  If set, the
#			time limit counts processor time, which does not depend
#			on how busy the machine is; what only waits is ended
#			after twelve times that
#   COMPARE_ANSWERS	a seed: both programs run on a terminal, and this seed
#			decides the answers to their questions
#   COMPARE_NAME	argv[0] of both programs
#   COMPARE_MANAGERS	values of TEST_MMAP_IO to run the command under test with,
#			or "-" to leave it unset, which does as 0 does
#   COMPARE_ACCEL	PREFETCH_ACCEL for the command under test (default: all; empty:
#			unset, and small filesystems are not accelerated)
#   COMPARE_IN_PLACE	not empty: no copies, both check the image itself
#   COMPARE_SAVE	a file that is compared after each check, besides
#   COMPARE_STATS	not empty: the statistics go to DIR/stats.json
#   COMPARE_MASK	a sed script that removes what may differ in the output
#   COMPARE_UNSURE	not empty: compare_outcome reports if stock differs from
#			itself, unless both check the image itself

COMPARE_PROGRAM=${COMPARE_PROGRAM:-e2fsck}
COMPARE_ACCEL=${COMPARE_ACCEL-all}
COMPARE_IN_PLACE=${COMPARE_IN_PLACE-}
COMPARE_UNSURE=${COMPARE_UNSURE-}

# Scripts change E2FSCK_STOCK and E2FSCK_TEST while they run, so the names of the
# variables are kept, not their values.  PREFETCH_BTRFS tells the btrfs preload library
# which program is the stock one.  A sanitizer's runtime changes the contents of
# uninitialized memory in btrfs, so it is loaded into both programs.
case $COMPARE_PROGRAM in
e2fsck)
	compare_stock_is=E2FSCK_STOCK compare_test_is=E2FSCK_TEST
	compare_command='' compare_runtime_is=test
	COMPARE_LIMIT=${COMPARE_LIMIT:-600}
	COMPARE_TEST_LIMIT=${COMPARE_TEST_LIMIT-}
	COMPARE_OUTPUT=${COMPARE_OUTPUT-}
	COMPARE_MANAGERS=${COMPARE_MANAGERS:-1}
	COMPARE_STATS=${COMPARE_STATS-}
	COMPARE_MASK=${COMPARE_MASK-}
	;;
btrfs)
	export PREFETCH_BTRFS=$BTRFS_STOCK
	export PREFETCH_THREADS=2
	compare_stock_is=BTRFS_STOCK compare_test_is=BTRFS_TEST
	compare_command=check compare_runtime_is=both
	COMPARE_LIMIT=${BTRFS_LIMIT:-20}
	COMPARE_TEST_LIMIT=${COMPARE_TEST_LIMIT:-$((COMPARE_LIMIT * 3))}
	COMPARE_OUTPUT=${BTRFS_OUTPUT-16777216}
	COMPARE_MANAGERS=-
	COMPARE_STATS=1
	# If the stock program crashes, it prints addresses.  If a device of the
	# filesystem is missing, it scans all devices of this machine for it.
	COMPARE_MASK=${COMPARE_MASK-'s/0x[0-9a-f]\{6,\}/0x?/g; s/\[0x?\]//g
		/^ERROR: cannot scan \/dev\//d'}
	;;
*)	tap_bail "compare.sh knows no $COMPARE_PROGRAM" ;;
esac

# compare_require PROGRAM...: skips the script if one of these programs, the
# stock program or the command under test is missing.
compare_require()
{
	require_programs "$@"
	[ -x "${!compare_test_is}" ] || tap_skip_all "not built: ${!compare_test_is}"
	[ -n "${!compare_stock_is}" ] || tap_skip_all "$COMPARE_PROGRAM not found"
}

# Checkers flush what they write, which takes most of the time on a disk.  Images go
# to memory if there is room for them.
in_memory()
{
	local free

	free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
	[ ! -w /dev/shm ] || [ "${free:-0}" -lt 2000000 ] ||
		[ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -lt \
			4000000 ] || TMPDIR=${TMPDIR:-/dev/shm}
}

# A disk in user space, below the page cache.
DISKMODEL=$top_builddir/bench/diskmodel

no_model()
{
	have_root && [ -r /dev/fuse ] && [ -w /dev/fuse ] && [ -x "$DISKMODEL" ] ||
		echo "no root, no FUSE or bench/ is not built"
}

# model_begins IMAGE DIRECTORY OPTION...: DIRECTORY/disk is the image on such a disk.
model_begins()
{
	coproc MODEL { exec "$DISKMODEL" --ready-fd=1 "${@:3}" "$1" "$2"; }
	model=$MODEL_PID
	read -r -t 600 -N 1 _ <&"${MODEL[0]}"
}

model_ends()
{
	kill "$model"
	wait "$model"
} 2>/dev/null

# compare_copy IMAGE DIR: DIR/fs is the copy.  IMAGE.jdev, an external journal,
# and IMAGE.aux are copied with it.
compare_copy()
{
	local image=$1 dir=$2 part

	if [ -d "$dir" ]; then
		rm -f "$dir"/*
	else
		mkdir -p "$dir" || return
	fi
	[ -z "$COMPARE_IN_PLACE" ] || return 0
	cp --sparse=auto "$image" "$dir/fs" || return
	for part in jdev aux; do
		[ ! -e "$image.$part" ] || cp "$image.$part" "$dir/$part" || return
	done
}

# compare_run PROGRAM DIR IMAGE OPTION...: output goes to DIR.out and DIR.err, the
# status to DIR.status.  An argument @ stands for the image; without one the image is
# the last argument.
compare_run()
{
	local program=$1 dir=$2 image=$3 arg at='' fs=fs directory=$2
	local preload=${COMPARE_PRELOAD-$FIXED_RANDOM}
	local -a args=(${compare_command:+"$compare_command"})
	local -a limit=(run $((COMPARE_LIMIT * ${COMPARE_OUTPUT:+12*}1)))

	shift 3
	# If the image cannot be copied, no stale status may be left.
	rm -f "$dir.status"
	compare_copy "$image" "$dir" || return
	: >"$dir.writes"
	[ -z "$COMPARE_IN_PLACE" ] || fs=${image##*/} directory=${image%/*}
	for arg in "$@"; do
		[ "$arg" != @ ] || { at=1; arg=$fs; }
		args+=("$arg")
	done
	[ -n "$at" ] || args+=("$fs")
	[ -z "${COMPARE_ANSWERS-}" ] ||
		limit+=(imgtool "$IMGTOOL" terminal "$COMPARE_ANSWERS")
	[ "$compare_runtime_is" = test ] &&
	[ "$program" = "${!compare_stock_is}" ] ||
		preload+=${E2PF_RUNTIME:+:$E2PF_RUNTIME}
	[ -z "$preload" ] || preload+=${RECORD_WRITES:+:$RECORD_WRITES}
	if [ -z "$COMPARE_OUTPUT" ]; then
		compare_exec >"$dir.out" 4>"$dir.err"
	else
		{ compare_exec 4>&1 >&3 | head -c "$COMPARE_OUTPUT" >"$dir.err"; } \
			3>&1 | head -c "$COMPARE_OUTPUT" >"$dir.out"
	fi
	[ -z "${COMPARE_SAVE-}" ] || cp --sparse=auto "$COMPARE_SAVE" "$dir/fs"
}

# The program of compare_run, with its standard error as descriptor 4.
compare_exec()
{
	(
		cd "$directory" || exit
		export LD_PRELOAD=$preload E2PF_WRITES=$dir.writes
		[ -z "$COMPARE_OUTPUT" ] || ulimit -c 0 -St "$COMPARE_LIMIT"
		# The stock program is linked under this name.
		exec "$IMGTOOL" "${limit[@]}" "${COMPARE_NAME:-$COMPARE_PROGRAM}" \
			"$program" "${args[@]}" </dev/null 2>&4 3>&- 4>&-
	)
	echo $? >"$dir.status"
} 2>/dev/null

# compare_stock DIR IMAGE OPTION...: the run to compare the others with.
compare_stock() { compare_run "${!compare_stock_is}" "$1/stock" "${@:2}"; }

# compare_endless DIR: was the stock run ended by the limit on time or output?
# Then there is no result to compare with.  libext2fs 1.47.4 waits forever for a
# lock of its own after some failed writes (f_miss_blk_bmap with -fn) through
# the unix manager; 1.46.2 does not end on some truncated files.
compare_endless() { compare_was_ended "$1/stock"; }

# By SIGPIPE, SIGALRM or SIGXCPU.
compare_was_ended() { [[ $(<"$1.status") = @(141|142|152) ]]; }

# What a run leaves, and what must be the same.
compare_parts="status out err files writes"

# compare_unlike DIR RUN PART...: prints those of the parts that differ from stock's, and
# to DIR/unlike how.
compare_unlike()
{
	local part

	for part in "${@:3}"; do
		case $part in
		files) compare_files "$1" "$2" ;;
		writes) compare_writes "$1" "$2" ;;
		*) compare_masked "$1/stock.$part" "$1/$2.$part" ;;
		esac >>"$1/unlike" || echo "$part"
	done
}

# compare_files DIR RUN: compare the files of stock and this run, pair by pair.  Their
# names must also be the same.
compare_files()
{
	local dir=$1 run=$2 path
	local -a pairs=()

	for path in "$dir"/stock/*; do
		[ ! -e "$path" ] || pairs+=("$path" "$dir/$run/${path##*/}")
	done
	for path in "$dir/$run"/*; do
		[ ! -e "$path" ] || [ -e "$dir/stock/${path##*/}" ] || {
			echo "only one run makes ${path##*/}"
			return 1
		}
	done
	[ ${#pairs[@]} = 0 ] || "$IMGTOOL" cmp "${pairs[@]}" 2>&1
}

# compare_masked A B: compare the texts, with COMPARE_MASK.
compare_masked()
{
	cmp -s "$1" "$2" ||
		cmp <(sed "$COMPARE_MASK" "$1") <(sed "$COMPARE_MASK" "$2") 2>&1
}

# compare_record: from now on what the runs write is recorded: each call, in order, with
# its place and its contents.
compare_record()
{
	RECORD_WRITES=$(library record-writes) ||
		tap_bail "record-writes.c does not compile"
}

# compare_writes DIR RUN: are the calls that write the same, in the same order?  Those of
# a run that has been ended by a limit only up to there.
compare_writes()
{
	local a=$1/stock.writes b=$1/$2.writes

	cmp -s "$a" "$b" || { compare_was_ended "$1/stock" && begin_alike "$a" "$b"; } ||
		{ diff "$a" "$b" | head -n 16; return 1; }
}

# compare_again LIBRARY DIR IMAGE OPTION...: stock once more, in DIR/again, with a
# LIBRARY or none.  Parts in which it differs are taken from $left.
compare_again()
{
	local preload=${COMPARE_PRELOAD-$FIXED_RANDOM} part

	COMPARE_PRELOAD=$preload${1:+${preload:+:}$1} \
		compare_run "${!compare_stock_is}" "$2/again" "${@:3}"
	for part in $(compare_unlike "$2" again $left); do
		left=${left/$part/}
	done
	[ -z "${left//[[:space:]]/}" ]
}

# compare_differs DIR IMAGE OPTION...: does stock differ from itself in each part in which
# the command under test differs from it?  On damaged images stock may print or write
# memory that it never set, or print addresses, and crashes where it frees memory twice
# or writes to freed memory.  So it is also run with other bytes in its heap and on its
# stack, and with other layouts of its heap.
compare_differs()
{
	local dir=$1 heap stack left

	left=$(compare_unlike "$dir" test $compare_parts)
	for stack in "" "$FILL_STACK"; do
		for heap in "" 165; do
			! MALLOC_PERTURB_=$heap compare_again "$stack" "$@" || return 0
		done
	done
	for heap in $compare_heaps; do
		! GLIBC_TUNABLES=glibc.malloc.tcache_count=$heap compare_again "" "$@" ||
			return 0
	done
	# Stock's own threads print, in any order.
	grep -aq "while reading inode and block bitmaps" "$dir/stock".{out,err} || return
	! compare_order "$dir" $left || return 0
	for heap in {1..40}; do
		! compare_again "" "$@" || return 0
	done
	return 1
}
compare_heaps="0 1 2 3"

# compare_order DIR PART...: do these differ from stock's only in the order of lines?
compare_order()
{
	local part

	for part in "${@:2}"; do
		[[ $part = @(out|err) ]] &&
			cmp -s <(sort "$1/stock.$part") <(sort "$1/test.$part") || return
	done
}

# Are two files the same up to the length of the shorter one?
begin_alike()
{
	local a b

	a=$(stat -c %s "$1") && b=$(stat -c %s "$2") &&
	cmp -s -n $((a < b ? a : b)) "$1" "$2"
}

# compare_test DIR MANAGER IMAGE OPTION...: runs the command under test.  If the
# result differs from DIR/stock, prints the differences and returns 1.
compare_test()
{
	local dir=$1 manager=$2 what
	local COMPARE_LIMIT=${COMPARE_TEST_LIMIT:-$COMPARE_LIMIT}

	shift 2
	(
		export PREFETCH=${COMPARE_PREFETCH-1}
		export PREFETCH_ACCEL=$COMPARE_ACCEL TEST_MMAP_IO=$manager
		[ "$manager" != - ] || unset TEST_MMAP_IO
		[ -z "$COMPARE_STATS" ] || export PREFETCH_STATS=$dir/stats.json
		rm -f "$dir/stats.json"
		compare_run "${!compare_test_is}" "$dir/test" "$@"
	)
	: >"$dir/unlike"
	[ -n "$(compare_unlike "$dir" test $compare_parts)" ] || return 0
	# A sanitizer also reports bugs of the stock program.
	if [ -n "$E2PF_RUNTIME" ] && grep -aq '^Signal (' "$dir/stock.err"; then
		E2PF_RUNTIME='' compare_test "$dir" "$manager" "$@"
		return
	fi
	echo "TEST_MMAP_IO=$manager (stock <, tested >):"
	head -n 20 "$dir/unlike"
	for what in status out err; do
		diff -a "$dir/stock.$what" "$dir/test.$what" | cut -c -200 | head -n 12
	done
	return 1
}

# compare_crashed RUN: was it killed by a signal, or did it catch a fatal one?
compare_crashed()
{
	[ "$(<"$1.status")" -ge 128 ] || grep -aq '^Signal (' "$1.err"
}

# compare_outcome DIR MANAGER IMAGE OPTION...: after compare_stock, sets
# COMPARE_OUTCOME:
#   agreed
#   endless	both were stopped, and their output up to then agrees
#   unsure	they differ, but stock also differs from itself (only with
#		COMPARE_UNSURE)
#   hung, crashed, disagreed	what the command under test did
# DIR/why has the differences.
compare_outcome()
{
	local dir=$1 ended='' longer=${COMPARE_TEST_LIMIT:-$COMPARE_LIMIT}
	local COMPARE_TEST_LIMIT=$longer

	COMPARE_OUTCOME=agreed
	if compare_endless "$dir"; then
		ended=1 COMPARE_OUTCOME=endless COMPARE_TEST_LIMIT=$COMPARE_LIMIT
	fi
	compare_test "$@" >"$dir/why" && return
	if compare_was_ended "$dir/test"; then
		[ -z "$ended" ] || ! begin_alike "$dir/stock.out" "$dir/test.out" ||
			! begin_alike "$dir/stock.err" "$dir/test.err" ||
			! compare_writes "$dir" test >/dev/null || return
		COMPARE_OUTCOME=hung
	elif [ -n "$ended" ] && compare_ends "$longer" "$dir" "${@:3}"; then
		compare_outcome "$@"
		return
	elif compare_crashed "$dir/test" && ! { compare_crashed "$dir/stock" &&
			cmp -s "$dir/stock.status" "$dir/test.status"; }; then
		COMPARE_OUTCOME=crashed
	else
		COMPARE_OUTCOME=disagreed
	fi
	[ -z "$COMPARE_UNSURE" ] || [ -n "$COMPARE_IN_PLACE" ] ||
		! COMPARE_LIMIT=$longer compare_differs "$dir" "${@:3}" ||
		COMPARE_OUTCOME=unsure
}

# compare_ends SECONDS DIR IMAGE OPTION...: does stock end within this time?  On
# a busy machine the first run may just have been slow.
compare_ends()
{
	local COMPARE_LIMIT=$1

	compare_stock "${@:2}"
	! compare_endless "$2"
}

# compare_image NAME DIR IMAGE OPTION...: runs stock once and the command under
# test once for each I/O manager, and prints one TAP line.  The status and
# output of stock stay in DIR.
compare_image()
{
	local name=$1 dir=$2 manager bad=0 log=$2/log note='' status

	shift 2
	mkdir -p "$dir"
	: >"$log"
	compare_stock "$dir" "$@"
	status=$(<"$dir/stock.status")
	for manager in $COMPARE_MANAGERS; do
		compare_outcome "$dir" "$manager" "$@"
		case $COMPARE_OUTCOME in
		agreed) ;;
		endless) note="; stock does not end, both begin alike" ;;
		unsure) note="; stock differs from itself" ;;
		*)	echo "$COMPARE_OUTCOME:" >>"$log"
			cat "$dir/why" >>"$log"
			bad=1 ;;
		esac
	done
	if [ $bad = 0 ]; then
		tap_ok "$name (status $status$note)"
	else
		tap_not_ok "$name" "$log"
	fi
	return $bad
}
