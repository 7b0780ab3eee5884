#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random combinations, compared with stock: images of random features
# (images.sh), sound or corrupted (tools/seeds.sh), with random options,
# e2fsck.conf and settings of ours, some on a terminal on which questions are
# answered, with both I/O managers.  The seed determines everything.
#
#   test-combinations.sh [SEED...]	only these, or COUNT seeds from FIRST
#
# COUNT (default 112), FIRST (default 0) and KEEP as in tools/seeds.sh.  With
# SOAK_SECONDS, as many more as fit into that time: `make soak'.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
in_memory
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

COMPARE_LIMIT=10
COMPARE_TEST_LIMIT=60
COMPARE_OUTPUT=2000000
COMPARE_MANAGERS="0 1"
COMPARE_UNSURE=1
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/report.sh
. "$srcdir/tools/report.sh"
# shellcheck source=../tools/seeds.sh
. "$srcdir/tools/seeds.sh"

COUNT=${COUNT:-112}
FIRST=${FIRST:-0}
BATCH=14
kinds=(none super group inode extent indirect directory htree xattr bitmap
	journal swap zero truncate)
columns=(case checks agreed disagreed crashed hung unsure endless)

# If this mke2fs cannot make the image, another one is used.
make_once()
{
	local image=$1 file=$E2PF_TMP/images/$1

	[ ! -e "$E2PF_TMP/kinds/$image" ] || return 0
	image_make "$image" "$file" || image_make ext4-4k "$file"
	rm -f "$file".{log,err,src}
	found_kinds "$image"
}

# choose SEED: sets the image for each round of kinds.  If the image does not
# have the kind of structure, it is not corrupted.
choose()
{
	kind=${kinds[$1 % ${#kinds[@]}]} image=random-$(($1 / ${#kinds[@]}))
	(
		flock 9
		make_once "$image" >/dev/null 2>&1
	) 9>"$E2PF_TMP/making"
	grep -q "^$kind " "$E2PF_TMP/kinds/$image" || kind=none
}

# An e2fsck.conf.  Files that it makes e2fsck write are in the folder of the
# check.
random_conf()
{
	local option

	echo "[options]"
	for option in broken_system_clock=1 allow_cancellation=1 \
		indexed_dir_slack_percentage=50 inode_count_fullmap=1 \
		no_optimize_extents=1 max_count_problems=3 readahead_kb=0 \
		readahead_kb=64 readahead_mem_pct=1 report_features=1 \
		report_verbose=1 log_filename=log; do
		! often 12 || echo "$option"
	done
	! often 30 || {
		echo "[scratch_files]"
		echo "directory = ."
		one_of 0 10 100
		echo "numdirs_threshold = $one"
	}
	! often 30 || {
		echo "[bitmaps]"
		one_of 1 2 3
		echo "all = $one"
	}
	! often 30 || {
		echo "[problems]"
		one_of 0x010008 0x010011 0x010060 0x020004 0x020000 0x030000 \
			0x040000 0x040002 0x050000 0x050006 0x000031
		echo "$one = {"
		for option in preen_ok max_count=1 no_ok no_default \
			preen_nomessage no_nomsg force_no not_a_fix; do
			[[ $option = *=* ]] || option=$option=true
			! often 25 || echo "$option"
		done
		echo "}"
	}
}

# Options of e2fsck, without those that take hours or a device.
random_options()
{
	local option extended=

	one_of -fn -fn -fy -fy -fy -fp -n -p -y -f
	options+=("$one")
	for option in -D -v -tt -k; do
		! often 12 || options+=("$option")
	done
	! often 12 || options+=(-z undo)
	! often 8 || options+=(-C 0)
	! often 10 || {
		seq "$((1 + chance))" 97 2000 >"$dir/bad.aux"
		one_of -l -L
		options+=("$one" aux)
	}
	! often 5 || options+=(-b 8193)
	for option in discard nodiscard journal_only fragcheck bmap2extent \
		inode_count_fullmap no_inode_count_fullmap optimize_extents \
		no_optimize_extents unshare_blocks fixes_only readahead_kb=0 \
		readahead_kb=128 ea_ver=1 nonsense; do
		! often 6 || extended+=,$option
	done
	[ -z "$extended" ] || options+=(-E "${extended#,}")
}

# Settings for the command under test, as NAME=VALUE, in $settings.
random_settings()
{
	settings=()
	! often 50 || { one_of 1 2 4 7 16; settings+=("PREFETCH_THREADS=$one"); }
	! often 30 || { one_of 1M 2M 64M; settings+=("PREFETCH_MEM=$one"); }
	! often 30 || {
		one_of none all bitmaps crc32c indirect
		settings+=("PREFETCH_ACCEL=$one")
	}
	! often 10 || settings+=(PREFETCH_BANDWIDTH=64M)
	! often 10 || settings+=(PREFETCH_IOPS=2000)
	! often 10 || settings+=(PREFETCH_NICE=5)
	! often 10 || settings+=(PREFETCH_IOPRIO=idle)
	! often 10 || settings+=(E2FSPROGS_BITMAP_STATS=1)
	! often 5 || settings+=(PREFETCH_OBSERVE=1)
}

# One check with the options of the seed.
check_corrupted()
{
	local dir=$1 kind=$2 COMPARE_ANSWERS='' COMPARE_ACCEL='' setting
	local -a options settings

	chance_seed $((seed + 1000000))
	rm -f "$dir/bad.aux"
	# shellcheck disable=SC2207
	options=($(image_options "$3"))
	random_options
	random_settings
	! often 40 || random_conf >"$dir/conf"
	[[ " ${options[*]} " != *" -f "* ]] && ! often 15 ||
		COMPARE_ANSWERS=$seed
	what+="; ${options[*]}; ${settings[*]}"
	what+="${COMPARE_ANSWERS:+; on a terminal}"
	[ ! -s "$dir/conf" ] || what+="; $(tr '\n' ' ' <"$dir/conf")"
	for setting in "${settings[@]}"; do
		[[ $setting != PREFETCH_ACCEL=* ]] ||
			COMPARE_ACCEL=${setting#*=}
		local -x "${setting?}"
	done
	[ ! -s "$dir/conf" ] || local -x E2FSCK_CONFIG=$dir/conf
	check_image "$dir" "$kind" "$dir/bad" "${options[@]}"
	rm -f "$dir/conf"
}

test_all()
{
	seeds_setup
	check_seeds combinations "$@"
	while [ "$SECONDS" -lt "${SOAK_SECONDS:-0}" ]; do
		rm -rf "$E2PF_TMP"/images/* "$E2PF_TMP"/kinds/*
		FIRST=$((FIRST + COUNT))
		check_seeds combinations
	done
}

compare_require mke2fs debugfs dumpe2fs flock diff dd awk
tmp_setup
helpers_setup
images_setup
tap_run test_all "$@"
