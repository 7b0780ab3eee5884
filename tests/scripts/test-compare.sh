#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Checks that must be as stock's, with each I/O manager: a table with one check in
# each row.
#
#   test-compare.sh [GROUP|IMAGE|ROW]...
#
# A row is RECIPE|OPTIONS|SETTINGS, words with blanks between them; a + within a word
# stands for a blank.  A recipe is an image, and what is done to it, in turn:
#
#   NAME		an image of images.sh
#   corpus:NAME		a damaged image of e2fsprogs' own tests
#   btrfs:NAME		an image of btrfs, below, checked by btrfs check
#   btrfs-corpus:FILE	an image of btrfs-progs' own tests
#   syzbot:FILE		an image that syzbot mounted, or btrfs-syzbot:FILE
#   zeros:BYTES		no filesystem
#   path:PATH		an image of yours, or btrfs-path:PATH; with COMPARE_IN_PLACE=1
#			what is there itself
#   super		the superblock is zeros
#   corrupt:SEED[:KIND]	one corruption by tools/corrupt
#   random:SEED		more options, settings, an e2fsck.conf and answers on a
#			terminal, from the seed
#   debugfs:COMMAND	and stock:OPTIONS, a check by the stock e2fsck
#   cut:BYTES		the rest of the image is missing
#
# The copies of an image are cached, so the engine finds no work.  For three rows of
# seven, which are not the same options each time, tools/cold.c says that nothing is
# cached (COLD=1), or not yet (COLD=2): then the mmap manager copies what has arrived.
#
# Options are those of the check, with @ where the image is not the last argument.
# Settings are variables: of ours, of e2fsck, and of tools/compare.sh.
#
# Groups: features (every feature, sound), corpus, options (the command line);
# corruptions, combinations (of random features, corruptions and settings) and btrfs, of
# seeded corruptions, COUNT of them from FIRST; btrfs-corpus; syzbot and btrfs-syzbot,
# images that crashed kernels.  Without arguments all but corruptions and combinations
# (test-corruptions.sh).  The images of other projects are not part of this one:
# E2FSPROGS_TESTS names a directory with NAME.gz and manifest.tsv (name, first options,
# second options), BTRFS_TESTS one of btrfs-progs, SYZBOT_TESTS one with directories
# ext4-* and btrfs-* of images (*.gz); without them shared/e2fsprogs-tests,
# shared/btrfs-tests and shared/syzbot-tests beside the source tree are tried.
#
# Of the options beside -fn each image takes a share in turn; of syzbot's images there is
# a sample; with E2PF_FAULTS=all all.  With E2PF_FEW it is every E2PF_FEWth of the images,
# with fewer options.  KEEP names a directory for the images of rows that fail.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
# The output of a check that asks for ever is compared up to its end by a limit.
COMPARE_LIMIT=${COMPARE_LIMIT:-10}
COMPARE_TEST_LIMIT=$((6 * COMPARE_LIMIT))
COMPARE_OUTPUT=2000000
# Stock may print what it never set.
COMPARE_UNSURE=1
. "$srcdir/tools/compare.sh"

corpus=${E2FSPROGS_TESTS:-$srcdir/../../shared/e2fsprogs-tests}
btrfs_corpus=${BTRFS_TESTS:-$srcdir/../../shared/btrfs-tests}
syzbot=${SYZBOT_TESTS:-$srcdir/../../shared/syzbot-tests}
COMPARE_MANAGERS=${COMPARE_ROW_MANAGERS:-1}
STATIC=${E2FSCK_STATIC:-$(command -v e2fsck.static)}
PLAN=$top_builddir/tests/tools/btrfs-plan

#
# The rows.
#

# absent GROUP: why it has no rows on this machine.
absent()
{
	case $1 in
	btrfs*) have_program mkfs.btrfs || { echo "mkfs.btrfs not found"; return; } ;;
	esac
	case $1 in
	corpus)
		[ -r "$corpus/manifest.tsv" ] ||
			echo "no images of e2fsprogs' tests (set E2FSPROGS_TESTS)"
		;;
	btrfs-corpus)
		[ -d "$btrfs_corpus" ] ||
			echo "no images of btrfs-progs' tests (set BTRFS_TESTS)"
		;;
	syzbot|btrfs-syzbot)
		[ -d "$syzbot" ] || echo "no images of syzbot (set SYZBOT_TESTS)"
		;;
	esac
}

