#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Runs each fuzz target from its seeds, with libFuzzer and the address and
# undefined behaviour sanitizers.  By default the inputs are the same each time:
# a second's worth of them.  A finding is an input that crashes, takes more than
# 60 seconds or more memory than 640 MiB; it is kept in the current directory.
#
#   test-fuzz.sh [TARGET...]
#
# FUZZ_SECONDS	new inputs for so long, instead
# FUZZ_CC	a clang that has libFuzzer (default: clang)
# FUZZ_CORPUS	directory that keeps the corpus for the next run

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/fuzz/fuzz-seeds.sh"

FUZZ_CC=${FUZZ_CC:-clang}

top=$srcdir/..

# The source files that each target is built from.  session.c is left out: it
# would pull in the whole library.
sources_plan=$(echo "$top"/ext4/plan_*.c)
sources_engine=$(echo "$top"/lib/{sysfile,thread}.c \
	"$top"/prefetch/{blockset,claim,cost,elevator,engine,gate,health,inflight,pool,schedule,state,stats,survey,window,worker,device,filter,speed,spindle}.c)
sources_image="$sources_engine $top/ext4/source.c $(echo "$top"/ext4/{tables,directories,sweeps,batch,tree,walk}.c)
	$sources_plan $srcdir/rigs/tiny-fs.c"
sources_btrfs="$sources_engine $top/btrfs/source.c $top/btrfs/chunk_map.c
	$top/btrfs/leaf_order.c $top/btrfs/plan.c
	$srcdir/rigs/btrfs-fs.c"
sources_search="$top/btrfs/send_items.c $top/btrfs/chunk_map.c $top/btrfs/plan.c
	$srcdir/rigs/btrfs-fs.c"
targets="plan image btrfs search"
runs_plan=150000 runs_image=6000 runs_btrfs=80000
runs_search=100000
# Freed memory that the sanitizer keeps counts, too.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16

compile()
{
	"$FUZZ_CC" -g -O1 -std=gnu11 -D_GNU_SOURCE \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-I"$top" -I"$srcdir/rigs" $(pkg-config --cflags ext2fs com_err) "$@"
}

fuzz_target()
{
	local target=$1 dir=$E2PF_TMP/$1 sources runs n
	local -a corpus=() limit

	sources=sources_$target
	runs=runs_$target
	if ! compile -o "$dir" "$srcdir/fuzz/fuzz-$target.c" ${!sources} \
		>"$dir.log" 2>&1; then
		tap_not_ok "$target: compiles" "$dir.log"
		return
	fi
	fuzz_seeds "$target" "$dir.seeds"
	[ -z "${FUZZ_CORPUS-}" ] || {
		corpus=("$FUZZ_CORPUS/$target")
		mkdir -p "${corpus[0]}"
	}
	if [ -n "${FUZZ_SECONDS-}" ]; then
		limit=(-max_total_time="$FUZZ_SECONDS")
	else
		limit=(-runs="${!runs}" -seed=1)
	fi
	# The output of the targets is discarded; libFuzzer's own is kept.
	if "$dir" "${limit[@]}" -timeout=60 \
		-rss_limit_mb=640 -max_len=8192 -close_fd_mask=3 \
		-artifact_prefix="./$target-" -print_final_stats=1 \
		-verbosity=0 "${corpus[@]}" "$dir.seeds" >"$dir.log" 2>&1
	then
		n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir.log")
		tap_ok "$target: $n inputs"
	else
		grep -v 'NEW_FUNC\|^INFO' "$dir.log" >"$dir.short"
		tap_not_ok "$target" "$dir.short"
	fi
}

fuzz_all()
{
	local target

	for target in ${*:-$targets}; do
		fuzz_target "$target"
	done
}

for program in "$FUZZ_CC" pkg-config; do
	command -v "$program" >/dev/null || tap_skip_all "$program not found"
done
tmp_setup
cat >"$E2PF_TMP/none.c" <<-'END'
	#include <ext2fs/ext2fs.h>
	int LLVMFuzzerTestOneInput(const void *data, size_t size)
	{
		return data && size > 1u << 30;
	}
END
compile -o "$E2PF_TMP/none" "$E2PF_TMP/none.c" 2>/dev/null &&
	"$E2PF_TMP/none" -runs=1 >/dev/null 2>&1 ||
	tap_skip_all "$FUZZ_CC has no libFuzzer, or libext2fs no headers"
tap_run fuzz_all "$@"
