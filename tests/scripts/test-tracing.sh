#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The probes of doc/tracing.md are those of the preload libraries and the command, with as
# many arguments, and the document's commands trace a check.  Prints TAP.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

doc=$srcdir/../doc/tracing.md

# Name and number of arguments of each probe: as documented, and as built.
documented()
{
	sed -n '/^| `/s/ | [^|]* |$//p' "$doc" | grep -oE '[a-z_]+\([a-z, ]+\)' |
		awk -F'[(,]' '{ print $1, NF - 1 }' | sort
}
built()
{
	readelf -n "$1" | awk '
		/Provider:/ { ours = $2 == "e2prefetch" }
		/Name:/ { name = $2 }
		/Arguments:/ && ours { print name, NF - 1 }' | sort -u
}

documents_agree()
{
	documented >"$dir/documented"
	[ "$(wc -l <"$dir/documented")" -gt 10 ] &&
		built "$LIBRARY" | diff "$dir/documented" -
}

# Only e2fsck's reads are made again.
others_agree()
{
	local file

	documented | grep -v '^read_retried ' >"$dir/expected"
	for file in "$top_builddir/btrfs/.libs/btrfs-prefetch.so" "$PREFETCHER"; do
		built "$file" | diff "$dir/expected" - || return
	done
}

# The library's code as the check has it.
code()
{
	local from to

	IFS=' -' read -r from to _ < <(grep "r-xp .*${LIBRARY##*/}" "/proc/$PID/maps")
	dd if="/proc/$PID/mem" bs=4096 skip=$((0x$from / 4096)) \
		count=$(((0x$to - 0x$from) / 4096)) status=none
}

# is_attached N: the code differs at that many places from what it was.
is_attached()
{
	code >"$dir/now"
	[ "$(cmp -l "$dir/code" "$dir/now" | wc -l)" -ge "$1" ]
}

# traces NUMBER PATTERN: this command of the document, which is attached before the
# check's first read, prints such a line; the check is as without.
traces()
{
	local command pattern tracer PID LIB=$LIBRARY

	command=$(sed -n 's/^    \(bpftrace .*\)/\1/p' "$doc" | sed -n "$1p")
	pattern=$(grep -oE 'e2prefetch:[a-z_*]+' <<<"$command" |
		sed 's/.*:/Name: /; s/\*//')
	rm -f "$dir/hold" "$dir/hits"
	mkfifo "$dir/hold"
	drop "$image"
	PREFETCH=1 E2PF_FAULT=hold:1 E2PF_FAULT_FILE=$image E2PF_FAULT_LOG=$dir/hits \
		E2PF_FAULT_FIFO=$dir/hold LD_PRELOAD=$FAULT \
		"$E2FSCK_TEST" -fn "$image" </dev/null >"$dir/out" 2>&1 &
	PID=$!
	wait_for [ -s "$dir/hits" ]
	code >"$dir/code"
	export PID LIB
	unshare -m bash -c "mount -t tracefs none /sys/kernel/tracing; exec $command" \
		>"$dir/trace" 2>&1 &
	tracer=$!
	wait_for is_attached "$(readelf -n "$LIBRARY" | grep -c "$pattern")"
	timeout 600 tee "$dir/hold" </dev/null
	wait "$PID" && wait "$tracer"
	cat "$dir/out" "$dir/trace"
	grep -qE "$2" "$dir/trace" && diff "$dir/stock" "$dir/out"
}

no_tracer()
{
	lacks bpftrace mkfifo
	no_mounts
	[ -e /sys/bus/event_source/devices/uprobe ] &&
		bpftrace -e 'BEGIN { exit(); }' >"$dir/begin" 2>&1 ||
		echo "bpftrace cannot attach to programs"
}

test_all()
{
	local reason

	dir=$E2PF_TMP image=$E2PF_TMP/image
	tap_check "the document has the probes of e2fsck's library" documents_agree
	tap_check "those of btrfs and of the command are the same" others_agree
	reason=$(no_tracer)
	reason=${E2PF_RUNTIME:+a sanitizer}${reason%%$'\n'*}
	FAULT=$(library fault-inject)
	image_make ext4-1k "$image" || tap_bail "no image"
	"$E2FSCK_STOCK" -fn "$image" >"$dir/stock" 2>&1
	# What else there is to see depends on who is faster.
	tap_unless "$reason" "the last probe of each thread" traces 1 \
		'^@last\[.*e2prefetch:'
	tap_unless "$reason" "latency of requests" traces 2 'Attach(ing|ed) 1 probe'
	tap_unless "$reason" "waits at the gate" traces 3 'Attach(ing|ed) 2 probes'
}

setup readelf mke2fs
grep -q '^#define ENABLE_TRACING' "$top_builddir/config.h" ||
	tap_skip_all "built without probes"
tap_run test_all