# in_turn NUMBER ITEM...: the one of this number, or all of them.
in_turn()
{
	local number=$1

	shift
	[ "${E2PF_FAULTS-}" = all ] || set -- "${@:1 + number % $#:1}"
	printf '%s\n' "$@"
}

# The first row is also checked without the mapping, and without TEST_MMAP_IO.
rows_features()
{
	local name number=0 mode also

	for name in $(image_names); do
		number=$((number + 1))
		also=$(image_options "$name")
		{
			echo fn
			in_turn $number fy fyD
			[ -n "${E2PF_FEW-}" ] ||
				in_turn $number fp "fy -E discard" "fn -tt" p n
		} | while read -r mode; do
			echo "$name|$also -$mode|"
		done | sed '1s/$/COMPARE_MANAGERS=0+1+-/'
		[ $((number % 4)) != 0 ] || printf "$name super|$also -%s|\n" fn fy
	done
}

# seeds DEFAULT: COUNT of them from FIRST.
seeds() { seq "${FIRST:-1}" $((${FIRST:-1} + ${COUNT:-$1} - 1)); }

kinds=(super group inode extent indirect directory htree xattr bitmap journal swap
	zero truncate)

# Consecutive seeds take the kinds in turn, and other images.  One of 50,000 names is
# for E2PF_FAULTS=all: with some, stock computes for minutes.
rows_corruptions()
{
	local seed image also
	local -a images

	mapfile -t images < <(image_names |
		if [ "${E2PF_FAULTS-}" = all ]; then cat; else grep -v htree-3; fi)
	for seed in $(seeds 65); do
		image=${images[seed * 7 % ${#images[@]}]}
		also=$(image_options "$image")
		image+=" corrupt:$seed:${kinds[seed % ${#kinds[@]}]}"
		printf "$image|$also -%s|\n" fn fy fp fyD
		echo "$image stock:-fy${also:++${also// /+}}|$also -fn|"
	done
}

# Every fourteenth image is sound.
rows_combinations()
{
	local seed damage

	for seed in $(seeds 84); do
		damage=" corrupt:$seed:${kinds[seed % 14]-none}"
		echo "random-$((seed / 14))${damage%% *:none} random:$seed||COMPARE_ACCEL="
	done
}

btrfs_kinds=(super header pointer entry root body swap zero truncate)
btrfs_images=(dup full-extents mixed node-16k node-64k quota raid1-missing single)
# Damage to a tree of block groups.  With checksums that match: a pointer of its root to
# what is no block, to a block of another tree, to one beyond the device, and with
# another generation; another address in its root; another address, generation and level
# in the root item.  Without: its root zeroed, a leaf of another tree in its place, and
# fewer items in a leaf.
block_groups=(69:pointer 641:pointer 817:pointer 168:pointer 442:header 1261:root 557:root
	1679:root 141:zero 74:swap 90:header)

# On the four before those of block groups the stock program writes to freed memory;
# how it ends depends on the layout of its heap, and differs with another one.
rows_btrfs()
{
	local seed count=${#btrfs_kinds[@]} recipe

	echo "btrfs:dup|--check-data-csum|"
	{
		for seed in $(seeds 22); do
			echo "btrfs:${btrfs_images[seed / count % 8]}" \
				"corrupt:$seed:${btrfs_kinds[seed % count]}"
		done
		echo "btrfs:single corrupt:69:pointer"
		printf 'btrfs:node-64k corrupt:%s:pointer\n' 124 432 663
		printf 'btrfs:%s\n' raid1-missing block-groups
		printf 'btrfs:block-groups corrupt:%s\n' "${block_groups[@]}"
	} | while read -r recipe; do
		printf "$recipe|%s|COMPARE_LIMIT=5\n" "" --mode=lowmem --repair \
			"--mode=lowmem --repair"
	done
}

rows_btrfs-corpus()
{
	local file

	for file in "$btrfs_corpus"/*.img "$btrfs_corpus"/*.xz; do
		[ ! -e "$file" ] || printf "btrfs-corpus:${file##*/}|%s|\n" "" \
			--mode=lowmem --repair "--mode=lowmem --repair"
	done
}

# rows_of_syzbot TYPE SHARE OPTIONS...: each SHAREth image of ext4 or btrfs with one of
# the options in turn; with E2PF_FAULTS=all each image with all.
rows_of_syzbot()
{
	local share=$2 number=0 recipe=syzbot file options

	[ "$1" = ext4 ] || recipe=$1-syzbot
	[ "${E2PF_FAULTS-}" != all ] || share=1
	for file in "$syzbot/$1"-*/*.gz; do
		number=$((number + 1))
		[ $((number % share)) = 0 ] || continue
		in_turn $((number / share)) "${@:3}" | while IFS= read -r options; do
			echo "$recipe:${file#"$syzbot/"}|$options|COMPARE_LIMIT=3"
		done
	done
}

rows_syzbot() { rows_of_syzbot ext4 2 -fn -fy -fp -fyD; }

rows_btrfs-syzbot()
{
	rows_of_syzbot btrfs 4 "" --mode=lowmem --repair "--mode=lowmem --repair"
}

# Both checks of each test.
rows_corpus()
{
	local name first second

	[ -z "$(absent corpus)" ] || return 0
	while IFS=$'\t' read -r name first second; do
		echo "corpus:$name|-fn|"
		echo "corpus:$name|$first|"
		echo "corpus:$name stock:${first// /+}|$second|"
	done < <(grep -v '^#' "$corpus/manifest.tsv")
}

rows_options()
{
	local off="COMPARE_MANAGERS=- COMPARE_PREFETCH" name options
	local static="COMPARE_MANAGERS=0 COMPARE_PRELOAD= E2FSCK_STOCK=$STATIC PREFETCH_E2FSCK=$STATIC"
	local bad="ext4-1k debugfs:clri+/d1"

	printf 'ext4-1k|%s|%s\n' -fy "$off=0" -V "$off=0" -G "$off=0" -V "" \
		-fy "$off=" -V "$off=" -fy E2FSPROGS_BITMAP_STATS=1
	while read -r options; do
		echo "ext4-1k|$options|"
	done <<-END
	-G
	-fy -C 0
	-C 0 -p
	-fn -tt
	-d
	-fyv
	-fy -k -c
	@ -f -n
	-f @ -y
	-fy -E readahead_kb=64
	-fn -E fragcheck
	-fn -E nonsense
	-n -y
	-nf -c
	@ other
	-L nowhere -f
	END
	# Its messages begin with the name it was called by, path and all.
	for name in fsck.ext2 fsck.ext3 fsck.ext4 /sbin/e2fsck ./e2fsck \
		somewhere/fsck.ext4 /; do
		printf "ext4-1k|%s|COMPARE_NAME=$name\n" -fn "nowhere -fn" -G
	done
	# 2049 is the first backup superblock, 77 is none.
	printf "$bad|%s|\n" -fn -y -fp "-fy -z undo" "-fy -b 2049" \
		"-fy -b 2049 -B 1024" "-fy -b 77" "-fy -E fixes_only"
	if [ -n "$STATIC" ]; then
		printf "%s|$static\n" "ext4-1k|-fn" "ext4-1k|-fy" "ext4-1k|-p" \
			"$bad|-fn" "$bad|-fy"
	fi
	# No machine has a device of this number.
	cat <<-END
	ext3-1k|-fy -E bmap2extent|
	ext3-8k|-fy -E bmap2extent|
	ext4-16k|-fyD -z undo|
	ext4-64k-recovery super|-fy -b 512 -B 65536|
	ext4-64k-recovery super|-fy -b 512|
	ext3-recovery|-E journal_only -y|
	ext4-journal-device|-fy -j jdev|
	ext4-journal-device|-fy -j fs|
	ext4-journal-device debugfs:ssv+journal_dev+0x3f01|-fy|
	zeros:200000|-fy|
	zeros:700|-fy|
	zeros:0|-fy|
	ext4-1k cut:100000|-fn|
	path:/nosuch|-fy|COMPARE_IN_PLACE=1
	path:/proc|-fy|COMPARE_IN_PLACE=1
	path:/dev/null|-fy|COMPARE_IN_PLACE=1
	END
}

#
# What is done to images.  debugfs does not find every name in every image; its output
# is discarded.
#

by_debugfs()
{
	LD_PRELOAD=$FIXED_RANDOM debugfs -w -f - "$1" >/dev/null 2>&1
	return 0
}

# e2fsck uses a backup superblock and opens the filesystem a second time.
do_super() { dd if=/dev/zero of="$1" bs=1k seek=1 count=1 conv=notrunc status=none; }

do_debugfs() { by_debugfs "$1" <<<"$2"; }
do_cut() { truncate -s "$2" "$1"; }

do_stock()
{
	compare_stock "${1%/*}/before" "$1" $2
	cp --sparse=auto "${1%/*}/before/stock/fs" "$1"
}

# do_corrupt IMAGE SEED KIND: if the image has nothing of this kind, another.
do_corrupt()
{
	"$CORRUPT" "$1" "$2" ${3:+"$3"} >"$1.what" 2>/dev/null ||
		"$CORRUPT" "$1" "$2" >"$1.what"
}

# random_conf: an e2fsck.conf.  Files that it makes e2fsck write are in the directory of
# the check.
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
		seq "$((1 + chance))" 97 2000 >"$dir/image.aux"
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

# Settings for the command under test.
random_settings()
{
	local setting

	! often 50 || { one_of 1 2 4 7 16; settings+=("PREFETCH_THREADS=$one"); }
	! often 30 || { one_of 1M 2M 64M; settings+=("PREFETCH_MEM=$one"); }
	! often 30 || {
		one_of none all bitmaps crc32c indirect
		settings+=("COMPARE_ACCEL=$one")
	}
	! often 10 || settings+=(E2FSPROGS_BITMAP_STATS=1)
}

do_random()
{
	local one
	local -a options settings=()

	chance_seed $(($2 + 1000000))
	random_options
	random_settings
	! often 40 || {
		random_conf >"$1.conf"
		settings+=("E2FSCK_CONFIG=$1.conf")
	}
	[[ " ${options[*]} " != *" -f "* ]] && ! often 15 ||
		settings+=("COMPARE_ANSWERS=$2")
	echo "${options[*]}|${settings[*]}" >"$1.more"
}

# A btrfs of two devices, of which one is missing later, or of one with small files on
# a filesystem of their own, because the image keeps the numbers of inodes.  The
# bytes are the same each time, except for times of files.
image_btrfs()
{
	local image=$2 options
	local -a make=(mkfs.btrfs -q -U 0123e567-e89b-42d3-a456-426614174000)

	case $1 in
	single) options="-n 4096 -m single" ;;
	dup) options="-n 4096 -m dup" ;;
	node-16k) options="-n 16384 -m dup" ;;
	node-64k) options="-n 65536 -m single" ;;
	mixed) options="-M -n 4096" ;;
	full-extents) options="-n 4096 -m single -O ^skinny-metadata,^no-holes" ;;
	quota) options="-n 4096 -m single -R quota" ;;
	raid1-missing) options="-n 4096 -m raid1 -d single" ;;
	block-groups)
		# As its fixture: mkfs.btrfs before 6.19 makes no such tree.  96 GiB made
		# with -n 4096 -m single -O block-group-tree, mounted, 88 files of 1 GiB
		# by fallocate, fstrim: with so many groups the tree has two levels.
		tar -C "${image%/*}" -xJf "$srcdir/fixtures/btrfs-block-groups.tar.xz"
		return
		;;
	esac
	truncate -s 128M "$image"
	if [ "$1" = raid1-missing ]; then
		truncate -s 128M "$image.second" &&
		LD_PRELOAD=$FIXED_RANDOM "${make[@]}" $options "$image" "$image.second"
	else
		LD_PRELOAD=$FIXED_RANDOM unshare $own_mounts bash -c '
			mount -t tmpfs none "$0" 2>/dev/null
			small_files "$0"
			find "$0" -exec touch -d @1500000000 {} +
			exec "$@"' "$E2PF_TMP/files" "${make[@]}" $options \
			--rootdir "$E2PF_TMP/files" "$image"
	fi
}

# image_of_dump FILE IMAGE: make a filesystem from a file of btrfs-progs' tests.
image_of_dump()
{
	local dump=$1 image=$2

	case $dump in
	*.xz)
		xz -dc "$dump" | dd of="$image.raw" bs=64k conv=sparse \
			iflag=fullblock status=none || return
		truncate -s "$(xz -l --robot "$dump" |
			awk '/^totals/ { print $5 }')" "$image.raw"
		;;
	*)	cp "$dump" "$image.raw" || return ;;
	esac
	case $dump in
	*.raw*) mv "$image.raw" "$image" ;;
	*)	btrfs-image -r "$image.raw" "$image" && rm -f "$image.raw" ;;
	esac
}

#
# The runner.
#

# base NAME COMMAND...: the image is made once, or the reason why it cannot be.  The
# lock is elsewhere, because image_make() removes what its image left before.
base()
{
	local file=$E2PF_TMP/base/$1 made=$E2PF_TMP/made/$1

	shift
	(
		flock 9
		[ -e "$made" ] || [ -e "$made.no" ] ||
			if "$@" "$file" >"$made.why" 2>&1; then
				: >"$made"
			else
				mv "$made.why" "$made.no"
			fi
	) 9>"$made.lock"
	[ -e "$made" ] || { cat "$made.no"; return 1; }
}

# unpack FILE.GZ IMAGE
unpack()
{
	gzip -dc "$1" >"$2.all" && cp --sparse=always "$2.all" "$2" && rm "$2.all"
}

# make_recipe FILE WORD...: returns 2 if this machine does not make the image.
make_recipe()
{
	local file=$1 first=$2 what=${2#*:} step one other

	shift 2
	case $first in
	corpus:*) unpack "$corpus/$what.gz" "$file" || return ;;
	syzbot:*|btrfs-syzbot:*) unpack "$syzbot/$what" "$file" || return ;;
	zeros:*) head -c "$what" /dev/zero >"$file" || return ;;
	path:*|btrfs-path:*) ln -s "$what" "$file" ;;
	btrfs-corpus:*) image_of_dump "$btrfs_corpus/$what" "$file" || return 2 ;;
	*)
		if [ "$first" = "$what" ]; then
			# Random features may be more than this mke2fs knows.
			[[ $what != random-* ]] || base "$what" image_make "$what" ||
				what=ext4-4k
			base "$what" image_make "$what" || return 2
		else
			base "$what" image_btrfs "$what" || return 2
		fi
		cp --sparse=auto "$E2PF_TMP/base/$what" "$file" || return
		[ ! -e "$E2PF_TMP/base/$what.jdev" ] ||
			cp "$E2PF_TMP/base/$what.jdev" "$file.jdev"
		;;
	esac
	for step; do
		IFS=: read -r step one other <<<"$step"
		"do_$step" "$file" "${one//+/ }" "$other" || return
	done
}

# check_row ROW: on the image in $dir.
check_row()
{
	local recipe options settings setting more='' more_settings='' name

	IFS='|' read -r recipe options settings <<<"$1"
	[ ! -e "$dir/image.more" ] ||
		IFS='|' read -r more more_settings <"$dir/image.more"
	for setting in $settings $more_settings; do
		local -x "${setting//+/ }"
	done
	[ -z "${COLD-}" ] || local COMPARE_PRELOAD=$COMPARE_PRELOAD:$NOTHING_CACHED
	name="$recipe $options${more:+ $more}${settings:+ $settings}"
	name+=${more_settings:+ ${more_settings//$E2PF_TMP/}}
	[ ! -s "$dir/image.what" ] || name+=" ($(<"$dir/image.what"))"
	compare_image "$name" "$dir/compare" "$dir/image" $options $more || {
		tap_diag "repeat: tests/scripts/test-compare.sh '$1'"
		[ -z "${KEEP-}" ] || cp --sparse=auto "$dir/image" "$KEEP/${recipe// /-}"
	}
	[[ $recipe != btrfs?(-syzbot):* ]] || planned_fits ||
		tap_not_ok "$name: more blocks are planned than there are"
}

# Even hostile bytes plan no more blocks than the device has.
planned_fits()
{
	[ ! -s "$dir/compare/stats.json" ] ||
		jq -e '.planned_bytes <= 32768 * .block_size' "$dir/compare/stats.json" \
			>/dev/null
}

# The same without a check, which may end before our threads come to what is damaged.
# Status 1: a block, or all of them, cannot be read.
planned_alone()
{
	"$PLAN" "$dir/image" >"$dir/plan" 2>"$dir/why"
	[ $? -le 1 ] && [ "$(wc -l <"$dir/plan")" -le $((32 << 10)) ]
}

# check_rows ROWS: all of one recipe.
check_rows()
{
	local recipe=${1%%|*} dir=$E2PF_TMP/work.$BASHPID row why status

	mkdir "$dir"
	case $recipe in
	btrfs*)
		local -x COMPARE_PROGRAM=btrfs
		unset COMPARE_MASK
		. "$srcdir/tools/compare.sh"
		;;
	esac
	why=$(make_recipe "$dir/image" $recipe 2>&1)
	status=$?
	if [ $status = 0 ]; then
		[[ $recipe != btrfs?(-syzbot):* ]] || [ ! -x "$PLAN" ] || planned_alone ||
			tap_not_ok "$recipe: planned by itself" "$dir/why"
		while IFS= read -r row; do
			check_row "$row"
		done <<<"$1"
	elif [ $status = 2 ]; then
		tap_skip "$recipe" "not made here: ${why//$'\n'/ }"
	else
		printf '%s\n' "$why" >"$dir/why"
		tap_not_ok "$recipe: the image cannot be made" "$dir/why"
	fi
	rm -rf "$dir"
}

# rows_of ARGUMENT: of a group or an image, or the row itself.
rows_of()
{
	case $1 in
	*"|"*) echo "$1"; return ;;
	features|corpus|options|corruptions|combinations|btrfs|btrfs-corpus|\
	syzbot|btrfs-syzbot)
		"rows_$1"
		;;
	*) { rows_features; rows_corpus; } | grep "^$1[ |]" ;;
	esac | awk 'BEGIN { cold[4] = " COLD=1"; cold[5] = cold[6] = " COLD=2" }
		{ print $0 ((NR % 7 < 4 || /PRELOAD=|COLD=/) ? "" : cold[NR % 7]) }'
}

test_all()
{
	local row recipe='' argument i why
	local -a blocks=() present=()

	for argument; do
		why=$(absent "$argument")
		if [ -n "$why" ]; then
			tap_skip "$argument" "$why"
		else
			present+=("$argument")
		fi
	done
	while IFS= read -r row; do
		if [ "${row%%|*}" = "$recipe" ]; then
			blocks[-1]+=$'\n'$row
		else
			blocks+=("$row")
		fi
		recipe=${row%%|*}
	done < <(for argument in ${present[@]+"${present[@]}"}; do
			rows_of "$argument"
		done)
	if [ -n "${E2PF_FEW-}" ]; then
		for i in "${!blocks[@]}"; do
			[ $((i % E2PF_FEW)) = 0 ] || unset "blocks[$i]"
		done
	fi
	[ ${#blocks[@]} -gt 0 ] || [ ${#present[@]} = 0 ] ||
		tap_not_ok "${present[*]}: no rows"
	workers check_rows "${blocks[@]}"
	[[ ${blocks[*]} != *btrfs?(-syzbot):* ]] || [ -x "$PLAN" ] ||
		tap_skip "planned by itself" "not built: $PLAN"
	tap_check "no process is left behind" no_process_left
}

[ $# -gt 0 ] || set -- features corpus options syzbot btrfs \
	btrfs-corpus btrfs-syzbot
[[ $* != *corruptions* && $* != *combinations* ]] || in_memory
setup mke2fs debugfs dumpe2fs flock diff dd awk gzip jq
CORRUPT=$(tool corrupt -I"$srcdir/../lib" -lext2fs -lcom_err) ||
	tap_bail "no corrupt, and it does not compile"
compare_record
COMPARE_PRELOAD=$FIXED_RANDOM${E2PF_ALLOCATOR:+:$E2PF_ALLOCATOR}
NOTHING_CACHED=$(library cold) || tap_bail "cold.c does not compile"
mkdir "$E2PF_TMP/base" "$E2PF_TMP/made" "$E2PF_TMP/files"
export -f small_files
own_mounts=-m
have_root || own_mounts=-rm
tap_run test_all "$@"
