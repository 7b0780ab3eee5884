#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pseudo-random corruptions of the feature images (tools/seeds.sh), checked with
# both I/O managers and every set of options, and again after a repair with -fy.
#
#   test-corruptions.sh [SEED...]	only these, or COUNT seeds from FIRST
#
# COUNT (default 104), FIRST (default 1), TABLE and KEEP as in tools/seeds.sh.
#
# Each line of output names the image and the change.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
in_memory
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

# If the answer is "no", stock e2fsck can ask the same question forever (seeds
# 700, 1090, 1908).  The longest output of other cases with -fn is 60 kB.
COMPARE_LIMIT=10
COMPARE_TEST_LIMIT=60
COMPARE_OUTPUT=2000000
COMPARE_MANAGERS="0 1"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/report.sh
. "$srcdir/tools/report.sh"
# shellcheck source=../tools/seeds.sh
. "$srcdir/tools/seeds.sh"

COUNT=${COUNT:-104}
FIRST=${FIRST:-1}
BATCH=10
kinds=(super group inode extent indirect directory htree xattr bitmap journal
	swap zero truncate)
columns=(case checks agreed disagreed crashed hung endless)
modes=(-fn -fy -fp -fyD)

make_image()
{
	local image=$E2PF_TMP/images/$1 why

	if ! why=$(image_make "$1" "$image" 2>&1); then
		rm -f "$image"
		tap_diag "$1: this mke2fs does not make it: ${why//$'\n'/ }"
		return
	fi
	found_kinds "$1"
}

check_corrupted()
{
	local dir=$1 kind=$2 mode
	local -a options

	# shellcheck disable=SC2207
	options=($(image_options "$3"))
	for mode in "${modes[@]}"; do
		check_image "$dir" "$kind" "$dir/bad" \
			${options[@]+"${options[@]}"} "$mode"
		[ "$mode" != -fy ] ||
			cp --sparse=auto "$dir/stock/fs" "$dir/mended"
	done
	check_image "$dir" "$kind" "$dir/mended" \
		${options[@]+"${options[@]}"} -fn
	[ -n "$threads" ] || return
	for mode in -fn -fy; do
		COMPARE_THREADS=4 COMPARE_UNSURE=1 \
			check_image "$dir" "$kind" "$dir/bad" \
			${options[@]+"${options[@]}"} "$mode"
	done
}

test_all()
{
	seeds_setup
	threads=
	if compare_takes_threads; then
		threads=1
		columns+=(unsure)
	fi
	# Names have no spaces.
	# shellcheck disable=SC2046
	workers make_image $(image_names)
	check_seeds corruptions "$@"
}

compare_require mke2fs debugfs dumpe2fs flock diff dd awk
tmp_setup
helpers_setup
images_setup
tap_run test_all "$@"
