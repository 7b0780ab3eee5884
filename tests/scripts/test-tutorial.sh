#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands of doc/tutorial.md, in order, on an image; and what a trace and
# its picture hold.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

PREFETCHER=$top_builddir/prefetch/e2prefetch

drop() { dd of="$1" conv=notrunc,fdatasync oflag=nocache count=0 status=none; }

# The indented lines, as a script that ends at the first failure.  e2fsck's
# status is not one: it may find something to correct.
run_tutorial()
{
	sed -n 's/^    //p' "$srcdir/../doc/tutorial.md" >"$dir/commands"
	[ "$(wc -l <"$dir/commands")" -ge 10 ] || return
	# bash's own variables and functions, its working directory is $dir.
	(
		cd "$dir" || exit
		# shellcheck disable=SC2030
		export disk=$image launchers=$top_builddir/e2fsck
		export PATH=$top_builddir/prefetch:$PATH
		LD_PRELOAD='' bash -e commands </dev/null
	)
}

pages_of() { fincore -bno PAGES "$1" | tr -d ' '; }

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
		cat "$disk" >"$dir/null" && [ "$(pages_of "$dir/below")" != 0 ] &&
		# shellcheck disable=SC1091
		( . "$dir/cold"; cold ) && [ "$(pages_of "$dir/below")" = 0 ] ||
			{ echo "$disk: $(pages_of "$dir/below")"; return 1; }
	done
	loop_detach "$dev"
}

test_cold()
{
	cp "$image" "$dir/drop" && sync "$dir/drop" && drop "$dir/drop"
	if ! have_root || ! [ -w /dev/loop-control ] || ! have_program fincore ||
	   [ "$(pages_of "$dir/drop")" != 0 ]; then
		tap_skip "the tutorial's cold" \
			"not root, no loop device or fincore, or files stay in memory"
		return
	fi
	tap_check "the tutorial's cold" tutorial_is_cold
}

