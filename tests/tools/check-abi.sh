#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The library stays compatible with programs that are already built: libabigail
# compares it with a recorded ABI.  Prints TAP.
#
#   check-abi.sh		compare with libe2prefetch.MACHINE.abi
#   check-abi.sh --record	write that file; review its changes

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=lib.sh
. "$srcdir/tools/lib.sh"

library=$top_builddir/lib/.libs/libe2prefetch.so.0
machine=$(uname -m)
recorded=$srcdir/fixtures/libe2prefetch.$machine.abi

# The reason why the library cannot be analysed, if there is one.
no_abi()
{
	local program

	for program in abidw abidiff readelf; do
		have_program $program || {
			echo "$program not found"
			return
		}
	done
	if [ "${SANITIZERS:-no}" != no ]; then
		echo "built with $SANITIZERS"
	elif [ ! -e "$library" ]; then
		echo "not built: $library"
	elif ! readelf -SW "$library" | grep -qF .debug_info; then
		echo "the library is built without -g"
	fi
}

# Only types in the header: all others are hidden from programs.
record()
{
	mkdir "$E2PF_TMP/public"
	cp "$srcdir/../lib/e2prefetch.h" "$E2PF_TMP/public"
	abidw --no-corpus-path --no-comp-dir-path --no-show-locs \
		--drop-undefined-syms --drop-private-types \
		--headers-dir "$E2PF_TMP/public" \
		--out-file "$recorded" "$library"
}

# compare RECORD: status 0 if nothing has changed.
compare()
{
	abidiff --suppressions "$srcdir/fixtures/libe2prefetch.abignore" "$1" "$library"
}

# notices SCRIPT: the comparison fails with a record that this sed script changes.
notices()
{
	sed "$1" "$recorded" >"$E2PF_TMP/changed.abi"
	! cmp "$recorded" "$E2PF_TMP/changed.abi" &&
		! compare "$E2PF_TMP/changed.abi"
}

test_abi()
{
	tap_check "the library is as recorded in ${recorded##*/}" \
		compare "$recorded"
	tap_check "a function that is gone is noticed" \
		notices 's/e2pf_wait/e2pf_await/g'
	tap_check "a struct of another size is noticed" \
		notices "/name='e2pf_totals' size/s/384/448/"
	tap_check "another value of a class is noticed" \
		notices "/name='E2PF_DIRS'/s/value='5'/value='6'/"
}

why=$(no_abi)
[ -z "$why" ] || tap_skip_all "$why"
tmp_setup
if [ "${1-}" = --record ]; then
	record
	exit
fi
[ -r "$recorded" ] ||
	tap_skip_all "nothing is recorded for $machine (make abi-record)"
tap_run test_abi
