#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The test suite of this machine's e2fsprogs, as doc/testing.md describes.
#
#   check-e2fsprogs.sh [TEST...]	default: all of them
#
# E2FSPROGS_DIR	directory to work in, an absolute path; builds in it are reused
#		(default: a temporary directory)
#
# The suite is built with shared libraries, because the preload library works only
# if the checker loads libext2fs.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/chroots.sh"

# A test that hangs is stopped.
LIMIT=1800

# build_suite DIR: build DIR/suite from DIR/source.
build_suite()
{
	[ ! -e "$1/suite/ready" ] || return 0
	rm -rf "$1/suite"
	mkdir "$1/suite" && cd "$1/suite" || return
	configure_e2fsprogs &&
	make -s -j "$E2PF_JOBS" &&
	make -s -C tests test_one &&
	mv e2fsck/e2fsck e2fsck/e2fsck.real &&
	touch ready
}

suite_tests()
{
	find "$source/tests" -maxdepth 1 -name '[a-z]_*' -type d -printf '%f\n' | sort
}

# run_one TEST: run it in a separate environment with our settings.  Its result
# is a file, NAME.ok or NAME.failed; a test that does not apply here leaves
# neither.
run_one()
{
	local test=$1

	cd "$suite/tests" || return
	env -i PATH="$PATH" HOME="${HOME-/}" TMPDIR="$E2PF_TMP" \
		E2PF_TEST_MARK="$E2PF_TEST_MARK" "${setting[@]}" \
		PREFETCH_STATS="$results/$test.stats" \
		timeout -k 10 "$LIMIT" ./test_one --skip-slow-tests \
		"$source/tests/$test" \
		</dev/null >"$results/$test.out" 2>&1
	mv "$test.ok" "$test.failed" "$results" 2>/dev/null
	rm -f "$test.log" "$test.slow"
}

# run_suite NAME CHECKER TEST...: run the tests with CHECKER in place of e2fsck.
run_suite()
{
	local results=$E2PF_TMP/$1

	mkdir "$results"
	ln -sfn "$2" "$suite/e2fsck/e2fsck"
	shift 2
	workers run_one "$@"
}

# result NAME TEST
result()
{
	if [ -e "$E2PF_TMP/$1/$2.ok" ]; then
		echo passes
	elif [ -e "$E2PF_TMP/$1/$2.failed" ]; then
		echo fails
	elif grep -q skipped "$E2PF_TMP/$1/$2.out"; then
		echo "does not apply"
	else
		echo "ends without a result"
	fi
}

# helped NAME: did any check of this run write statistics?
helped() { grep -lq '"block_size"' "$E2PF_TMP/$1"/*.stats; }

count() { find "$E2PF_TMP/$1" -name "*.$2" | wc -l; }

# compare_suite NAME TEST...: compare with stock's results, test by test; sets
# $differ to the number that differ.  Some tests detect only while running that they
# do not apply (m_devdir copies /dev, whatever it contains at the time).
compare_suite()
{
	local name=$1 test stock ours

	shift
	differ=0
	for test; do
		stock=$(result stock "$test")
		ours=$(result "$name" "$test")
		if [ "$stock" = "$ours" ]; then
			tap_ok "$name: $test $stock"
			continue
		fi
		case $stock,$ours in
		*"does not apply"*)
			tap_skip "$name: $test" \
				"stock e2fsck: $stock; helped: $ours"
			continue
			;;
		esac
		differ=$((differ + 1))
		head -n 40 "$E2PF_TMP/$name/$test."[fo]* >"$E2PF_TMP/why"
		tap_not_ok "$name: $test $ours, with stock e2fsck it $stock" \
			"$E2PF_TMP/why"
	done
}

test_suite()
{
	local dir=${E2FSPROGS_DIR:-$E2PF_TMP/e2fsprogs} source suite name io
	local differ version
	local -a setting=()

	source_package "$dir" e2fsprogs >"$E2PF_TMP/log" 2>&1 || {
		tap_skip "e2fsprogs' tests" \
			"no source package: $(why_not "$E2PF_TMP/log")"
		return
	}
	source=$dir/source suite=$dir/suite
	tap_check "what ours replaces in it was reviewed" \
		python3 "$srcdir/tools/review.py" "$source"
	(build_suite "$dir") >"$E2PF_TMP/log" 2>&1 || {
		tail -n 40 "$E2PF_TMP/log" >"$E2PF_TMP/why"
		tap_not_ok "e2fsprogs builds" "$E2PF_TMP/why"
		return
	}
	[ $# -gt 0 ] || set -- $(suite_tests)
	run_suite stock e2fsck.real "$@"
	version=$(cat "$dir/version")
	note "$version" tests $#
	note "$version" ok "$(count stock ok)"
	note "$version" fail "$(count stock failed)"
	tap_check "the suite runs" [ "$(count stock ok)" -gt 0 ]
	for io in 0 1; do
		name=unix
		[ $io = 0 ] || name=mmap
		setting=(PREFETCH=1 TEST_MMAP_IO="$io"
			PREFETCH_E2FSCK="$suite/e2fsck/e2fsck.real")
		run_suite $name "$E2FSCK_TEST" "$@"
		compare_suite $name "$@"
		tap_check "$name: it was the wrapper that ran" helped $name
		note "$version" "same_$name" $(($# - differ))
		note "$version" "differ_$name" "$differ"
	done
	ln -sfn e2fsck.real "$suite/e2fsck/e2fsck"
	tap_check "no process is left behind" no_process_left
	notes_table e2fsprogs= tests=tests "pass with stock=ok" \
		"fail with stock=fail" "same, unix manager=same_unix" \
		differ=differ_unix "same, mmap manager=same_mmap" differ=differ_mmap
}

require_programs make gcc python3 timeout
tmp_setup
notes=$E2PF_TMP/notes
tap_run test_suite "$@"
