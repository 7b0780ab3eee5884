#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The damaged images of e2fsprogs' own tests.  Each is checked with -fn, then
# with the options of the first check of its test, and the result of that with
# those of the second.  The command under test must agree with stock in all of
# these checks, with both I/O managers.
#
# The images are not part of this project.  E2FSPROGS_TESTS names a folder with
# NAME.gz and manifest.tsv (name, first options, second options); without it
# shared/e2fsprogs-tests beside the source tree is tried.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# The damaged images are tested with all accelerations, and feature images with
# the default.
COMPARE_ACCEL=${COMPARE_ACCEL-all}
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"

corpus=${E2FSPROGS_TESTS:-$srcdir/../../shared/e2fsprogs-tests}
COMPARE_MANAGERS=${CORPUS_MANAGERS:-0 1}

# If the answer is "no", stock e2fsck asks about the same table forever and fills
# the disk with its questions.
endless="f_illitable_flexbg f_misstable"

test_entry()
{
	local name=$1 dir=$E2PF_TMP/$1 first second

	IFS=$'\t' read -r _ first second < <(awk -F'\t' -v name="$name" \
		'$1 == name' "$corpus/manifest.tsv")
	mkdir "$dir"
	if ! gzip -dc "$corpus/$name.gz" >"$dir/image"; then
		tap_not_ok "$name: cannot be unpacked"
		return
	fi
	# Blocks of zeros need not be copied and compared each time.
	cp --sparse=always "$dir/image" "$dir/start"
	case " $endless " in
	*" $name "*) tap_skip "$name -fn" "stock e2fsck does not end" ;;
	*) compare_image "$name -fn" "$dir" "$dir/start" -fn ;;
	esac
	# shellcheck disable=SC2086
	compare_image "$name $first" "$dir" "$dir/start" $first
	cp --sparse=auto "$dir/stock/fs" "$dir/second"
	# shellcheck disable=SC2086
	compare_image "$name then $second" "$dir" "$dir/second" $second
	[ -z "$threads" ] || test_threads "$name" "$dir"
	rm -rf "$dir"
}

# The same with an e2fsck that checks in several threads.
test_threads()
{
	local COMPARE_THREADS=4 name=$1 dir=$2

	case " $endless " in
	*" $name "*) ;;
	*) compare_image "$name -fn -m 4" "$dir" "$dir/start" -fn ;;
	esac
	compare_image "$name -fy -m 4" "$dir" "$dir/start" -fy
}

test_corpus()
{
	threads=
	! compare_takes_threads || threads=1
	# Names have no spaces.
	# shellcheck disable=SC2046
	[ $# -gt 0 ] || set -- $(grep -v '^#' "$corpus/manifest.tsv" | cut -f1)
	workers test_entry "$@"
	tap_check "no process is left behind" no_process_left
}

# The last line says how many agree.
count_agreements()
{
	awk '
		{ print; fflush() }
		/^ok - .* \(status/ { agree++ }
		/^not ok / { differ++ }
		END {
			printf "# %d checks agree, %d do not\n", agree, differ
		}'
}

test_and_count() { test_corpus "$@" | count_agreements; }

[ -r "$corpus/manifest.tsv" ] ||
	tap_skip_all "no images of e2fsprogs' tests (set E2FSPROGS_TESTS)"
require_programs flock gzip awk
tmp_setup
helpers_setup
tap_run test_and_count "$@"
