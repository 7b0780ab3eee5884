#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
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
#   zeros:BYTES		no filesystem
#   clri fields dirblock itable bitmaps super gdt feature
#			damage of this kind, below
#   flip:SEED:COUNT	bytes changed at seeded positions of the metadata that
#			e2image finds
#   debugfs:COMMAND	and stock:OPTIONS, a check by the stock e2fsck
#   cut:BYTES		the rest of the image is missing
#
# Options are e2fsck's, with @ where the image is not the last argument.  Settings are
# variables: of ours, of e2fsck, and of tools/compare.sh.
#
# Groups: features (every feature, sound and damaged), corpus, options (the command
# line).  The images of corpus are not part of this project: E2FSPROGS_TESTS names a
# folder with NAME.gz and manifest.tsv (name, first options, second options); without it
# shared/e2fsprogs-tests beside the source tree is tried.
#
# Of the damage to a sound image each takes a share in turn; with E2PF_FAULTS=all all.
# With E2PF_FEW sound images are checked with -fn and -fy only.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"

corpus=${E2FSPROGS_TESTS:-$srcdir/../../shared/e2fsprogs-tests}
COMPARE_MANAGERS=${COMPARE_ROW_MANAGERS:-0 1}
STATIC=${E2FSCK_STATIC:-$(command -v e2fsck.static)}

#
# The rows.
#

# in_turn NUMBER ITEM...: the one of this number, or all of them.
in_turn()
{
	local number=$1

	shift
	[ "${E2PF_FAULTS-}" = all ] || set -- "${@:1 + number % $#:1}"
	printf '%s\n' "$@"
}

# Without TEST_MMAP_IO the command under test picks a manager itself: the first row
# shows that it does.
rows_features()
{
	local name number=0 damage mode also modes="fn fy fp fyD n p fy+-E+discard fn+-tt"

	[ -z "${E2PF_FEW-}" ] || modes="fn fy"
	for name in $(image_names); do
		also=$(image_options "$name")
		for mode in $modes; do
			echo "$name|$also -${mode//+/ }|"
		done | sed '1s/$/COMPARE_MANAGERS=0+1+-/'
		for damage in $(in_turn $number clri fields dirblock itable bitmaps \
				super gdt feature) \
			$(in_turn $((number / 8)) flip:1:1 flip:2:2 flip:3:5 flip:4:24); do
			printf "$name $damage|$also -%s|\n" fn fy
		done
		number=$((number + 1))
	done
}

# If the answer is "no", stock e2fsck asks about the same table forever and fills the
# disk with its questions.
endless=" f_illitable_flexbg f_misstable "

# Both checks of each test.  With an e2fsck that checks in several threads, that too.
rows_corpus()
{
	local name first second

	[ -r "$corpus/manifest.tsv" ] || return 0
	while IFS=$'\t' read -r name first second; do
		[[ $endless = *" $name "* ]] || echo "corpus:$name|-fn|"
		echo "corpus:$name|$first|"
		if compare_takes_threads; then
			[[ $endless = *" $name "* ]] ||
				echo "corpus:$name|-fn -m 4|COMPARE_THREADS=4"
			echo "corpus:$name|-fy -m 4|COMPARE_THREADS=4"
		fi
		echo "corpus:$name stock:${first// /+}|$second|"
	done < <(grep -v '^#' "$corpus/manifest.tsv")
}

rows_options()
{
	local off="COMPARE_MANAGERS=-+1 COMPARE_PREFETCH" name options
	local static="COMPARE_MANAGERS=0 COMPARE_PRELOAD= E2FSCK_STOCK=$STATIC PREFETCH_E2FSCK=$STATIC"
	local bad="ext4-1k debugfs:clri+/d1"

	printf 'ext4-1k|%s|%s\n' -fy "$off=0" -V "$off=0" -G "$off=0" \
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
	ext3-recovery|-E journal_only -y|
	ext4-journal-device|-fy -j jdev|
	ext4-journal-device|-fy -j fs|
	ext4-journal-device debugfs:ssv+journal_dev+0x3f01|-fy|
	zeros:200000|-fy|
	zeros:700|-fy|
	zeros:0|-fy|
	ext4-1k cut:100000|-fn|
	END
}

#
# The damage.  debugfs does not find every name in every image; its output is
# discarded.
#

by_debugfs()
{
	LD_PRELOAD=$FIXED_RANDOM debugfs -w -f - "$1" >/dev/null 2>&1
	return 0
}

do_clri()
{
	by_debugfs "$1" <<-END
	clri /d1
	clri /deep/0/1/2
	clri <8>
	END
}

do_fields()
{
	by_debugfs "$1" <<-END
	sif /d0/f1 block[0] 0x7fffffff
	sif /d0/f1 block[3] 0x7fffffff
	sif /many block[1] 0x0000ffff
	sif /d0/f5000 block[5] 0x00fffff0
	sif /d0/f0 links_count 77
	sif /d0/f2 mode 0
	sif /d0/f4 size 0xffffffffffff
	sif /d1/f70000 blocks 3
	sif /frag block[2] 0x10000
	sif /sparse block[13] 0xfffffff0
	sif /d3/f0 file_acl 0x12345678
	sif /d3/f1 flags 0x1ff81fff
	END
}

do_dirblock()
{
	by_debugfs "$1" <<-END
	zap_block -f /many -o 40 -l 80 -p 0x5a 1
	zap_block -f /many -o 12 -l 40 -p 0xff 0
	zap_block -f /d0 -l 12 0
	zap_block -f /deep/0 0
	zap_block -f /big -p 0x11 -o 8 -l 60 0
	END
}

