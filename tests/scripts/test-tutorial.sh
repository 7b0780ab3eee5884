#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The commands of doc/tutorial.md, in order, on an image; what a trace holds, and
# that bench/plot draws it.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

PLOT=$srcdir/../bench/plot

# The indented lines, as a script that ends at the first failure.
run_tutorial()
{
	sed -n 's/^    //p' "$srcdir/../doc/tutorial.md" >"$dir/commands"
	[ "$(wc -l <"$dir/commands")" -ge 10 ] || return
	# bash's own variables and functions, its working directory is $dir.
	(
		cd "$dir" || exit
		# shellcheck disable=SC2030
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
	# shellcheck disable=SC1091
	( . "$dir/cold"; cold ) && [ "$(resident "$dir/below")" = 0 ]
}

test_cold()
{
	if ! have_root || ! [ -w /dev/loop-control ] || ! can_drop; then
		tap_skip "the tutorial's cold" \
			"not root, no loop device, or files stay in memory"
		return
	fi
	tap_check "the tutorial's cold" tutorial_is_cold
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

# trace [VARIABLE=VALUE...]: a check as stock does it, traced to $dir/trace.
trace()
{
	rm -f "$dir/trace"
	check traced PREFETCH_TRACE="$dir/trace" "$@" &&
		diff "$dir/stock.out" "$dir/traced.out" &&
		diff "$dir/stock.status" "$dir/traced.status"
}

# has KIND [none]: there are events of it, or there is none.
has()
{
	jq -es --arg kind "$1" \
		'map(select(type == "array" and .[0] == $kind)) | length > 0' \
		"$dir/trace" >"$dir/has"
	[ "$(cat "$dir/has")" = "$([ "${2-}" = none ] && echo false ||
		echo true)" ]
}

trace_is_whole()
{
	trace || return
	jq -es '.[0].e2prefetch_trace == 1 and .[0].prefetch and
		(.[1:] | all(type == "array" and (.[1] | type) == "number"))' \
		"$dir/trace" >"$dir/null" && has hit && has stage &&
	tail -n 1 "$dir/trace" | grep -q '^\["end",'
}

trace_observes()
{
	trace PREFETCH_OBSERVE=1 &&
	jq -es '.[0].prefetch == false' "$dir/trace" >"$dir/null" &&
	has stage && has request none
}

# e2fsck forks a child that waits for the folder of its log: what is in the
# buffer of the trace is written once.
trace_is_written_once()
{
	printf '[options]\nlog_filename = log\nlog_dir = %s\n%s\n' \
		"$dir/logs" "log_dir_wait = true" >"$dir/conf"
	E2FSCK_CONFIG=$dir/conf trace || return
	cp "$dir/trace" "$dir/before"
	mkdir "$dir/logs"
	no_process_left && [ -s "$dir/logs/log" ] &&
	cmp "$dir/before" "$dir/trace"
}

# Another file is not written over.
trace_leaves_files()
{
	echo precious >"$dir/precious"
	check other PREFETCH_TRACE="$dir/precious"
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
	if ! have_root || ! mount -t tmpfs -o size=1M none "$full" 2>/dev/null
	then
		tap_skip "a full disk" "not root, or no mounts"
		return
	fi
	tap_check "statistics on a full disk" full_statistics
	umount "$full"
}

# A picture of two traces, one of which has a name that XML would misread.
draws()
{
	trace && cp "$dir/trace" "$dir/<ours>" && trace PREFETCH_OBSERVE=1 &&
	"$PLOT" -o "$dir/p.svg" "$dir/trace" "$dir/<ours>" &&
	python3 -c 'import sys, xml.dom.minidom as x
x.parse(sys.argv[1])' "$dir/p.svg" && grep -q "with prefetching" "$dir/p.svg"
}

# The curve of what is not used yet rises and falls: to 1 MiB, half of it, nothing.
curve_falls()
{
	cat >"$dir/small" <<-END
	{"e2prefetch_trace":1,"prefetch":true,"stages":["open","pass1"]}
	["stage",1000000000,0]
	["request",2000000000,0,1048576,0,1]
	["hit",3000000000,0,524288,10]
	["wait",4000000000,524288,524288,10]
	["stage",5000000000,1]
	END
	"$PLOT" -o "$dir/s.svg" "$dir/small" &&
	grep -q 'd="M70.0 680.0L200.0 550.0L330.0 615.0L460.0 680.0"' "$dir/s.svg"
}

# One line, and no picture.
draws_no_other()
{
	! "$PLOT" -o "$dir/n.svg" "$image" >"$dir/out" 2>&1 &&
	[ "$(wc -l <"$dir/out")" = 1 ] && [ ! -e "$dir/n.svg" ]
}

test_all()
{
	dir=$E2PF_TMP/tutorial
	mkdir "$dir"
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	check stock PREFETCH=0
	tap_check "the tutorial" run_tutorial
	test_cold
	tap_check "a trace" trace_is_whole
	tap_check "a trace of a stock check" trace_observes
	tap_check "a file of somebody's is left alone" trace_leaves_files
	tap_check "a child of e2fsck's adds nothing" trace_is_written_once
	test_full
	if have_program python3; then
		tap_check "a picture" draws
		tap_check "a curve that falls" curve_falls
		tap_check "of what is no trace" draws_no_other
	else
		tap_skip "pictures" "no python3"
	fi
}

[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
setup mke2fs debugfs jq dd
tap_run test_all
