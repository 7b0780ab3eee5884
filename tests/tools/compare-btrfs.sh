# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A btrfs check by the stock program and by the command under test, each of a
# copy of an image, and whether standard output, standard error, status and the
# allocated bytes are the same.  Sourced, after lib.sh.
#
# Variables a caller may set:
#   BTRFS_TEST	the command under test (default: the launcher of the build tree)
#   BTRFS_STOCK	the stock program (default: btrfs of PATH)
#   BTRFS_LIMIT	seconds until the stock program is ended (default: 20)

BTRFS_TEST=${BTRFS_TEST:-$top_builddir/btrfs/btrfs}
BTRFS_STOCK=${BTRFS_STOCK:-$(command -v btrfs)}
BTRFS_LIMIT=${BTRFS_LIMIT:-20}
# Bytes of output until either is ended.
BTRFS_OUTPUT=${BTRFS_OUTPUT:-16777216}
unset PREFETCH_BTRFS PREFETCH_ASIDE

# btrfs_run PROGRAM DIR SECONDS IMAGE OPTION...: one check of a copy.  A
# sanitizer's runtime changes what the program finds in memory that it never
# set, and so goes into both.
btrfs_run()
{
	local program=$1 dir=$2 seconds=$3 image=$4
	local preload=$FIXED_RANDOM${E2PF_RUNTIME:+:$E2PF_RUNTIME}

	shift 4
	mkdir -p "$dir"
	rm -f "$dir"/*
	cp --sparse=auto "$image" "$dir/fs"
	(
		cd "$dir" || exit
		export LD_PRELOAD=$preload
		exec "$IMGTOOL" bounded "$seconds" "$BTRFS_OUTPUT" btrfs \
			"$program" check "$@" fs </dev/null \
			>"$dir.out" 2>"$dir.err"
	) 2>/dev/null
	echo $? >"$dir.status"
}

# What a crash of the program's own prints of addresses; and, where a device is
# missing and it looks for it on this machine, of devices that others use.
btrfs_mask='s/0x[0-9a-f]\{6,\}/0x?/g; s/\[0x?\]//g
/^ERROR: cannot scan \/dev\//d'

# btrfs_same DIR OTHER: is that run like the stock program's?
btrfs_same()
{
	local dir=$1 other=$2 part

	cmp "$dir/stock.status" "$dir/$other.status" || return
	for part in out err; do
		cmp -s "$dir/stock.$part" "$dir/$other.$part" ||
			diff <(sed "$btrfs_mask" "$dir/stock.$part") \
				<(sed "$btrfs_mask" "$dir/$other.$part") ||
			return
	done
	"$IMGTOOL" cmp "$dir/stock/fs" "$dir/$other/fs"
}

# Did the two begin alike?
btrfs_begin_alike()
{
	local dir=$1 part

	for part in out err; do
		"$IMGTOOL" prefix "$dir/stock.$part" "$dir/test.$part" || return
	done
}

# Blocks that were planned, by the statistics.
btrfs_planned()
{
	sed -n 's/.*"block_size":\([0-9]*\).*/size \1/p
		s/.*"planned_bytes":\([0-9]*\).*/bytes \1/p' \
		"$1/stats.json" 2>/dev/null |
		awk '{ v[$1] = $2 }
			END { print v["size"] ? v["bytes"] / v["size"] : 0 }'
}

# btrfs_differs DIR OPTION...: does the stock program differ from itself?  Damage
# makes it print and write what it never set: with other bytes in its heap it is
# another.
btrfs_differs()
{
	local dir=$1 perturb

	shift
	for perturb in "" 165; do
		MALLOC_PERTURB_=$perturb btrfs_run "$BTRFS_STOCK" \
			"$dir/again" $((BTRFS_LIMIT * 3)) "$dir/fs" "$@"
		btrfs_same "$dir" again >/dev/null 2>&1 || return 0
	done
	return 1
}

# btrfs_compare DIR OPTION...: both programs on DIR/fs.  BTRFS_OUTCOME becomes
# agreed; endless, where the stock program was ended and the other began like
# it; unsure, where the stock program differs from itself; or disagreed.  What
# differs is in DIR/diff.  A busy machine is not taken for a hang: the command
# under test has more time.
btrfs_compare()
{
	local dir=$1 seconds=$((BTRFS_LIMIT * 3)) ended=

	shift
	btrfs_run "$BTRFS_STOCK" "$dir/stock" "$BTRFS_LIMIT" "$dir/fs" "$@"
	case $(<"$dir/stock.status") in
	123|124) ended=yes seconds=$BTRFS_LIMIT ;;
	esac
	rm -f "$dir/stats.json"
	PREFETCH=1 PREFETCH_STATS=$dir/stats.json PREFETCH_BTRFS=$BTRFS_STOCK \
		btrfs_run "$BTRFS_TEST" "$dir/test" "$seconds" "$dir/fs" "$@"
	BTRFS_OUTCOME=agreed
	if [ -n "$ended" ]; then
		! btrfs_begin_alike "$dir" >"$dir/diff" 2>&1 || {
			BTRFS_OUTCOME=endless
			return
		}
	elif btrfs_same "$dir" test >"$dir/diff" 2>&1; then
		return
	fi
	# shellcheck disable=SC2034
	if btrfs_differs "$dir" "$@"; then
		BTRFS_OUTCOME=unsure
	else
		BTRFS_OUTCOME=disagreed
	fi
}