# zap_blocks IMAGE NAME COUNT WHAT: in the first groups, from dumpe2fs's table.
zap_blocks()
{
	dumpe2fs "$1" 2>/dev/null | sed -n "s/.*$2 at \([0-9]*\).*/\1/p" |
		head -n "$3" | sed "s/.*/zap_block $4 &/" | by_debugfs "$1"
}

do_itable() { zap_blocks "$1" "Inode table" 2 "-o 512 -l 300 -p 0x3c"; }

do_bitmaps()
{
	zap_blocks "$1" "Block bitmap" 2 "-o 3 -l 9 -p 0xa5"
	zap_blocks "$1" "Inode bitmap" 3 "-o 3 -l 9 -p 0xa5"
}

# e2fsck uses a backup superblock and opens the filesystem a second time.
do_super() { dd if=/dev/zero of="$1" bs=1k seek=1 count=1 conv=notrunc status=none; }

do_gdt()
{
	local first

	first=$(dumpe2fs -h "$1" 2>/dev/null |
		awk '/^First block:/ { print $3 + 1 }')
	echo "zap_block -p 0xee -l 64 ${first:-1}" | by_debugfs "$1"
}

# Feature flags that contradict what is on disk.
do_feature()
{
	by_debugfs "$1" <<-END
	feature ^filetype
	feature ^extent
	feature ^dir_index
	ssv inodes_count 0x20000000
	END
}

do_flip()
{
	e2image -r "$1" "$1.map" >/dev/null 2>&1
	"$IMGTOOL" flip "$1" "$1.map" "$2" "$3" && rm "$1.map"
}

do_debugfs() { by_debugfs "$1" <<<"$2"; }
do_cut() { truncate -s "$2" "$1"; }

do_stock()
{
	# shellcheck disable=SC2086
	compare_stock "${1%/*}/before" "$1" $2
	cp --sparse=auto "${1%/*}/before/stock/fs" "$1"
}

#
# The runner.
#

# base NAME: the image is made once, or the reason why it cannot be.
base()
{
	local file=$E2PF_TMP/base/$1

	(
		flock 9
		[ -e "$file" ] || [ -e "$file.no" ] ||
			image_make "$1" "$file" >"$file.why" 2>&1 ||
			{ mv "$file.why" "$file.no"; rm -f "$file"; }
	) 9>"$file.lock"
	[ ! -e "$file.no" ] || { cat "$file.no"; return 1; }
}

# make_recipe FILE WORD...: returns 2 if this machine does not make the image.
make_recipe()
{
	local file=$1 first=$2 step one other

	shift 2
	case $first in
	corpus:*)
		gzip -dc "$corpus/${first#*:}.gz" >"$file.all" &&
			cp --sparse=always "$file.all" "$file" && rm "$file.all"
		;;
	zeros:*) head -c "${first#*:}" /dev/zero >"$file" ;;
	*)
		base "$first" || return 2
		cp --sparse=auto "$E2PF_TMP/base/$first" "$file"
		[ ! -e "$E2PF_TMP/base/$first.jdev" ] ||
			cp "$E2PF_TMP/base/$first.jdev" "$file.jdev"
		;;
	esac || return
	for step; do
		IFS=: read -r step one other <<<"$step"
		"do_$step" "$file" "${one//+/ }" "$other" || return
	done
}

# check_row ROW: on the image in $dir.
check_row()
{
	local recipe options settings setting why

	IFS='|' read -r recipe options settings <<<"$1"
	for setting in $settings; do
		local -x "${setting//+/ }"
	done
	# shellcheck disable=SC2086
	compare_image "$recipe $options${settings:+ $settings}" "$dir/compare" \
		"$dir/image" $options ||
		tap_diag "repeat: tests/scripts/test-compare.sh '$1'"
}

# check_rows ROWS: all of one recipe.
check_rows()
{
	local recipe=${1%%|*} dir=$E2PF_TMP/work.$BASHPID row why status

	mkdir "$dir"
	# shellcheck disable=SC2086
	why=$(make_recipe "$dir/image" $recipe 2>&1)
	status=$?
	if [ $status = 0 ]; then
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
	*"|"*) echo "$1" ;;
	features|corpus|options) "rows_$1" ;;
	*) { rows_features; rows_corpus; } | grep "^$1[ |]" ;;
	esac
}

test_all()
{
	local row recipe='' argument
	local -a blocks=()

	while IFS= read -r row; do
		if [ "${row%%|*}" = "$recipe" ]; then
			blocks[-1]+=$'\n'$row
		else
			blocks+=("$row")
		fi
		recipe=${row%%|*}
	done < <(for argument; do rows_of "$argument"; done)
	[ ${#blocks[@]} -gt 0 ] || tap_not_ok "$*: no rows"
	workers check_rows "${blocks[@]}"
	tap_check "no process is left behind" no_process_left
}

[ $# -gt 0 ] || set -- features corpus options
require_programs mke2fs debugfs dumpe2fs e2image flock diff dd awk gzip
tmp_setup
helpers_setup
images_setup
mkdir "$E2PF_TMP/base"
[ "$*" != corpus ] || [ -r "$corpus/manifest.tsv" ] ||
	tap_skip_all "no images of e2fsprogs' tests (set E2FSPROGS_TESTS)"
tap_run test_all "$@"
