#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks that are ended by a signal in pass 1: status, output and image must be
# those of stock e2fsck, and no process may be left.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

STATIC=${E2FSCK_STATIC:-$(command -v e2fsck.static)}

same() { "$IMGTOOL" cmp "$@"; }

# e2fsck writes its progress to a pipe that holds one page and that nobody
# reads, so it blocks in pass 1, at the same place each time.
#
# start_and_block PROGRAM: sets pid.
start_and_block()
{
	local line

	rm -f "$dir/progress"
	mkfifo "$dir/progress"
	exec 7<>"$dir/progress"
	"$IMGTOOL" pipesize 4096 <&7
	cp --sparse=auto "$big" "$dir/fs"
	(
		cd "$dir" &&
		exec "$IMGTOOL" run 600 e2fsck "$1" -fy -C 8 fs </dev/null \
			8>"$dir/progress" 7>&- >"$dir/out" 2>"$dir/err"
	) &
	pid=$!
	# The first line says that pass 1 has begun.
	read -r -t 500 line <&7 && wait_for is_blocked
}

# Whether the check waits for its write to descriptor 8.
is_blocked() { grep -q '^[0-9]* 0x8 ' "/proc/$pid/syscall"; }

let_go()
{
	cat <&7 >/dev/null &
	local reader=$! status

	exec 7>&-
	wait "$pid" 2>/dev/null
	status=$?
	# A reader that has not executed cat yet would ignore SIGTERM.
	kill -s KILL "$reader" 2>/dev/null
	wait "$reader" 2>/dev/null
	return $status
}

# signalled SIGNAL...: after these, status and output must be those of stock.
signalled()
{
	local stock status signal

	for status in stock test; do
		if [ $status = stock ]; then
			start_and_block "$E2FSCK_STOCK"
		else
			export PREFETCH=1 TEST_MMAP_IO=$manager
			[ -z "${override-}" ] ||
				export PREFETCH_E2FSCK=$override
			start_and_block "$E2FSCK_TEST"
			unset PREFETCH TEST_MMAP_IO PREFETCH_E2FSCK
		fi
		for signal in "$@"; do
			kill -s "$signal" "$pid" || return
		done
		let_go
		echo $? >"$dir/$status.status"
		mv "$dir/out" "$dir/$status.out"
		mv "$dir/fs" "$dir/$status.fs"
	done
	same "$dir/stock.status" "$dir/test.status" \
		"$dir/stock.out" "$dir/test.out" \
		"$dir/stock.fs" "$dir/test.fs" || {
		cat "$dir"/stock.status "$dir"/test.status
		return 1
	}
	no_process_left
}

test_signals()
{
	local signal manager override=

	dir=$E2PF_TMP/signals
	mkdir "$dir"
	# 512 groups: more progress lines than a page holds.
	big=$E2PF_TMP/big
	truncate -s 512M "$big"
	LD_PRELOAD=$FIXED_RANDOM mke2fs -q -F -t ext4 -b 1024 -g 1024 \
		-U $IMAGE_UUID -N 4096 "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"

	for manager in 0 1; do
		for signal in INT TERM KILL HUP "STOP CONT" "STOP KILL"; do
			# shellcheck disable=SC2086
			tap_check "SIG$signal in pass 1, TEST_MMAP_IO=$manager" \
				signalled $signal
		done
	done
}

require_programs mke2fs mkfifo
tmp_setup
helpers_setup
images_setup
tap_run test_signals