# On a full disk: one line, a status, and e2fsck's own result.
full_trace()
{
	local status

	head -c 4M /dev/zero >"$full/fill" 2>"$dir/null"
	truncate -s -8192 "$full/fill"
	drop "$image"
	"$PREFETCHER" trace -o "$full/trace" -- e2fsck -fn "$image" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	rm -f "$full"/*
	cat "$dir/err"
	[ $status = 8 ] && diff "$dir/stock" "$dir/out" &&
	[ "$(grep -c "^e2prefetch: trace: .* is incomplete" "$dir/err")" = 1 ]
}

full_statistics()
{
	local status

	head -c 4M /dev/zero >"$full/fill" 2>"$dir/null"
	PREFETCH=1 PREFETCH_STATS=$full/stats "$E2FSCK_TEST" -fn "$image" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	rm -f "$full"/*
	cat "$dir/err"
	[ $status = "$stock" ] && diff "$dir/stock" "$dir/out" &&
	[ "$(grep -c "^e2fsck-prefetch: cannot write statistics to .*: No space" \
		"$dir/err")" = 1 ]
}

full_picture()
{
	head -c 4M /dev/zero >"$full/fill" 2>"$dir/null"
	truncate -s -4096 "$full/fill"
	expect 8 plot -o "$full/p.png" "$dir/trace" &&
	[ "$(ls "$full")" = fill ]
}

test_full()
{
	local full=$dir/full stock=0

	mkdir "$full"
	if ! have_root || ! mount -t tmpfs -o size=1M none "$full" 2>/dev/null
	then
		tap_skip "a full disk" "not root, or no mounts"
		return
	fi
	trace
	"$E2FSCK_STOCK" -fn "$image" >"$dir/stock" 2>/dev/null </dev/null ||
		stock=$?
	tap_check "a trace on a full disk" full_trace
	tap_check "statistics on a full disk" full_statistics
	! have_program gnuplot ||
		tap_check "a picture on a full disk" full_picture
	umount "$full"
}

# trace [--stock]: the image, cold, into $dir/trace.
trace()
{
	rm -f "$dir/trace"
	drop "$image"
	"$PREFETCHER" trace "$@" -o "$dir/trace" -- \
		e2fsck -fn "$image" >"$dir/out" 2>"$dir/err" </dev/null
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
		"$dir/trace" >/dev/null && has hit && has stage
}

trace_observes()
{
	trace --stock || return
	jq -es '.[0].prefetch == false' "$dir/trace" >/dev/null &&
	has stage && has request none
}

same_output()
{
	"$E2FSCK_STOCK" -fn "$image" >"$dir/stock" 2>/dev/null </dev/null
	trace && diff "$dir/stock" "$dir/out" &&
	trace --stock && diff "$dir/stock" "$dir/out"
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

# expect STATUS COMMAND...: e2prefetch, with this status and a line.
expect()
{
	local expected=$1 status

	shift
	"$PREFETCHER" "$@" >"$dir/out" 2>&1 </dev/null
	status=$?
	cat "$dir/out"
	[ $status = "$expected" ] && [ "$(wc -l <"$dir/out")" = 1 ]
}

# helps COMMAND: one line, as it is asked for.
helps()
{
	"$PREFETCHER" "$1" --help >"$dir/out" 2>"$dir/err" &&
		grep -q "^Usage: e2prefetch .*$1" "$dir/out" &&
		[ ! -s "$dir/err" ]
}

# Another file is not written over.
trace_leaves_files()
{
	echo precious >"$dir/precious"
	! "$PREFETCHER" trace -o "$dir/precious" -- e2fsck -fn "$image" \
		>"$dir/out" 2>&1 && [ "$(cat "$dir/precious")" = precious ]
}

# Nothing before the page, and nothing of a document of its own in it.
is_page()
{
	[ "$(head -1 "$1")" = "<!DOCTYPE html>" ] &&
	[ "$(grep -c '<svg' "$1")" = 1 ] &&
	[ "$(grep . "$1" | tail -1)" = "</svg>" ] &&
	! grep -E '<\?xml|<!DOCTYPE svg|(src|href)="?http' "$1"
}

is_png() { [ "$(head -c 4 "$1" | tail -c 3)" = PNG ]; }

# A trace whose stages are not names.
odd_stages()
{
	sed '1s/"stages": *\[[^]]*\]/"stages":[null,7,{},["x"]]/' "$dir/trace" \
		>"$dir/odd"
	! cmp -s "$dir/trace" "$dir/odd" &&
	"$PREFETCHER" plot -o "$dir/odd.png" "$dir/odd" && is_png "$dir/odd.png"
}

# with_gnuplot SCRIPT COMMAND...: where gnuplot is this.
with_gnuplot()
{
	mkdir -p "$dir/bin"
	printf '#!/bin/sh\n%s\n' "$1" >"$dir/bin/gnuplot"
	chmod +x "$dir/bin/gnuplot"
	shift
	PATH=$dir/bin:$PATH "$@"
}

# Nothing is left of a picture that failed, and an older one stays.
fails_well()
{
	echo old >"$dir/kept.png"
	expect 8 plot -o "$dir/kept.png" "$dir/trace" &&
	[ "$(cat "$dir/kept.png")" = old ] && ! ls "$dir"/kept.png.* 2>/dev/null
}

# More events than a pipe holds.
make_long_trace()
{
	head -1 "$dir/trace" >"$dir/long"
	awk 'BEGIN { for (i = 1; i <= 60000; i++)
		printf "[\"request\",%d,%d,4096,0,1]\n", i * 1000, i * 4096 }' \
		>>"$dir/long"
}

ends_early()
{
	make_long_trace
	with_gnuplot '[ "$1" = --version ]' expect 8 plot -o "$dir/l.png" \
		"$dir/long"
}

# What gnuplot is asked to draw of a trace whose lines are not in order of time.
make_script()
{
	cat >"$dir/small" <<-END
	{"e2prefetch_trace":1,"prefetch":true,"stages":["open","pass1","pass2"]}
	["stage",1000000000,0]
	["stage",1100000000,1]
	["hit",3000000000,0,1048576,10]
	["request",2000000000,0,1048576,0,1]
	["wait",3500000000,8388608,4096,10]
	["stage",4000000000,2]
	END
	with_gnuplot "[ \"\$1\" = --version ] || cat >'$dir/script'" \
		"$PREFETCHER" plot -o "$dir/s.png" "$dir/small"
	[ -s "$dir/script" ]
}

# The curve of what is not used yet rises and falls.
curve_falls()
{
	make_script && sed -n '/^\$ahead0/,/^EOD/p' "$dir/script" >"$dir/curve" &&
	diff "$dir/curve" - <<-END
	\$ahead0 << EOD
	1.000000 1.000000
	2.000000 0.000000
	EOD
	END
}

# Names of stages stand above the frame, where nothing crosses them; the colours
# are not red and green.
readable()
{
	make_script &&
	grep -q "^set label 'pass 1' at 0.1[0-9]*, graph 1\." "$dir/script" &&
	grep -q "^set label 'pass 2' at 3.0*, graph 1\." "$dir/script" &&
	! grep "^set label 'pass.*graph 0" "$dir/script" &&
	grep -q "^set title 'with prefetching: 3 s  (small)'" "$dir/script" &&
	! grep -E "#d62728|#2ca02c" "$dir/script"
}

test_plot_failures()
{
	tap_check "gnuplot ends early" ends_early
	tap_check "gnuplot is missing" with_gnuplot 'exit 127' fails_well
	tap_check "gnuplot fails" with_gnuplot '[ "$1" = --version ]' fails_well
	tap_check "gnuplot writes half a picture" with_gnuplot \
		'[ "$1" = --version ] && exit
		f=$(sed -n "s/^set output .\(.*\).$/\1/p"); printf half >"$f"' \
		fails_well
	tap_check "no such folder" expect 8 plot -o "$dir/none/p.png" \
		"$dir/trace"
}

test_plot()
{
	if ! have_program gnuplot; then
		tap_skip "plots" "no gnuplot"
		return
	fi
	trace
	tap_check "a picture as PNG" "$PREFETCHER" plot -o "$dir/p.png" \
		"$dir/trace"
	tap_check "it is one" is_png "$dir/p.png"
	cp "$dir/trace" "$dir/it's a \"trace"
	tap_check "two as SVG, whatever they are called" "$PREFETCHER" plot \
		-o "$dir/it's.svg" "$dir/trace" "$dir/it's a \"trace"
	tap_check "it is one, too" grep -q "</svg>" "$dir/it's.svg"
	tap_check "a page" "$PREFETCHER" plot -o "$dir/p.html" "$dir/trace"
	tap_check "with one picture in it" is_page "$dir/p.html"
	head -1 "$dir/trace" >"$dir/short"
	tap_check "of a check that did nothing" "$PREFETCHER" plot \
		-o "$dir/short.png" "$dir/short"
	tap_check "of stages without names" odd_stages
	tap_check "a curve that falls" curve_falls
	tap_check "labels and colours that can be read" readable
	test_plot_failures
	tap_check "of no trace" expect 8 plot -o "$dir/n.png" "$image"
	tap_check "another ending" expect 16 plot -o "$dir/n.gif" "$dir/trace"
	tap_check "the tutorial" run_tutorial
	tap_check "the tutorial's picture" is_png "$dir/check.png"
}

# traces_nothing COMMAND...: a line says so.
traces_nothing()
{
	rm -f "$dir/nothing"
	"$PREFETCHER" trace -o "$dir/nothing" -- "$@" >"$dir/out" 2>"$dir/err"
	[ $? = 8 ] && [ "$(grep -c "nothing was recorded" "$dir/err")" = 1 ]
}

test_all()
{
	dir=$E2PF_TMP/tutorial
	mkdir "$dir"
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	tap_check "a trace" trace_is_whole
	tap_check "a trace of a stock check" trace_observes
	tap_check "the check says what stock does" same_output
	tap_check "a file of somebody's is left alone" trace_leaves_files
	tap_check "a child of e2fsck's adds nothing" trace_is_written_once
	tap_check "trace --help" helps trace
	tap_check "plot --help" helps plot
	tap_check "status --help" helps status
	tap_check "trace of a path past the launcher" traces_nothing \
		"$E2FSCK_STOCK" -fn "$image"
	tap_check "trace of a command that opens nothing" traces_nothing true
	tap_check "trace keeps the command's status" [ "$("$PREFETCHER" trace \
		-o "$dir/nothing" -- sh -c 'exit 5' 2>/dev/null; echo $?)" = 5 ]
	test_cold
	test_full
	tap_check "no file" expect 16 trace -- true
	tap_check "no command" expect 16 trace -o "$dir/t"
	tap_check "no trace to plot" expect 16 plot -o "$dir/n.png"
	test_plot
}

require_programs mke2fs debugfs jq dd
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
tmp_setup
helpers_setup
images_setup
tap_run test_all
